// Captures and graphs of the cpu device: what is done at each launch, and what is refused.
#include <thread>

#include "devices/cpu/device.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::CaptureMode;
using core::DevicePtr;
using core::RawEvent;
using core::RawGraph;
using core::RawStream;
using testing::error_of;
using testing::test_device;

DevicePtr address(void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

class CpuGraphs : public ::testing::Test {
  protected:
    CpuGraphs()
        : program(
              "extern \"C\" __global__ void scale(int* x, int n, int by) {\n"
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i < n) x[i] *= by;\n"
              "}\n"
              "extern \"C\" __global__ void dies() { __trap(); }\n") {}
    ~CpuGraphs() override {
        for (const RawStream s : {a, b}) device.destroy_stream(s);
        for (const RawEvent e : {one, two}) device.destroy_event(e);
        device.synchronize();  // nothing is captured any more
    }
    void launch(const char* name, RawStream stream, std::vector<void*> arguments) {
        core::LaunchParams params;
        params.function = program.function(name).raw;
        params.block = {32, 1, 1};
        params.stream = stream;
        params.arguments = arguments.data();
        params.argument_count = arguments.size();
        device.launch(params);
    }
    void scale(int* x, int by, RawStream stream) {
        int n = 4;
        DevicePtr first = address(x);
        launch("scale", stream, {&first, &n, &by});
    }
    void expect_fault(const char* fault, const std::function<void()>& call) {
        const std::string text = error_of(call);
        EXPECT_NE(text.find(fault), std::string::npos) << fault << " in: " << text;
    }

    CpuDevice& device = test_device().device;
    testing::Program program;
    RawStream a = device.create_stream(true, 0), b = device.create_stream(true, 0);
    RawEvent one = device.create_event(false, false), two = device.create_event(true, false);
    int x[4] = {1, 2, 3, 4}, y[4] = {};
};

TEST_F(CpuGraphs, EveryKindOfWorkIsKeptAndDoneInOrderAtEachLaunch) {
    int calls = 0, seen = 0;
    const std::function<void()> function = [&] { seen = y[3] + 0 * ++calls; };
    device.begin_capture(a, CaptureMode::Global);
    EXPECT_TRUE(device.capturing(a));
    EXPECT_FALSE(device.capturing(b));
    device.fill(address(y), 7, 4, 4, 1, 16, a);
    device.copy(core::CopyKind::DeviceToDevice, address(y), address(x), 8, a, false);
    core::Copy3D box;
    box.dst = address(y + 2);
    box.src = address(x + 2);
    box.width_bytes = box.dst_pitch = box.src_pitch = 4;
    device.copy_3d(box, a, false);
    scale(y, 10, a);
    device.capture_host_function(a, &function);
    device.host_function(a, [&] { ++calls; });
    scale(y, 2, a);
    const RawGraph graph = device.end_capture(a);
    EXPECT_FALSE(device.capturing(a));
    EXPECT_EQ(y[0] + calls, 0);
    for (int round = 1; round <= 3; ++round) {
        x[0] = round;
        device.upload_graph(graph, b);
        device.launch_graph(graph, round == 2 ? 0 : b);
        EXPECT_EQ(y[0], 20 * round);
        EXPECT_EQ(y[2], 60);
        EXPECT_EQ(y[3], 140);
        EXPECT_EQ(seen, 70);
        EXPECT_EQ(calls, 2 * round);
    }
    device.destroy_graph(graph);
}

TEST_F(CpuGraphs, StreamsTakePartByEventsAndMustBeWaitedFor) {
    device.begin_capture(a, CaptureMode::Relaxed);
    scale(x, 2, a);
    device.record_event(one, a);
    device.stream_wait_event(b, one);
    EXPECT_TRUE(device.capturing(b));
    scale(x, 3, b);
    device.record_event(two, b);
    device.stream_wait_event(a, two);
    scale(x, 5, a);
    const RawGraph graph = device.end_capture(a);
    EXPECT_FALSE(device.capturing(b));
    scale(y, 2, b);  // an ordinary stream again
    device.launch_graph(graph, b);
    EXPECT_EQ(x[0], 30);
    device.destroy_graph(graph);

    device.begin_capture(a, CaptureMode::Relaxed);
    device.record_event(one, a);
    device.stream_wait_event(b, one);
    scale(x, 3, b);
    device.record_event(two, b);
    scale(x, 3, b);  // after what will be waited for
    device.stream_wait_event(a, two);
    expect_fault("(904)", [&] { device.end_capture(a); });
    EXPECT_FALSE(device.capturing(a) || device.capturing(b));
    EXPECT_EQ(x[0], 30);
}

TEST_F(CpuGraphs, WaitsAndQuestionsAreRefusedAndTheCaptureIsLost) {
    const std::vector<std::pair<const char*, std::function<void()>>> calls = {
        {"(900)", [&] { device.synchronize_stream(a); }},
        {"(900)", [&] { device.stream_done(a); }},
        {"(900)", [&] { device.synchronize(); }},
        {"(900)",
         [&] { device.copy(core::CopyKind::DeviceToHost, address(y), address(x), 16, a, true); }},
        {"(900)", [&] { device.copy_3d({}, a, true); }},
        {"(905)", [&] { device.stream_wait_event(a, two); }},
        {"(907)", [&] { device.event_done(one); }},
        {"(907)", [&] { device.synchronize_event(one); }},
        {"(907)", [&] { device.event_elapsed_ms(one, two); }},
    };
    for (const auto& [fault, call] : calls) {
        device.record_event(two, b);
        device.begin_capture(a, CaptureMode::Global);
        device.record_event(one, a);
        expect_fault(fault, call);
        EXPECT_TRUE(device.capturing(a));
        expect_fault("(901)", [&] { scale(x, 2, a); });
        expect_fault("(901)", [&] { device.record_event(one, a); });
        expect_fault("(901)", [&] { device.end_capture(a); });
        scale(x, 1, a);
        device.synchronize_stream(a);
    }
    expect_fault("(907)", [&] { device.stream_wait_event(b, one); });
    device.record_event(one, b);
    EXPECT_TRUE(device.event_done(one));
    EXPECT_EQ(x[3], 4);
}

TEST_F(CpuGraphs, WrongBeginningsAndEnds) {
    expect_fault("(900)", [&] { device.begin_capture(0, CaptureMode::Relaxed); });
    expect_fault("(401)", [&] { device.end_capture(a); });
    expect_fault("(401)", [&] { device.end_capture(0); });
    device.begin_capture(a, CaptureMode::Global);
    expect_fault("(401)", [&] { device.begin_capture(a, CaptureMode::Global); });
    std::thread([&] { expect_fault("(908)", [&] { device.end_capture(a); }); }).join();
    const RawGraph empty = device.end_capture(a);
    device.launch_graph(empty, a);
    device.destroy_graph(empty);

    device.begin_capture(a, CaptureMode::Relaxed);
    device.record_event(one, a);
    device.stream_wait_event(b, one);
    expect_fault("(903)", [&] { device.end_capture(b); });
    std::thread([&] { expect_fault("(901)", [&] { device.end_capture(a); }); }).join();

    device.begin_capture(a, CaptureMode::Relaxed);
    device.begin_capture(b, CaptureMode::Relaxed);
    device.record_event(one, a);
    expect_fault("(902)", [&] { device.stream_wait_event(b, one); });
    for (const RawStream s : {a, b}) expect_fault("(901)", [&] { device.end_capture(s); });
}

TEST_F(CpuGraphs, TheNullStreamIsRefusedOnlyBesideStreamsThatItWaitsFor) {
    device.begin_capture(a, CaptureMode::Global);
    EXPECT_FALSE(device.capturing(0));
    scale(x, 2, 0);
    device.destroy_graph(device.end_capture(a));
    EXPECT_EQ(x[0], 2);
    const RawStream blocking = device.create_stream(false, 0);
    const std::vector<std::function<void()>> calls = {
        [&] { scale(x, 2, 0); }, [&] { device.synchronize_stream(0); },
        [&] { device.record_event(two, 0); },
        [&] { device.copy(core::CopyKind::HostToHost, address(y), address(x), 4, 0, true); }};
    for (const auto& call : calls) {
        device.begin_capture(blocking, CaptureMode::Global);
        expect_fault("(906)", [&] { device.capturing(0); });
        scale(x, 2, blocking);  // asking did no harm
        expect_fault("(906)", call);
        expect_fault("(901)", [&] { device.end_capture(blocking); });
    }
    device.begin_capture(blocking, CaptureMode::Global);
    device.record_event(one, blocking);
    expect_fault("(906)", [&] { device.stream_wait_event(0, one); });
    device.destroy_stream(blocking);
    EXPECT_FALSE(device.capturing(0));
    EXPECT_EQ(x[0], 2);
}

TEST_F(CpuGraphs, StreamsThatGoEndTheirPart) {
    RawStream origin = device.create_stream(true, 0), fork = device.create_stream(true, 0);
    device.begin_capture(origin, CaptureMode::Relaxed);
    device.record_event(one, origin);
    device.stream_wait_event(fork, one);
    device.destroy_stream(fork);
    expect_fault("(901)", [&] { device.end_capture(origin); });
    device.begin_capture(origin, CaptureMode::Relaxed);
    device.record_event(one, origin);
    device.stream_wait_event(b, one);
    device.destroy_stream(origin);
    EXPECT_FALSE(device.capturing(b));
    scale(x, 3, b);
    EXPECT_EQ(x[0], 3);
}

TEST_F(CpuGraphs, GraphsInGraphs) {
    device.begin_capture(a, CaptureMode::Relaxed);
    scale(x, 2, a);
    device.host_function(a, [&] { ++y[0]; });
    const RawGraph inner = device.end_capture(a);
    device.begin_capture(a, CaptureMode::Relaxed);
    device.launch_graph(inner, a);
    scale(x, 5, a);
    device.launch_graph(inner, a);
    const RawGraph outer = device.end_capture(a);
    device.destroy_graph(inner);
    device.launch_graph(outer, b);
    EXPECT_EQ(x[0], 20);
    EXPECT_EQ(y[0], 2);
    device.destroy_graph(outer);
}

TEST_F(CpuGraphs, AKernelThatDiesEndsTheLaunchAndTheNextOneRuns) {
    device.begin_capture(a, CaptureMode::Relaxed);
    scale(x, 2, a);
    launch("dies", a, {});
    scale(x, 100, a);
    const RawGraph graph = device.end_capture(a);
    for (int round = 1; round <= 2; ++round) {
        core::ErrorKind kind = core::ErrorKind::Internal;
        error_of([&] { device.launch_graph(graph, a); }, &kind);
        EXPECT_EQ(kind, core::ErrorKind::KernelFault);
        EXPECT_EQ(x[0], 1 << round);
    }
    device.destroy_graph(graph);
}

TEST_F(CpuGraphs, WrongLaunchesAreRefusedAtOnceAndTheCaptureGoesOn) {
    device.begin_capture(a, CaptureMode::Relaxed);
    EXPECT_FALSE(error_of([&] { launch("scale", a, {}); }).empty());
    scale(x, 2, a);
    const RawGraph graph = device.end_capture(a);
    device.launch_graph(graph, a);
    EXPECT_EQ(x[0], 2);
    device.destroy_graph(graph);
}

TEST_F(CpuGraphs, LaunchesOfOneGraphFollowEachOtherOnAnyStream) {
    int running = 0, most = 0;
    device.begin_capture(a, CaptureMode::Relaxed);
    device.host_function(a, [&] {
        most = std::max(most, ++running);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        device.synchronize_stream(0);  // it may use the device
        --running;
    });
    scale(x, 3, a);
    const RawGraph graph = device.end_capture(a);
    std::thread other([&] { device.launch_graph(graph, b); });
    device.launch_graph(graph, a);
    other.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(x[0], 9);
    device.destroy_graph(graph);

    RawGraph itself = 0;
    device.begin_capture(a, CaptureMode::Relaxed);
    device.host_function(a, [&] { device.launch_graph(itself, b); });
    itself = device.end_capture(a);
    expect_fault("launched that graph", [&] { device.launch_graph(itself, a); });
    device.destroy_graph(itself);
}

}  // namespace
}  // namespace trilane::cpu
