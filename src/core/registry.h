// Which devices there are. The extension registers one DeviceFactory per device type; nothing is
// probed before the first question. TRILANE_DEVICE chooses: "cpu", "cuda", "cpu:4" (four virtual
// cpu devices); unset: the CUDA devices if there are any, else one cpu device.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/device.h"

namespace trilane::core {

struct DeviceFactory {
    DeviceType type;
    // How many devices of the type this machine has; 0 with a reason in `why_not` if none.
    // `asked` is the count after the colon of TRILANE_DEVICE, 0 if there was none.
    std::function<int(int asked, std::string& why_not)> count;
    std::function<std::unique_ptr<Device>(int ordinal)> create;
};

void register_device_factory(DeviceFactory factory);

int device_count();                       // never throws for want of a GPU
ContextPtr context_of(int index);         // made on first use; InvalidArgument if out of range
std::vector<ContextPtr> live_contexts();  // those made so far

struct DeviceTypeState {
    DeviceType type;
    int count;
    std::string why_not;  // why there is none, and how to get it
};
std::vector<DeviceTypeState> describe_device_types();  // for `trilane info`

void reset_registry_for_tests();  // drops contexts and factories

}  // namespace trilane::core
