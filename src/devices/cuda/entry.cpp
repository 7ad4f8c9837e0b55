// The factory of cuda devices.
#include "devices/cuda/entry.h"

#include "core/error.h"
#include "devices/cuda/compiler.h"
#include "devices/cuda/device.h"
#include "devices/cuda/module.h"
#include "devices/cuda/nvrtc_table.h"

namespace trilane::cuda {

core::DeviceFactory cuda_factory(const core::DeviceHooks& hooks) {
    core::DeviceFactory factory;
    factory.type = core::DeviceType::Cuda;
    factory.count = [](int, std::string& why_not) {
        try {
            const DriverTable& driver = driver_table();
            int count = 0;
            const Result result = driver.cuDeviceGetCount(&count);
            if (result != result::kSuccess) throw_driver_error(driver, result, "cuDeviceGetCount");
            if (count == 0) why_not = "the driver sees no GPU";
            return count;
        } catch (const core::Error& error) {
            why_not = error.message();
            return 0;
        }
    };
    factory.has_driver = driver_usable;  // count() was asked before
    factory.create = [&hooks](int ordinal) -> std::unique_ptr<core::Device> {
        if (driver_forked())
            core::throw_error(core::ErrorKind::DeviceError,
                              "the cuda device cannot be opened: CUDA was used before this process "
                              "was forked: start processes with the 'spawn' method");
        return std::make_unique<CudaDevice>(driver_table(), ordinal, hooks);
    };
    return factory;
}

bool has_compiler() { return nvrtc_is_there(13); }

std::string compile_log(const core::Program& program, int arch) {
    return Compiler(13, arch).compile(program).log;
}

int launch_raw(const core::LaunchParams& p, int count) {
    const DriverTable& driver = driver_table();
    const FunctionHandle handle = reinterpret_cast<const LoadedFunction*>(p.function)->handle;
    Result result = result::kSuccess;
    for (int i = 0; i < count && result == result::kSuccess; ++i)
        result = driver.cuLaunchKernel(handle, p.grid.x, p.grid.y, p.grid.z, p.block.x, p.block.y,
                                       p.block.z, static_cast<unsigned>(p.shared_bytes),
                                       reinterpret_cast<StreamHandle>(p.stream),
                                       const_cast<void**>(p.arguments), nullptr);
    return result;
}

}  // namespace trilane::cuda
