// Modules: compiling, loading, and finding functions and symbols by the names users know.
#include "core/module.h"

#include "core/error.h"

namespace trilane::core {
namespace {

constexpr int kMaxDynamicSharedAttribute = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr size_t kNamesShown = 20;

std::string join_names(const std::vector<std::string>& names) {
    if (names.empty()) return "nothing";
    std::string text;
    for (size_t i = 0; i < names.size() && i < kNamesShown; ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
    return text;
}

}  // namespace

Module::Module(ContextPtr context, ImagePtr image, RawModule raw)
    : context_(std::move(context)), image_(std::move(image)), raw_(raw) {}

ModulePtr Module::compile(const ContextPtr& context, const Program& program) {
    context->require_usable("compile");
    return load(context, context->compile_cache().get(program));
}

ModulePtr Module::load(const ContextPtr& context, ImagePtr image) {
    context->require_usable("load");
    ModulePtr module(new Module(context, std::move(image), 0));
    module->raw_ = context->device().load(*module->image_);
    return module;
}

ModulePtr Module::link(const ContextPtr& context, std::span<const LinkInput> inputs,
                       const LinkOptions& options) {
    context->require_usable("link");
    auto image = std::make_shared<Image>(context->device().link(inputs, options));
    for (const LinkInput& input : inputs)
        for (const auto& [expression, symbol] : input.lowered_names)
            if (image->lowered_names.emplace(expression, symbol).first->second != symbol)
                throw_error(ErrorKind::InvalidArgument,
                            "link: {}: '{}' is the name of another function than in a piece "
                            "before",
                            input.name, expression);
    return load(context, std::move(image));
}

Module::~Module() {
    if (raw_ != 0 && context_->usable()) context_->device().unload(raw_);
}

std::string Module::lowered_name(std::string_view name) const {
    const auto found = image_->lowered_names.find(std::string(name));
    return found == image_->lowered_names.end() ? std::string(name) : found->second;
}

FunctionPtr Module::function(std::string_view name) {
    context_->require_usable("function");
    const std::string lowered = lowered_name(name);
    std::lock_guard lock(mutex_);
    std::weak_ptr<Function>& known = functions_[lowered];
    if (FunctionPtr function = known.lock()) return function;
    FunctionInfo info;
    try {
        info = context_->device().function(raw_, lowered);
    } catch (const Error& error) {
        functions_.erase(lowered);
        if (error.kind() != ErrorKind::NotFound) throw;
        throw_error(ErrorKind::NotFound,
                    "function: no such kernel: got '{}', the module has {}: names of C++ kernels "
                    "are mangled, declare it extern \"C\" or ask for it as a name expression",
                    name, join_names(context_->device().function_names(raw_)));
    }
    auto function = std::make_shared<Function>(shared_from_this(), std::move(info));
    known = function;
    return function;
}

SymbolInfo Module::global(std::string_view name) {
    context_->require_usable("global");
    try {
        return context_->device().global(raw_, lowered_name(name));
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::NotFound) throw;
        throw_error(ErrorKind::NotFound,
                    "global: no such symbol: got '{}', expected a __device__ or __constant__ "
                    "variable of the module: C++ names are mangled, declare it extern \"C\"",
                    name);
    }
}

std::vector<std::string> Module::function_names() {
    context_->require_usable("function_names");
    return context_->device().function_names(raw_);
}

Function::Function(ModulePtr module, FunctionInfo info)
    : module_(std::move(module)), info_(std::move(info)) {}

void Function::set_attribute(int attribute, int value) {
    context()->require_usable("set_attribute");
    context()->device().set_function_attribute(info_.raw, attribute, value);
    if (attribute == kMaxDynamicSharedAttribute)
        info_.attributes.max_dynamic_shared_bytes = static_cast<size_t>(value);
}

int Function::occupancy(int block_threads, size_t shared_bytes) {
    context()->require_usable("occupancy");
    return context()->device().occupancy(info_.raw, block_threads, shared_bytes);
}

}  // namespace trilane::core
