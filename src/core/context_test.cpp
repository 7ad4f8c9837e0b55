// Contexts: what is current in a thread, and the process after a fork.
#include "core/context.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "core/buffer.h"
#include "core/registry.h"
#include "core/stream.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;
using testing::FakeMachinePtr;

class CurrentTest : public ::testing::Test {
  protected:
    void SetUp() override {
        reset_registry_for_tests();
        register_device_factory(
            {DeviceType::Fake, [](int, std::string&) { return 3; },
             [this](int ordinal) { return testing::make_fake_device(machine, ordinal); }});
    }
    void TearDown() override { reset_registry_for_tests(); }
    FakeMachinePtr machine = std::make_shared<FakeMachine>();
};

TEST_F(CurrentTest, StartsWithTheFirstDeviceAndItsNullStream) {
    EXPECT_EQ(current_device_index(), 0);
    EXPECT_EQ(current_context(), context_of(0));
    EXPECT_EQ(current_stream()->raw(), 0u);
    EXPECT_EQ(current_stream(), current_context()->default_stream());
}

TEST_F(CurrentTest, IsAMatterOfTheThread) {
    set_current_device(2);
    const StreamPtr mine = Stream::create(current_context());
    set_current_stream(mine);
    std::thread([&] {
        EXPECT_EQ(current_device_index(), 0);
        EXPECT_EQ(current_stream()->raw(), 0u);
        set_current_device(2);
        EXPECT_EQ(current_stream()->raw(), 0u);
    }).join();
    EXPECT_EQ(current_device_index(), 2);
    EXPECT_EQ(current_stream(), mine);
}

TEST_F(CurrentTest, EachDeviceHasItsCurrentStream) {
    const StreamPtr other = Stream::create(context_of(1));
    set_current_stream(other);
    EXPECT_EQ(current_stream()->raw(), 0u);  // device 0 is still the current one
    EXPECT_EQ(current_stream(context_of(1)), other);
    set_current_device(1);
    EXPECT_EQ(current_stream(), other);
}

TEST_F(CurrentTest, AnUnknownDeviceIsRefusedAndNothingChanges) {
    EXPECT_ERROR(set_current_device(3), InvalidArgument, "got 3", "0 to 2");
    EXPECT_ERROR(set_current_device(-1), InvalidArgument, "got -1");
    EXPECT_EQ(current_device_index(), 0);
}

TEST_F(CurrentTest, TheNullStreamKeepsItsIdentity) {
    const ContextPtr context = testing::make_fake_context(std::make_shared<FakeMachine>());
    const uint64_t id = context->default_stream()->id();  // the handle is gone at once
    EXPECT_EQ(context->default_stream()->id(), id);
    EXPECT_EQ(Stream::wrap(context, 0), context->default_stream());
    EXPECT_NE(context_of(0)->default_stream()->id(), id);
}

TEST(Context, GoesWithItsLastHandle) {
    auto machine = std::make_shared<FakeMachine>();
    std::weak_ptr<Context> seen;
    BufferPtr buffer;
    {
        const ContextPtr context = testing::make_fake_context(machine);
        seen = context;
        buffer = Buffer::allocate(context->default_stream(), 100);
    }
    EXPECT_FALSE(seen.expired());
    buffer.reset();
    EXPECT_TRUE(seen.expired());
    EXPECT_TRUE(machine->nothing_alive());
    EXPECT_EQ(machine.use_count(), 1);
}

// Runs in a child process; its exit code is 0 if `check` returned true.
bool true_in_child(const std::function<bool()>& check) {
    const pid_t child = ::fork();
    if (child == 0) {
        bool good = false;
        try {
            good = check();
        } catch (...) {
        }
        ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, ACudaContextIsRefusedInTheChildAndNotTouched) {
    auto machine = std::make_shared<FakeMachine>();
    ContextPtr context =
        Context::create(testing::make_fake_device(machine, 0, DeviceType::Cuda), 0);
    StreamPtr stream = Stream::create(context);
    BufferPtr buffer = Buffer::allocate(stream, 100);
    EventPtr event = Event::create(context);
    EXPECT_TRUE(true_in_child([&] {
        const auto refused = [](const std::function<void()>& f) {
            return bool(testing::throws_error(f, ErrorKind::DeviceError, {"spawn", "forked"}));
        };
        bool good = !context->usable();
        good = good && refused([&] { Buffer::allocate(stream, 100); });
        good = good && refused([&] { Stream::create(context); });
        good = good && refused([&] { event->record(*stream); });
        good = good && refused([&] {
                   char c = 0;
                   copy_to_host(&c, *buffer, 0, 1, stream, true);
               });
        const auto calls = machine->calls;
        buffer.reset();
        event.reset();
        stream.reset();
        context.reset();
        return good && machine->calls == calls;  // the child gave nothing back to the driver
    }));
    EXPECT_TRUE(context->usable());
    event->record(*stream);
}

TEST(Fork, ACpuContextGoesOnInTheChild) {
    auto machine = std::make_shared<FakeMachine>();
    const ContextPtr context =
        Context::create(testing::make_fake_device(machine, 0, DeviceType::Cpu), 0);
    const BufferPtr buffer = Buffer::allocate(context->default_stream(), 100);
    EXPECT_TRUE(true_in_child([&] {
        const BufferPtr other = Buffer::allocate(context->default_stream(), 100);
        return other->address() != 0;
    }));
}

}  // namespace
}  // namespace trilane::core
