// A module on the cuda device, and its kernels.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/image.h"
#include "devices/cuda/errors.h"
#include "devices/cuda/kernel_signature.h"

namespace trilane::cuda {

// What a core::RawFunction points to.
struct LoadedFunction {
    FunctionHandle handle = nullptr;
    std::string name;      // in the module
    std::string readable;  // in messages: "scale<float>"
};

// The context must be current at every call, and when the module goes.
class LoadedModule {
  public:
    // InvalidArgument, with the log of the driver's assembler as detail, if it cannot be loaded.
    LoadedModule(const DriverTable& driver, FaultState& faults, const core::Image& image);
    ~LoadedModule();
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    core::FunctionInfo function(std::string_view name);  // NotFound
    core::SymbolInfo global(std::string_view name);      // NotFound
    std::vector<std::string> function_names();

  private:
    void describe_parameters(const LoadedFunction& function, core::FunctionInfo& info) const;
    bool lay_out(FunctionHandle function, std::vector<core::Parameter>& parameters) const;
    const KernelSignature* signature(const std::string& name) const;
    const DriverTable& driver_;
    FaultState& faults_;
    ModuleHandle handle_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<LoadedFunction>, std::less<>> functions_;
    std::vector<KernelSignature> signatures_;
    std::vector<std::string> names_;  // of kernels, as far as the image shows them
};

}  // namespace trilane::cuda
