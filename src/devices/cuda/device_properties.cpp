// What a device says of itself.
#include <algorithm>

#include "devices/cuda/device.h"

namespace trilane::cuda {
namespace {

// Attributes are numbered from 1. The numbers have gaps, and newer drivers know more of them: the
// end is a run of numbers that the driver does not know.
constexpr int kLongestGap = 16, kMostAttributes = 1024;

void read_attributes(const DriverTable& driver, DeviceHandle handle,
                     std::map<int, int>& attributes) {
    for (int number = 1, unknown = 0; number < kMostAttributes && unknown < kLongestGap; ++number) {
        int value = 0;
        if (driver.cuDeviceGetAttribute(&value, number, handle) == result::kSuccess) {
            attributes.emplace(number, value);
            unknown = 0;
        } else {
            ++unknown;
        }
    }
}

}  // namespace

core::DeviceProperties cuda_properties(const DriverTable& driver, DeviceHandle handle,
                                       int ordinal) {
    auto require = [&](Result result, const char* call) {
        if (result != result::kSuccess) throw_driver_error(driver, result, call);
    };
    core::DeviceProperties p;
    p.type = core::DeviceType::Cuda;
    p.ordinal = ordinal;
    char text[256] = "";
    require(driver.cuDeviceGetName(text, sizeof text, handle), "cuDeviceGetName");
    p.name = text;
    require(driver.cuDeviceGetPCIBusId(text, sizeof text, handle), "cuDeviceGetPCIBusId");
    p.pci_bus_id = text;
    Uuid uuid{};
    require(driver.cuDeviceGetUuid(&uuid, handle), "cuDeviceGetUuid");
    p.uuid.assign(uuid.bytes, sizeof uuid.bytes);
    require(driver.cuDeviceTotalMem(&p.total_memory, handle), "cuDeviceTotalMem");
    read_attributes(driver, handle, p.attributes);
    auto get = [&](int attribute) {
        const auto found = p.attributes.find(attribute);
        if (found == p.attributes.end())
            core::throw_error(core::ErrorKind::DeviceError,
                              "cuDeviceGetAttribute: the driver does not say attribute {}: "
                              "reinstall the NVIDIA driver",
                              attribute);
        return found->second;
    };
    auto size = [&](int attribute) { return static_cast<uint32_t>(std::max(0, get(attribute))); };
    p.compute_major = get(kComputeMajor);
    p.compute_minor = get(kComputeMinor);
    p.warp_size = get(kWarpSize);
    p.max_threads_per_block = get(kMaxThreadsPerBlock);
    p.max_block = {size(kMaxBlockX), size(kMaxBlockY), size(kMaxBlockZ)};
    p.max_grid = {size(kMaxGridX), size(kMaxGridY), size(kMaxGridZ)};
    p.shared_per_block = size(kSharedPerBlock);
    p.shared_per_block_optin = std::max(size(kSharedPerBlockOptin), size(kSharedPerBlock));
    p.constant_memory = size(kConstantMemory);
    p.multiprocessor_count = get(kMultiprocessorCount);
    return p;
}

}  // namespace trilane::cuda
