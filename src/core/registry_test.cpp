// The list of devices: TRILANE_DEVICE, what is missing and why.
#include "core/registry.h"

#include <stdlib.h>

#include <atomic>
#include <thread>

#include "core/background.h"
#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::FakeMachine;

class Registry : public ::testing::Test {
  protected:
    void SetUp() override { choose(nullptr); }
    void TearDown() override { choose(nullptr); }
    // Starts anew with TRILANE_DEVICE set to `value`.
    void choose(const char* value) {
        if (value == nullptr)
            ::unsetenv("TRILANE_DEVICE");
        else
            ::setenv("TRILANE_DEVICE", value, 1);
        reset_registry_for_tests();
        created = 0;
    }
    void add(DeviceType type, int count, const char* why_not = "") {
        register_device_factory({type,
                                 [=](int asked, std::string& why) {
                                     why = why_not;
                                     return type == DeviceType::Cpu && asked > 0 ? asked : count;
                                 },
                                 [this, type](int ordinal) {
                                     ++created;
                                     return testing::make_fake_device(
                                         std::make_shared<FakeMachine>(), ordinal, type);
                                 }});
    }
    std::atomic<int> created{0};
};

TEST_F(Registry, PrefersCudaDevices) {
    add(DeviceType::Cpu, 1);
    add(DeviceType::Cuda, 2);
    EXPECT_EQ(device_count(), 2);
    EXPECT_EQ(context_of(1)->properties().type, DeviceType::Cuda);
    EXPECT_EQ(context_of(1)->properties().ordinal, 1);
}

TEST_F(Registry, FallsBackToTheCpuAndSaysWhy) {
    add(DeviceType::Cuda, 0, "libcuda.so.1 was not found: install the NVIDIA driver");
    add(DeviceType::Cpu, 1);
    EXPECT_EQ(device_count(), 1);
    EXPECT_EQ(context_of(0)->properties().type, DeviceType::Cpu);
    const auto states = describe_device_types();
    ASSERT_EQ(states.size(), 2u);
    EXPECT_EQ(states[0].type, DeviceType::Cuda);
    EXPECT_EQ(states[0].count, 0);
    EXPECT_NE(states[0].why_not.find("install the NVIDIA driver"), std::string::npos);
    EXPECT_EQ(states[1].count, 1);
}

TEST_F(Registry, TheVariableChooses) {
    choose("cpu");
    add(DeviceType::Cuda, 2);
    add(DeviceType::Cpu, 1);
    EXPECT_EQ(device_count(), 1);
    EXPECT_EQ(context_of(0)->properties().type, DeviceType::Cpu);
}

TEST_F(Registry, SeveralVirtualCpuDevices) {
    choose("cpu:4");
    add(DeviceType::Cpu, 1);
    EXPECT_EQ(device_count(), 4);
    EXPECT_NE(context_of(0), context_of(3));
    EXPECT_EQ(context_of(3)->index(), 3);
    EXPECT_EQ(context_of(3)->properties().ordinal, 3);
}

TEST_F(Registry, ACountLimitsCudaDevices) {
    choose("cuda:1");
    add(DeviceType::Cuda, 8);
    EXPECT_EQ(device_count(), 1);
}

TEST_F(Registry, NonsenseInTheVariableIsNamed) {
    for (const char* bad : {"gpu", "cpu:", "cpu:x", "cpu:0", "cpu:-1", "cpu:65", "cpu:2x", ":2"}) {
        choose(bad);
        add(DeviceType::Cpu, 1);
        EXPECT_ERROR(device_count(), InvalidArgument, "TRILANE_DEVICE", bad, "cpu:4");
    }
}

TEST_F(Registry, AskingForWhatIsNotThereCountsZeroAndGivesTheReason) {
    choose("cuda");
    add(DeviceType::Cuda, 0, "no driver");
    add(DeviceType::Cpu, 1);
    EXPECT_EQ(device_count(), 0);
    EXPECT_ERROR(context_of(0), DeviceError, "cuda: no driver", "TRILANE_DEVICE excludes it");
}

TEST_F(Registry, WithoutADeviceThereIsCudasNumberOfWhy) {
    add(DeviceType::Cpu, 1);
    EXPECT_FALSE(no_device());
    for (const bool has_driver : {false, true}) {
        choose("cuda");
        register_device_factory({DeviceType::Cuda,
                                 [](int, std::string& why) {
                                     why = "no luck";
                                     return 0;
                                 },
                                 nullptr, [=] { return has_driver; }});
        add(DeviceType::Cpu, 1);
        ASSERT_TRUE(no_device());
        EXPECT_EQ(no_device()->runtime_code, has_driver ? 100 : 35);
        EXPECT_NE(no_device()->message.find("cuda: no luck"), std::string::npos);
    }
    choose("cpu");  // that there is no driver is not the reason then
    add(DeviceType::Cpu, 0, "no processor");
    EXPECT_EQ(no_device().value().runtime_code, 100);
}

TEST_F(Registry, NoFactoryAtAll) {
    EXPECT_EQ(device_count(), 0);
    EXPECT_ERROR(context_of(0), DeviceError, "this build has no device");
    choose("cuda");
    EXPECT_EQ(device_count(), 0);
    EXPECT_EQ(describe_device_types().at(0).why_not, "this build has no device of this type");
}

TEST_F(Registry, AProbeThatThrowsIsAReason) {
    register_device_factory(
        {DeviceType::Cuda,
         [](int, std::string&) -> int { throw_error(ErrorKind::DeviceError, "driver too old"); },
         nullptr});
    add(DeviceType::Cpu, 1);
    EXPECT_EQ(device_count(), 1);
    EXPECT_EQ(describe_device_types().at(0).why_not, "driver too old");
}

TEST_F(Registry, AContextIsMadeOnceByWhicheverThreadComesFirst) {
    add(DeviceType::Cpu, 1);
    std::vector<ContextPtr> seen(8);
    std::vector<std::thread> threads;
    for (ContextPtr& slot : seen) threads.emplace_back([&slot] { slot = context_of(0); });
    for (std::thread& thread : threads) thread.join();
    for (const ContextPtr& context : seen) EXPECT_EQ(context, seen[0]);
    EXPECT_EQ(created, 1);
}

TEST_F(Registry, ADeviceThatCannotBeOpenedMayBeTriedAgain) {
    int attempts = 0;
    register_device_factory({DeviceType::Cpu, [](int, std::string&) { return 1; },
                             [&](int ordinal) {
                                 if (++attempts == 1) throw_error(ErrorKind::DeviceError, "busy");
                                 return testing::make_fake_device(std::make_shared<FakeMachine>(),
                                                                  ordinal);
                             }});
    EXPECT_ERROR(context_of(0), DeviceError, "busy");
    EXPECT_NE(context_of(0), nullptr);
}

TEST_F(Registry, AnEarlyStartMakesTheContextOfTheOnlyGpu) {
    add(DeviceType::Cuda, 1);
    add(DeviceType::Cpu, 1);
    start_early();
    const ContextPtr context = context_of(0);
    finish_background();
    EXPECT_EQ(created, 1);
    ASSERT_EQ(live_contexts().size(), 1u);
    EXPECT_EQ(live_contexts()[0], context);
    EXPECT_FALSE(background_is_busy());
}

TEST_F(Registry, AnEarlyStartChoosesNoneOfSeveralGpusAndNoCpu) {
    add(DeviceType::Cuda, 2);
    start_early();
    finish_background();
    EXPECT_EQ(created, 0);
    choose(nullptr);
    add(DeviceType::Cuda, 0, "no GPU");
    add(DeviceType::Cpu, 1);
    start_early();
    finish_background();
    EXPECT_EQ(created, 0);
}

TEST_F(Registry, WhatIsWrongAtAnEarlyStartIsToldAtTheFirstUse) {
    choose("nonsense");
    start_early();
    finish_background();
    EXPECT_ERROR(device_count(), InvalidArgument, "nonsense");
    choose(nullptr);
    std::atomic<bool> broken = true;
    register_device_factory({DeviceType::Cuda, [](int, std::string&) { return 1; },
                             [&](int ordinal) {
                                 if (broken) throw_error(ErrorKind::DeviceError, "still asleep");
                                 return testing::make_fake_device(std::make_shared<FakeMachine>(),
                                                                  ordinal, DeviceType::Cuda);
                             }});
    start_early();
    finish_background();
    EXPECT_ERROR(context_of(0), DeviceError, "still asleep");
    broken = false;
    EXPECT_NE(context_of(0), nullptr);
}

TEST_F(Registry, LiveContextsAreThoseMade) {
    choose("cpu:3");
    add(DeviceType::Cpu, 1);
    EXPECT_TRUE(live_contexts().empty());
    const ContextPtr context = context_of(1);
    EXPECT_EQ(live_contexts(), std::vector<ContextPtr>{context});
}

}  // namespace
}  // namespace trilane::core
