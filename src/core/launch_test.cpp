// Launches: what reaches the kernel, which configurations are refused, order with other streams.
#include "core/launch.h"

#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeKernel;
using testing::FakeMachine;
using testing::parameter;

Argument integer(int64_t value) {
    Argument a;
    a.kind = ArgumentKind::Int;
    a.integer = value;
    return a;
}

Argument pointer(const BufferPtr& buffer) {
    Argument a;
    a.kind = ArgumentKind::Pointer;
    a.bits = buffer->address();
    a.buffer = buffer.get();
    return a;
}

class Launch : public ::testing::Test {
  protected:
    FunctionPtr function(const char* name, FakeKernel kernel) {
        machine->kernels[name] = std::move(kernel);
        return Module::compile(context, testing::fake_program(name))->function(name);
    }
    // Doubles n ints.
    FunctionPtr doubling() {
        FakeKernel kernel;
        kernel.parameters = {parameter("a", "int *", ParameterKind::Pointer, 8),
                             parameter("n", "int", ParameterKind::Int, 4)};
        kernel.run = [](const LaunchParams& p) {
            int* a = *static_cast<int**>(p.arguments[0]);
            for (int i = 0; i < *static_cast<int*>(p.arguments[1]); ++i) a[i] *= 2;
        };
        return function("twice", kernel);
    }
    static LaunchConfig shape(Dim3 grid, Dim3 block, size_t shared = 0) {
        return {grid, block, shared, nullptr, false};
    }

    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
    StreamPtr stream = context->default_stream();
};

TEST_F(Launch, ReachesTheKernel) {
    const FunctionPtr f = doubling();
    const BufferPtr a = Buffer::allocate(stream, 12);
    int values[3] = {1, 2, 3};
    copy_to_device(*a, 0, values, 12, stream, true);
    const Argument arguments[] = {pointer(a), integer(2)};
    launch(*f, shape({1, 1, 1}, {32, 1, 1}), arguments);
    copy_to_host(values, *a, 0, 12, stream, true);
    EXPECT_EQ(values[0], 2);
    EXPECT_EQ(values[1], 4);
    EXPECT_EQ(values[2], 3);
}

TEST_F(Launch, PassesTheConfigurationOn) {
    FakeKernel kernel;
    LaunchParams seen;
    kernel.run = [&](const LaunchParams& p) { seen = p; };
    const FunctionPtr f = function("k", kernel);
    const StreamPtr other = Stream::create(context);
    launch(*f, {{5, 6, 7}, {8, 2, 1}, 100, other, true}, {});
    EXPECT_EQ(seen.grid, (Dim3{5, 6, 7}));
    EXPECT_EQ(seen.block, (Dim3{8, 2, 1}));
    EXPECT_EQ(seen.shared_bytes, 100u);
    EXPECT_EQ(seen.stream, other->raw());
    EXPECT_TRUE(seen.cooperative);
    EXPECT_EQ(seen.argument_count, 0u);
}

TEST_F(Launch, MoreThanThirtyTwoArguments) {
    FakeKernel kernel;
    for (int i = 0; i < 100; ++i)
        kernel.parameters.push_back(parameter("", "long long", ParameterKind::Int, 8));
    int64_t sum = 0;
    kernel.run = [&](const LaunchParams& p) {
        for (size_t i = 0; i < p.argument_count; ++i) sum += *static_cast<int64_t*>(p.arguments[i]);
    };
    const FunctionPtr f = function("many", kernel);
    std::vector<Argument> arguments;
    for (int i = 0; i < 100; ++i) arguments.push_back(integer(i));
    launch(*f, shape({1, 1, 1}, {1, 1, 1}), arguments);
    EXPECT_EQ(sum, 4950);
}

TEST_F(Launch, RefusesShapes) {
    const FunctionPtr f = function("k", {});
    const struct {
        Dim3 grid, block;
        const char* text;
    } table[] = {
        {{0, 1, 1}, {1, 1, 1}, "empty grid: got (0, 1, 1)"},
        {{1, 1, 0}, {1, 1, 1}, "empty grid: got (1, 1, 0)"},
        {{1, 1, 1}, {1, 0, 1}, "empty block: got (1, 0, 1)"},
        {{1, 1, 1}, {1025, 1, 1}, "block too large: got (1025, 1, 1), expected at most"},
        {{1, 1, 1}, {1, 1, 65}, "block too large: got (1, 1, 65)"},
        {{1, 1, 1}, {32, 33, 1}, "(32, 33, 1) = 1056 threads, expected at most 1024"},
        {{1, 65536, 1}, {1, 1, 1}, "grid too large: got (1, 65536, 1)"},
        {{2147483648u, 1, 1}, {1, 1, 1}, "grid too large"},
        {{1, 1, 1}, {4294967295u, 4294967295u, 4294967295u}, "block too large"},
    };
    for (const auto& row : table)
        EXPECT_ERROR(launch(*f, shape(row.grid, row.block), {}), InvalidArgument, "launch of k",
                     row.text);
    EXPECT_EQ(machine->calls_of("launch"), 0);
    launch(*f, shape({2147483647u, 65535, 65535}, {1024, 1, 1}), {});
    EXPECT_EQ(machine->calls_of("launch"), 1);
}

TEST_F(Launch, RefusesMoreThreadsThanTheKernelAllows) {
    FakeKernel kernel;
    kernel.attributes.max_threads_per_block = 128;
    const FunctionPtr f = function("bounded", kernel);
    EXPECT_ERROR(launch(*f, shape({1, 1, 1}, {129, 1, 1}), {}), LaunchError, "got 129", "128",
                 "__launch_bounds__");
    launch(*f, shape({1, 1, 1}, {128, 1, 1}), {});
}

TEST_F(Launch, RefusesTooMuchSharedMemory) {
    FakeKernel kernel;
    kernel.attributes.shared_bytes = 1024;
    const FunctionPtr f = function("shared", kernel);
    launch(*f, shape({1, 1, 1}, {1, 1, 1}, 48128), {});
    EXPECT_ERROR(launch(*f, shape({1, 1, 1}, {1, 1, 1}, 48129), {}), InvalidArgument,
                 "1024 bytes static and 48129 dynamic", "49152 together",
                 "MAX_DYNAMIC_SHARED_SIZE_BYTES", "up to 98304");
    EXPECT_ERROR(launch(*f, shape({1, 1, 1}, {1, 1, 1}, 100000), {}), InvalidArgument,
                 "a block 98304 at the very most");
    f->set_attribute(8, 65536);
    launch(*f, shape({1, 1, 1}, {1, 1, 1}, 60000), {});
    EXPECT_ERROR(launch(*f, shape({1, 1, 1}, {1, 1, 1}, 65537), {}), InvalidArgument, "65536");
}

TEST_F(Launch, RefusesTheWrongNumberOfArguments) {
    const FunctionPtr f = doubling();
    const BufferPtr a = Buffer::allocate(stream, 12);
    const Argument three[] = {pointer(a), integer(2), integer(77)};
    const LaunchConfig config = shape({1, 1, 1}, {1, 1, 1});
    EXPECT_ERROR(launch(*f, config, std::span(three, 1)), TypeMismatch, "got 1, expected 2",
                 "argument 2 'n' (int) is missing", "twice(int *a, int n)");
    EXPECT_ERROR(launch(*f, config, std::span(three, 3)), TypeMismatch, "got 3, expected 2",
                 "too many is int 77");
    EXPECT_EQ(machine->calls_of("launch"), 0);
}

TEST_F(Launch, RefusesFreedMemoryAndForeignStreams) {
    const FunctionPtr f = doubling();
    const BufferPtr a = Buffer::allocate(stream, 12);
    const Argument arguments[] = {pointer(a), integer(2)};
    const ContextPtr other = testing::make_fake_context(std::make_shared<FakeMachine>(), 1);
    LaunchConfig config = shape({1, 1, 1}, {1, 1, 1});
    config.stream = other->default_stream();
    EXPECT_ERROR(launch(*f, config, arguments), InvalidArgument, "stream of another device");
    a->free_now();
    EXPECT_ERROR(launch(*f, shape({1, 1, 1}, {1, 1, 1}), arguments), InvalidArgument,
                 "this memory was freed");
    EXPECT_EQ(machine->calls_of("launch"), 0);
}

TEST_F(Launch, GuardsMemoryUsedOnOtherStreams) {
    const FunctionPtr f = doubling();
    BufferPtr a = Buffer::allocate(stream, 12);
    const DevicePtr address = a->address();
    fill(*a, 0, 0, 4, 3, stream);
    LaunchConfig config = shape({1, 1, 1}, {1, 1, 1});
    config.stream = Stream::create(context);
    machine->hold = true;
    const Argument arguments[] = {pointer(a), integer(1)};
    launch(*f, config, arguments);
    a.reset();
    const BufferPtr b = Buffer::allocate(stream, 12);
    EXPECT_NE(b->address(), address);
    config.stream->synchronize();
    EXPECT_EQ(Buffer::allocate(stream, 12)->address(), address);
}

TEST_F(Launch, RunsOnTheCurrentStreamUnlessTold) {
    const StreamPtr mine = Stream::create(context);
    FakeKernel kernel;
    RawStream seen = 99;
    kernel.run = [&](const LaunchParams& p) { seen = p.stream; };
    const FunctionPtr f = function("k", kernel);
    set_current_stream(mine);
    launch(*f, shape({1, 1, 1}, {1, 1, 1}), {});
    EXPECT_EQ(seen, mine->raw());
    forget_current_for_tests();
    launch(*f, shape({1, 1, 1}, {1, 1, 1}), {});
    EXPECT_EQ(seen, 0u);
}

TEST_F(Launch, UnknownParametersTakeWhatIsGiven) {
    FakeKernel kernel;
    kernel.parameters_known = false;
    int64_t a = 0;
    double b = 0;
    float c = 0;
    kernel.run = [&](const LaunchParams& p) {
        a = *static_cast<int64_t*>(p.arguments[0]);
        b = *static_cast<double*>(p.arguments[1]);
        c = *static_cast<float*>(p.arguments[2]);
    };
    const FunctionPtr f = function("opaque", kernel);
    Argument arguments[3] = {integer(-5), {}, {}};
    arguments[1].kind = arguments[2].kind = ArgumentKind::Float;
    arguments[1].number = arguments[2].number = 0.5;
    arguments[2].size = 4;
    launch(*f, shape({1, 1, 1}, {1, 1, 1}), arguments);
    EXPECT_EQ(a, -5);
    EXPECT_EQ(b, 0.5);
    EXPECT_EQ(c, 0.5f);
    EXPECT_EQ(signature(f->info()), "opaque(...)");
}

TEST_F(Launch, PackedArgumentsGoStraightThrough) {
    const FunctionPtr f = doubling();
    const BufferPtr a = Buffer::allocate(stream, 4);
    fill(*a, 0, 21, 4, 1, stream);
    DevicePtr address = a->address();
    int n = 1;
    void* arguments[] = {&address, &n};
    launch_packed(*f, shape({1, 1, 1}, {1, 1, 1}), arguments, 2);
    int value = 0;
    copy_to_host(&value, *a, 0, 4, stream, true);
    EXPECT_EQ(value, 42);
    EXPECT_ERROR(launch_packed(*f, shape({0, 1, 1}, {1, 1, 1}), arguments, 2), InvalidArgument,
                 "empty grid");
}

}  // namespace
}  // namespace trilane::core
