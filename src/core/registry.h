// Which devices there are. The extension registers one DeviceFactory per device type; nothing is
// probed before the first question. TRILANE_DEVICE chooses: "cpu", "cuda", "cpu:4" (four virtual
// cpu devices); unset: the CUDA devices if there are any, else one cpu device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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
    // Asked when there are none: whether the machine has a driver for them that can be used. Empty:
    // none is needed.
    std::function<bool()> has_driver = {};
};

void register_device_factory(DeviceFactory factory);

int device_count();                       // never throws for want of a GPU
ContextPtr context_of(int index);         // made on first use; InvalidArgument if out of range
std::vector<ContextPtr> live_contexts();  // those made so far

// Begins to make the context of the only GPU on a thread of its own and returns at once. Of several
// GPUs only the driver is started, since it is not known which is used; the cpu device starts fast.
// Whoever asks for a device meanwhile waits and is told what is wrong; the process's end waits,
// too.
void start_early();

struct DeviceTypeState {
    DeviceType type;
    int count;
    std::string why_not;  // why there is none, and how to get it
};
std::vector<DeviceTypeState> describe_device_types();  // for `trilane info`

// What CUDA's interfaces say where there is no device that TRILANE_DEVICE admits.
struct NoDevice {
    // cudaError_t: 35, cudaErrorInsufficientDriver, for want of a driver or of a newer one; else
    // 100, cudaErrorNoDevice.
    int runtime_code;
    std::string message;  // the reason by type of device
};
std::optional<NoDevice> no_device();  // nothing if there is one

void reset_registry_for_tests();  // drops contexts and factories

}  // namespace trilane::core
