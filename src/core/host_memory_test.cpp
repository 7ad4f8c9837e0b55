// Pinned host memory: reuse, waiting for copies in flight, lack of memory.
#include "core/host_memory.h"

#include "core/stream.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class HostMemory : public ::testing::Test {
  protected:
    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
};

TEST_F(HostMemory, BlocksAreReusedAmongEqualFlags) {
    HostBufferPtr a = HostBuffer::allocate(context, 1000);
    void* data = a->data();
    a.reset();
    EXPECT_EQ(context->host_pool().statistics().free_blocks, 1u);
    EXPECT_EQ(HostBuffer::allocate(context, 600)->data(), data);
    EXPECT_NE(HostBuffer::allocate(context, 600, 4)->data(), data);
    EXPECT_EQ(context->host_pool().statistics().held_bytes, 2048u);
    context->host_pool().free_all_free_blocks();
    EXPECT_EQ(context->host_pool().statistics().held_bytes, 0u);
    EXPECT_TRUE(machine->host_memory.empty());
}

TEST_F(HostMemory, LargeBlocksWasteAnEighthAtMost) {
    const size_t mib = size_t{1} << 20;
    const std::pair<size_t, size_t> table[] = {
        {mib, mib}, {mib + 1, mib + mib / 8}, {100 * mib, 104 * mib}, {128 * mib, 128 * mib}};
    for (const auto& [asked, held] : table) {
        const HostBufferPtr a = HostBuffer::allocate(context, asked);
        EXPECT_EQ(context->host_pool().statistics().held_bytes, held);
        a->free_now();
        context->host_pool().free_all_free_blocks();
    }
}

TEST_F(HostMemory, FreeTwiceIsRefused) {
    const HostBufferPtr a = HostBuffer::allocate(context, 100);
    EXPECT_EQ(a->device_pointer(), reinterpret_cast<DevicePtr>(a->data()));
    a->free_now();
    EXPECT_TRUE(a->freed());
    EXPECT_ERROR(a->free_now(), InvalidArgument, "freed before");
    EXPECT_ERROR(a->device_pointer(), InvalidArgument, "was freed");
}

TEST_F(HostMemory, NoBytes) {
    const HostBufferPtr a = HostBuffer::allocate(context, 0);
    EXPECT_EQ(a->data(), nullptr);
    EXPECT_FALSE(a->freed());
}

TEST_F(HostMemory, IsNotReusedWhileWorkIsInFlight) {
    machine->hold = true;
    const StreamPtr stream = Stream::create(context);
    HostBufferPtr a = HostBuffer::allocate(context, 100);
    void* data = a->data();
    stream->host_function([] {});
    a->record_use(stream);
    a->record_use(stream);
    a.reset();
    EXPECT_FALSE(stream->done());  // nobody waited
    EXPECT_EQ(context->host_pool().statistics().free_bytes, 512u);
    context->host_pool().free_all_free_blocks();
    EXPECT_EQ(context->host_pool().statistics().held_bytes, 512u);
    const HostBufferPtr b = HostBuffer::allocate(context, 100);
    EXPECT_NE(b->data(), data);
    stream->synchronize();
    EXPECT_EQ(HostBuffer::allocate(context, 100)->data(), data);
    EXPECT_EQ(machine->events.size(), 0u);
}

TEST_F(HostMemory, ABlockInFlightGoesWithTheContext) {
    machine->hold = true;
    StreamPtr stream = Stream::create(context);
    HostBufferPtr a = HostBuffer::allocate(context, 100);
    stream->host_function([] {});
    a->record_use(stream);
    a.reset();
    stream.reset();
    context.reset();
    EXPECT_TRUE(machine->nothing_alive());
}

TEST_F(HostMemory, LackOfMemoryTrimsAndTriesAgain) {
    HostBuffer::allocate(context, 1000).reset();
    machine->fail("allocate_host", 1, ErrorKind::OutOfMemory);
    EXPECT_NE(HostBuffer::allocate(context, 5000)->data(), nullptr);
    EXPECT_EQ(machine->host_memory.size(), 1u);  // the first block went back to make room
    context->host_pool().free_all_free_blocks();
    machine->fail("allocate_host", 1, ErrorKind::OutOfMemory);
    EXPECT_ERROR(HostBuffer::allocate(context, 5000), OutOfMemory, "allocate_host");
    EXPECT_ERROR(HostBuffer::allocate(context, SIZE_MAX / 2), OutOfMemory, "pinned");
}

TEST_F(HostMemory, GoesWithTheContext) {
    HostBuffer::allocate(context, 1000).reset();
    context.reset();
    EXPECT_TRUE(machine->nothing_alive());
}

}  // namespace
}  // namespace trilane::core
