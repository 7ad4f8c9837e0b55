// The C entry points.
#include "devices/cpu/entry.h"

#include <cstdio>
#include <exception>

#include "devices/cpu/device.h"

int trilane_cpu_abi() { return kTrilaneCpuAbi; }

trilane::core::Device* trilane_cpu_create(int ordinal, const trilane::core::DeviceHooks* hooks,
                                          char* error, int error_bytes) {
    try {
        return new trilane::cpu::CpuDevice(ordinal, hooks);
    } catch (const std::exception& failure) {
        if (error != nullptr && error_bytes > 0)
            std::snprintf(error, static_cast<size_t>(error_bytes), "%s", failure.what());
        return nullptr;
    }
}
