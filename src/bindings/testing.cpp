// Hooks of the Python tests: the fake device of core/testing as devices of the process. Not in
// releases.
#ifdef TRILANE_TESTS
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <tuple>

#include "array/elementwise.h"
#include "bindings/arguments.h"
#include "bindings/bindings.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/testing/fake_device.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;
using core::testing::FakeMachine;
using core::testing::FakeMachinePtr;
using ParameterSpec = std::tuple<std::string, std::string, std::string, uint32_t>;

FakeMachinePtr& machine() {
    static FakeMachinePtr& instance = *new FakeMachinePtr(std::make_shared<FakeMachine>());
    return instance;
}

std::vector<std::string>& last_arguments() {
    static std::vector<std::string>& instance = *new std::vector<std::string>;
    return instance;
}

core::ParameterKind kind_of(const std::string& name) {
    using core::ParameterKind;
    if (name == "int") return ParameterKind::Int;
    if (name == "uint") return ParameterKind::UInt;
    if (name == "float") return ParameterKind::Float;
    if (name == "bool") return ParameterKind::Bool;
    if (name == "pointer") return ParameterKind::Pointer;
    return ParameterKind::Struct;
}

// A kernel that does nothing but remember the bytes of its arguments.
void add_kernel(const std::string& name, const std::vector<ParameterSpec>& parameters,
                bool parameters_known, bool remember) {
    core::testing::FakeKernel kernel;
    kernel.parameters_known = parameters_known;
    std::vector<uint32_t> sizes;
    for (const auto& [pname, c_type, kind, size] : parameters) {
        kernel.parameters.push_back(core::testing::parameter(pname, c_type, kind_of(kind), size));
        sizes.push_back(size);
    }
    kernel.run = [sizes, remember](const core::LaunchParams& params) {
        if (!remember) return;
        last_arguments().clear();
        for (size_t i = 0; i < params.argument_count && i < sizes.size(); ++i)
            last_arguments().emplace_back(static_cast<const char*>(params.arguments[i]), sizes[i]);
    };
    machine()->kernels[name] = std::move(kernel);
}

// float *a, float *b, float *c, int n: c = a + b, on whatever grid.
void add_vector_kernel() {
    using core::ParameterKind;
    core::testing::FakeKernel kernel;
    for (const char* name : {"a", "b", "c"})
        kernel.parameters.push_back(
            core::testing::parameter(name, "float *", ParameterKind::Pointer, 8));
    kernel.parameters.push_back(core::testing::parameter("n", "int", ParameterKind::Int, 4));
    kernel.run = [](const core::LaunchParams& params) {
        float* arrays[3];
        for (int i = 0; i < 3; ++i) std::memcpy(&arrays[i], params.arguments[i], 8);
        int n;
        std::memcpy(&n, params.arguments[3], 4);
        for (int i = 0; i < n; ++i) arrays[2][i] = arrays[0][i] + arrays[1][i];
    };
    machine()->kernels["add_vectors"] = std::move(kernel);
}

void use_fake_devices(int count) {
    core::DeviceFactory factory;
    factory.type = core::DeviceType::Fake;
    factory.count = [count](int asked, std::string&) { return asked > 0 ? asked : count; };
    factory.create = [](int ordinal) {
        return core::testing::make_fake_device(machine(), ordinal);
    };
    core::register_device_factory(std::move(factory));
    add_vector_kernel();
}

core::ErrorKind error_kind(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(core::ErrorKind::Internal); ++i)
        if (name == core::kind_name(static_cast<core::ErrorKind>(i)))
            return static_cast<core::ErrorKind>(i);
    core::throw_error(core::ErrorKind::InvalidArgument, "testing: no such kind: got '{}'", name);
}

// What the arguments of a launch are to the driver: numbers of 8 bytes, read as far as the
// parameter goes. Pointers and integers only.
std::vector<void*> driver_arguments(const ArgumentList& list) {
    std::vector<void*> pointers;
    for (const core::Argument& argument : list.span()) {
        if (argument.kind == core::ArgumentKind::Float ||
            argument.kind == core::ArgumentKind::Bytes)
            core::throw_error(core::ErrorKind::NotSupported,
                              "testing: time_launches takes memory and integers");
        pointers.push_back(const_cast<uint64_t*>(&argument.bits));
    }
    return pointers;
}

LaunchRaw launch_raw = nullptr;  // the driver's own

// Nanoseconds of each of `count` launches: by the driver's own function ("raw"), the same with the
// GIL released and taken around each ("raw unlocked"), or the core's ways.
double time_launches(const FunctionHandle& self, nb::handle grid, nb::handle block, nb::tuple args,
                     int count, const std::string& way) {
    core::Function& function = *self.ptr;
    core::LaunchConfig config;
    config.grid = dim_of(grid, "grid");
    config.block = dim_of(block, "block");
    const ArgumentList list(args, function);
    const std::vector<void*> pointers = driver_arguments(list);
    core::LaunchParams params;
    params.function = function.info().raw;
    params.grid = config.grid;
    params.block = config.block;
    params.stream = core::current_stream(function.context())->raw();
    params.arguments = pointers.data();
    params.argument_count = pointers.size();
    const bool raw = way.starts_with("raw");
    if (raw && function.context()->properties().type != core::DeviceType::Cuda)
        core::throw_error(core::ErrorKind::NotSupported,
                          "testing: raw launches are the cuda device's");
    core::launch(function, config, list.span());  // the context is current from here on
    int result = 0;
    std::function<void()> work;
    if (way == "raw")
        work = [&] { result = launch_raw(params, count); };
    else if (way == "raw unlocked")
        work = [&] {
            for (int i = 0; i < count && result == 0; ++i) {
                nb::gil_scoped_release unlocked;
                result = launch_raw(params, 1);
            }
        };
    else if (way == "packed")
        work = [&] {
            for (int i = 0; i < count; ++i)
                core::launch_packed(function, config, pointers.data(), pointers.size());
        };
    else if (way == "checked")
        work = [&] {
            for (int i = 0; i < count; ++i) core::launch(function, config, list.span());
        };
    else
        core::throw_error(core::ErrorKind::InvalidArgument, "testing: no such way: got '{}'", way);
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (result != 0)
        core::throw_error(core::ErrorKind::DeviceError, "testing: cuLaunchKernel gave {}", result);
    return took.count() / count;
}

}  // namespace

void bind_testing(nb::module_& m, LaunchRaw raw) {
    launch_raw = raw;
    m.def("use_fake_devices", use_fake_devices, "count"_a = 1,
          "Before the first use of a device, with TRILANE_DEVICE=fake.");
    m.def("add_kernel", add_kernel, "name"_a, "parameters"_a, "parameters_known"_a = true,
          "remember"_a = true,
          "A kernel of every later module whose source holds `name`. `parameters` are (name, C "
          "type, kind, bytes).");
    m.def("last_arguments", [] {
        nb::list result;
        for (const std::string& bytes : last_arguments())
            result.append(nb::bytes(bytes.data(), bytes.size()));
        return result;
    });
    m.def(
        "add_global",
        [](const std::string& name, nb::bytes initial) {
            machine()->globals[name] = std::string(initial.c_str(), initial.size());
        },
        "name"_a, "initial"_a);
    m.def(
        "fail",
        [](std::string entry, int n, const std::string& kind) {
            machine()->fail(std::move(entry), n, error_kind(kind));
        },
        "entry"_a, "n"_a = 1, "kind"_a = "DeviceError",
        "The n-th call of a device function from now fails.");
    m.def("set_capacity", [](size_t nbytes) { machine()->capacity = nbytes; }, "nbytes"_a);
    m.def("set_hold", [](bool hold) { machine()->hold = hold; }, "hold"_a);
    m.def("finish", [](uint64_t stream) { machine()->finish(stream); }, "stream"_a = 0);
    m.def(
        "calls_of", [](const std::string& entry) { return machine()->calls_of(entry); }, "entry"_a);
    m.def("used_bytes", [] { return machine()->used; });
    m.def(
        "raise_error",
        [](const std::string& kind, std::string message, std::string detail) {
            core::throw_error_with_detail(error_kind(kind), std::move(message), std::move(detail));
        },
        "kind"_a, "message"_a, "detail"_a = "");
    m.def("time_launches", time_launches, "function"_a, "grid"_a, "block"_a, "args"_a, "count"_a,
          "way"_a,
          "Nanoseconds per launch from C++: 'raw' cuLaunchKernel, 'raw unlocked' by the GIL, the "
          "core's 'packed' and 'checked'.");
    m.def("force_gpu_forms", array::force_gpu_forms, "force"_a.none(),
          "True or False: kernels of arrays take the forms for GPUs on every device, or on none; "
          "None: as the device is.");
}

}  // namespace trilane::bindings
#endif
