// What a capture lets through, what it is lost by, and what is done at each launch of its graph, by
// the core's handles over the fake driver.
#include <numeric>
#include <thread>
#include <vector>

#include "core/buffer.h"
#include "core/graph.h"
#include "core/host_memory.h"
#include "core/launch.h"
#include "core/texture.h"
#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using core::Buffer;
using core::BufferPtr;
using core::CaptureMode;
using core::Event;
using core::EventPtr;
using core::GraphPtr;
using core::Stream;
using core::StreamPtr;
using testing::FakeCuda;
using testing::kAddSource;
using testing::program_of;

class CapturesTest : public FakeCuda {
  protected:
    void SetUp() override {
        context = core::Context::create(make_device(), 0);
        stream = Stream::create(context, true);
        other = Stream::create(context, true);
    }
    void TearDown() override {
        stream.reset();
        other.reset();
        context.reset();
        EXPECT_EQ(machine->alive(), 0);
    }
    // out = a + a, of four floats.
    void add(const core::FunctionPtr& kernel, const BufferPtr& a, const BufferPtr& out,
             const StreamPtr& on) {
        core::Argument arguments[4];
        const BufferPtr* buffers[] = {&a, &a, &out};
        for (size_t i = 0; i < 3; ++i) {
            arguments[i].kind = core::ArgumentKind::Pointer;
            arguments[i].bits = (*buffers[i])->address();
            arguments[i].buffer = buffers[i]->get();
        }
        arguments[3].integer = 4;
        core::launch(*kernel, {{1, 1, 1}, {32, 1, 1}, 0, on, false}, arguments);
    }
    float first(const BufferPtr& buffer) {
        float value = 0;
        core::copy_to_host(&value, *buffer, 0, 4, other, true);
        return value;
    }
    core::ContextPtr context;
    StreamPtr stream, other;
};

TEST_F(CapturesTest, CallsOfOursThatHaveNothingToDoWithItDoNotLoseAGlobalCapture) {
    const EventPtr event = Event::create(context), later = Event::create(context);
    event->record(*other);
    later->record(*other);
    BufferPtr before = Buffer::allocate(other, 1 << 20);
    BufferPtr managed = Buffer::allocate_managed(context, 64, 1);
    const auto texture_of = [&](const BufferPtr& memory) {
        core::TextureParams params;
        params.source = core::TextureParams::Source::Linear;
        params.format = {core::ChannelKind::Float, 32, 1};
        params.width = 4;
        return core::Texture::create(memory, 0, params);
    };
    core::TexturePtr texture = texture_of(before);
    core::ModulePtr module = core::Module::compile(context, program_of(kAddSource));
    for (const CaptureMode mode :
         {CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed}) {
        stream->begin_capture(mode);
        const auto work = [&] {
            const BufferPtr memory = Buffer::allocate(other, 3 << 20);
            const core::HostBufferPtr pinned = core::HostBuffer::allocate(context, 64 << 10);
            EXPECT_TRUE(event->done());
            EXPECT_TRUE(other->done());
            later->synchronize();
            other->synchronize();
            later->elapsed_ms_since(*event);
            texture_of(memory).reset();
            const StreamPtr made = Stream::create(context);
            core::Module::compile(context, program_of(kAddSource))->function("add");
            context->device().memory_info();
            core::copy_to_device(*memory, 0, &mode, 1, other, true);
        };
        work();
        std::thread(work).join();
        texture.reset();
        managed.reset();
        EXPECT_EQ(machine->textures > 0, true);  // they wait for the end of the capture
        const GraphPtr graph = stream->end_capture();
        EXPECT_EQ(machine->textures, 0);
        graph->launch(stream);
        texture = texture_of(before);
        managed = Buffer::allocate_managed(context, 64, 1);
    }
}

TEST_F(CapturesTest, OtherLibrariesInAGlobalCaptureAreNotDisturbed) {
    core::Device& device = context->device();
    const core::RawStream theirs = device.create_stream(true, 0);
    device.begin_capture(theirs, CaptureMode::Global);
    EXPECT_FALSE(context->captures().any());  // nothing knows
    BufferPtr memory = Buffer::allocate(stream, 1 << 20);
    memory->record_use(other);
    memory.reset();
    memory = Buffer::allocate(other, 1 << 20);
    memory.reset();
    std::thread([&] { EXPECT_TRUE(stream->done()); }).join();
    device.destroy_graph(device.end_capture(theirs));
    device.destroy_stream(theirs);
}

TEST_F(CapturesTest, AThreadKeepsTheModeThatItHad) {
    int mode = kCaptureThreadLocal;
    driver_table().cuThreadExchangeStreamCaptureMode(&mode);
    EXPECT_EQ(mode, kCaptureGlobal);
    Buffer::allocate(stream, 1 << 20);
    EXPECT_TRUE(stream->done());
    driver_table().cuThreadExchangeStreamCaptureMode(&mode);
    EXPECT_EQ(mode, kCaptureThreadLocal);
}

TEST_F(CapturesTest, EveryKindOfWorkIsDoneAgainAtEachLaunch) {
    const core::ModulePtr module = core::Module::compile(context, program_of(kAddSource));
    const core::FunctionPtr kernel = module->function("add");
    const BufferPtr a = Buffer::allocate(stream, 16), b = Buffer::allocate(stream, 16),
                    c = Buffer::allocate(stream, 16);
    float host[4] = {}, back[4] = {};
    int calls = 0;
    const EventPtr fork = Event::create(context), join = Event::create(context);
    stream->begin_capture(CaptureMode::Global);
    core::copy_to_device(*a, 0, host, 16, stream, false);
    core::fill(*a, 4, 0x3f800000, 4, 3, stream);
    fork->record(*stream);
    other->wait_for(*fork);
    EXPECT_TRUE(other->capturing());
    add(kernel, a, b, other);
    other->host_function([&] { ++calls; });
    join->record(*other);
    stream->wait_for(*join);
    core::copy_on_device(*c, 0, *b, 0, 16, stream);
    core::copy_to_host(back, *c, 0, 16, stream, false);
    const GraphPtr graph = stream->end_capture();
    EXPECT_FALSE(other->capturing());
    EXPECT_EQ(calls, 0);
    for (int round = 1; round <= 3; ++round) {
        host[0] = static_cast<float>(round);
        graph->launch(other);
        EXPECT_EQ(back[0], 2.0f * static_cast<float>(round));
        EXPECT_EQ(back[3], 2.0f);
        EXPECT_EQ(first(b), back[0]);
        EXPECT_EQ(calls, round);
    }
}

TEST_F(CapturesTest, LargeCopiesOfPageableMemoryReadAndWriteItAtEachLaunch) {
    std::vector<int> from(4 << 20), to(from.size());
    const size_t nbytes = from.size() * sizeof(int);  // the ring takes as much
    const BufferPtr memory = Buffer::allocate(stream, nbytes);
    stream->begin_capture();
    core::copy_to_device(*memory, 0, from.data(), nbytes, stream, false);
    core::copy_to_host(to.data(), *memory, 0, nbytes, stream, false);
    const GraphPtr graph = stream->end_capture();
    EXPECT_EQ(machine->staged_copies, 0);
    for (int round = 0; round < 2; ++round) {
        std::iota(from.begin(), from.end(), round);
        graph->launch(stream);
        EXPECT_EQ(from, to);
    }
}

TEST_F(CapturesTest, TheDriversRefusalsKeepTheirNumbers) {
    const auto status_of = [](const auto& call) {
        try {
            call();
        } catch (const core::Error& error) {
            return error.status();
        }
        return 0;
    };
    const EventPtr inside = Event::create(context), outside = Event::create(context);
    outside->record(*other);
    const std::vector<std::pair<int, std::function<void()>>> calls = {
        {900, [&] { stream->synchronize(); }},
        {900, [&] { stream->done(); }},
        {900, [&] { context->device().synchronize(); }},
        {905, [&] { stream->wait_for(*outside); }},
        {907, [&] { inside->done(); }},
        {907, [&] { inside->synchronize(); }},
        {903,
         [&] {
             other->wait_for(*inside);
             other->end_capture();
         }},
    };
    for (const auto& [expected, call] : calls) {
        stream->begin_capture(CaptureMode::Global);
        inside->record(*stream);
        EXPECT_EQ(status_of(call), expected);
        EXPECT_EQ(status_of([&] { stream->end_capture(); }), 901);
        stream->synchronize();
        other->synchronize();
    }
    stream->begin_capture(CaptureMode::Global);
    std::thread([&] { EXPECT_EQ(status_of([&] { stream->end_capture(); }), 908); }).join();
    const GraphPtr graph = stream->end_capture();
    EXPECT_EQ(status_of([&] { stream->end_capture(); }), 401);

    const StreamPtr blocking = Stream::create(context, false);
    const StreamPtr null = context->default_stream();
    blocking->begin_capture();
    EXPECT_EQ(status_of([&] { null->capturing(); }), 906);
    EXPECT_TRUE(blocking->capturing());
    EXPECT_EQ(status_of([&] { null->done(); }), 906);
    EXPECT_EQ(status_of([&] { blocking->end_capture(); }), 901);
    EXPECT_FALSE(null->capturing());
}

}  // namespace
}  // namespace trilane::cuda
