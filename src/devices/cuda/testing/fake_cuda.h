// For tests: the process sees the fake driver and the fake NVRTC, and a device made on them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/error.h"
#include "core/testing/expect_error.h"
#include "core/testing/scoped_variable.h"
#include "devices/cuda/device.h"
#include "devices/cuda/testing/fake_driver.h"
#include "devices/cuda/testing/watchdog.h"

namespace trilane::cuda::testing {

constexpr const char* kAddSource =
    "extern \"C\" __global__ void add(const float *a, const float *b, float *c, int n) {}\n"
    "extern \"C\" __global__ void fault(float *a) {}\n"
    "extern \"C\" __global__ void nothing() {}\n";

inline core::Program program_of(const char* source) {
    core::Program program;
    program.source = source;
    return program;
}

class FakeCuda : public ::testing::Test {
  protected:
    FakeCuda()
        : library_("TRILANE_CUDA_LIBRARY", TRILANE_FAKE_CUDA),
          nvrtc_("TRILANE_NVRTC", TRILANE_FAKE_NVRTC) {
        void* opened = dlopen(TRILANE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
        control = reinterpret_cast<decltype(control)>(
            opened == nullptr ? nullptr : dlsym(opened, "trilane_fake_driver"));
        if (control == nullptr) std::abort();
        machine = control();
        reset_driver_for_tests();
    }
    ~FakeCuda() override { reset_driver_for_tests(); }

    std::unique_ptr<CudaDevice> make_device(int ordinal = 0) {
        return std::make_unique<CudaDevice>(driver_table(), ordinal, core::DeviceHooks{});
    }

    FakeDriver* (*control)() = nullptr;  // sets the machine back to how it should be
    FakeDriver* machine = nullptr;

  private:
    Watchdog watchdog_;
    core::testing::ScopedVariable library_, nvrtc_;
};

}  // namespace trilane::cuda::testing
