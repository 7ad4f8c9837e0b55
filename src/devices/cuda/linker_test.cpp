// Linking of compiled code, over the fake driver.
#include <fstream>

#include "core/testing/temporary_directory.h"
#include "devices/cuda/nvrtc_table.h"
#include "devices/cuda/testing/fake_cuda.h"

namespace trilane::cuda {
namespace {

using core::LinkInput;
using testing::FakeCuda;
using testing::program_of;

constexpr const char* kLaunches =
    "extern \"C\" __global__ void child(float *a) {}\n"
    "extern \"C\" __global__ void parent(float *a) { child<<<1, 1>>>(a); }\n";

class LinkerTest : public FakeCuda {
  protected:
    LinkerTest() : runtime_("TRILANE_CUDADEVRT", (directory_.path() + "/libcudadevrt.a").c_str()) {
        std::ofstream(directory_.path() + "/libcudadevrt.a") << "!<arch>\nruntime";
    }
    void TearDown() override {
        device_.reset();
        EXPECT_EQ(machine->alive(), 0);
    }
    core::Program relocatable(const char* source, const char* option) {
        core::Program program = program_of(source);
        program.options = {option};
        return program;
    }
    core::testing::TemporaryDirectory directory_;
    core::testing::ScopedVariable runtime_;
    std::unique_ptr<CudaDevice> device_ = make_device();
};

TEST_F(LinkerTest, KernelsThatLaunchKernelsAreLinkedWithTheRuntime) {
    const core::Image image = device_->compile(relocatable(kLaunches, "-rdc=true"));
    EXPECT_EQ(image.format, "cubin");
    EXPECT_EQ(machine->links_done, 1);
    EXPECT_EQ(machine->libraries_linked, 1);
    const core::RawModule module = device_->load(image);
    EXPECT_EQ(device_->function_names(module), (std::vector<std::string>{"child", "parent"}));
    device_->unload(module);
}

TEST_F(LinkerTest, WhatNeedsNoRuntimeIsNotLinked) {
    const core::Image image = device_->compile(relocatable(testing::kAddSource, "-rdc=true"));
    EXPECT_EQ(image.format, "cubin");
    EXPECT_EQ(machine->links_done, 0);
}

TEST_F(LinkerTest, ObjectsAreLinkedTogetherOrWhenTheyAreLoaded) {
    const core::Image one = device_->compile(relocatable(testing::kAddSource, "-dc"));
    const core::Image two = device_->compile(relocatable(kLaunches, "-dc"));
    EXPECT_EQ(one.format, "object");
    EXPECT_EQ(machine->links_done, 0);
    const core::RawModule alone = device_->load(one);
    EXPECT_EQ(machine->links_done, 1);
    EXPECT_EQ(machine->libraries_linked, 0);
    device_->unload(alone);
    const LinkInput inputs[] = {{"one", one.format, one.bytes}, {"two", two.format, two.bytes}};
    const core::RawModule both = device_->load(device_->link(inputs, {}));
    EXPECT_EQ(device_->function_names(both).size(), 5u);
    EXPECT_EQ(machine->libraries_linked, 1);
    device_->unload(both);
}

TEST_F(LinkerTest, WhatCannotBeLinkedIsNamed) {
    EXPECT_ERROR(device_->link({}, {}), InvalidArgument, "nothing to link");
    const LinkInput unknown{"notes.txt", "", "a text"};
    EXPECT_ERROR(device_->link({&unknown, 1}, {}), InvalidArgument, "notes.txt: got 6 bytes");
    EXPECT_EQ(machine->links, 0);
}

// Whatever the driver calls it, the error is the linker's, with its log.
TEST_F(LinkerTest, WhatDoesNotFitIsTheLinkersError) {
    const std::string user = ".version 9.0\n.entry work 8\n.extern absent\n";
    const std::string helper = ".version 9.0\n.func helper\n";
    std::string object(
        "\x7f"
        "ELF\x02\x01\x01",
        7);
    object.resize(80);
    object[18] = 0x3e;  // x86-64
    const struct {
        std::vector<LinkInput> pieces;
        int status;
        const char *told, *detail;
    } cases[] = {
        {{{"user", "", user}},
         300,
         "CUDA_ERROR_INVALID_SOURCE",
         "Undefined reference to 'absent' in 'user'"},
        {{{"one", "", helper}, {"two", "", helper}},
         300,
         "cuLinkAddData",
         "Multiple definition of 'helper' in 'two', first defined in 'one'"},
        {{{"text", "", ".version 9.0\nbroken"}},
         218,
         "Parsing error near 'broken'",
         "Ptx assembly aborted"},
        {{{"new", "", ".version 99.0\n"}}, 222, "cuLinkAddData", "Unsupported .version 99.0"},
        {{{"host.o", "", object}}, 999, "cuLinkAddData", "Could not find fatbin in 'host.o'"},
    };
    for (const auto& [pieces, status, told, detail] : cases) try {
            device_->link(pieces, {});
            FAIL() << "linked: " << detail;
        } catch (const core::Error& error) {
            EXPECT_EQ(error.kind(), core::ErrorKind::InvalidArgument) << detail;
            EXPECT_EQ(error.status(), status) << detail;
            EXPECT_NE(error.message().find(told), std::string::npos) << error.message();
            EXPECT_NE(error.detail().find(detail), std::string::npos) << error.detail();
        }
    EXPECT_EQ(machine->links, 0);
    EXPECT_EQ(machine->links_done, 0);
}

TEST_F(LinkerTest, AFaultOfTheDeviceIsNotTheLinkers) {
    const LinkInput piece{"piece", "", ".version 9.0\n.func helper\n"};
    device_->link({&piece, 1}, {});  // the first use of the device
    machine->fail_with = result::kOutOfMemory;
    int refused = 0;
    for (int n = 1; n < 20; ++n) {
        machine->has_failed = false;
        machine->fail_at = n;
        ::testing::internal::CaptureStderr();
        try {
            device_->link({&piece, 1}, {});
        } catch (const core::Error& error) {
            EXPECT_EQ(error.kind(), core::ErrorKind::OutOfMemory) << error.message();
            ++refused;
        }
        ::testing::internal::GetCapturedStderr();
        if (!machine->has_failed) break;
    }
    machine->fail_at = 0;
    EXPECT_GE(refused, 3);  // create, add, complete
    EXPECT_EQ(machine->links, 0);
}

TEST_F(LinkerTest, AMissingRuntimeIsToldWithItsPlaces) {
    const core::testing::ScopedVariable nowhere("TRILANE_CUDADEVRT",
                                                (directory_.path() + "/absent.a").c_str());
    EXPECT_ERROR(device_->compile(relocatable(kLaunches, "-rdc=true")), NotSupported,
                 "absent.a cannot be read");
}

TEST_F(LinkerTest, AnyCallOfALinkMayFail) {
    const core::Program program = relocatable(kLaunches, "-rdc=true");
    for (int n = 1; n < 100; ++n) {
        machine->has_failed = false;
        machine->fail_with = result::kUnknown;
        machine->fail_at = n;
        ::testing::internal::CaptureStderr();
        bool threw = false;
        try {
            device_->compile(program);
        } catch (const core::Error&) {
            threw = true;
        }
        machine->fail_at = 0;
        const std::string reported = ::testing::internal::GetCapturedStderr();
        EXPECT_EQ(machine->links, 0) << n;
        if (!machine->has_failed) {
            EXPECT_FALSE(threw);
            EXPECT_GT(n, 5);
            return;
        }
        EXPECT_TRUE(threw || !reported.empty()) << n;
    }
    FAIL() << "no end";
}

}  // namespace
}  // namespace trilane::cuda
