// Loading images and describing the kernels in them.
#include "devices/cuda/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "devices/cuda/image_reader.h"

namespace trilane::cuda {

using core::ErrorKind;
using core::Parameter;
using core::ParameterKind;
using core::throw_error;

namespace {

constexpr size_t kLogBytes = 16384;

// "void scale<float>(float*, int)" -> "scale<float>": parameters say nothing new in messages.
std::string readable_name(const std::string& symbol) {
    if (!symbol.starts_with("_Z")) return symbol;
    int status = 0;
    char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 && text != nullptr ? text : symbol;
    std::free(text);
    int depth = 0;
    size_t end = name.size();
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] == '(' && --depth == 0) {
            end = i;
            break;
        }
    }
    name.resize(end);
    depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == '>') ++depth;
        if (name[i] == '<') --depth;
        if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
    }
    return name;
}

std::string text_of_log(const std::vector<char>& log) {
    return std::string(log.data(), std::find(log.begin(), log.end(), '\0') - log.begin());
}

uint32_t natural_align(size_t offset, size_t nbytes) {
    uint32_t align = 16;
    while (align > 1 && (offset % align != 0 || nbytes % align != 0)) align /= 2;
    return align;
}

}  // namespace

LoadedModule::LoadedModule(const DriverTable& driver, FaultState& faults, const core::Image& image)
    : driver_(driver), faults_(faults) {
    if (image.format == "cpu-object")
        throw_error(ErrorKind::InvalidArgument,
                    "load: the image is for the cpu device: compile the source for this device");
    if (const std::string why = damage_of(image.bytes); !why.empty())
        throw_error(ErrorKind::InvalidArgument,
                    "load: the image cannot be used: {}: expected a whole cubin, fatbin or PTX",
                    why);
    std::vector<char> info(kLogBytes, '\0'), errors(kLogBytes, '\0');
    JitOption options[] = {kJitInfoLog, kJitInfoLogBytes, kJitErrorLog, kJitErrorLogBytes};
    auto* const nbytes = reinterpret_cast<void*>(uintptr_t{kLogBytes});
    void* values[] = {info.data(), nbytes, errors.data(), nbytes};
    const Result result =
        driver_.cuModuleLoadDataEx(&handle_, image.bytes.c_str(), 4, options, values);
    if (result != result::kSuccess) {
        std::string log = text_of_log(errors);
        if (log.empty() || is_sticky(result)) faults_.fail(result, "cuModuleLoadDataEx");
        core::throw_error_with_detail(
            kind_of(result),
            fmt::format("cuModuleLoadDataEx: {}: {}", result_text(driver_, result),
                        log.substr(0, log.find('\n'))),
            log);
    }
    try {
        for (const std::string& symbol : symbols_with_prefix(image.bytes, kSignaturePrefix))
            if (auto signature = read_signature(symbol)) signatures_.push_back(*signature);
        names_ = kernel_names(image.bytes);
    } catch (...) {
        driver_.cuModuleUnload(handle_);
        throw;
    }
}

LoadedModule::~LoadedModule() {
    for (auto& [name, function] : functions_) faults_.forget(&function->readable);
    if (handle_ != nullptr && !faults_.lost())
        faults_.report(driver_.cuModuleUnload(handle_), "cuModuleUnload");
}

core::FunctionInfo LoadedModule::function(std::string_view name) {
    std::lock_guard lock(mutex_);
    auto found = functions_.find(name);
    if (found == functions_.end()) {
        auto loaded = std::make_unique<LoadedFunction>();
        loaded->name = name;
        loaded->readable = readable_name(loaded->name);
        const Result result =
            driver_.cuModuleGetFunction(&loaded->handle, handle_, loaded->name.c_str());
        if (result == result::kNotFound)
            throw_error(ErrorKind::NotFound, "function: no kernel \"{}\" in the module", name);
        if (result != result::kSuccess) faults_.fail(result, "cuModuleGetFunction");
        found = functions_.emplace(loaded->name, std::move(loaded)).first;
    }
    const LoadedFunction& function = *found->second;
    core::FunctionInfo info;
    info.raw = reinterpret_cast<core::RawFunction>(&function);
    info.name = function.name;
    auto attribute = [&](int which) {
        int value = 0;
        const Result result = driver_.cuFuncGetAttribute(&value, which, function.handle);
        if (result != result::kSuccess) faults_.fail(result, "cuFuncGetAttribute");
        return value;
    };
    info.attributes.max_threads_per_block = attribute(kFunctionMaxThreads);
    info.attributes.shared_bytes = static_cast<size_t>(attribute(kFunctionShared));
    info.attributes.const_bytes = static_cast<size_t>(attribute(kFunctionConst));
    info.attributes.local_bytes = static_cast<size_t>(attribute(kFunctionLocal));
    info.attributes.num_regs = attribute(kFunctionRegisters);
    info.attributes.ptx_version = attribute(kFunctionPtxVersion);
    info.attributes.binary_version = attribute(kFunctionBinaryVersion);
    info.attributes.max_dynamic_shared_bytes =
        static_cast<size_t>(attribute(kFunctionMaxDynamicShared));
    describe_parameters(function, info);
    return info;
}

const KernelSignature* LoadedModule::signature(const std::string& name) const {
    for (const KernelSignature& signature : signatures_)
        if (signature.kernel == name) return &signature;
    return nullptr;
}

// Sizes and offsets as the driver has them; false if it cannot say.
bool LoadedModule::lay_out(FunctionHandle function, std::vector<Parameter>& parameters) const {
    if (driver_.cuFuncGetParamInfo == nullptr) return false;
    parameters.clear();
    for (size_t index = 0;; ++index) {
        size_t offset = 0, nbytes = 0;
        const Result result = driver_.cuFuncGetParamInfo(function, index, &offset, &nbytes);
        if (result == result::kInvalidValue) return true;  // one past the last
        if (result == result::kNotSupported) return false;
        if (result != result::kSuccess) faults_.fail(result, "cuFuncGetParamInfo");
        Parameter parameter;
        parameter.kind = ParameterKind::Unknown;
        parameter.size = static_cast<uint32_t>(nbytes);
        parameter.align = natural_align(offset, nbytes);
        parameters.push_back(std::move(parameter));
    }
}

// Layout from the driver, types from the signature where there is one that fits the layout.
void LoadedModule::describe_parameters(const LoadedFunction& function,
                                       core::FunctionInfo& info) const {
    std::optional<KernelSignature> known = signature_of_mangled(function.name);
    if (const KernelSignature* own = signature(function.name)) known = *own;
    std::vector<Parameter> layout;
    if (lay_out(function.handle, layout)) {
        bool fits = known && known->parameters.size() == layout.size();
        for (size_t i = 0; fits && i < layout.size(); ++i)
            fits = known->parameters[i].size == 0 || known->parameters[i].size == layout[i].size;
        for (size_t i = 0; fits && i < layout.size(); ++i) {
            known->parameters[i].size = layout[i].size;
            known->parameters[i].align = layout[i].align;
        }
        info.parameters_known = true;
        info.parameters = fits ? std::move(known->parameters) : std::move(layout);
        return;
    }
    // An older driver: the types alone, if they say every size.
    info.parameters_known =
        known && std::all_of(known->parameters.begin(), known->parameters.end(),
                             [](const Parameter& parameter) { return parameter.size != 0; });
    if (info.parameters_known) info.parameters = std::move(known->parameters);
}

core::SymbolInfo LoadedModule::global(std::string_view name) {
    core::SymbolInfo info;
    const Result result =
        driver_.cuModuleGetGlobal(&info.address, &info.nbytes, handle_, std::string(name).c_str());
    if (result == result::kNotFound)
        throw_error(ErrorKind::NotFound, "global: no variable \"{}\" in the module", name);
    if (result != result::kSuccess) faults_.fail(result, "cuModuleGetGlobal");
    return info;
}

std::vector<std::string> LoadedModule::function_names() {
    if (driver_.cuModuleGetFunctionCount == nullptr ||
        driver_.cuModuleEnumerateFunctions == nullptr || driver_.cuFuncGetName == nullptr)
        return names_;
    unsigned count = 0;
    Result result = driver_.cuModuleGetFunctionCount(&count, handle_);
    if (result != result::kSuccess) faults_.fail(result, "cuModuleGetFunctionCount");
    std::vector<FunctionHandle> handles(count);
    if (count != 0) result = driver_.cuModuleEnumerateFunctions(handles.data(), count, handle_);
    if (result != result::kSuccess) faults_.fail(result, "cuModuleEnumerateFunctions");
    std::vector<std::string> names;
    for (const FunctionHandle handle : handles) {
        const char* name = nullptr;
        result = driver_.cuFuncGetName(&name, handle);
        if (result != result::kSuccess) faults_.fail(result, "cuFuncGetName");
        names.emplace_back(name);
    }
    return names;
}

}  // namespace trilane::cuda
