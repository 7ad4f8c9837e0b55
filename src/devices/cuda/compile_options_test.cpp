// Options of nvcc and NVRTC as NVRTC gets them.
#include "devices/cuda/compile_options.h"

#include <gtest/gtest.h>

#include "core/testing/expect_error.h"

namespace trilane::cuda {
namespace {

using Words = std::vector<std::string>;

TEST(CompileOptions, WhatIsNvccsAloneIsLeftOut) {
    const NvrtcOptions out =
        parse_options({"-O3", "-Xcompiler", "-fPIC", "-ccbin=g++", "-g", "--compiler-options",
                       "-Wall", "-m64", "-rdc=true", "-dc", "", "-use_fast_math", "-DN=4"});
    EXPECT_EQ(out.words, (Words{"-use_fast_math", "-DN=4"}));
    EXPECT_TRUE(out.relocatable && out.object);
    EXPECT_FALSE(parse_options({"-rdc=false"}).relocatable);
}

TEST(CompileOptions, ArchitecturesComeInEverySpelling) {
    EXPECT_EQ(parse_options({"-arch=sm_80"}).arch, "sm_80");
    EXPECT_EQ(parse_options({"-arch", "sm_90a"}).arch, "sm_90a");
    EXPECT_EQ(parse_options({"--gpu-architecture=compute_75"}).arch, "compute_75");
    EXPECT_EQ(parse_options({"-gencode", "arch=compute_80,code=sm_86"}).arch, "sm_86");
    EXPECT_EQ(parse_options({"--generate-code=arch=compute_80,code=[compute_80]"}).arch,
              "compute_80");
    EXPECT_EQ(parse_options({"-arch=native"}).arch, "");
    EXPECT_EQ(arch_number("sm_90a"), 90);
    EXPECT_EQ(arch_number("compute_100"), 100);
    EXPECT_EQ(arch_number("native"), 0);
}

TEST(CompileOptions, FoldersBecomeAbsolute) {
    const NvrtcOptions out = parse_options({"-I/a/b", "-I", "/c", "-isystem", "/d", "-I."});
    ASSERT_EQ(out.include_dirs.size(), 4u);
    EXPECT_EQ(out.include_dirs[2], "/d");
    EXPECT_EQ(out.include_dirs[3].front(), '/');
    EXPECT_EQ(out.words[0], "-I/a/b");
}

TEST(CompileOptions, WhatIsSpelledOtherwiseIsTranslated) {
    EXPECT_EQ(parse_options({"-Xptxas", "-v", "-include", "x.h", "-std=gnu++14"}).words,
              (Words{"--ptxas-options=-v", "--pre-include=x.h", "--std=c++14"}));
}

TEST(CompileOptions, UnknownOnesAreForNvrtcToRefuse) {
    EXPECT_EQ(parse_options({"--no-such-option"}).words, Words{"--no-such-option"});
    EXPECT_ERROR(parse_options({"-arch"}), CompileError, "-arch", "needs a value");
}

}  // namespace
}  // namespace trilane::cuda
