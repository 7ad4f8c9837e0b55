// The pool: reuse in stream order, across streams only when safe; splitting, limits, out of memory.
#include "core/memory_pool.h"

#include "core/buffer.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class Pool : public ::testing::Test {
  protected:
    ~Pool() override {
        MemoryPool::set_collector(nullptr);
        machine->hold = false;
        for (auto& [raw, stream] : machine->streams) machine->finish(raw);
        a.reset();
        b.reset();
        context.reset();
        EXPECT_TRUE(machine->nothing_alive());
    }
    BufferPtr allocate(const StreamPtr& stream, size_t nbytes) {
        return Buffer::allocate(stream, nbytes);
    }
    void keep_busy(const StreamPtr& stream) {
        machine->hold = true;
        stream->host_function([] {});
    }
    PoolStatistics stats() { return context->pool().statistics(); }

    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
    StreamPtr a = Stream::create(context), b = Stream::create(context);
};

TEST_F(Pool, ReusesAtOnceOnTheSameStream) {
    keep_busy(a);
    BufferPtr x = allocate(a, 1000);
    const DevicePtr address = x->address();
    x.reset();
    EXPECT_EQ(allocate(a, 600)->address(), address);
    EXPECT_EQ(machine->calls_of("allocate"), 1);
    EXPECT_EQ(machine->calls_of("free"), 0);
    EXPECT_EQ(machine->calls_of("create_event"), 0);
}

TEST_F(Pool, CountsWhatIsUsedHeldAndFree) {
    BufferPtr x = allocate(a, 1), y = allocate(a, 513);
    EXPECT_EQ(stats().used_bytes, 512u + 1024u);
    EXPECT_EQ(stats().held_bytes, 512u + 1024u);
    EXPECT_EQ(stats().live_buffers, 2u);
    x.reset();
    EXPECT_EQ(stats().used_bytes, 1024u);
    EXPECT_EQ(stats().free_bytes, 512u);
    EXPECT_EQ(stats().free_blocks, 1u);
    EXPECT_EQ(stats().peak_used_bytes, 1536u);
    context->pool().reset_peak();
    EXPECT_EQ(stats().peak_used_bytes, 1024u);
    context->pool().free_all_free_blocks();
    EXPECT_EQ(stats().held_bytes, 1024u);
    EXPECT_EQ(stats().free_bytes, 0u);
    y.reset();
    context->pool().free_all_free_blocks();
    EXPECT_EQ(stats().held_bytes, 0u);
    EXPECT_EQ(machine->used, 0u);
    EXPECT_EQ(stats().allocations, 2u);
    EXPECT_EQ(stats().device_allocations, 2u);
}

TEST_F(Pool, SplitsAndJoins) {
    BufferPtr whole = allocate(a, 4096);
    const DevicePtr start = whole->address();
    whole.reset();
    BufferPtr p = allocate(a, 512), q = allocate(a, 1024), r = allocate(a, 512);
    EXPECT_EQ(p->address(), start);
    EXPECT_EQ(q->address(), start + 512);
    EXPECT_EQ(r->address(), start + 1536);
    EXPECT_EQ(stats().free_blocks, 1u);
    q.reset();
    EXPECT_EQ(stats().free_blocks, 2u);
    context->pool().free_all_free_blocks();  // the segment is in use: nothing goes
    EXPECT_EQ(stats().held_bytes, 4096u);
    p.reset();
    r.reset();
    EXPECT_EQ(stats().free_blocks, 1u);
    EXPECT_EQ(allocate(a, 4096)->address(), start);
    EXPECT_EQ(machine->calls_of("allocate"), 1);
}

TEST_F(Pool, TakesTheBestFit) {
    BufferPtr large = allocate(a, 1 << 20), small = allocate(a, 2048);
    const DevicePtr address = small->address();
    large.reset();
    small.reset();
    EXPECT_EQ(allocate(a, 1500)->address(), address);
}

TEST_F(Pool, ASmallRequestDoesNotCutALargeBlock) {
    allocate(a, MemoryPool::kLargeBlock + 512).reset();
    const BufferPtr small = allocate(a, 512);
    EXPECT_EQ(machine->calls_of("allocate"), 2);
    const BufferPtr large = allocate(a, MemoryPool::kLargeBlock);
    EXPECT_EQ(machine->calls_of("allocate"), 2);
}

TEST_F(Pool, ABusyStreamsMemoryIsNotGivenToAnother) {
    keep_busy(a);
    BufferPtr x = allocate(a, 1000);
    const DevicePtr address = x->address();
    x.reset();
    BufferPtr y = allocate(b, 1000);
    EXPECT_NE(y->address(), address);
    a->synchronize();
    EXPECT_EQ(allocate(b, 1000)->address(), address);
}

TEST_F(Pool, WorkOnAnotherStreamDelaysReuse) {
    BufferPtr x = allocate(a, 1000);
    const DevicePtr address = x->address();
    keep_busy(b);
    x->record_use(b);
    x->record_use(b);
    x->record_use(a);
    x.reset();
    EXPECT_EQ(stats().waiting_bytes, 1024u);
    EXPECT_EQ(stats().free_blocks, 1u);
    EXPECT_EQ(machine->calls_of("record_event"), 1);
    const BufferPtr other = allocate(a, 1000);
    EXPECT_NE(other->address(), address);
    machine->finish(b->raw());
    EXPECT_EQ(allocate(a, 1000)->address(), address);
    EXPECT_EQ(stats().waiting_bytes, 0u);
}

TEST_F(Pool, OtherStreamsThatAreDoneDelayNothing) {
    BufferPtr x = allocate(a, 1000);
    const DevicePtr address = x->address();
    x->record_use(b);
    x.reset();
    EXPECT_EQ(machine->calls_of("record_event"), 0);
    EXPECT_EQ(allocate(a, 1000)->address(), address);
}

TEST_F(Pool, AnEscapedAddressWaitsForEveryStreamAlive) {
    BufferPtr x = allocate(a, 1000);
    const DevicePtr address = x->address();
    x->mark_escaped();
    keep_busy(b);
    keep_busy(context->default_stream());
    x.reset();
    machine->finish(b->raw());
    const BufferPtr other = allocate(a, 1000);
    EXPECT_NE(other->address(), address);
    machine->finish(0);
    EXPECT_EQ(allocate(a, 1000)->address(), address);
}

TEST_F(Pool, AnEscapedAddressWaitsForStreamsThatWereDestroyedBusy) {
    StreamPtr c = Stream::create(context);
    const RawStream raw = c->raw();
    BufferPtr x = allocate(a, 1000);
    const DevicePtr address = x->address();
    x->mark_escaped();
    keep_busy(c);
    c.reset();
    x.reset();
    const BufferPtr other = allocate(a, 1000);
    EXPECT_NE(other->address(), address);
    machine->finish(raw);
    EXPECT_EQ(allocate(a, 1000)->address(), address);
}

TEST_F(Pool, WhatADestroyedStreamHadIsForEverybodyOnceItIsDone) {
    StreamPtr c = Stream::create(context);
    const RawStream raw = c->raw();
    BufferPtr x = allocate(c, 1000);
    const DevicePtr address = x->address();
    keep_busy(c);
    x.reset();
    c.reset();
    const BufferPtr other = allocate(a, 1000);
    EXPECT_NE(other->address(), address);
    machine->finish(raw);
    EXPECT_EQ(allocate(b, 1000)->address(), address);
}

TEST_F(Pool, AWaitingBlockOutlivesItsHomeStream) {
    StreamPtr c = Stream::create(context);
    BufferPtr x = allocate(c, 1000);
    const DevicePtr address = x->address();
    keep_busy(b);
    x->record_use(b);
    x.reset();
    c.reset();
    const BufferPtr other = allocate(a, 1000);
    EXPECT_NE(other->address(), address);
    machine->finish(b->raw());
    EXPECT_EQ(allocate(a, 1000)->address(), address);
}

TEST_F(Pool, AWrappedStreamsMemoryGoesToEverybodyAfterItsWork) {
    const RawStream raw = context->device().create_stream(false, 0);
    StreamPtr c = Stream::wrap(context, raw);
    BufferPtr x = allocate(c, 1000);
    const DevicePtr address = x->address();
    keep_busy(c);
    x.reset();
    c.reset();
    context->device().destroy_stream(raw);  // its owner may do that now
    const BufferPtr other = allocate(a, 1000);
    EXPECT_NE(other->address(), address);
    machine->finish(raw);
    EXPECT_EQ(allocate(a, 1000)->address(), address);
}

TEST_F(Pool, EventsAreReused) {
    keep_busy(b);
    for (int i = 0; i < 10; ++i) {
        b->host_function([] {});
        BufferPtr x = allocate(a, 1000);
        x->record_use(b);
        x.reset();
        machine->finish(b->raw());
    }
    EXPECT_LE(machine->calls_of("create_event"), 2);
}

TEST_F(Pool, OutOfMemoryGivesBackAndTriesAgain) {
    machine->capacity = 10000;
    BufferPtr x = allocate(a, 6000);
    x.reset();
    EXPECT_EQ(stats().held_bytes, 6144u);
    const BufferPtr y = allocate(a, 8000);  // only after the free block went back
    EXPECT_EQ(stats().held_bytes, 8192u);
}

TEST_F(Pool, OutOfMemoryWaitsForOtherStreams) {
    machine->capacity = 10000;
    BufferPtr x = allocate(a, 6000);
    keep_busy(b);
    x->record_use(b);
    x.reset();
    machine->hold = false;
    const BufferPtr y = allocate(a, 8000);
    EXPECT_TRUE(b->done());
}

TEST_F(Pool, WorkInFlightMayFreeMemoryWhileThePoolWaitsForIt) {
    machine->capacity = 10000;
    BufferPtr x = allocate(a, 6000), other = allocate(a, 512);
    keep_busy(b);
    other->record_use(b);
    b->host_function([&] { x.reset(); });
    machine->hold = false;
    other.reset();
    const BufferPtr y = allocate(a, 8000);
    EXPECT_EQ(x, nullptr);
    EXPECT_EQ(stats().held_bytes, 8192u);
}

TEST_F(Pool, OutOfMemoryCollectsGarbage) {
    machine->capacity = 10000;
    BufferPtr garbage = allocate(a, 6000);
    int collected = 0;
    MemoryPool::set_collector([&] {
        ++collected;
        garbage.reset();
    });
    const BufferPtr y = allocate(a, 8000);
    EXPECT_EQ(collected, 1);
}

TEST_F(Pool, OutOfMemorySaysAllFigures) {
    machine->capacity = 10000;
    const BufferPtr x = allocate(a, 6000);
    EXPECT_ERROR(allocate(a, 8000), OutOfMemory, "asked for 8000 bytes", "holds 6144 bytes",
                 "6144 bytes used in 1 buffers", "0 bytes free", "fake device: 8192 bytes asked");
    EXPECT_ERROR(allocate(a, SIZE_MAX - 100), OutOfMemory, "asked for");
    EXPECT_ERROR(allocate(a, size_t{3} << 40), OutOfMemory, "asked for 3.0 TiB");
    EXPECT_ERROR(allocate(a, 20000), OutOfMemory, "asked for 19.5 KiB");
    EXPECT_ERROR(allocate(a, SIZE_MAX / 2 - 100), OutOfMemory, "asked for");
    EXPECT_EQ(allocate(a, 3000)->nbytes(), 3000u);  // and it goes on
}

TEST_F(Pool, OutOfMemoryIsSaidOnce) {
    machine->capacity = 10000;
    machine->out_of_memory_detail = "the device has 10000 bytes in all";
    try {
        allocate(a, 20000);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(),
                  "allocate: out of device memory: asked for 19.5 KiB; the pool holds 0 bytes (0 "
                  "bytes used in 0 buffers, 0 bytes free but too small or in pieces): the device "
                  "has 10000 bytes in all");
    }
}

TEST_F(Pool, TheLimitCountsWhatIsHeld) {
    context->pool().set_limit(4096);
    EXPECT_EQ(context->pool().limit(), 4096u);
    BufferPtr x = allocate(a, 2048);
    EXPECT_ERROR(allocate(a, 2049), OutOfMemory, "the limit is 4096 bytes", "raise the limit");
    x.reset();
    BufferPtr y = allocate(a, 4096);
    EXPECT_EQ(machine->calls_of("allocate"), 2);
    context->pool().set_limit(0);
    EXPECT_NE(allocate(a, 8192), nullptr);
}

TEST_F(Pool, SwitchedOffItAsksTheDeviceEachTime) {
    BufferPtr pooled = allocate(a, 512);
    context->pool().set_enabled(false);
    BufferPtr x = allocate(a, 512);
    EXPECT_EQ(machine->calls_of("allocate"), 2);
    keep_busy(b);
    x->record_use(b);
    x.reset();
    EXPECT_EQ(machine->calls_of("stream_wait_event"), 1);  // the free comes after b's work
    EXPECT_EQ(machine->used, 1024u);
    machine->finish(a->raw());
    EXPECT_TRUE(b->done());
    EXPECT_EQ(machine->used, 512u);
    EXPECT_EQ(stats().held_bytes, 512u);
    context->pool().set_enabled(true);
    pooled.reset();
    EXPECT_EQ(stats().free_bytes, 512u);
}

TEST_F(Pool, APoolWhoseSegmentsAreSharedAmongStreamsGoesBackWhole) {
    BufferPtr x = allocate(a, 4096);
    x.reset();
    BufferPtr p = allocate(a, 1024), q = allocate(b, 1024);  // b takes a piece: a is done
    EXPECT_EQ(machine->calls_of("allocate"), 1);
    p.reset();
    q.reset();
    EXPECT_GE(stats().free_blocks, 2u);
    context->pool().free_all_free_blocks();
    EXPECT_EQ(stats().held_bytes, 0u);
    EXPECT_EQ(stats().free_blocks, 0u);
}

TEST_F(Pool, KnowsItsAddresses) {
    const BufferPtr x = allocate(a, 1000);
    EXPECT_TRUE(context->pool().owns(x->address()));
    EXPECT_TRUE(context->pool().owns(x->address() + 1023));
    EXPECT_FALSE(context->pool().owns(x->address() + 1024));
    EXPECT_FALSE(context->pool().owns(x->address() - 1));
}

TEST_F(Pool, ALostDeviceLosesBlocksButThrowsNothing) {
    BufferPtr x = allocate(a, 1000);
    x->record_use(b);
    keep_busy(b);
    machine->fail("stream_done", 1);
    x.reset();  // reported on stderr, not thrown
    EXPECT_EQ(stats().live_buffers, 0u);
    EXPECT_EQ(stats().free_bytes, 0u);  // never used again
    machine->lose_memory();             // the block is lost for good
}

}  // namespace
}  // namespace trilane::core
