// For tests of the cpu device: compile a text, launch a kernel on host arrays.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "devices/cpu/device.h"

namespace trilane::cpu::testing {

// One device for all tests of the process; kernels' text and reports are kept here.
struct TestDevice {
    TestDevice() : device(0, &make_hooks()) {}
    core::DeviceHooks& make_hooks() {
        hooks.print = [this](std::string_view text) { printed += text; };
        return hooks;
    }
    core::DeviceHooks hooks;
    std::string printed;
    CpuDevice device;
};

inline TestDevice& test_device() {
    static TestDevice* device = new TestDevice;
    return *device;
}

// A compiled text. Kernels are looked up by their extern "C" name.
class Program {
  public:
    explicit Program(std::string source, std::vector<std::string> options = {}) {
        core::Program program;
        program.source = std::move(source);
        program.options = std::move(options);
        image = device().compile(program);
        module_ = device().load(image);
    }
    ~Program() { device().unload(module_); }
    Program(const Program&) = delete;

    static CpuDevice& device() { return test_device().device; }
    core::RawModule module() const { return module_; }
    core::FunctionInfo function(const std::string& name) {
        return device().function(module_, name);
    }

    template <typename... Args>
    void launch(const std::string& name, core::Dim3 grid, core::Dim3 block, Args... arguments) {
        launch_with(name, grid, block, 0, false, arguments...);
    }
    template <typename... Args>
    void launch_with(const std::string& name, core::Dim3 grid, core::Dim3 block, size_t shared,
                     bool cooperative, Args... arguments) {
        std::vector<const void*> pointers{static_cast<const void*>(&arguments)...};
        core::LaunchParams params;
        params.function = function(name).raw;
        params.grid = grid;
        params.block = block;
        params.shared_bytes = shared;
        params.cooperative = cooperative;
        params.arguments = const_cast<void* const*>(pointers.data());
        params.argument_count = pointers.size();
        device().launch(params);
    }

    core::Image image;

  private:
    core::RawModule module_ = 0;
};

// Runs `function`, gives the message of the core::Error it throws ("" if none) and its kind.
template <typename Function>
std::string error_of(Function function, core::ErrorKind* kind = nullptr) {
    try {
        function();
    } catch (const core::Error& error) {
        if (kind != nullptr) *kind = error.kind();
        return error.message() + "\n" + error.detail();
    }
    return {};
}

}  // namespace trilane::cpu::testing
