// Memory and events of other processes: places inside pieces, wrong handles, failing calls.
#include "core/ipc.h"

#include <gtest/gtest.h>

#include "core/buffer.h"
#include "core/memory_pool.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class IpcTest : public ::testing::Test {
  protected:
    void TearDown() override { forget_current_for_tests(); }
    testing::FakeMachinePtr machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
    StreamPtr stream = context->default_stream();
};

TEST_F(IpcTest, AWholePieceHasTheDevicesOwnHandle) {
    const BufferPtr a = Buffer::allocate(stream, 4096);
    const ExportedMemory exported = export_memory(context, a->address() + 100);
    EXPECT_EQ(exported.handle.size(), 64u);
    EXPECT_EQ(exported.offset, 100u);
    const IpcMemoryPtr opened = IpcMemory::open(context, exported.handle);
    EXPECT_EQ(opened->address(), a->address());
    EXPECT_EQ(machine->shared, 1);
    opened->close();
    EXPECT_EQ(machine->shared, 0);
    EXPECT_TRUE(opened->closed());
    EXPECT_ERROR(opened->close(), InvalidArgument, "it was closed before");
}

TEST_F(IpcTest, APlaceInsideOfAPieceGoesAlong) {
    Buffer::allocate(stream, 1 << 20).reset();  // is cut below
    const BufferPtr first = Buffer::allocate(stream, 512), second = Buffer::allocate(stream, 1024);
    ASSERT_EQ(second->address(), first->address() + 512);
    const ExportedMemory exported = export_memory(context, second->address() + 8);
    EXPECT_EQ(exported.handle.size(), 72u);
    EXPECT_EQ(exported.offset, 8u);
    EXPECT_EQ(IpcMemory::open(context, exported.handle)->address(), second->address());
    EXPECT_EQ(machine->shared, 0);
    EXPECT_ERROR(export_memory(context, second->address() + 1024), InvalidArgument,
                 "memory that is not allocated");
    EXPECT_ERROR(export_memory(context, 0), InvalidArgument, "got address 0");
}

TEST_F(IpcTest, HandlesOfTheWrongSizeAreRefused) {
    for (const size_t size : {0, 63, 65, 71, 73})
        EXPECT_ERROR(IpcMemory::open(context, std::string(size, 'x')), InvalidArgument,
                     "handle of the wrong size: got");
}

TEST_F(IpcTest, MemoryIsClosedAfterTheWorkThatUsesIt) {
    const BufferPtr a = Buffer::allocate(stream, 4096);
    const IpcMemoryPtr opened =
        IpcMemory::open(context, export_memory(context, a->address()).handle);
    const int before = machine->calls_of("synchronize");
    machine->fail("synchronize", 1);
    EXPECT_ANY_THROW(opened->close());
    EXPECT_EQ(machine->calls_of("synchronize"), before + 1);
    EXPECT_EQ(machine->shared, 0);
}

TEST_F(IpcTest, EventsOfOtherProcessesAreWaitedFor) {
    const EventPtr mine = Event::create_shared(context);
    mine->record(*stream);
    const EventPtr theirs = Event::open(context, mine->share());
    stream->wait_for(*theirs);
    theirs->synchronize();
    EXPECT_TRUE(theirs->done());
    EXPECT_ERROR(theirs->elapsed_ms_since(*mine), InvalidArgument, "without timing");
}

TEST_F(IpcTest, FailuresOfAnyCallLeakNothing) {
    for (int n = 1; n < 100; ++n) {
        machine->fail("*", n);
        try {
            const BufferPtr a = Buffer::allocate(stream, 4096);
            const IpcMemoryPtr opened =
                IpcMemory::open(context, export_memory(context, a->address()).handle);
            const EventPtr mine = Event::create_shared(context);
            const EventPtr theirs = Event::open(context, mine->share());
            opened->close();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::DeviceError);
        }
        EXPECT_EQ(machine->shared, 0);
        if (machine->has_failed()) continue;
        EXPECT_GT(n, 5);
        machine->fail("*", 0);
        context->pool().free_all_free_blocks();
        EXPECT_TRUE(machine->memory.empty());
        EXPECT_TRUE(machine->events.empty());
        return;
    }
    FAIL();
}

}  // namespace
}  // namespace trilane::core
