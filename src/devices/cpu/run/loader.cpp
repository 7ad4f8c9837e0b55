// JITLink over one session for the process; each object is a library of its own.
#include "devices/cpu/run/loader.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "core/error.h"
#include "devices/cpu/run/runtime_symbols.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

std::string text_of(Error error) { return toString(std::move(error)); }

CodeRange code_of(jitlink::LinkGraph& graph) {
    CodeRange range{UINTPTR_MAX, 0};
    for (jitlink::Section& section : graph.sections()) {
        if ((section.getMemProt() & orc::MemProt::Exec) == orc::MemProt::None) continue;
        for (jitlink::Block* block : section.blocks()) {
            uintptr_t begin = block->getAddress().getValue();
            range.begin = std::min(range.begin, begin);
            range.end = std::max(range.end, begin + block->getSize());
        }
    }
    return range;
}

// Notes where the code of each library lies.
class CodeRanges : public orc::ObjectLinkingLayer::Plugin {
  public:
    void expect(orc::JITDylib& library, CodeRange* range) {
        std::lock_guard lock(mutex_);
        ranges_[&library] = range;
    }
    void forget(orc::JITDylib& library) {
        std::lock_guard lock(mutex_);
        ranges_.erase(&library);
    }
    void modifyPassConfig(orc::MaterializationResponsibility& responsibility, jitlink::LinkGraph&,
                          jitlink::PassConfiguration& passes) override {
        std::lock_guard lock(mutex_);
        auto found = ranges_.find(&responsibility.getTargetJITDylib());
        if (found == ranges_.end()) return;
        passes.PostAllocationPasses.push_back([range = found->second](jitlink::LinkGraph& graph) {
            *range = code_of(graph);
            return Error::success();
        });
    }
    Error notifyFailed(orc::MaterializationResponsibility&) override { return Error::success(); }
    Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override {
        return Error::success();
    }
    void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}

  private:
    std::mutex mutex_;
    std::map<orc::JITDylib*, CodeRange*> ranges_;
};

// Never destroyed: kernels may be unloaded as late as the process ends.
class Linker {
  public:
    static Linker& get() {
        static Linker* linker = new Linker;
        return *linker;
    }

    orc::ExecutionSession& session() { return *session_; }
    orc::ObjectLinkingLayer& layer() { return *layer_; }
    CodeRanges& ranges() { return *ranges_; }

    orc::JITDylib& make_library() {
        orc::JITDylib& library =
            session_->createBareJITDylib("kernels" + std::to_string(count_.fetch_add(1)));
        library.addToLinkOrder(*runtime_);
        return library;
    }

    // The linker reports what is missing here, in clear words, and only kinds of errors after.
    std::string take_report() {
        std::lock_guard lock(mutex_);
        return std::exchange(report_, {});
    }

  private:
    Linker() {
        auto control = orc::SelfExecutorProcessControl::Create();
        TRILANE_CHECK(bool(control), "the linker cannot start: {}", text_of(control.takeError()));
        session_ = std::make_unique<orc::ExecutionSession>(std::move(*control));
        session_->setErrorReporter([this](Error error) {
            std::lock_guard lock(mutex_);
            report_ += text_of(std::move(error)) + "\n";
        });
        auto memory = jitlink::InProcessMemoryManager::Create();
        TRILANE_CHECK(bool(memory), "no memory for code: {}", text_of(memory.takeError()));
        layer_ = std::make_unique<orc::ObjectLinkingLayer>(*session_, std::move(*memory));
        ranges_ = std::make_shared<CodeRanges>();
        layer_->addPlugin(ranges_);
        runtime_ = &session_->createBareJITDylib("runtime");
        orc::SymbolMap symbols;
        for (const RuntimeSymbol& symbol : runtime_symbols())
            symbols[session_->intern(symbol.name)] = {
                orc::ExecutorAddr::fromPtr(symbol.address),
                JITSymbolFlags::Exported | JITSymbolFlags::Callable};
        cantFail(runtime_->define(orc::absoluteSymbols(std::move(symbols))));
    }

    std::unique_ptr<orc::ExecutionSession> session_;
    std::unique_ptr<orc::ObjectLinkingLayer> layer_;
    std::shared_ptr<CodeRanges> ranges_;
    orc::JITDylib* runtime_ = nullptr;
    std::atomic<uint64_t> count_{0};
    std::mutex mutex_;
    std::string report_;
};

}  // namespace

struct LoadedObject::Impl {
    orc::JITDylib* library = nullptr;
    CodeRange code;
};

LoadedObject::LoadedObject(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

std::unique_ptr<LoadedObject> LoadedObject::load(std::string_view object) {
    Linker& linker = Linker::get();
    auto impl = std::make_unique<Impl>();
    impl->library = &linker.make_library();
    linker.ranges().expect(*impl->library, &impl->code);
    std::unique_ptr<LoadedObject> loaded(new LoadedObject(std::move(impl)));
    auto buffer =
        MemoryBuffer::getMemBufferCopy(StringRef(object.data(), object.size()), "kernels");
    if (Error error = linker.layer().add(*loaded->impl_->library, std::move(buffer)))
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "load: not an object of the cpu device: {}", text_of(std::move(error)));
    return loaded;
}

LoadedObject::~LoadedObject() {
    Linker& linker = Linker::get();
    linker.ranges().forget(*impl_->library);
    if (Error error = linker.session().removeJITDylib(*impl_->library))
        core::report_cleanup_failure("unload of kernels", text_of(std::move(error)).c_str());
}

CodeRange LoadedObject::code() const { return impl_->code; }

void* LoadedObject::address(std::string_view symbol) {
    Linker& linker = Linker::get();
    auto found = linker.session().lookup(
        orc::makeJITDylibSearchOrder({impl_->library}, orc::JITDylibLookupFlags::MatchAllSymbols),
        linker.session().intern(StringRef(symbol.data(), symbol.size())));
    if (found) return found->getAddress().toPtr<void*>();
    std::string why = text_of(found.takeError());
    std::string report = linker.take_report();
    if (report.empty() && why.find("Symbols not found") != std::string::npos &&
        why.find(symbol) != std::string::npos)
        return nullptr;
    core::throw_error_with_detail(core::ErrorKind::CompileError,
                                  fmt::format("load: the code needs what the cpu device does not "
                                              "have: {}",
                                              report.empty() ? why : report),
                                  why);
}

}  // namespace trilane::cpu
