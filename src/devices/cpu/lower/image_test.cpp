// Images: what was written is read, and nothing else.
#include "devices/cpu/lower/image.h"

#include <random>

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::error_of;

LoweredModule example() {
    LoweredModule module;
    module.object = std::string(
        "\x7f"
        "ELF\0body",
        9);
    module.target_cpu = "cpu";
    module.target_features = "+a,-b";
    LoweredKernel kernel;
    kernel.description.name = "_Z1fPfi";
    kernel.description.file = "x.cu";
    kernel.description.line = 12;
    core::Parameter parameter;
    parameter.name = "a";
    parameter.c_type = "float *";
    parameter.kind = core::ParameterKind::Pointer;
    parameter.size = parameter.align = 8;
    parameter.pointee_size = 4;
    parameter.pointee_kind = core::ParameterKind::Float;
    kernel.description.parameters = {parameter, core::Parameter{}};
    kernel.entry_symbol = "trilane_block_0";
    kernel.shape = BlockShape::Coroutine;
    kernel.waits_on_blocks = true;
    kernel.static_shared_bytes = 1024;
    kernel.frame_bytes = 96;
    kernel.sites = {{1, 20}, {7, 0}};
    module.kernels = {kernel, LoweredKernel{}};
    module.globals = {{"table", 64}};
    return module;
}

TEST(Image, RoundTrip) {
    LoweredModule read = decode_module(encode_module(example()));
    EXPECT_EQ(read.object, example().object);
    EXPECT_EQ(read.target_features, "+a,-b");
    ASSERT_EQ(read.kernels.size(), 2u);
    const LoweredKernel& kernel = read.kernels[0];
    EXPECT_EQ(kernel.description.name, "_Z1fPfi");
    EXPECT_EQ(kernel.description.line, 12);
    ASSERT_EQ(kernel.description.parameters.size(), 2u);
    EXPECT_EQ(kernel.description.parameters[0].c_type, "float *");
    EXPECT_EQ(kernel.description.parameters[0].pointee_kind, core::ParameterKind::Float);
    EXPECT_EQ(kernel.shape, BlockShape::Coroutine);
    EXPECT_TRUE(kernel.waits_on_blocks);
    EXPECT_EQ(kernel.frame_bytes, 96u);
    ASSERT_EQ(kernel.sites.size(), 2u);
    EXPECT_EQ(kernel.sites[0].line, 20);
    ASSERT_EQ(read.globals.size(), 1u);
    EXPECT_EQ(read.globals[0].nbytes, 64u);
}

// A field that was added without a new version lets images that were saved before be misread.
TEST(Image, EncodingAndVersionChangeTogether) {
    const std::string bytes = encode_module(example());
    uint64_t sum = 14695981039346656037u;  // FNV-1a
    for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    const bool as_recorded =
        kImageVersion == 7 && bytes.size() == 496 && sum == 9824644569080541854u;
    EXPECT_TRUE(as_recorded) << "the encoding changed: raise kImageVersion, then record version "
                             << kImageVersion << ", " << bytes.size() << " bytes, sum " << sum;
}

TEST(Image, EveryCutIsRefused) {
    std::string bytes = encode_module(example());
    for (size_t length = 0; length < bytes.size(); ++length) {
        core::ErrorKind kind = core::ErrorKind::Internal;
        error_of([&] { decode_module(bytes.substr(0, length)); }, &kind);
        ASSERT_EQ(kind, core::ErrorKind::InvalidArgument) << length;
    }
    EXPECT_NE(error_of([&] { decode_module(bytes + "x"); }), "");
}

TEST(Image, DamageNeverReadsOutside) {
    std::string bytes = encode_module(example());
    std::mt19937 random(5);
    for (int round = 0; round < 5000; ++round) {
        std::string damaged = bytes;
        for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = char(random());
        error_of([&] { decode_module(damaged); });  // may succeed or throw core::Error, no more
    }
}

TEST(Image, ForeignImagesAreRefusedInWords) {
    core::Image image;
    image.format = "cubin";
    EXPECT_NE(error_of([&] { testing::test_device().device.load(image); }).find("cubin"),
              std::string::npos);
    image.format = "cpu-object";
    image.bytes =
        "\x7f"
        "ELF";
    EXPECT_NE(error_of([&] { testing::test_device().device.load(image); }).find("CUDA C++"),
              std::string::npos);
    image.bytes = encode_module(example());
    EXPECT_NE(
        error_of([&] { testing::test_device().device.load(image); }).find("another processor"),
        std::string::npos);
}

}  // namespace
}  // namespace trilane::cpu
