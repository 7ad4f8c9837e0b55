// A module on the cpu device: linked code and what is known of its kernels.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/image.h"
#include "devices/cpu/check/check_entries.h"
#include "devices/cpu/run/kernel.h"
#include "devices/cpu/run/loader.h"

namespace trilane::cpu {

class LoadedModule final : public KernelSource {
  public:
    // InvalidArgument for images that are not of this device or not for this machine.
    static std::unique_ptr<LoadedModule> load(const core::Image& image);
    ~LoadedModule();
    core::FunctionInfo function(std::string_view name);  // NotFound lists what there is
    core::SymbolInfo global(std::string_view name);
    std::vector<std::string> function_names() const;
    LoadedKernel* kernel(std::string_view name);  // nullptr if there is none
    LoadedKernel* launched_kernel(std::string_view name) override;

  private:
    std::mutex mutex_;
    std::unique_ptr<LoadedObject> object_;
    std::deque<LoadedKernel> kernels_;  // addresses are handles
    std::vector<LoweredGlobal> globals_;
    std::map<std::string, std::string, std::less<>> lowered_names_;  // of the image
    const CheckRanges* check_ranges_ = nullptr;                      // of a module with checks
};

}  // namespace trilane::cpu
