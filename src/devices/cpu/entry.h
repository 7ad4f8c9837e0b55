// The C entry points of libtrilane_cpu.so: the only symbols that it exports. It is opened on first
// use, privately, so that the LLVM inside never meets another one in the process.
#pragma once

namespace trilane::core {
class Device;
struct DeviceHooks;
}  // namespace trilane::core

extern "C" {
// A number made of core/device.h and what it includes when both sides are built; the loader refuses
// another.
inline constexpr int kTrilaneCpuAbi = TRILANE_CPU_ABI;
__attribute__((visibility("default"))) int trilane_cpu_abi();
// nullptr on failure, with the reason in `error` (`error_bytes` long).
__attribute__((visibility("default"))) trilane::core::Device* trilane_cpu_create(
    int ordinal, const trilane::core::DeviceHooks* hooks, char* error, int error_bytes);
}
