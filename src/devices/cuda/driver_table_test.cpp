// Finding the driver: what users without one, or with an old one, are told.
#include "devices/cuda/driver_table.h"

#include "devices/cuda/entry.h"
#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using testing::FakeCuda;

TEST_F(FakeCuda, FillsTheTable) {
    const DriverTable& driver = driver_table();
    EXPECT_EQ(driver.version, 13000);
    EXPECT_NE(driver.cuLaunchKernel, nullptr);
    EXPECT_EQ(&driver, &driver_table());
    EXPECT_EQ(result_text(driver, 1), "CUDA_ERROR_INVALID_VALUE (1): text of the fake driver");
    EXPECT_EQ(result_text(driver, 12345).substr(0, 20), "CUDA error (12345): ");
}

TEST_F(FakeCuda, AnOldDriverIsNamed) {
    machine->version = 11080;
    EXPECT_ERROR(driver_table(), DeviceError, "too old", "11.8", "12.0", "525");
    EXPECT_ERROR(driver_table(), DeviceError, "too old");  // told again
    EXPECT_FALSE(driver_usable());
}

TEST_F(FakeCuda, AFunctionThatIsMissingIsNamed) {
    machine->lacking = "cuLaunchKernel";
    EXPECT_ERROR(driver_table(), DeviceError, "has no cuLaunchKernel");
}

TEST_F(FakeCuda, FunctionsOfNewerDriversMayBeMissing) {
    machine->lacking = "cuFuncGetParamInfo";
    auto device = make_device();
    const core::RawModule module =
        device->load(device->compile(testing::program_of(testing::kAddSource)));
    EXPECT_FALSE(device->function(module, "add").parameters_known);
    device->unload(module);
}

TEST_F(FakeCuda, NoDeviceIsNoDriverProblem) {
    machine->device_count = 0;
    EXPECT_ERROR(driver_table(), DeviceError, "CUDA_ERROR_NO_DEVICE (100)", "GPU");
    EXPECT_TRUE(driver_usable());
}

TEST(NoDriver, SaysWhatToInstall) {
    if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "this machine has a driver";
    const core::testing::ScopedVariable none("TRILANE_CUDA_LIBRARY", nullptr);
    reset_driver_for_tests();
    static const core::DeviceHooks hooks;
    std::string why;
    const core::DeviceFactory factory = cuda_factory(hooks);
    EXPECT_EQ(factory.count(0, why), 0);
    EXPECT_FALSE(factory.has_driver());
    EXPECT_EQ(why, "libcuda.so.1 is not found: install the NVIDIA driver");
    reset_driver_for_tests();
}

TEST(NoDriver, AWrongPathIsNamed) {
    const core::testing::ScopedVariable wrong("TRILANE_CUDA_LIBRARY", "/nowhere/libcuda.so.1");
    reset_driver_for_tests();
    EXPECT_ERROR(driver_table(), DeviceError, "TRILANE_CUDA_LIBRARY", "/nowhere/libcuda.so.1");
    reset_driver_for_tests();
}

}  // namespace
}  // namespace trilane::cuda
