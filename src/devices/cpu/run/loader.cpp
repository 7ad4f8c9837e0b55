// JITLink over one session for the process; each object is a library of its own.
#include "devices/cpu/run/loader.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <mutex>

#include "core/error.h"
#include "devices/cpu/run/runtime_symbols.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

std::string text_of(Error error) { return toString(std::move(error)); }

// Never destroyed: kernels may be unloaded as late as the process ends.
class Linker {
  public:
    static Linker& get() {
        static Linker* linker = new Linker;
        return *linker;
    }

    orc::ExecutionSession& session() { return *session_; }
    orc::ObjectLinkingLayer& layer() { return *layer_; }

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
    orc::JITDylib* runtime_ = nullptr;
    std::atomic<uint64_t> count_{0};
    std::mutex mutex_;
    std::string report_;
};

}  // namespace

struct LoadedObject::Impl {
    orc::JITDylib* library = nullptr;
};

LoadedObject::LoadedObject(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

std::unique_ptr<LoadedObject> LoadedObject::load(std::string_view object) {
    Linker& linker = Linker::get();
    auto impl = std::make_unique<Impl>();
    impl->library = &linker.make_library();
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
    if (Error error = linker.session().removeJITDylib(*impl_->library))
        core::report_cleanup_failure("unload of kernels", text_of(std::move(error)).c_str());
}

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
