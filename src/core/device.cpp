// What a Device does unless it says otherwise.
#include "core/device.h"

namespace trilane::core {

const char* device_type_name(DeviceType type) {
    switch (type) {
        case DeviceType::Cpu:
            return "cpu";
        case DeviceType::Cuda:
            return "cuda";
        case DeviceType::Fake:
            return "fake";
    }
    return "unknown";
}

void Device::note_allocation(DevicePtr, size_t, std::string_view) {}
void Device::forget_allocation(DevicePtr) noexcept {}
std::vector<CheckReport> Device::take_check_reports() { return {}; }

}  // namespace trilane::core
