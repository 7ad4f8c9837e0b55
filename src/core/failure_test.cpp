// Every device call of a small program fails once, one after the other: each failure is an
// exception, nothing is leaked, and the device goes on.
#include <gtest/gtest.h>

#include "core/buffer.h"
#include "core/host_memory.h"
#include "core/launch.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;
using testing::parameter;

void small_program(const ContextPtr& context) {
    const StreamPtr a = Stream::create(context), b = Stream::create(context);
    const EventPtr event = Event::create(context);
    const ModulePtr module = Module::compile(context, testing::fake_program("k"));
    const FunctionPtr f = module->function("k");
    const HostBufferPtr host = HostBuffer::allocate(context, 64);
    BufferPtr x = Buffer::allocate(a, 1000), y = Buffer::allocate(b, 64);
    const BufferPtr managed = Buffer::allocate_managed(context, 64, 1);
    copy_to_device(*y, 0, host->data(), 64, b, false);
    host->record_use(b);
    event->record(*b);
    a->wait_for(*event);
    Argument argument;
    argument.kind = ArgumentKind::Pointer;
    argument.bits = x->address();
    argument.buffer = x.get();
    launch(*f, {{1, 1, 1}, {1, 1, 1}, 0, b, false}, std::span(&argument, 1));
    copy_on_device(*x, 0, *y, 0, 64, a);
    y->mark_escaped();
    x.reset();
    y.reset();
    context->pool().free_all_free_blocks();
    b->synchronize();
    event->synchronize();
}

TEST(Failure, OfAnyCallLeaksNothing) {
    for (const bool hold : {false, true}) {
        bool failed = true;
        for (int n = 1; failed; ++n) {
            ASSERT_LT(n, 500);
            auto machine = std::make_shared<FakeMachine>();
            machine->kernels["k"].parameters = {
                parameter("x", "void *", ParameterKind::Pointer, 8)};
            ContextPtr context = testing::make_fake_context(machine);
            machine->hold = hold;
            machine->fail("*", n);
            try {
                small_program(context);  // a failure inside a destructor is only reported
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::DeviceError);
            }
            failed = machine->has_failed();
            machine->fail("*", 0);
            EXPECT_NO_THROW(small_program(context)) << "after call " << n << " failed";
            // Memory that work in flight may still use is lost on purpose when nothing can tell
            // when that ends: one block at most. Nothing else may be.
            context->pool().free_all_free_blocks();
            context->host_pool().free_all_free_blocks();
            const bool lost = context->pool().statistics().held_bytes +
                                  context->host_pool().statistics().held_bytes >
                              0;
            context.reset();
            machine->hold = false;
            for (auto& [raw, stream] : machine->streams) machine->finish(raw);
            EXPECT_EQ(machine->nothing_alive(), !lost) << "after call " << n << " failed";
            EXPECT_LE(machine->memory.size() + machine->host_memory.size(), 1u)
                << "after call " << n << " failed";
            EXPECT_EQ(machine->live_streams, 0);
            EXPECT_TRUE(machine->modules.empty());
            EXPECT_TRUE(machine->events.empty());
            EXPECT_TRUE(machine->notes.empty());
        }
    }
}

}  // namespace
}  // namespace trilane::core
