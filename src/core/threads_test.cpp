// Many threads on one context: memory is never shared by two, and the counts come out even.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/buffer.h"
#include "core/host_memory.h"
#include "core/launch.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;
using testing::parameter;

TEST(Threads, AllocateLaunchAndFreeTogether) {
    auto machine = std::make_shared<FakeMachine>();
    // Writes its second argument into every byte, then sees whether all are still there.
    std::atomic<int> clashes{0};
    testing::FakeKernel kernel;
    kernel.parameters = {parameter("p", "unsigned char *", ParameterKind::Pointer, 8),
                         parameter("value", "unsigned char", ParameterKind::UInt, 1),
                         parameter("n", "size_t", ParameterKind::UInt, 8)};
    kernel.run = [&](const LaunchParams& p) {
        auto* bytes = *static_cast<unsigned char**>(p.arguments[0]);
        const auto value = *static_cast<unsigned char*>(p.arguments[1]);
        const auto n = *static_cast<size_t*>(p.arguments[2]);
        std::fill_n(bytes, n, value);
    };
    machine->kernels["fill"] = kernel;
    ContextPtr context = testing::make_fake_context(machine);
    const StreamPtr shared_stream = Stream::create(context);

    const auto work = [&](int id) {
        const FunctionPtr f =
            Module::compile(context, testing::fake_program("fill"))->function("fill");
        const StreamPtr own = Stream::create(context);
        std::vector<BufferPtr> held;
        for (int round = 0; round < 200; ++round) {
            const StreamPtr& stream = round % 3 == 0 ? shared_stream : own;
            const size_t nbytes = 1 + static_cast<size_t>(round * 977 + id * 131) % 5000;
            const BufferPtr buffer = Buffer::allocate(round % 2 == 0 ? own : shared_stream, nbytes);
            if (round % 7 == 0) buffer->mark_escaped();
            Argument arguments[3];
            arguments[0].kind = ArgumentKind::Pointer;
            arguments[0].bits = buffer->address();
            arguments[0].buffer = buffer.get();
            arguments[1].integer = id;
            arguments[2].integer = static_cast<int64_t>(nbytes);
            launch(*f, {{1, 1, 1}, {1, 1, 1}, 0, stream, false}, arguments);
            std::vector<unsigned char> back(nbytes);
            copy_to_host(back.data(), *buffer, 0, nbytes, stream, true);
            for (const unsigned char byte : back) clashes += byte != id;
            held.push_back(buffer);
            if (held.size() > 5) held.erase(held.begin());
            if (round % 50 == 49) context->pool().free_all_free_blocks();
            if (round % 20 == 0) HostBuffer::allocate(context, 100)->record_use(stream);
        }
    };
    std::vector<std::thread> threads;
    for (int id = 1; id <= 8; ++id) threads.emplace_back(work, id);
    for (std::thread& thread : threads) thread.join();

    EXPECT_EQ(clashes, 0);
    const PoolStatistics s = context->pool().statistics();
    EXPECT_EQ(s.live_buffers, 0u);
    EXPECT_EQ(s.used_bytes, 0u);
    EXPECT_EQ(s.allocations, 1600u);
    EXPECT_EQ(s.held_bytes, s.free_bytes);
    EXPECT_EQ(machine->calls_of("compile"), 1);
    context->pool().free_all_free_blocks();
    EXPECT_EQ(context->pool().statistics().held_bytes, 0u);
}

TEST(Threads, LastHandlesMayGoAnywhere) {
    auto machine = std::make_shared<FakeMachine>();
    for (int round = 0; round < 50; ++round) {
        ContextPtr context = testing::make_fake_context(machine);
        BufferPtr buffer = Buffer::allocate(context->default_stream(), 100);
        std::thread one([b = std::move(buffer)]() mutable { b.reset(); });
        std::thread two([c = std::move(context)]() mutable { c.reset(); });
        one.join();
        two.join();
        ASSERT_TRUE(machine->nothing_alive());
    }
}

}  // namespace
}  // namespace trilane::core
