// Several devices: who reaches whom, order of copies between them, streams of the wrong one.
#include "core/peer.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/graph.h"
#include "core/memory_pool.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

// Three devices: 0 and 2 reach each other, 1 is alone.
class PeerTest : public ::testing::Test {
  protected:
    ContextPtr make(int index) {
        auto machine = std::make_shared<FakeMachine>();
        machines.push_back(machine);
        return Context::create(testing::make_fake_device(machine, index), index);
    }
    void TearDown() override { forget_current_for_tests(); }
    std::vector<testing::FakeMachinePtr> machines;
    ContextPtr first = make(0), alone = make(1), second = make(2);
};

std::vector<uint8_t> read(const BufferPtr& buffer) {
    std::vector<uint8_t> bytes(buffer->nbytes());
    copy_to_host(bytes.data(), *buffer, 0, bytes.size(), buffer->stream(), true);
    return bytes;
}

TEST_F(PeerTest, AccessIsOpenedOnceAndUsersSeeOnlyWhatTheyAskedFor) {
    EXPECT_TRUE(can_access_peer(first, second));
    EXPECT_FALSE(can_access_peer(first, first));
    EXPECT_FALSE(can_access_peer(first, alone));
    EXPECT_TRUE(reach(first, second));
    EXPECT_TRUE(reach(first, second));
    EXPECT_EQ(machines[0]->calls_of("enable_peer_access"), 1);
    EXPECT_FALSE(reach(first, alone));
    EXPECT_EQ(disable_peer_access(first, second), PeerChange::NotEnabled);
    EXPECT_EQ(enable_peer_access(first, second), PeerChange::Done);
    EXPECT_EQ(enable_peer_access(first, second), PeerChange::Already);
    EXPECT_EQ(enable_peer_access(first, alone), PeerChange::Impossible);
    EXPECT_EQ(enable_peer_access(first, first), PeerChange::Impossible);
    EXPECT_EQ(disable_peer_access(first, second), PeerChange::Done);
    EXPECT_TRUE(reach(first, second));
    EXPECT_EQ(machines[0]->calls_of("enable_peer_access"), 2);
    EXPECT_EQ(machines[2]->calls_of("enable_peer_access"), 0);
}

TEST_F(PeerTest, CopiesRunOnTheSourceInTheOrderOfBoth) {
    const StreamPtr here = first->default_stream(), there = second->default_stream();
    const BufferPtr a = Buffer::allocate(here, 8), b = Buffer::allocate(there, 8);
    for (const StreamPtr& stream : {there, here}) {
        fill(*a, 0, 7, 1, 8, here);
        fill(*b, 0, 1, 1, 8, there);
        copy_on_device(*b, 2, *a, 0, 4, stream);
        fill(*b, 5, 9, 1, 1, there);
        EXPECT_EQ(read(b), (std::vector<uint8_t>{1, 1, 7, 7, 7, 9, 1, 1}));
    }
    EXPECT_EQ(machines[0]->calls_of("copy_peer"), 2);
    EXPECT_EQ(machines[2]->calls_of("copy_peer"), 0);
    EXPECT_ERROR(
        copy_on_device(*b, 0, *a, 0, 8, alone->default_stream()), InvalidArgument,
        "stream of a third device: got a stream of device 1, expected one of device 0 or 2");
}

TEST_F(PeerTest, DevicesThatDoNotReachEachOtherCopyAllTheSame) {
    const StreamPtr here = first->default_stream(), there = alone->default_stream();
    const BufferPtr a = Buffer::allocate(here, 4), b = Buffer::allocate(there, 4);
    fill(*a, 0, 3, 1, 4, here);
    copy_on_device(*b, 0, *a, 0, 4, there);
    EXPECT_EQ(read(b), (std::vector<uint8_t>{3, 3, 3, 3}));
    EXPECT_EQ(machines[0]->calls_of("enable_peer_access"), 0);
    EXPECT_ERROR(use_on(*a, there, "kernel"), InvalidArgument,
                 "kernel: memory of a device that cannot be reached: got memory of device 0");
}

TEST_F(PeerTest, LaunchesAreOrderedOnTheDevicesWhoseMemoryTheyUse) {
    const StreamPtr here = first->default_stream(), there = second->default_stream();
    const BufferPtr a = Buffer::allocate(here, 8);
    use_on(*a, there, "kernel");
    use_on(*a, there, "kernel");
    EXPECT_EQ(machines[0]->calls_of("record_event"), 2);
    EXPECT_EQ(machines[2]->calls_of("record_event"), 0);
    finish_peer_uses(there);
    EXPECT_EQ(machines[2]->calls_of("record_event"), 1);
    finish_peer_uses(there);
    EXPECT_EQ(machines[2]->calls_of("record_event"), 1);
}

TEST_F(PeerTest, ALaunchThatFailedLeavesTheNextOneItsOrder) {
    const StreamPtr here = first->default_stream(), there = second->default_stream();
    const BufferPtr a = Buffer::allocate(here, 8);
    use_on(*a, there, "kernel");  // and nothing is launched
    const StreamPtr later = Stream::create(second, true, 0);
    use_on(*a, later, "kernel");
    EXPECT_EQ(machines[0]->calls_of("record_event"), 2);
    finish_peer_uses(later);
    EXPECT_EQ(machines[2]->calls_of("record_event"), 1);
}

TEST_F(PeerTest, CapturedLaunchesKeepTheOthersMemoryAndCopiesAreRefused) {
    const StreamPtr here = first->default_stream(), there = Stream::create(second, true, 0);
    BufferPtr a = Buffer::allocate(here, 8);
    const BufferPtr b = Buffer::allocate(there, 8);
    const size_t used = first->pool().statistics().used_bytes;
    there->begin_capture();
    use_on(*a, there, "kernel");
    finish_peer_uses(there);
    EXPECT_EQ(machines[0]->calls_of("record_event"), 0);
    EXPECT_ERROR(copy_on_device(*b, 0, *a, 0, 8, there), NotSupported,
                 "copy between devices: memory of two devices while a stream is captured");
    a.reset();
    GraphPtr graph = there->end_capture();
    EXPECT_EQ(first->pool().statistics().used_bytes, used);
    graph->launch(there);
    graph.reset();
    second->captures().poll();
    first->captures().poll();
    EXPECT_LT(first->pool().statistics().used_bytes, used);
}

TEST_F(PeerTest, StreamsOfOtherDevicesAreRefused) {
    const BufferPtr a = Buffer::allocate(first->default_stream(), 8);
    const StreamPtr there = second->default_stream();
    uint8_t bytes[8] = {};
    EXPECT_ERROR(copy_to_device(*a, 0, bytes, 8, there, true), InvalidArgument,
                 "stream of another device: got a stream of device 2, expected one of device 0");
    EXPECT_ERROR(copy_to_host(bytes, *a, 0, 8, there, true), InvalidArgument,
                 "stream of another device");
    EXPECT_ERROR(fill(*a, 0, 1, 1, 8, there), InvalidArgument, "stream of another device");
    const BufferPtr foreign = Buffer::adopt(first, a->address(), 8, nullptr);
    copy_to_device(*foreign, 0, bytes, 8, there, true);  // nobody knows whose it is
}

}  // namespace
}  // namespace trilane::core
