// What the core itself costs, on the fake device: allocation, launches, argument packing, caches.
// Build and run: cmake --preset dev -DTRILANE_BENCH=ON; ninja -C build/dev core_bench;
// build/dev/core_bench
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "core/buffer.h"
#include "core/launch.h"
#include "core/pack.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;
using testing::parameter;

ContextPtr make_context() {
    auto machine = std::make_shared<FakeMachine>();
    testing::FakeKernel kernel;
    kernel.parameters = {parameter("a", "float *", ParameterKind::Pointer, 8),
                         parameter("b", "float *", ParameterKind::Pointer, 8),
                         parameter("c", "float *", ParameterKind::Pointer, 8),
                         parameter("n", "int", ParameterKind::Int, 4)};
    machine->kernels["add"] = kernel;
    return testing::make_fake_context(machine);
}

// The pool alone: the size is held from the round before.
void pool_allocate_free(benchmark::State& state) {
    const ContextPtr context = make_context();
    const StreamPtr stream = context->default_stream();
    const auto nbytes = static_cast<size_t>(state.range(0));
    for (auto _ : state) {
        const MemoryPool::Block block = context->pool().allocate(nbytes, *stream);
        benchmark::DoNotOptimize(block.address);
        context->pool().free(block, *stream, {}, false);
    }
}
BENCHMARK(pool_allocate_free)->Arg(400)->Arg(1 << 20)->Arg(100 << 20);

// Among many live and free blocks of many sizes.
void pool_allocate_free_in_use(benchmark::State& state) {
    const ContextPtr context = make_context();
    const StreamPtr stream = context->default_stream();
    std::vector<BufferPtr> live;
    for (size_t i = 1; i <= 2000; ++i) live.push_back(Buffer::allocate(stream, i * 200));
    for (size_t i = 0; i < live.size(); i += 2) live[i].reset();
    size_t n = 0;
    for (auto _ : state) {
        n = n * 1103515245 + 12345;
        const MemoryPool::Block block = context->pool().allocate(1 + n % 1000000, *stream);
        benchmark::DoNotOptimize(block.address);
        context->pool().free(block, *stream, {}, false);
    }
}
BENCHMARK(pool_allocate_free_in_use);

void buffer_allocate_free(benchmark::State& state) {
    const ContextPtr context = make_context();
    const StreamPtr stream = context->default_stream();
    for (auto _ : state) benchmark::DoNotOptimize(Buffer::allocate(stream, 400));
}
BENCHMARK(buffer_allocate_free);

void buffer_allocate_free_threads(benchmark::State& state) {
    static const ContextPtr context = make_context();
    const StreamPtr stream = Stream::create(context);
    for (auto _ : state) benchmark::DoNotOptimize(Buffer::allocate(stream, 400));
}
BENCHMARK(buffer_allocate_free_threads)->Threads(1)->Threads(2)->UseRealTime();

struct LaunchCase {
    ContextPtr context = make_context();
    FunctionPtr function = Module::compile(context, testing::fake_program("add"))->function("add");
    StreamPtr stream = context->default_stream();
    BufferPtr buffers[3] = {Buffer::allocate(stream, 1600), Buffer::allocate(stream, 1600),
                            Buffer::allocate(stream, 1600)};
    Argument arguments[4];
    LaunchConfig config{{2, 1, 1}, {256, 1, 1}, 0, stream, false};

    LaunchCase() {
        for (int i = 0; i < 3; ++i) {
            arguments[i].kind = ArgumentKind::Pointer;
            arguments[i].bits = buffers[i]->address();
            arguments[i].buffer = buffers[i].get();
        }
        arguments[3].integer = 400;
    }
};

// Three arrays and an int; the fake device's own launch is part of it.
void launch_checked(benchmark::State& state) {
    LaunchCase c;
    for (auto _ : state) launch(*c.function, c.config, c.arguments);
}
BENCHMARK(launch_checked);

void launch_current_stream(benchmark::State& state) {
    LaunchCase c;
    c.config.stream = nullptr;
    for (auto _ : state) launch(*c.function, c.config, c.arguments);
}
BENCHMARK(launch_current_stream);

void device_launch_alone(benchmark::State& state) {
    LaunchCase c;
    LaunchParams params;
    params.function = c.function->info().raw;
    for (auto _ : state) c.context->device().launch(params);
}
BENCHMARK(device_launch_alone);

void pack_arguments(benchmark::State& state) {
    LaunchCase c;
    PackedValue place;
    for (auto _ : state)
        for (size_t i = 0; i < 4; ++i)
            benchmark::DoNotOptimize(pack_argument(c.function->info(), i, c.arguments[i], place));
    state.SetItemsProcessed(state.iterations() * 4);
}
BENCHMARK(pack_arguments);

void compile_cache_memory_hit(benchmark::State& state) {
    const ContextPtr context = make_context();
    const Program program = testing::fake_program(std::string(4000, 'x'));
    for (auto _ : state) benchmark::DoNotOptimize(context->compile_cache().get(program));
}
BENCHMARK(compile_cache_memory_hit);

void module_function_lookup(benchmark::State& state) {
    const ContextPtr context = make_context();
    const ModulePtr module = Module::compile(context, testing::fake_program("add"));
    const FunctionPtr held = module->function("add");
    for (auto _ : state) benchmark::DoNotOptimize(module->function("add"));
}
BENCHMARK(module_function_lookup);

}  // namespace
}  // namespace trilane::core

BENCHMARK_MAIN();
