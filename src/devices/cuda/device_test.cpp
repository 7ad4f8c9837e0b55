// The cuda device over the fake driver: every function does what core/device.h says.
#include "devices/cuda/device.h"

#include <array>
#include <cstring>
#include <numeric>
#include <thread>

#include "devices/cuda/entry.h"
#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using core::CopyKind;
using core::DevicePtr;
using core::ErrorKind;
using testing::FakeCuda;
using testing::kAddSource;
using testing::program_of;

DevicePtr address_of(const void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

class CudaDeviceTest : public FakeCuda {
  protected:
    void SetUp() override { device = make_device(); }
    void TearDown() override {
        device.reset();
        EXPECT_EQ(machine->alive(), 0);
    }
    std::unique_ptr<CudaDevice> device;
};

TEST_F(CudaDeviceTest, PropertiesAreTheDriversAndNeedNoContext) {
    const core::DeviceProperties& p = device->properties();
    EXPECT_EQ(p.type, core::DeviceType::Cuda);
    EXPECT_EQ(p.name, "Fake GPU");
    EXPECT_EQ(p.pci_bus_id, "0000:07:00.0");
    EXPECT_EQ(p.uuid.size(), 16u);
    EXPECT_EQ(p.total_memory, size_t{1} << 30);
    EXPECT_EQ(p.compute_major, 9);
    EXPECT_EQ(p.multiprocessor_count, 132);
    EXPECT_EQ(p.shared_per_block_optin, 232448u);
    EXPECT_EQ(p.attributes.at(16), 132);
    EXPECT_EQ(p.attributes.at(130), 7);  // beyond a gap in the numbers
    EXPECT_EQ(machine->contexts, 0);
}

TEST_F(CudaDeviceTest, AFactoryCountsAndMakesDevices) {
    static const core::DeviceHooks hooks;
    machine->device_count = 3;
    const core::DeviceFactory factory = cuda_factory(hooks);
    std::string why;
    EXPECT_EQ(factory.count(0, why), 3);
    EXPECT_EQ(factory.create(2)->properties().ordinal, 2);
}

TEST_F(CudaDeviceTest, MemoryIsAllocatedCopiedFilledAndFreed) {
    const DevicePtr a = device->allocate(4096, 0);
    std::array<int, 1024> data, back{};
    std::iota(data.begin(), data.end(), 0);
    device->copy(CopyKind::HostToDevice, a, address_of(data.data()), 4096, 0, true);
    const DevicePtr b = device->allocate(4096, 0);
    device->copy(CopyKind::DeviceToDevice, b, a, 4096, 0, true);
    device->fill(b, 7, 4, 2, 1, 0, 0);
    device->copy(CopyKind::DeviceToHost, address_of(back.data()), b, 4096, 0, true);
    EXPECT_EQ(back[0], 7);
    EXPECT_EQ(back[1], 7);
    EXPECT_EQ(back[2], 2);
    EXPECT_EQ(back[1023], 1023);
    EXPECT_EQ(device->memory_info().free_bytes, (size_t{1} << 30) - 8192);
    device->free(a, 0);
    device->free(b, 0);
    EXPECT_EQ(machine->used, 0u);
}

TEST_F(CudaDeviceTest, FillsOfEachWidthInRowsAndOneDimension) {
    const DevicePtr a = device->allocate(256, 0);
    device->fill(a, 0, 1, 256, 1, 0, 0);
    device->fill(a, 0xab, 1, 3, 2, 16, 0);
    device->fill(a + 32, 0x1234, 2, 2, 2, 16, 0);
    device->fill(a + 64, 0x12345678, 4, 2, 2, 16, 0);
    device->fill(a + 96, 0x4321, 2, 4, 2, 8, 0);  // rows without a gap
    std::array<unsigned char, 256> back;
    device->copy(CopyKind::DeviceToHost, address_of(back.data()), a, 256, 0, true);
    EXPECT_EQ(back[2], 0xab);
    EXPECT_EQ(back[3], 0);
    EXPECT_EQ(back[18], 0xab);
    EXPECT_EQ(back[34], 0x34);
    EXPECT_EQ(back[36], 0);
    EXPECT_EQ(back[51], 0x12);
    EXPECT_EQ(back[71], 0x12);
    EXPECT_EQ(back[72], 0);
    EXPECT_EQ(back[111], 0x43);
    EXPECT_EQ(back[112], 0);
    device->free(a, 0);
}

TEST_F(CudaDeviceTest, RectanglesAreCopiedWhateverTheirPitches) {
    std::array<unsigned char, 200> from, to{};
    std::iota(from.begin(), from.end(), static_cast<unsigned char>(0));
    const DevicePtr a = device->allocate(256, 0);
    core::Copy3D p;
    p.kind = CopyKind::HostToDevice;
    p.src = address_of(from.data());
    p.dst = a;
    p.src_pitch = 10;
    p.src_slice_pitch = 37;  // no multiple of the pitch
    p.dst_pitch = 8;
    p.dst_slice_pitch = 32;
    p.width_bytes = 5;
    p.height = 3;
    p.depth = 2;
    device->copy_3d(p, 0, true);
    core::Copy3D q;
    q.kind = CopyKind::DeviceToHost;
    q.src = a;
    q.dst = address_of(to.data());
    q.src_pitch = 8;
    q.src_slice_pitch = 32;
    q.dst_pitch = 5;
    q.dst_slice_pitch = 15;
    q.width_bytes = 5;
    q.height = 3;
    q.depth = 2;
    device->copy_3d(q, 0, true);
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 5; ++x)
                EXPECT_EQ(to[z * 15 + y * 5 + x], from[z * 37 + y * 10 + x]);
    device->free(a, 0);
}

TEST_F(CudaDeviceTest, LargePageableCopiesGoThroughThePinnedRing) {
    const size_t nbytes = (size_t{9} << 20) + 12345;
    std::vector<unsigned char> data(nbytes), back(nbytes);
    for (size_t i = 0; i < nbytes; ++i) data[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    const DevicePtr a = device->allocate(nbytes, 0);
    device->copy(CopyKind::HostToDevice, a, address_of(data.data()), nbytes, 0, false);
    EXPECT_GE(machine->staged_copies, 5);
    const int before = machine->staged_copies;
    device->copy(CopyKind::DeviceToHost, address_of(back.data()), a, nbytes, 0, true);
    EXPECT_GE(machine->staged_copies, before + 5);
    EXPECT_EQ(data, back);
    // Pinned memory goes by itself.
    void* pinned = device->allocate_host(nbytes, 0);
    const int calls = machine->staged_copies;
    device->copy(CopyKind::HostToDevice, a, address_of(pinned), nbytes, 0, true);
    EXPECT_LE(machine->staged_copies, calls + 1);
    device->free_host(pinned);
    device->free(a, 0);
}

TEST_F(CudaDeviceTest, WithoutPinnedMemoryLargeCopiesGoPlainly) {
    const size_t nbytes = size_t{7} << 20;
    std::vector<char> data(nbytes, 'x');
    const DevicePtr a = device->allocate(nbytes, 0);
    machine->fail_with = result::kOutOfMemory;
    machine->fail_at = 3;  // after the look at the current context and at the pointer
    device->copy(CopyKind::HostToDevice, a, address_of(data.data()), nbytes, 0, true);
    EXPECT_TRUE(machine->has_failed);
    EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(a), data.data(), nbytes), 0);
    EXPECT_EQ(machine->host_blocks, 0);
    device->free(a, 0);
}

TEST_F(CudaDeviceTest, HostMemoryIsPinnedRegisteredAndMapped) {
    void* pinned = device->allocate_host(1000, 2);
    EXPECT_EQ(device->host_device_pointer(pinned), address_of(pinned));
    device->free_host(pinned);
    std::vector<char> own(4096);
    device->register_host(own.data(), own.size(), 0);
    EXPECT_EQ(device->host_device_pointer(own.data()), address_of(own.data()));
    EXPECT_ERROR(device->register_host(own.data(), own.size(), 0), InvalidArgument,
                 "cuMemHostRegister");
    device->unregister_host(own.data());
    const DevicePtr managed = device->allocate_managed(512, 0);
    std::memset(reinterpret_cast<void*>(managed), 1, 512);
    device->free(managed, 0);
}

TEST_F(CudaDeviceTest, StreamsEventsAndTimes) {
    const core::RawStream stream = device->create_stream(true, -1);
    const core::RawEvent start = device->create_event(true, false);
    const core::RawEvent stop = device->create_event(true, true);
    device->record_event(start, stream);
    device->record_event(stop, stream);
    device->stream_wait_event(0, stop);
    EXPECT_TRUE(device->event_done(stop));
    EXPECT_TRUE(device->stream_done(stream));
    device->synchronize_event(stop);
    device->synchronize_stream(stream);
    device->synchronize();
    EXPECT_GE(device->event_elapsed_ms(start, stop), 0.0f);
    device->destroy_event(start);
    device->destroy_event(stop);
    device->destroy_stream(stream);
}

TEST_F(CudaDeviceTest, HostFunctionsRunAndKeepTheirExceptions) {
    int ran = 0;
    device->host_function(0, [&] { ++ran; });
    EXPECT_EQ(ran, 1);
    ::testing::internal::CaptureStderr();
    device->host_function(0, [] { throw std::runtime_error("from inside"); });
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("from inside"), std::string::npos);
}

TEST_F(CudaDeviceTest, ProgramsAreCompiledLoadedAndLaunched) {
    const core::Image image = device->compile(program_of(kAddSource));
    EXPECT_EQ(image.format, "cubin");
    const core::RawModule module = device->load(image);
    EXPECT_EQ(device->function_names(module),
              (std::vector<std::string>{"add", "fault", "nothing"}));
    const core::FunctionInfo add = device->function(module, "add");
    EXPECT_EQ(add.name, "add");
    EXPECT_TRUE(add.parameters_known);
    ASSERT_EQ(add.parameters.size(), 4u);
    EXPECT_EQ(add.parameters[0].size, 8u);
    EXPECT_EQ(add.parameters[3].size, 4u);
    EXPECT_EQ(add.parameters[3].kind, core::ParameterKind::Unknown);
    EXPECT_EQ(add.attributes.num_regs, 40);
    EXPECT_EQ(add.attributes.max_dynamic_shared_bytes, 49152u);
    device->set_function_attribute(add.raw, 8, 65536);
    EXPECT_EQ(device->function(module, "add").attributes.max_dynamic_shared_bytes, 65536u);
    EXPECT_EQ(device->function(module, "add").raw, add.raw);
    EXPECT_EQ(device->occupancy(add.raw, 256, 0), 8);
    EXPECT_ERROR(device->function(module, "absent"), NotFound, "absent");
    EXPECT_ERROR(device->global(module, "absent"), NotFound, "absent");
    EXPECT_EQ(device->global(module, "symbol").nbytes, 64u);

    std::array<float, 4> a{1, 2, 3, 4}, b{10, 20, 30, 40}, c{};
    const float *pa = a.data(), *pb = b.data();
    float* pc = c.data();
    int n = 4;
    void* arguments[] = {&pa, &pb, &pc, &n};
    core::LaunchParams params;
    params.function = add.raw;
    params.block = {4, 1, 1};
    params.arguments = arguments;
    params.argument_count = 4;
    device->launch(params);
    EXPECT_EQ(c, (std::array<float, 4>{11, 22, 33, 44}));
    params.cooperative = true;
    device->launch(params);
    EXPECT_EQ(machine->cooperative_launches, 1);
    params.cooperative = false;
    params.block.x = 2048;
    EXPECT_ERROR(device->launch(params), InvalidArgument, "launch of add",
                 "CUDA_ERROR_INVALID_VALUE");
    device->unload(module);
}

TEST_F(CudaDeviceTest, RefusedProgramsAndImagesSayWhy) {
    EXPECT_ERROR(device->compile(program_of("refuse")), CompileError, "kernel.cu(1)", "refused");
    core::Image image;
    image.bytes = "not an image";
    EXPECT_ERROR(device->load(image), InvalidArgument, "neither a cubin");
    image.bytes = "";
    EXPECT_ERROR(device->load(image), InvalidArgument, "empty");
    image.format = "cpu-object";
    EXPECT_ERROR(device->load(image), InvalidArgument, "cpu device");
    image.format = "ptx";
    image.bytes = ".version 9.0\nbroken";
    EXPECT_ERROR(device->load(image), InvalidArgument, "ptxas: line 3: broken");
}

TEST_F(CudaDeviceTest, TheContextOfOthersStaysCurrent) {
    auto foreign = reinterpret_cast<ContextHandle>(uintptr_t{0x7777});
    const DriverTable& driver = driver_table();
    device->make_current();
    driver.cuCtxPushCurrent(foreign);
    const DevicePtr a = device->allocate(512, 0);
    ContextHandle current = nullptr;
    driver.cuCtxGetCurrent(&current);
    EXPECT_EQ(current, foreign);
    device->free(a, 0);
    driver.cuCtxGetCurrent(&current);
    EXPECT_EQ(current, foreign);
    driver.cuCtxPopCurrent(&current);
    // A thread that has none gets ours.
    std::thread([&] {
        device->synchronize();
        ContextHandle own = nullptr;
        driver.cuCtxGetCurrent(&own);
        EXPECT_NE(own, nullptr);
    }).join();
}

TEST_F(CudaDeviceTest, AFaultOfAKernelIsKeptAndNamed) {
    const core::RawModule module = device->load(device->compile(program_of(kAddSource)));
    core::LaunchParams params;
    params.function = device->function(module, "nothing").raw;
    device->launch(params);
    params.function = device->function(module, "fault").raw;
    device->launch(params);
    const DevicePtr memory = 4096;
    EXPECT_ERROR(device->synchronize(), KernelFault, "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
                 "fault, nothing", "trilane check");
    const int calls = machine->calls;
    EXPECT_ERROR(device->allocate(8, 0), KernelFault, "allocate", "fault, nothing");
    EXPECT_ERROR(device->launch(params), KernelFault, "launch");
    EXPECT_ERROR(device->copy(CopyKind::DeviceToDevice, memory, memory, 8, 0, true), KernelFault,
                 "copy");
    ::testing::internal::CaptureStderr();
    device->free(memory, 0);
    device->destroy_stream(77);
    device->destroy_event(77);
    device->unload(module);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(machine->calls, calls);  // the driver was left alone
    device.reset();
    machine->lose_everything();
}

class AsyncAllocation : public FakeCuda {};

TEST_F(AsyncAllocation, ComesFromAPoolOfTheDriver) {
    const core::testing::ScopedVariable choice("TRILANE_CUDA_ALLOC", "async");
    auto device = make_device();
    machine->capacity = 4096;
    const DevicePtr a = device->allocate(4096, 0);
    EXPECT_EQ(machine->pools, 1);
    EXPECT_ERROR(device->allocate(4096, 0), OutOfMemory, "cuMemAllocFromPoolAsync");
    device->free(a, 0);
    const DevicePtr managed = device->allocate_managed(64, 1);
    device->free(managed, 0);
    device.reset();
    EXPECT_EQ(machine->alive(), 0);
}

TEST_F(AsyncAllocation, AWrongChoiceIsRefused) {
    const core::testing::ScopedVariable choice("TRILANE_CUDA_ALLOC", "often");
    EXPECT_ERROR(make_device(), InvalidArgument, "often", "sync or async");
}

}  // namespace
}  // namespace trilane::cuda
