// Graphs, peers, clusters, handles for other processes, and waits, over the fake driver.
#include <array>

#include "core/background.h"
#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using core::CaptureMode;
using core::CopyKind;
using core::DevicePtr;
using testing::FakeCuda;
using testing::kAddSource;
using testing::program_of;

class FeaturesTest : public FakeCuda {
  protected:
    void SetUp() override {
        machine->device_count = 2;
        device = make_device();
        stream = device->create_stream(false, 0);
        module = device->load(device->compile(program_of(kAddSource)));
    }
    void TearDown() override {
        device->unload(module);
        device->destroy_stream(stream);
        device.reset();
        EXPECT_EQ(machine->alive(), 0);
    }
    void launch_add(DevicePtr a, DevicePtr out, core::Dim3 cluster = {0, 0, 0},
                    bool cooperative = false, uint32_t blocks = 4) {
        int n = 4;
        void* arguments[] = {&a, &a, &out, &n};
        core::LaunchParams params;
        params.function = device->function(module, "add").raw;
        params.grid = {blocks, 1, 1};
        params.block = {64, 1, 1};
        params.stream = stream;
        params.arguments = arguments;
        params.argument_count = 4;
        params.cluster = cluster;
        params.cooperative = cooperative;
        device->launch(params);
    }
    float first(DevicePtr address) {
        float value = 0;
        device->copy(CopyKind::DeviceToHost, reinterpret_cast<DevicePtr>(&value), address, 4, 0,
                     true);
        return value;
    }
    std::unique_ptr<CudaDevice> device;
    core::RawStream stream = 0;
    core::RawModule module = 0;
};

TEST_F(FeaturesTest, CapturedWorkIsDoneAtEachLaunchOfTheGraph) {
    const DevicePtr a = device->allocate(64, 0);
    device->fill(a, 0x3f800000, 4, 16, 1, 0, 0);
    EXPECT_FALSE(device->capturing(stream));
    device->begin_capture(stream, CaptureMode::Relaxed);
    EXPECT_TRUE(device->capturing(stream));
    launch_add(a, a);
    EXPECT_EQ(machine->launches, 0);
    const core::RawGraph graph = device->end_capture(stream);
    EXPECT_FALSE(device->capturing(stream));
    EXPECT_EQ(machine->graphs, 1);  // that which it was made of is gone
    device->upload_graph(graph, stream);
    device->launch_graph(graph, stream);
    device->launch_graph(graph, stream);
    EXPECT_EQ(machine->launches, 2);
    EXPECT_EQ(first(a), 4.0f);
    device->destroy_graph(graph);
    device->free(a, 0);
}

TEST_F(FeaturesTest, AWaitDuringACaptureThrowsAndTheCaptureIsLost) {
    device->begin_capture(stream, CaptureMode::Global);
    EXPECT_ERROR(device->synchronize_stream(stream), DeviceError, "(900)");
    EXPECT_TRUE(device->capturing(stream));
    EXPECT_ERROR(device->end_capture(stream), DeviceError, "(901)");
    EXPECT_FALSE(device->capturing(stream));
    EXPECT_ERROR(device->begin_capture(0, CaptureMode::Global), DeviceError, "(900)");
}

TEST_F(FeaturesTest, PeersAreAskedEnabledAndCopiedTo) {
    auto other = make_device(1);
    EXPECT_TRUE(device->can_access_peer(1));
    EXPECT_FALSE(device->can_access_peer(0));
    EXPECT_ANY_THROW(device->can_access_peer(2));
    device->enable_peer_access(*other);
    device->enable_peer_access(*other);  // another library may have done it, too
    const DevicePtr here = device->allocate(64, 0), there = other->allocate(64, 0);
    device->fill(here, 0x40000000, 4, 16, 1, 0, 0);
    device->copy_peer(there, *other, here, 64, stream, true);
    EXPECT_EQ(machine->peer_copies, 1);
    float value = 0;
    other->copy(CopyKind::DeviceToHost, reinterpret_cast<DevicePtr>(&value), there, 4, 0, true);
    EXPECT_EQ(value, 2.0f);
    device->disable_peer_access(*other);
    device->disable_peer_access(*other);
    other->free(there, 0);
    device->free(here, 0);
}

TEST_F(FeaturesTest, PeersReachTheDriversPoolToo) {
    const core::testing::ScopedVariable choice("TRILANE_CUDA_ALLOC", "async");
    auto one = make_device(0), other = make_device(1);
    one->enable_peer_access(*other);
    EXPECT_EQ(machine->pool_accesses, 1);
    one->disable_peer_access(*other);
    EXPECT_EQ(machine->pool_accesses, 0);
}

TEST_F(FeaturesTest, ClustersAndCooperativeGridsAreCheckedByTheDriverAndExplainedHere) {
    const DevicePtr a = device->allocate(64, 0);
    launch_add(a, a, {2, 1, 1});
    EXPECT_EQ(machine->cluster_launches, 1);
    EXPECT_ANY_THROW(launch_add(a, a, {3, 1, 1}));
    try {
        launch_add(a, a, {3, 1, 1});
    } catch (const core::Error& error) {
        EXPECT_NE(error.message().find("got (4, 1, 1) blocks in clusters of (3, 1, 1)"),
                  std::string::npos)
            << error.message();
    }
    launch_add(a, a, {0, 0, 0}, true);
    EXPECT_EQ(machine->cooperative_launches, 1);
    try {
        launch_add(a, a, {0, 0, 0}, true, 100000);
        FAIL() << "launched";
    } catch (const core::Error& error) {
        EXPECT_NE(error.message().find("got 100000 blocks of 64 threads, expected at most 4224"),
                  std::string::npos)
            << error.message();
    }
    device->free(a, 0);
}

TEST_F(FeaturesTest, TooMuchDynamicSharedMemorySaysWhatIsPossible) {
    const auto add = device->function(module, "add");
    device->set_function_attribute(add.raw, 8, 100000);
    EXPECT_ERROR(device->set_function_attribute(add.raw, 8, 1 << 20), InvalidArgument,
                 "set attribute of add: dynamic shared memory: got 1048576 bytes, expected at most "
                 "232320");
}

TEST_F(FeaturesTest, MemoryAndEventsGoToOtherProcessesByHandles) {
    const DevicePtr a = device->allocate(64, 0);
    const std::string handle = device->share_memory(a);
    EXPECT_EQ(handle.size(), 64u);
    const DevicePtr opened = device->open_shared_memory(handle);
    EXPECT_EQ(opened, a);  // the same process here
    EXPECT_EQ(machine->shared, 1);
    device->close_shared_memory(opened);
    EXPECT_ERROR(device->open_shared_memory("short"), InvalidArgument, "got 5 bytes, expected 64");
    const core::RawEvent event = device->create_shared_event(false);
    const core::RawEvent theirs = device->open_shared_event(device->share_event(event));
    device->record_event(event, stream);
    device->stream_wait_event(stream, theirs);
    device->destroy_event(theirs);
    device->destroy_event(event);
    device->free(a, 0);
}

TEST_F(FeaturesTest, MemoryOfTheDriversPoolHasNoHandles) {
    const core::testing::ScopedVariable choice("TRILANE_CUDA_ALLOC", "async");
    auto other = make_device();
    const DevicePtr a = other->allocate(64, 0);
    EXPECT_ERROR(other->share_memory(a), NotSupported, "TRILANE_CUDA_ALLOC=sync");
    other->free(a, 0);
}

TEST_F(FeaturesTest, ProfilersAreStartedAndStopped) {
    device->start_profiler();
    EXPECT_EQ(machine->profiling, 1);
    device->stop_profiler();
    EXPECT_EQ(machine->profiling, 0);
}

int polls = 0;

TEST_F(FeaturesTest, WaitsOfTheMainThreadCanBeLeft) {
    core::set_wait_hooks({[] { return true; },
                          [] {
                              if (++polls == 2) throw std::runtime_error("left");
                          }});
    machine->not_ready = 1 << 20;
    polls = 0;
    EXPECT_THROW(device->synchronize_stream(stream), std::runtime_error);
    machine->not_ready = 3;
    device->synchronize_stream(stream);
    EXPECT_EQ(machine->not_ready, 0);
    const core::RawEvent event = device->create_event(false, false);
    machine->not_ready = 2;
    device->synchronize_event(event);
    EXPECT_EQ(machine->not_ready, 0);
    device->destroy_event(event);
    core::set_wait_hooks({});
}

// After the kernel nothing may wait in the driver: the fake one counts it.
TEST_F(FeaturesTest, CopiesAndTheDevicesOwnWaitCanBeLeft) {
    const core::Image image =
        device->compile(testing::program_of("extern \"C\" __global__ void endless() {}\n"));
    const core::RawModule module = device->load(image);
    core::LaunchParams params;
    params.function = device->function(module, "endless").raw;
    const DevicePtr memory = device->allocate(64 << 20, 0);
    std::vector<char> host(64 << 20);
    const auto address = reinterpret_cast<DevicePtr>(host.data());
    core::set_wait_hooks({[] { return true; }, [] { throw std::runtime_error("left"); }});
    const auto copy = [&](core::CopyKind kind, size_t nbytes, core::RawStream on, bool wait) {
        const bool up = kind == core::CopyKind::HostToDevice;
        device->copy(kind, up ? memory : address, up ? address : memory, nbytes, on, wait);
    };
    device->launch(params);
    using enum core::CopyKind;
    for (core::RawStream on : {core::RawStream{0}, stream}) {
        for (size_t nbytes : {size_t{16}, host.size()}) {
            EXPECT_THROW(copy(HostToDevice, nbytes, on, true), std::runtime_error) << nbytes;
            EXPECT_THROW(copy(DeviceToHost, nbytes, on, true), std::runtime_error) << nbytes;
            EXPECT_THROW(copy(DeviceToHost, nbytes, on, false), std::runtime_error) << nbytes;
        }
        EXPECT_THROW(copy(HostToDevice, host.size(), on, false), std::runtime_error);
        EXPECT_NO_THROW(copy(HostToDevice, 16, on, false));
        core::Copy3D box;
        box.kind = DeviceToHost;
        box.dst = address;
        box.src = memory;
        box.width_bytes = box.dst_pitch = box.src_pitch = 8;
        box.height = 2;
        box.depth = 1;
        EXPECT_THROW(device->copy_3d(box, on, true), std::runtime_error);
        EXPECT_THROW(device->synchronize_stream(on), std::runtime_error);
    }
    EXPECT_THROW(device->synchronize(), std::runtime_error);
    EXPECT_EQ(machine->endless_waits, 0);
    machine->endless = false;
    copy(DeviceToHost, host.size(), stream, true);
    device->synchronize();
    core::set_wait_hooks({});
    device->free(memory, 0);
    device->unload(module);
}

}  // namespace
}  // namespace trilane::cuda
