// The device's own duties: memory and its limit, copies, streams, events, properties.
#include "devices/cpu/device.h"

#include <numeric>
#include <thread>

#include "devices/cpu/build_id.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::ErrorKind;
using testing::error_of;
using testing::test_device;

core::DevicePtr address(void* pointer) { return reinterpret_cast<core::DevicePtr>(pointer); }

TEST(CpuDevice, MemoryHasALimit) {
    DeviceMemory memory(1 << 20);
    core::DevicePtr a = memory.allocate(1000);
    EXPECT_EQ(a % 256, 0u);
    EXPECT_EQ(memory.info().free_bytes, (1u << 20) - 1024);
    ErrorKind kind = ErrorKind::Internal;
    std::string text = error_of([&] { memory.allocate(1 << 20); }, &kind);
    EXPECT_EQ(kind, ErrorKind::OutOfMemory);
    EXPECT_NE(text.find("asked for 1.0 MiB"), std::string::npos) << text;
    EXPECT_EQ(error_of([&] { memory.allocate(SIZE_MAX - 5); }).empty(), false);
    memory.free(a);
    memory.free(memory.allocate(1 << 20));
    EXPECT_EQ(memory.info().free_bytes, 1u << 20);
}

TEST(CpuDevice, MemorySizesAreParsed) {
    EXPECT_EQ(parse_memory_size("4GB"), size_t{4} << 30);
    EXPECT_EQ(parse_memory_size("512 MiB"), size_t{512} << 20);
    EXPECT_EQ(parse_memory_size("1.5k"), 1536u);
    EXPECT_EQ(parse_memory_size("77"), 77u);
    for (const char* text : {"", "x", "4XB", "-1", "0", "nan"})
        EXPECT_FALSE(error_of([&] { parse_memory_size(text); }).empty()) << text;
}

TEST(CpuDevice, CopiesAndFillsInThreeDimensions) {
    CpuDevice& device = test_device().device;
    std::vector<int> source(5 * 4 * 3), target(7 * 6 * 3, -1);
    std::iota(source.begin(), source.end(), 0);
    core::Copy3D params;
    params.src = address(source.data());
    params.dst = address(target.data());
    params.src_pitch = 20;
    params.src_slice_pitch = 80;
    params.dst_pitch = 28;
    params.dst_slice_pitch = 168;
    params.width_bytes = 16;
    params.height = 4;
    params.depth = 3;
    device.copy_3d(params, 0, true);
    for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 6; ++y)
            for (int x = 0; x < 7; ++x)
                ASSERT_EQ(target[size_t((z * 6 + y) * 7 + x)],
                          y < 4 && x < 4 ? (z * 4 + y) * 5 + x : -1);
    std::vector<uint16_t> words(40, 1);
    device.fill(address(words.data()), 0xabcd, 2, 3, 4, 20, 0);
    for (size_t i = 0; i < 40; ++i) EXPECT_EQ(words[i], i % 10 < 3 ? 0xabcd : 1);
    EXPECT_FALSE(error_of([&] {
                     device.copy(core::CopyKind::HostToDevice, 0, address(words.data()), 4, 0,
                                 true);
                 }).empty());
}

TEST(CpuDevice, HandlesAreChecked) {
    CpuDevice& device = test_device().device;
    core::RawStream stream = device.create_stream(false, 0);
    EXPECT_TRUE(device.stream_done(stream));
    core::RawEvent a = device.create_event(true, false), b = device.create_event(true, false);
    EXPECT_TRUE(device.event_done(a));
    EXPECT_FALSE(error_of([&] { device.event_elapsed_ms(a, b); }).empty());  // not recorded
    device.record_event(a, stream);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    device.record_event(b, stream);
    EXPECT_GE(device.event_elapsed_ms(a, b), 2.9f);
    EXPECT_LE(device.event_elapsed_ms(b, a), -2.9f);
    core::RawEvent untimed = device.create_event(false, false);
    device.record_event(untimed, 0);
    EXPECT_FALSE(error_of([&] { device.event_elapsed_ms(a, untimed); }).empty());
    device.destroy_event(a);
    ErrorKind kind = ErrorKind::Internal;
    error_of([&] { device.synchronize_event(a); }, &kind);
    EXPECT_EQ(kind, ErrorKind::InvalidArgument);
    device.destroy_stream(stream);
    error_of([&] { device.synchronize_stream(stream); }, &kind);
    EXPECT_EQ(kind, ErrorKind::InvalidArgument);
    bool called = false;
    device.host_function(0, [&] {
        device.synchronize_stream(0);  // the stream is free for its own callbacks
        called = true;
    });
    EXPECT_TRUE(called);
}

TEST(CpuDevice, PropertiesOfAGpuOfToday) {
    const core::DeviceProperties& properties = test_device().device.properties();
    EXPECT_EQ(properties.name.rfind("Trilane CPU (", 0), 0u);
    EXPECT_EQ(properties.uuid.size(), 16u);
    EXPECT_EQ(properties.compute_major, 9);
    for (int attribute = 1; attribute <= 126; ++attribute)
        EXPECT_EQ(properties.attributes.count(attribute), 1u) << attribute;
    EXPECT_EQ(model_occupancy(256, 0), 8);
    EXPECT_EQ(model_occupancy(1024, 0), 2);
    EXPECT_EQ(model_occupancy(32, 0), 32);
    EXPECT_EQ(model_occupancy(64, 100 << 10), 2);
}

TEST(CpuDevice, CompilerIdTellsBuildsApart) {
    EXPECT_GE(build_id().size(), 16u);
    EXPECT_NE(test_device().device.compiler_id().find(build_id()), std::string::npos);
}

TEST(CpuDevice, UnknownFunctionsListWhatThereIs) {
    testing::Program program("extern \"C\" __global__ void known(int* p) { *p = 1; }");
    ErrorKind kind = ErrorKind::Internal;
    std::string text = error_of([&] { program.function("unknown"); }, &kind);
    EXPECT_EQ(kind, ErrorKind::NotFound);
    EXPECT_NE(text.find("known"), std::string::npos);
    EXPECT_EQ(program.function("known").parameters.size(), 1u);
}

}  // namespace
}  // namespace trilane::cpu
