// Streams and events: order, waiting, lifetimes.
#include "core/stream.h"

#include "core/buffer.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class StreamTest : public ::testing::Test {
  protected:
    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
};

TEST_F(StreamTest, KeepsItsPropertiesAndHasItsOwnId) {
    const StreamPtr a = Stream::create(context, true, -2);
    const StreamPtr b = Stream::create(context);
    EXPECT_TRUE(a->non_blocking());
    EXPECT_EQ(a->priority(), -2);
    EXPECT_FALSE(b->non_blocking());
    EXPECT_NE(a->id(), b->id());
    EXPECT_NE(a->raw(), b->raw());
    EXPECT_TRUE(a->owned());
    EXPECT_EQ(a->context(), context);
}

TEST_F(StreamTest, AHandleOfAnOwnStreamGivesThatStream) {
    StreamPtr made = Stream::create(context, true, -1);
    const RawStream raw = made->raw();
    StreamPtr wrapped = Stream::wrap(context, raw);
    EXPECT_EQ(wrapped, made);
    // What was allocated by the one name is freed after the other is gone: the device aborts on a
    // stream that was destroyed.
    BufferPtr buffer = Buffer::allocate(wrapped, 1024);
    made.reset();
    wrapped->synchronize();
    wrapped.reset();
    buffer.reset();
    // Gone: the handle is a stranger's again.
    machine->hold = false;
    const StreamPtr later = Stream::create(context);
    EXPECT_NE(later->raw(), raw);
    EXPECT_EQ(Stream::wrap(context, later->raw()), later);
}

TEST_F(StreamTest, HostFunctionsRunInOrder) {
    machine->hold = true;
    const StreamPtr stream = Stream::create(context);
    std::string order;
    stream->host_function([&] { order += 'a'; });
    stream->host_function([&] { order += 'b'; });
    EXPECT_FALSE(stream->done());
    EXPECT_EQ(order, "");
    stream->synchronize();
    EXPECT_EQ(order, "ab");
    EXPECT_TRUE(stream->done());
}

TEST_F(StreamTest, WaitsForAnEventOfAnotherStream) {
    machine->hold = true;
    const StreamPtr a = Stream::create(context), b = Stream::create(context);
    const EventPtr event = Event::create(context);
    std::string order;
    a->host_function([&] { order += 'a'; });
    event->record(*a);
    a->host_function([&] { order += 'x'; });
    b->wait_for(*event);
    b->host_function([&] { order += 'b'; });
    b->synchronize();
    EXPECT_EQ(order, "ab");
    EXPECT_TRUE(event->done());
    EXPECT_FALSE(a->done());
    a->synchronize();
}

TEST_F(StreamTest, AWrappedStreamIsNotDestroyed) {
    const RawStream raw = context->device().create_stream(false, 0);
    Stream::wrap(context, raw).reset();
    EXPECT_EQ(machine->calls_of("destroy_stream"), 0);
    context->device().destroy_stream(raw);
}

TEST_F(StreamTest, KeepsItsContextAlive) {
    StreamPtr stream = Stream::create(context);
    EventPtr event = Event::create(context);
    context.reset();
    event->record(*stream);
    stream->synchronize();
    stream.reset();
    EXPECT_EQ(machine.use_count(), 2);
    event.reset();
    EXPECT_EQ(machine.use_count(), 1);  // the device went with the last handle
    EXPECT_TRUE(machine->nothing_alive());
}

TEST_F(StreamTest, AFailedCreationLeavesNothing) {
    machine->fail("create_stream", 1);
    EXPECT_ERROR(Stream::create(context), DeviceError, "create_stream");
    machine->fail("create_event", 1);
    EXPECT_ERROR(Event::create(context), DeviceError, "create_event");
    context.reset();
    EXPECT_TRUE(machine->nothing_alive());
}

TEST_F(StreamTest, EventsAreDoneUntilRecorded) {
    machine->hold = true;
    const StreamPtr stream = Stream::create(context);
    const EventPtr event = Event::create(context);
    EXPECT_TRUE(event->done());
    stream->host_function([] {});
    event->record(*stream);
    EXPECT_FALSE(event->done());
    event->synchronize();
    EXPECT_TRUE(event->done());
}

TEST_F(StreamTest, ElapsedTimeWantsTwoRecordedTimingEvents) {
    const EventPtr start = Event::create(context), stop = Event::create(context);
    const EventPtr untimed = Event::create(context, false);
    EXPECT_ERROR(stop->elapsed_ms_since(*start), InvalidArgument, "start event", "never recorded");
    start->record(*context->default_stream());
    EXPECT_ERROR(stop->elapsed_ms_since(*start), InvalidArgument, "end event", "never recorded");
    context->default_stream()->host_function([] {});
    stop->record(*context->default_stream());
    EXPECT_EQ(stop->elapsed_ms_since(*start), 1.0f);  // the fake device counts work
    EXPECT_ERROR(stop->elapsed_ms_since(*untimed), InvalidArgument, "start event", "timing");
}

TEST_F(StreamTest, AnEventRefusesAStreamOfAnotherDevice) {
    const ContextPtr other = testing::make_fake_context(std::make_shared<FakeMachine>(), 1);
    const EventPtr event = Event::create(context);
    EXPECT_ERROR(event->record(*other->default_stream()), InvalidArgument, "device 1", "device 0");
}

}  // namespace
}  // namespace trilane::core
