// The pieces are compared by name before LLVM joins them, so that faults are told by piece.
#include "devices/cpu/compile/link.h"

#include <algorithm>
#include <map>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/check/instrument.h"
#include "devices/cpu/compile/guard.h"
#include "devices/cpu/compile/object.h"
#include "devices/cpu/compile/retarget.h"
#include "devices/cpu/run/runtime_symbols.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"

namespace trilane::cpu {
namespace {

using core::ErrorKind;
using core::LinkInput;

constexpr unsigned kShared = 3, kConstant = 4;  // address spaces
constexpr uint64_t kConstantLimit = 64 * 1024;

std::string readable(const llvm::GlobalValue& value) { return llvm::demangle(value.getName()); }

// The same but for the names of structures, of which each piece has its own.
bool same_type(const llvm::Type* one, const llvm::Type* other) {
    if (one == other) return true;
    if (one->getTypeID() != other->getTypeID() ||
        one->getNumContainedTypes() != other->getNumContainedTypes())
        return false;
    if (llvm::isa<llvm::IntegerType>(one) || llvm::isa<llvm::PointerType>(one)) return false;
    if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(one))
        if (array->getNumElements() != llvm::cast<llvm::ArrayType>(other)->getNumElements())
            return false;
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(one))
        if (vector->getNumElements() != llvm::cast<llvm::FixedVectorType>(other)->getNumElements())
            return false;
    for (unsigned i = 0; i < one->getNumContainedTypes(); ++i)
        if (!same_type(one->getContainedType(i), other->getContainedType(i))) return false;
    return one->getNumContainedTypes() != 0;
}

bool is_runtime_symbol(llvm::StringRef name) {
    const auto symbols = runtime_symbols();
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const RuntimeSymbol& symbol) { return name == symbol.name; });
}

// What the other pieces or the device must have. Weak variables are names of special registers.
bool is_wanted(const llvm::GlobalObject& object) {
    if (!object.isDeclaration() || object.use_empty() || object.hasExternalWeakLinkage())
        return false;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(&object))
        return !function->isIntrinsic() && !is_runtime_symbol(function->getName()) &&
               !function->hasFnAttribute("dontcall-error");
    return object.getAddressSpace() != kShared;
}

class Linking {
  public:
    explicit Linking(bool check) {
        result_.context = std::make_unique<llvm::LLVMContext>();
        result_.context->setDiscardValueNames(!check && !core::env_flag("TRILANE_DUMP_IR"));
        result_.options.check = check;
    }

    void add(const LinkInput& input) {
        FrontEndResult piece = decode_object(input.bytes, input.name, *result_.context);
        for (KernelDescription& kernel : piece.kernels)
            if (result_.keep.count(kernel.name) == 0)  // else an instance of the same template
                result_.kernels.push_back(std::move(kernel));
        result_.keep.insert(piece.keep.begin(), piece.keep.end());
        result_.options.line_info |= piece.options.line_info;
        result_.options.fast_math |= piece.options.fast_math;
        result_.options.optimize = std::min(result_.options.optimize, piece.options.optimize);
        for (const auto& [expression, symbol] : input.lowered_names)
            if (const llvm::GlobalValue* named = piece.module->getNamedValue(symbol);
                named == nullptr || named->isDeclaration())
                asked_.emplace(symbol, input.name);
        for (const llvm::GlobalObject& object : piece.module->global_objects())
            if (!object.isDeclaration() && !object.hasLocalLinkage() &&
                !object.getName().starts_with("llvm."))
                define(object, input.name);
        names_.push_back(input.name);
        pieces_.push_back(std::move(piece.module));
    }

    FrontEndResult finish() {
        for (size_t i = 0; i < pieces_.size(); ++i) compare(*pieces_[i], names_[i]);
        refuse();
        join();
        for (const KernelDescription& kernel : result_.kernels) result_.keep.insert(kernel.name);
        retarget(*result_.module, result_.keep);
        look_for_missing();
        look_for_launched();
        count_constants();
        refuse();
        if (result_.options.check) instrument_accesses(*result_.module, result_.kernels);
        return std::move(result_);
    }

  private:
    struct Definition {
        const llvm::GlobalObject* object;
        std::string piece;
        bool strong;
    };

    void fault(const std::string& line) { log_ += "error: " + line + "\n"; }

    void define(const llvm::GlobalObject& object, const std::string& piece) {
        const bool strong = !object.isWeakForLinker();
        Definition mine{&object, piece, strong};
        auto [known, added] = defined_.emplace(object.getName().str(), mine);
        if (added) return;
        if (known->second.strong && strong)
            fault(fmt::format("Multiple definition of '{}' in '{}', first defined in '{}'",
                              readable(object), piece, known->second.piece));
        if (strong && !known->second.strong) known->second = mine;
    }

    // What this piece takes from others must be there, as it was declared.
    void compare(const llvm::Module& module, const std::string& piece) {
        for (const llvm::GlobalObject& object : module.global_objects()) {
            if (!is_wanted(object)) continue;
            auto found = defined_.find(object.getName().str());
            if (found == defined_.end()) {
                wanted_by_.emplace(object.getName().str(), piece);
                continue;
            }
            const llvm::GlobalObject& definition = *found->second.object;
            if (!agree(object, definition))
                fault(fmt::format("Prototype doesn't match for '{}' in '{}', first defined in '{}'",
                                  readable(object), piece, found->second.piece));
        }
    }

    static bool agree(const llvm::GlobalObject& one, const llvm::GlobalObject& other) {
        if (one.getValueID() != other.getValueID()) return false;
        if (llvm::isa<llvm::Function>(one))
            return same_type(one.getValueType(), other.getValueType());
        return one.getAddressSpace() == other.getAddressSpace();  // "extern T a[]" has no size
    }

    void join() {
        result_.module = std::make_unique<llvm::Module>("linked", *result_.context);
        result_.module->setTargetTriple(pieces_.front()->getTargetTriple());
        result_.module->setDataLayout(pieces_.front()->getDataLayout());
        llvm::Linker linker(*result_.module);
        for (size_t i = 0; i < pieces_.size(); ++i)
            if (linker.linkInModule(std::move(pieces_[i])))
                core::throw_error(ErrorKind::InvalidArgument, "link: {} does not fit the others",
                                  names_[i]);
    }

    // Of what kernels reach only: as nvlink, which leaves out what nothing calls.
    void look_for_missing() {
        for (const llvm::GlobalObject& object : result_.module->global_objects()) {
            if (!is_wanted(object)) continue;
            auto piece = wanted_by_.find(object.getName().str());
            fault(fmt::format("Undefined reference to '{}' in '{}'", readable(object),
                              piece == wanted_by_.end() ? names_.front() : piece->second));
        }
    }

    // Kernels that kernels launch are called by name: nothing in the code refers to them.
    void look_for_launched() {
        for (const auto& [symbol, piece] : asked_)
            if (defined_.find(symbol) == defined_.end())
                fault(fmt::format("Undefined reference to '{}' in '{}'", llvm::demangle(symbol),
                                  piece));
    }

    void count_constants() {
        uint64_t nbytes = 0;
        for (const llvm::GlobalVariable& variable : result_.module->globals())
            if (variable.getAddressSpace() == kConstant)
                nbytes += result_.module->getDataLayout().getTypeAllocSize(variable.getValueType());
        if (nbytes > kConstantLimit)
            fault(fmt::format("Too much constant memory: {} bytes, the limit is {}", nbytes,
                              kConstantLimit));
    }

    void refuse() {
        if (log_.empty()) return;
        core::throw_error_with_detail(ErrorKind::InvalidArgument,
                                      "link: " + log_.substr(0, log_.find('\n')), log_);
    }

    FrontEndResult result_;
    std::vector<std::unique_ptr<llvm::Module>> pieces_;
    std::vector<std::string> names_;
    std::map<std::string, Definition> defined_;
    std::map<std::string, std::string> wanted_by_;  // symbol -> the first piece
    std::map<std::string, std::string> asked_;      // by name expressions only: likewise
    std::string log_;
};

[[noreturn]] void refuse_foreign(const LinkInput& input) {
    if (input.format == "cpu-object" || input.bytes.starts_with("trilane\n"))
        core::throw_error(ErrorKind::InvalidArgument,
                          "link: {} was compiled to run, not to be linked: compile it with -dc",
                          input.name);
    const char* what = foreign_code(input.bytes);
    if (*what == '\0')
        core::throw_error(ErrorKind::InvalidArgument,
                          "link: {}: got {} bytes of an unknown form, expected an object that the "
                          "cpu device compiled with -dc",
                          input.name, input.bytes.size());
    core::throw_error(ErrorKind::NotSupported,
                      "link: {} is {}: the cpu device runs what it compiled from CUDA C++ itself "
                      "and takes no output of other compilers: give it the CUDA C++ text",
                      input.name, what);
}

}  // namespace

const char* foreign_code(std::string_view bytes) {
    const auto starts = [&](std::string_view with) { return bytes.starts_with(with); };
    constexpr size_t kMachineAt = 18;
    constexpr char kCudaMachine = char(190);
    if (starts("\x7f"
               "ELF"))
        return bytes.size() > kMachineAt && bytes[kMachineAt] == kCudaMachine
                   ? "a cubin (code for NVIDIA's GPUs)"
                   : "an object file of the host";
    if (starts("!<arch>\n")) return "a library of object files";
    if (starts("\x50\xed\x55\xba")) return "a fatbin (code for NVIDIA's GPUs)";
    if (starts("\xed\x43\x4e\x7f")) return "LTO-IR (NVIDIA's intermediate code)";
    if (starts("BC\xc0\xde")) return "LLVM bitcode";
    if (bytes.substr(0, 65536).find("\n.version") != std::string_view::npos || starts(".version"))
        return "PTX (NVIDIA's assembly)";
    return "";
}

FrontEndResult link_objects(std::span<const LinkInput> inputs, bool check) {
    if (inputs.empty())
        core::throw_error(ErrorKind::InvalidArgument, "link: there is nothing to link");
    for (const LinkInput& input : inputs)
        if (!is_object(input.bytes)) refuse_foreign(input);
    FrontEndResult result;
    run_guarded("link", [&] {
        Linking linking(check);
        for (const LinkInput& input : inputs) linking.add(input);
        result = linking.finish();
    });
    return result;
}

}  // namespace trilane::cpu
