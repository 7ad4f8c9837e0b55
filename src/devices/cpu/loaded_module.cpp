// Modules: loading, looking up.
#include "devices/cpu/loaded_module.h"

#include <llvm/Demangle/Demangle.h>

#include "core/error.h"
#include "devices/cpu/check/allocation_table.h"
#include "devices/cpu/compile/link.h"
#include "devices/cpu/lower/image.h"
#include "devices/cpu/lower/target.h"

namespace trilane::cpu {

using core::ErrorKind;
using core::throw_error;

namespace {

// "void scale<float>(float*, int)" -> "scale<float>": parameters say nothing new in messages.
std::string short_name(const std::string& symbol) {
    std::string name = llvm::demangle(symbol);
    size_t open = name.rfind('(');
    if (open == std::string::npos) return name;
    name.resize(open);
    int depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == '>') ++depth;
        if (name[i] == '<') --depth;
        if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
    }
    return name;
}

std::unique_ptr<LoadedKernel> turns_of(LoadedObject& object, const LoadedKernel& kernel) {
    auto turns = std::make_unique<LoadedKernel>();
    turns->lowered = kernel.lowered;
    turns->lowered.shape = BlockShape::Coroutine;
    turns->lowered.entry_symbol = turns->lowered.turns_symbol;
    turns->lowered.turns_symbol.clear();
    turns->entry = object.address(turns->lowered.entry_symbol);
    TRILANE_CHECK(turns->entry != nullptr, "the object has no {}", turns->lowered.entry_symbol);
    turns->code = kernel.code;
    turns->readable_name = kernel.readable_name;
    turns->source = kernel.source;
    return turns;
}

}  // namespace

std::unique_ptr<LoadedModule> LoadedModule::load(const core::Image& image) {
    if (image.format != "cpu-object") {
        std::string what = foreign_code(image.bytes);
        if (what.empty()) what = "of an unknown form, called '" + image.format + "'";
        throw_error(ErrorKind::InvalidArgument,
                    "load: the image is {}: the cpu device runs what it compiled from CUDA C++ "
                    "itself and takes no output of other compilers: give it the CUDA C++ text",
                    what);
    }
    LoweredModule lowered = decode_module(image.bytes);
    if (lowered.target_cpu != host_cpu() || lowered.target_features != host_features())
        throw_error(ErrorKind::InvalidArgument,
                    "load: the image is for another processor: got {}, expected {}: compile again",
                    lowered.target_cpu, host_cpu());
    auto module = std::make_unique<LoadedModule>();
    module->object_ = LoadedObject::load(lowered.object);
    for (LoweredKernel& kernel : lowered.kernels) {
        LoadedKernel& loaded = module->kernels_.emplace_back();
        loaded.entry = module->object_->address(kernel.entry_symbol);
        TRILANE_CHECK(loaded.entry != nullptr, "the object has no {}", kernel.entry_symbol);
        loaded.code = module->object_->code();
        loaded.readable_name = short_name(kernel.description.name);
        loaded.source = module.get();
        loaded.lowered = std::move(kernel);
        if (!loaded.lowered.turns_symbol.empty())
            loaded.by_turns = turns_of(*module->object_, loaded);
    }
    module->globals_ = std::move(lowered.globals);
    module->lowered_names_.insert(image.lowered_names.begin(), image.lowered_names.end());
    if (AllocationTable::get().enabled()) {
        module->check_ranges_ = static_cast<CheckRanges*>(module->object_->address(kCheckRanges));
        if (module->check_ranges_ != nullptr) note_module_ranges(*module->check_ranges_);
    }
    return module;
}

LoadedModule::~LoadedModule() {
    if (check_ranges_ != nullptr) forget_module_ranges(*check_ranges_);
}

LoadedKernel* LoadedModule::kernel(std::string_view name) {
    for (LoadedKernel& kernel : kernels_)
        if (kernel.lowered.description.name == name) return &kernel;
    return nullptr;
}

LoadedKernel* LoadedModule::launched_kernel(std::string_view name) {
    auto found = lowered_names_.find(name);
    return kernel(found == lowered_names_.end() ? name : std::string_view(found->second));
}

core::FunctionInfo LoadedModule::function(std::string_view name) {
    LoadedKernel* found = kernel(name);
    if (found == nullptr) {
        std::string names;
        for (const std::string& known : function_names())
            names += (names.empty() ? "" : ", ") + known;
        throw_error(ErrorKind::NotFound, "function: no kernel \"{}\" in the module: it has {}: {}",
                    name, names.empty() ? "none" : names,
                    "C++ names are mangled unless the kernel is extern \"C\"");
    }
    const LoweredKernel& lowered = found->lowered;
    core::FunctionInfo info;
    info.raw = reinterpret_cast<core::RawFunction>(found);
    info.name = lowered.description.name;
    info.parameters_known = true;
    info.parameters = lowered.description.parameters;
    info.attributes.max_threads_per_block = lowered.description.max_threads_per_block;
    info.attributes.shared_bytes = lowered.static_shared_bytes;
    info.attributes.local_bytes = lowered.local_bytes;
    info.attributes.num_regs = 32;
    info.attributes.ptx_version = info.attributes.binary_version = 90;
    info.attributes.max_dynamic_shared_bytes = found->max_dynamic_shared;
    return info;
}

core::SymbolInfo LoadedModule::global(std::string_view name) {
    for (const LoweredGlobal& global : globals_) {
        if (global.name != name) continue;
        std::lock_guard lock(mutex_);
        void* address = object_->address(name);
        TRILANE_CHECK(address != nullptr, "the object has no variable {}", name);
        return {reinterpret_cast<core::DevicePtr>(address), global.nbytes};
    }
    std::string names;
    for (const LoweredGlobal& global : globals_) names += (names.empty() ? "" : ", ") + global.name;
    throw_error(ErrorKind::NotFound, "global: no variable \"{}\" in the module: it has {}", name,
                names.empty() ? "none" : names);
}

std::vector<std::string> LoadedModule::function_names() const {
    std::vector<std::string> names;
    for (const LoadedKernel& kernel : kernels_) names.push_back(kernel.lowered.description.name);
    return names;
}

}  // namespace trilane::cpu
