// Buffers: freeing, adopted and managed memory, what the checks are told; copies and fills.
#include "core/buffer.h"

#include <numeric>

#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class BufferTest : public ::testing::Test {
  protected:
    ~BufferTest() override {
        machine->hold = false;
        stream.reset();
        context.reset();
        EXPECT_TRUE(machine->nothing_alive());
    }
    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
    StreamPtr stream = context->default_stream();
};

TEST_F(BufferTest, NoBytesIsNoMemory) {
    const BufferPtr buffer = Buffer::allocate(stream, 0);
    EXPECT_EQ(buffer->address(), 0u);
    EXPECT_EQ(machine->calls_of("allocate"), 0);
    copy_to_device(*buffer, 0, nullptr, 0, stream, true);
    buffer->free_now();
}

TEST_F(BufferTest, FreedIsFreed) {
    const BufferPtr buffer = Buffer::allocate(stream, 100);
    EXPECT_FALSE(buffer->freed());
    buffer->free_now();
    EXPECT_TRUE(buffer->freed());
    EXPECT_EQ(context->pool().statistics().live_buffers, 0u);
    char byte = 0;
    EXPECT_ERROR(buffer->free_now(), InvalidArgument, "free", "was freed", "100 bytes");
    EXPECT_ERROR(copy_to_host(&byte, *buffer, 0, 1, stream, true), InvalidArgument, "was freed");
    EXPECT_ERROR(copy_to_device(*buffer, 0, &byte, 1, stream, true), InvalidArgument, "was freed");
}

TEST_F(BufferTest, TheChecksAreToldTheUsersSizesAndNames) {
    const BufferPtr buffer = Buffer::allocate(stream, 100);
    ASSERT_EQ(machine->notes.count(buffer->address()), 1u);
    EXPECT_EQ(machine->notes[buffer->address()].nbytes, 100u);
    buffer->set_name("a_gpu");
    EXPECT_EQ(machine->notes[buffer->address()].name, "a_gpu");
    EXPECT_EQ(machine->notes[buffer->address()].nbytes, 100u);
    buffer->free_now();
    EXPECT_TRUE(machine->notes.empty());
    buffer->set_name("late");
    EXPECT_TRUE(machine->notes.empty());
}

TEST_F(BufferTest, AdoptedMemoryIsReleasedOnce) {
    char memory[64];
    int released = 0;
    BufferPtr buffer = Buffer::adopt(context, reinterpret_cast<DevicePtr>(memory), sizeof memory,
                                     [&] { ++released; });
    EXPECT_EQ(buffer->stream(), nullptr);
    EXPECT_EQ(machine->notes.size(), 1u);
    buffer->record_use(stream);
    buffer->free_now();
    EXPECT_EQ(released, 1);
    EXPECT_TRUE(machine->notes.empty());
    buffer.reset();
    EXPECT_EQ(released, 1);
    EXPECT_EQ(machine->calls_of("free"), 0);
}

TEST_F(BufferTest, TwoMayAdoptTheSameMemory) {
    char memory[64];
    const auto address = reinterpret_cast<DevicePtr>(memory);
    BufferPtr first = Buffer::adopt(context, address, 32, nullptr);
    BufferPtr second = Buffer::adopt(context, address, 64, nullptr);
    EXPECT_EQ(machine->notes[address].nbytes, 64u);
    second.reset();
    EXPECT_EQ(machine->notes.size(), 1u);
    first.reset();
    EXPECT_TRUE(machine->notes.empty());
}

TEST_F(BufferTest, AdoptingAPieceOfThePoolKeepsItsNote) {
    const BufferPtr owner = Buffer::allocate(stream, 100);
    BufferPtr view = Buffer::adopt(context, owner->address(), 8, [owner] {});
    view->set_name("view");
    EXPECT_EQ(machine->notes[owner->address()].nbytes, 100u);
    view.reset();
    EXPECT_EQ(machine->notes.size(), 1u);
}

TEST_F(BufferTest, ManagedMemoryWaitsForTheDevice) {
    BufferPtr buffer = Buffer::allocate_managed(context, 100, 1);
    EXPECT_EQ(machine->notes.size(), 1u);
    machine->hold = true;
    stream->host_function([] {});
    machine->hold = false;
    buffer.reset();
    EXPECT_TRUE(stream->done());
    EXPECT_EQ(machine->used, 0u);
}

TEST_F(BufferTest, CopiesGoThereAndBack) {
    std::vector<int> out(100), in(100);
    std::iota(in.begin(), in.end(), 0);
    const BufferPtr a = Buffer::allocate(stream, 400), b = Buffer::allocate(stream, 400);
    copy_to_device(*a, 0, in.data(), 400, stream, true);
    copy_on_device(*b, 40, *a, 0, 360, stream);
    fill(*b, 0, 7, 4, 10, stream);
    copy_to_host(out.data(), *b, 0, 400, stream, true);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i < 10 ? 7 : i - 10);
}

TEST_F(BufferTest, RangesAreChecked) {
    const BufferPtr a = Buffer::allocate(stream, 100);
    char bytes[200] = {};
    EXPECT_ERROR(copy_to_device(*a, 1, bytes, 100, stream, true), InvalidArgument, "destination",
                 "100 bytes at offset 1", "at most 100");
    EXPECT_ERROR(copy_to_host(bytes, *a, 101, 0, stream, true), InvalidArgument, "source");
    EXPECT_ERROR(copy_to_host(bytes, *a, 50, SIZE_MAX - 10, stream, true), InvalidArgument,
                 "source");
    EXPECT_ERROR(copy_on_device(*a, 0, *a, 90, 20, stream), InvalidArgument, "source");
    EXPECT_ERROR(copy_to_device(*a, 0, nullptr, 1, stream, true), InvalidArgument, "null host");
    EXPECT_ERROR(fill(*a, 0, 0, 4, 26, stream), InvalidArgument, "104 bytes");
    EXPECT_ERROR(fill(*a, 0, 0, 3, 1, stream), InvalidArgument, "1, 2 or 4");
    EXPECT_ERROR(fill(*a, 2, 0, 4, 1, stream), InvalidArgument, "misaligned");
    EXPECT_ERROR(fill(*a, 0, 0, 4, SIZE_MAX / 2, stream), InvalidArgument, "too many");
    EXPECT_EQ(machine->calls_of("copy"), 0);
    EXPECT_EQ(machine->calls_of("fill"), 0);
}

TEST_F(BufferTest, ACopyOnAnotherStreamGuardsTheMemory) {
    machine->hold = true;
    const StreamPtr other = Stream::create(context);
    BufferPtr a = Buffer::allocate(stream, 100);
    char bytes[100] = {};
    copy_to_device(*a, 0, bytes, 100, other, false);
    a.reset();
    EXPECT_EQ(context->pool().statistics().waiting_bytes, 512u);
    other->synchronize();
}

TEST_F(BufferTest, UseOnAnotherDeviceIsWaitedForAtTheFree) {
    auto second = std::make_shared<FakeMachine>();
    const ContextPtr other = testing::make_fake_context(second, 1);
    BufferPtr a = Buffer::allocate(stream, 100);
    const BufferPtr b = Buffer::allocate(other->default_stream(), 100);
    second->hold = true;
    fill(*b, 0, 1, 1, 100, other->default_stream());
    a->record_use(other->default_stream());
    EXPECT_FALSE(other->default_stream()->done());
    a.reset();
    EXPECT_TRUE(other->default_stream()->done());
    second->hold = false;
}

}  // namespace
}  // namespace trilane::core
