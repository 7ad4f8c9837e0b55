// Every call of the driver fails once, in a scenario that uses all of the device: the error is ours
// and says which call, nothing is leaked, and the device works afterwards, or says the fault of a
// kernel again and again.
#include <algorithm>
#include <cstring>
#include <vector>

#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using core::CopyKind;
using core::DevicePtr;
using core::ErrorKind;
using testing::FakeCuda;
using testing::kAddSource;
using testing::program_of;

// Frees what it was given, in any case.
class Held {
  public:
    explicit Held(core::Device& device) : device_(device) {}
    ~Held() {
        for (auto release = releases_.rbegin(); release != releases_.rend(); ++release)
            (*release)();
    }
    DevicePtr memory(DevicePtr address) {
        releases_.emplace_back([this, address] { device_.free(address, 0); });
        return address;
    }
    core::RawStream stream(core::RawStream stream) {
        releases_.emplace_back([this, stream] { device_.destroy_stream(stream); });
        return stream;
    }
    core::RawEvent event(core::RawEvent event) {
        releases_.emplace_back([this, event] { device_.destroy_event(event); });
        return event;
    }
    core::RawModule module(core::RawModule module) {
        releases_.emplace_back([this, module] { device_.unload(module); });
        return module;
    }
    core::RawGraph graph(core::RawGraph graph) {
        releases_.emplace_back([this, graph] { device_.destroy_graph(graph); });
        return graph;
    }
    DevicePtr shared(DevicePtr address) {
        releases_.emplace_back([this, address] { device_.close_shared_memory(address); });
        return address;
    }
    core::RawArray array(core::RawArray array) {
        releases_.emplace_back([this, array] { device_.destroy_array(array); });
        return array;
    }
    void texture(core::RawTexture texture) {
        releases_.emplace_back([this, texture] { device_.destroy_texture(texture); });
    }
    void surface(core::RawSurface surface) {
        releases_.emplace_back([this, surface] { device_.destroy_surface(surface); });
    }
    void* host(void* address) {
        releases_.emplace_back([this, address] { device_.free_host(address); });
        return address;
    }
    void* registered(void* address) {
        releases_.emplace_back([this, address] { device_.unregister_host(address); });
        return address;
    }

  private:
    core::Device& device_;
    std::vector<std::function<void()>> releases_;
};

void use_textures(core::Device& device, Held& held, DevicePtr memory, core::RawStream stream) {
    core::ArrayParams shape;
    shape.width = shape.height = 4;
    shape.surface = true;
    core::BoxCopy box;
    box.width_bytes = 16;
    box.height = 4;
    box.src.address = memory;
    box.src.pitch = 16;
    box.dst.place = core::BoxEnd::Place::Array;
    box.dst.array = held.array(device.create_array(shape));
    device.copy_box(box, stream, true);
    core::TextureParams texture;
    texture.array = box.dst.array;
    held.texture(device.create_texture(texture));
    held.surface(device.create_surface(box.dst.array));
}

void use_everything(core::Device& device) {
    Held held(device);
    device.make_current();
    const core::RawStream stream = held.stream(device.create_stream(false, 0));
    const core::RawEvent start = held.event(device.create_event(true, false));
    const core::RawEvent stop = held.event(device.create_event(true, false));
    std::vector<float> data(256, 1.0f), back(256);
    const DevicePtr a = held.memory(device.allocate(1024, stream));
    const DevicePtr b = held.memory(device.allocate(1024, stream));
    const DevicePtr c = held.memory(device.allocate(1024, stream));
    held.memory(device.allocate_managed(64, 1));
    void* pinned = held.host(device.allocate_host(1024, 0));
    std::vector<char> pages(4096);
    device.register_host(pages.data(), pages.size(), 0);
    held.registered(pages.data());
    device.host_device_pointer(pinned);
    device.copy(CopyKind::HostToDevice, a, reinterpret_cast<DevicePtr>(data.data()), 1024, stream,
                true);
    device.copy(CopyKind::DeviceToDevice, b, a, 1024, stream, false);
    device.fill(c, 0, 4, 256, 1, 0, stream);
    core::Copy3D box;
    box.src = a;
    box.dst = b;
    box.src_pitch = box.dst_pitch = 64;
    box.width_bytes = 32;
    box.height = 4;
    device.copy_3d(box, stream, false);
    use_textures(device, held, a, stream);

    const core::Image image = device.compile(program_of(kAddSource));
    const core::RawModule module = held.module(device.load(image));
    const core::FunctionInfo add = device.function(module, "add");
    device.function_names(module);
    device.global(module, "symbol");
    device.set_function_attribute(add.raw, 8, 50000);
    device.occupancy(add.raw, 128, 0);
    device.record_event(start, stream);
    int n = 256;
    void* arguments[] = {const_cast<DevicePtr*>(&a), const_cast<DevicePtr*>(&b),
                         const_cast<DevicePtr*>(&c), &n};
    core::LaunchParams params;
    params.function = add.raw;
    params.block = {256, 1, 1};
    params.stream = stream;
    params.arguments = arguments;
    params.argument_count = 4;
    device.launch(params);
    params.cooperative = true;
    device.launch(params);
    device.begin_capture(stream, core::CaptureMode::Relaxed);
    const auto graph = [&] {
        device.launch(params);
        return device.end_capture(stream);
    };
    held.graph(graph());
    device.start_profiler();
    device.stop_profiler();
    int ran = 0;
    device.host_function(stream, [&] { ++ran; });
    device.record_event(stop, stream);
    device.stream_wait_event(0, stop);
    device.event_done(stop);
    device.stream_done(stream);
    device.synchronize_event(stop);
    device.event_elapsed_ms(start, stop);
    device.copy(CopyKind::DeviceToHost, reinterpret_cast<DevicePtr>(back.data()), c, 1024, stream,
                true);
    EXPECT_EQ(back[255], 2.0f);
    EXPECT_EQ(ran, 1);
    device.memory_info();
    device.synchronize_stream(stream);
    device.synchronize();
}

void use_other_processes(core::Device& device) {
    Held held(device);
    const DevicePtr a = held.memory(device.allocate(1024, 0));
    held.shared(device.open_shared_memory(device.share_memory(a)));
    const core::RawEvent mine = held.event(device.create_shared_event(true));
    const core::RawEvent theirs = held.event(device.open_shared_event(device.share_event(mine)));
    device.record_event(mine, 0);
    device.synchronize_event(theirs);
}

void copy_much(core::Device& device) {
    Held held(device);
    const size_t nbytes = (size_t{7} << 20) + 7;
    std::vector<char> data(nbytes, 'y'), back(nbytes);
    const DevicePtr a = held.memory(device.allocate(nbytes, 0));
    device.copy(CopyKind::HostToDevice, a, reinterpret_cast<DevicePtr>(data.data()), nbytes, 0,
                true);
    device.copy(CopyKind::DeviceToHost, reinterpret_cast<DevicePtr>(back.data()), a, nbytes, 0,
                true);
    EXPECT_EQ(data, back);
}

class Failures : public FakeCuda {
  protected:
    // Fails the 1st, 2nd, ... call of `scenario` until all have passed; gives how many there are.
    int sweep(const std::function<void(core::Device&)>& scenario) {
        for (int n = 1; n < 1000; ++n) {
            auto device = make_device();
            machine->has_failed = false;
            machine->fail_with = result::kUnknown;
            machine->fail_at = n;
            ::testing::internal::CaptureStderr();
            bool threw = false;
            try {
                scenario(*device);
            } catch (const core::Error& error) {
                threw = true;
                EXPECT_EQ(error.kind(), ErrorKind::DeviceError) << error.message();
                EXPECT_NE(error.message().find("CUDA_ERROR_UNKNOWN (999)"), std::string::npos)
                    << error.message();
            }
            machine->fail_at = 0;
            const std::string reported = ::testing::internal::GetCapturedStderr();
            if (!machine->has_failed) return n - 1;
            // Told by an exception, or by a destructor, or what failed could be done without.
            if (!threw && reported.empty()) ++harmless_;
            scenario(*device);
            device.reset();
            EXPECT_EQ(machine->alive(), 0) << "call " << n;
        }
        return 1000;
    }
    int harmless_ = 0;
};

TEST_F(Failures, OfAnyCallLeaveTheDeviceUsableAndNothingBehind) {
    EXPECT_GT(sweep(use_everything), 100);
}

TEST_F(Failures, OfAnyCallForOtherProcesses) { EXPECT_GT(sweep(use_other_processes), 10); }

TEST_F(Failures, OfAnyCallOfALargeCopy) { EXPECT_GT(sweep(copy_much), 20); }

TEST_F(Failures, OfAnyCallWithTheDriversPool) {
    const core::testing::ScopedVariable choice("TRILANE_CUDA_ALLOC", "async");
    EXPECT_GT(sweep(use_everything), 100);
}

TEST_F(Failures, FaultsOfKernelsAreToldByEveryLaterCall) {
    for (int n = 1; n < 1000; ++n) {
        auto device = make_device();
        machine->has_failed = false;
        machine->fail_with = result::kIllegalAddress;
        machine->for_ever = true;
        machine->fail_at = n;
        ::testing::internal::CaptureStderr();
        try {
            use_everything(*device);
        } catch (const core::Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::KernelFault) << error.message();
            EXPECT_NE(error.message().find("trilane check"), std::string::npos) << error.message();
        }
        // A destructor may be the first to see it: one line then, never one for each.
        const std::string reported = ::testing::internal::GetCapturedStderr();
        EXPECT_LE(std::count(reported.begin(), reported.end(), '\n'), 1) << reported;
        if (!machine->has_failed) {
            EXPECT_GT(n, 100);
            return;
        }
        machine->fail_at = 0;
        const int calls = machine->calls;
        EXPECT_ERROR(use_everything(*device), KernelFault, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
        EXPECT_EQ(machine->calls, calls) << "call " << n;
        device.reset();
        machine->lose_everything();
        machine->for_ever = false;
    }
    FAIL() << "no end";
}

}  // namespace
}  // namespace trilane::cuda
