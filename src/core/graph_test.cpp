// Captures and graphs: what they keep, for how long, and what is refused meanwhile.
#include "core/graph.h"

#include <gtest/gtest.h>

#include "core/buffer.h"
#include "core/host_memory.h"
#include "core/launch.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class GraphTest : public ::testing::Test {
  protected:
    GraphTest() {
        machine->kernels["increment"].parameters = {
            testing::parameter("x", "int *", ParameterKind::Pointer, 8)};
        machine->kernels["increment"].run = [](const LaunchParams& p) {
            ++**static_cast<int* const*>(p.arguments[0]);
        };
        module = Module::compile(context, testing::fake_program("increment"));
        kernel = module->function("increment");
        stream = Stream::create(context);
    }
    ~GraphTest() override {
        machine->hold = false;
        module.reset();
        kernel.reset();
        stream.reset();
        context.reset();
        for (auto& [raw, s] : machine->streams) machine->finish(raw);
        EXPECT_TRUE(machine->nothing_alive());
    }
    void increment(const BufferPtr& x, const StreamPtr& on) {
        Argument argument;
        argument.kind = ArgumentKind::Pointer;
        argument.bits = x->address();
        argument.buffer = x.get();
        launch(*kernel, {{1, 1, 1}, {1, 1, 1}, 0, on, false}, std::span(&argument, 1));
    }
    BufferPtr zeros(const StreamPtr& on) {
        BufferPtr x = Buffer::allocate(on, 4);
        fill(*x, 0, 0, 4, 1, on);
        return x;
    }
    int value(const BufferPtr& x) { return *reinterpret_cast<const int*>(x->address()); }
    size_t used() { return context->pool().statistics().used_bytes; }

    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
    ModulePtr module;
    FunctionPtr kernel;
    StreamPtr stream;
};

TEST_F(GraphTest, CapturedWorkIsDoneAtEachLaunchOnAnyStream) {
    const StreamPtr other = Stream::create(context);
    const BufferPtr x = zeros(stream);
    EXPECT_FALSE(stream->capturing());
    stream->begin_capture();
    EXPECT_TRUE(stream->capturing());
    EXPECT_TRUE(context->captures().any());
    increment(x, stream);
    const GraphPtr graph = stream->end_capture();
    EXPECT_FALSE(stream->capturing());
    EXPECT_EQ(value(x), 0);
    graph->upload(stream);
    graph->launch(stream);
    graph->launch(other);
    EXPECT_EQ(value(x), 2);
}

TEST_F(GraphTest, MemoryFreedMeanwhileStaysForTheGraphAndComesBackAfterIt) {
    BufferPtr x = zeros(stream);
    const DevicePtr address = x->address();
    stream->begin_capture();
    increment(x, stream);
    x.reset();
    const BufferPtr during = Buffer::allocate(stream, 4);
    EXPECT_NE(during->address(), address);
    GraphPtr graph = stream->end_capture();
    const BufferPtr after = Buffer::allocate(stream, 4);
    EXPECT_NE(after->address(), address);
    graph->launch(stream);
    EXPECT_EQ(*reinterpret_cast<int*>(address), 1);
    EXPECT_EQ(used(), 3 * 512u);
    graph.reset();
    EXPECT_EQ(used(), 2 * 512u);
    EXPECT_EQ(Buffer::allocate(stream, 4)->address(), address);
}

TEST_F(GraphTest, MemoryFreedAfterTheCaptureStaysForTheGraph) {
    BufferPtr x = zeros(stream), given = zeros(stream);
    bool released = false;
    BufferPtr adopted = Buffer::adopt(context, given->address(), 4, [&] { released = true; });
    stream->begin_capture();
    increment(x, stream);
    increment(adopted, stream);
    BufferPtr made = Buffer::allocate(stream, 4);
    GraphPtr graph = stream->end_capture();
    const DevicePtr address = x->address(), of_made = made->address();
    x.reset();
    made->free_now();
    adopted.reset();
    EXPECT_FALSE(released);
    for (const BufferPtr& more : {Buffer::allocate(stream, 4), Buffer::allocate(stream, 4)}) {
        EXPECT_NE(more->address(), address);
        EXPECT_NE(more->address(), of_made);
    }
    graph.reset();
    EXPECT_TRUE(released);
}

TEST_F(GraphTest, WhatACaptureFreesItUsesAgainInTheOrderOfItsStream) {
    const StreamPtr other = Stream::create(context);
    stream->begin_capture();
    BufferPtr first = Buffer::allocate(stream, 4);
    const DevicePtr address = first->address();
    first.reset();
    BufferPtr second = Buffer::allocate(stream, 4);
    EXPECT_EQ(second->address(), address);
    const EventPtr event = Event::create(context);
    event->record(*stream);
    other->wait_for(*event);
    EXPECT_TRUE(other->capturing());
    increment(second, other);  // on another stream: what follows on this one may run beside it
    second.reset();
    EXPECT_NE(Buffer::allocate(stream, 4)->address(), address);
    EXPECT_NE(Buffer::allocate(other, 4)->address(), address);
    const GraphPtr graph = stream->end_capture();
    EXPECT_NE(Buffer::allocate(stream, 4)->address(), address);
}

TEST_F(GraphTest, OutputsOutliveTheGraphAndTheirMemoryGoesHome) {
    stream->begin_capture();
    BufferPtr y = Buffer::allocate(stream, 4);
    GraphPtr graph = stream->end_capture();
    graph.reset();
    const DevicePtr address = y->address();
    EXPECT_NE(Buffer::allocate(stream, 4)->address(), address);
    y.reset();
    EXPECT_EQ(Buffer::allocate(stream, 4)->address(), address);
}

TEST_F(GraphTest, AGraphThatIsDestroyedWhileItRunsKeepsEverythingUntilItIsDone) {
    BufferPtr x = zeros(stream);
    const DevicePtr address = x->address();
    stream->begin_capture();
    increment(x, stream);
    auto called = std::make_shared<int>(0);
    stream->host_function([called] { ++*called; });
    GraphPtr graph = stream->end_capture();
    const StreamPtr other = Stream::create(context);
    graph->launch(other);
    EXPECT_EQ(*called, 1);
    machine->hold = true;
    graph->launch(other);
    graph.reset();
    x.reset();
    module.reset();
    kernel.reset();
    EXPECT_EQ(machine->graphs.size(), 1u);
    EXPECT_EQ(machine->modules.size(), 1u);
    EXPECT_NE(Buffer::allocate(stream, 4)->address(), address);
    machine->finish(other->raw());
    EXPECT_EQ(*called, 2);
    EXPECT_EQ(*reinterpret_cast<int*>(address), 2);
    Buffer::allocate(stream, 4);
    EXPECT_TRUE(machine->graphs.empty());
    EXPECT_TRUE(machine->modules.empty());
    EXPECT_EQ(called.use_count(), 1);
    EXPECT_EQ(used(), 0u);
}

TEST_F(GraphTest, HostFunctionsAreCalledAtEachLaunchAndLetGoWithTheGraph) {
    auto called = std::make_shared<int>(0);
    stream->begin_capture();
    stream->host_function([called] { ++*called; });
    GraphPtr graph = stream->end_capture();
    EXPECT_EQ(*called, 0);
    for (int i = 1; i <= 3; ++i) {
        graph->launch(stream);
        EXPECT_EQ(*called, i);
    }
    graph.reset();
    EXPECT_EQ(called.use_count(), 1);
}

TEST_F(GraphTest, WaitsAreRefusedAndOnlyThoseThatTheDeviceSeesLoseTheCapture) {
    const BufferPtr x = zeros(stream);
    int host = 7;
    stream->begin_capture();
    EXPECT_ERROR(copy_to_host(&host, *x, 0, 4, stream, true), DeviceError,
                 "copy_to_host: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900): operation not "
                 "permitted when stream is capturing");
    EXPECT_ERROR(copy_to_device(*x, 0, &host, 4, stream, true), DeviceError, "(900)");
    copy_constant(*x, 0, &host, 4, stream);
    host = 8;
    const GraphPtr graph = stream->end_capture();
    graph->launch(stream);
    EXPECT_EQ(value(x), 7);

    stream->begin_capture();
    try {
        stream->synchronize();
        FAIL() << "waited";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), 900);
    }
    EXPECT_TRUE(stream->capturing());
    EXPECT_ERROR(stream->end_capture(), DeviceError, "(901)");
    EXPECT_FALSE(context->captures().any());
    stream->synchronize();
}

TEST_F(GraphTest, WrongEndsAndBeginningsAreToldAndTheRightEndStillEnds) {
    const StreamPtr other = Stream::create(context);
    EXPECT_ERROR(stream->end_capture(), DeviceError, "(401)");
    EXPECT_ERROR(context->default_stream()->begin_capture(), DeviceError, "(900)");
    EXPECT_FALSE(context->captures().any());
    stream->begin_capture();
    EXPECT_ERROR(stream->begin_capture(), DeviceError, "(401)");
    EXPECT_ERROR(other->end_capture(), DeviceError, "(401)");
    const EventPtr event = Event::create(context);
    event->record(*stream);
    other->wait_for(*event);
    EXPECT_ERROR(other->end_capture(), DeviceError, "(903)");
    EXPECT_TRUE(context->captures().any());
    EXPECT_ERROR(stream->end_capture(), DeviceError, "(901)");
    EXPECT_FALSE(context->captures().any());
    EXPECT_FALSE(other->capturing());
}

TEST_F(GraphTest, ACapturedStreamCannotWaitForAnotherDevice) {
    auto elsewhere = std::make_shared<FakeMachine>();
    ContextPtr other = testing::make_fake_context(elsewhere, 1);
    EventPtr event = Event::create(other);
    event->record(*other->default_stream());
    stream->begin_capture();
    EXPECT_ERROR(stream->wait_for(*event), DeviceError, "(905)");
    EXPECT_EQ(elsewhere->calls_of("synchronize_event"), 0);
    const GraphPtr graph = stream->end_capture();
    stream->wait_for(*event);
    EXPECT_EQ(elsewhere->calls_of("synchronize_event"), 1);
}

TEST_F(GraphTest, AStreamThatGoesEndsItsCapture) {
    auto called = std::make_shared<int>(0);
    stream->begin_capture();
    stream->host_function([called] { ++*called; });
    stream.reset();
    EXPECT_FALSE(context->captures().any());
    EXPECT_TRUE(machine->graphs.empty());
    EXPECT_EQ(called.use_count(), 1);
}

TEST_F(GraphTest, ThePoolAsksNoStreamDuringACapture) {
    const StreamPtr other = Stream::create(context);
    BufferPtr both = Buffer::allocate(other, 4), away = Buffer::allocate(other, 4);
    both->record_use(stream);
    away->mark_escaped();
    BufferPtr managed = Buffer::allocate_managed(context, 4, 1);
    HostBufferPtr pinned = HostBuffer::allocate(context, 64);
    pinned->record_use(stream);
    stream->begin_capture();
    const int asked = machine->calls_of("stream_done") + machine->calls_of("event_done") +
                      machine->calls_of("synchronize");
    both.reset();
    away.reset();
    managed.reset();
    pinned.reset();
    context->pool().free_all_free_blocks();
    const BufferPtr more = Buffer::allocate(other, 1 << 20);
    EXPECT_EQ(machine->calls_of("stream_done") + machine->calls_of("event_done") +
                  machine->calls_of("synchronize"),
              asked);
    EXPECT_EQ(machine->calls_of("free"), 0);
    const GraphPtr graph = stream->end_capture();
    EXPECT_EQ(machine->calls_of("free"), 1);  // the managed memory; `away` may be in the graph
    EXPECT_EQ(context->host_pool().statistics().free_blocks, 1u);
}

TEST_F(GraphTest, OutOfMemoryDuringACaptureSaysWhy) {
    context->pool().set_limit(4096);
    BufferPtr x = Buffer::allocate(stream, 2048);
    x.reset();
    stream->begin_capture();
    EXPECT_ERROR(Buffer::allocate(stream, 4096), OutOfMemory, "while a stream is captured");
    const GraphPtr graph = stream->end_capture();
    context->pool().set_limit(0);
}

TEST_F(GraphTest, MemoryOfAFinishedGraphIsFoundWhenThereIsNoOther) {
    context->pool().set_limit(4096);
    stream->begin_capture();
    BufferPtr x = Buffer::allocate(stream, 4096);
    x.reset();
    GraphPtr graph = stream->end_capture();
    machine->hold = true;
    stream->host_function([] {});
    graph->launch(stream);
    stream->host_function([] {});
    graph.reset();
    const BufferPtr y = Buffer::allocate(stream, 4096);
    EXPECT_NE(y->address(), 0u);
    machine->hold = false;
    context->pool().set_limit(0);
}

TEST_F(GraphTest, AGraphWithinACaptureLivesAsLongAsTheOuterOne) {
    BufferPtr x = zeros(stream);
    stream->begin_capture();
    increment(x, stream);
    GraphPtr inner = stream->end_capture();
    stream->begin_capture();
    inner->launch(stream);
    inner->launch(stream);
    GraphPtr outer = stream->end_capture();
    inner.reset();
    EXPECT_EQ(machine->graphs.size(), 2u);
    outer->launch(stream);
    EXPECT_EQ(value(x), 2);
    outer.reset();
    EXPECT_TRUE(machine->graphs.empty());
}

TEST_F(GraphTest, TwoCapturesAtOnceKeepApart) {
    const StreamPtr other = Stream::create(context);
    BufferPtr x = zeros(stream);
    stream->begin_capture();
    other->begin_capture();
    increment(x, stream);
    increment(x, other);
    x.reset();
    GraphPtr one = stream->end_capture(), two = other->end_capture();
    one.reset();
    EXPECT_EQ(used(), 512u);
    two.reset();
    EXPECT_EQ(used(), 0u);
}

void captured_program(const ContextPtr& context) {
    const StreamPtr a = Stream::create(context), b = Stream::create(context);
    const ModulePtr module = Module::compile(context, testing::fake_program("increment"));
    const FunctionPtr f = module->function("increment");
    const EventPtr event = Event::create(context);
    BufferPtr x = Buffer::allocate(a, 4);
    a->begin_capture();
    BufferPtr y = Buffer::allocate(a, 4);
    event->record(*a);
    b->wait_for(*event);
    for (const auto& [buffer, stream] : {std::pair{&x, &a}, {&y, &b}}) {
        Argument argument;
        argument.kind = ArgumentKind::Pointer;
        argument.bits = (*buffer)->address();
        argument.buffer = buffer->get();
        launch(*f, {{1, 1, 1}, {1, 1, 1}, 0, *stream, false}, std::span(&argument, 1));
    }
    a->host_function([] {});
    x.reset();
    const GraphPtr graph = a->end_capture();
    y.reset();
    graph->launch(a);
    graph->launch(b);
}

TEST(GraphFailure, OfAnyCallLeaksNothing) {
    bool failed = true;
    for (int n = 1; failed; ++n) {
        ASSERT_LT(n, 500);
        auto machine = std::make_shared<FakeMachine>();
        machine->kernels["increment"].parameters = {
            testing::parameter("x", "int *", ParameterKind::Pointer, 8)};
        ContextPtr context = testing::make_fake_context(machine);
        machine->fail("*", n);
        try {
            captured_program(context);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::DeviceError);
        }
        failed = machine->has_failed();
        machine->fail("*", 0);
        EXPECT_NO_THROW(captured_program(context)) << "after call " << n << " failed";
        EXPECT_FALSE(context->captures().any()) << "after call " << n << " failed";
        context->captures().poll();
        EXPECT_EQ(context->pool().statistics().used_bytes, 0u) << "after call " << n << " failed";
        context->pool().free_all_free_blocks();
        // Memory of which nothing can tell when it is no longer in use is lost on purpose.
        const bool lost = context->pool().statistics().held_bytes > 0;
        context.reset();
        EXPECT_EQ(machine->nothing_alive(), !lost) << "after call " << n << " failed";
        EXPECT_LE(machine->memory.size(), 2u) << "after call " << n << " failed";
        EXPECT_EQ(machine->live_streams, 0);
        EXPECT_TRUE(machine->modules.empty() && machine->events.empty() && machine->graphs.empty())
            << "after call " << n << " failed";
        EXPECT_TRUE(machine->notes.empty()) << "after call " << n << " failed";
    }
}

}  // namespace
}  // namespace trilane::core
