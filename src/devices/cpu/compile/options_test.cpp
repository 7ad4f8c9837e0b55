// Every form in which NVRTC and nvcc take options.
#include "devices/cpu/compile/options.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace trilane::cpu {
namespace {

std::string error_of(const std::vector<std::string>& options) {
    try {
        parse_options(options);
    } catch (const core::Error& error) {
        EXPECT_EQ(error.kind(), core::ErrorKind::CompileError);
        return error.message();
    }
    return {};
}

TEST(Options, MacrosInAllForms) {
    auto parsed = parse_options({"-DA=1", "-D", "B=2", "--define-macro=C=x=y", "--define-macro",
                                 "D", "-UA", "-U", "B", "--undefine-macro=C", "-DS=\"a b\""});
    EXPECT_EQ(parsed.macros, (std::vector<std::string>{"-DA=1", "-DB=2", "-DC=x=y", "-DD", "-UA",
                                                       "-UB", "-UC", "-DS=\"a b\""}));
}

TEST(Options, IncludesBecomeAbsolute) {
    auto parsed = parse_options(
        {"-I/x/../y", "-I", "/z", "--include-path=/w", "-include", "a.h", "--pre-include=b.h"});
    EXPECT_EQ(parsed.include_dirs, (std::vector<std::string>{"/y", "/z", "/w"}));
    EXPECT_EQ(parsed.forced_includes, (std::vector<std::string>{"a.h", "b.h"}));
    EXPECT_EQ(parse_options({"-Ihere"}).include_dirs.at(0).front(), '/');
}

TEST(Options, Arithmetic) {
    EXPECT_TRUE(parse_options({}).fmad);
    EXPECT_FALSE(parse_options({"-fmad=false"}).fmad);
    EXPECT_FALSE(parse_options({"--fmad", "false"}).fmad);
    EXPECT_TRUE(parse_options({"--fmad=true"}).fmad);
    auto fast = parse_options({"--use_fast_math"});
    EXPECT_TRUE(fast.fast_math && fast.ftz && !fast.prec_div && !fast.prec_sqrt);
    EXPECT_TRUE(parse_options({"-use_fast_math"}).fast_math);
    EXPECT_TRUE(parse_options({"-ftz=true"}).ftz);
    EXPECT_FALSE(parse_options({"--prec-div=false"}).prec_div);
    EXPECT_NE(error_of({"-fmad=perhaps"}).find("'perhaps'"), std::string::npos);
}

TEST(Options, Lanes) {
    EXPECT_EQ(parse_options({}).lanes, 0);
    EXPECT_EQ(parse_options({"--lanes=1"}).lanes, 1);
    EXPECT_EQ(parse_options({"--lanes", "32"}).lanes, 32);
    for (const char* wrong : {"--lanes=0", "--lanes=3", "--lanes=64", "--lanes=4x", "--lanes="})
        EXPECT_NE(error_of({wrong}).find("expected 1, 4, 8, 16 or 32"), std::string::npos) << wrong;
}

TEST(Options, LanguageAndArchitecture) {
    EXPECT_EQ(parse_options({}).language, "c++17");
    EXPECT_EQ(parse_options({"-std=c++11"}).language, "c++11");
    EXPECT_EQ(parse_options({"--std", "c++20"}).language, "c++20");
    EXPECT_EQ(parse_options({"-std=gnu++14"}).language, "c++14");
    EXPECT_EQ(parse_options({"-std=c++03"}).language, "c++11");
    EXPECT_NE(error_of({"-std=c99"}).find("c99"), std::string::npos);
    EXPECT_NE(error_of({"-std=c++99"}).find("c++99"), std::string::npos);
    EXPECT_EQ(parse_options({}).arch, 900);
    EXPECT_EQ(parse_options({"-arch=sm_75"}).arch, 750);
    EXPECT_EQ(parse_options({"--gpu-architecture=compute_80"}).arch, 800);
    EXPECT_EQ(parse_options({"-arch", "sm_90a"}).arch, 900);
    EXPECT_EQ(parse_options({"-gencode", "arch=compute_86,code=sm_86"}).arch, 860);
    EXPECT_EQ(parse_options({"-arch=sm_100"}).arch, 900);
    EXPECT_EQ(parse_options({"-arch=native"}).arch, 900);
}

TEST(Options, IgnoredOnesTakeTheirValues) {
    auto parsed = parse_options({"-Xptxas", "-v", "--ptxas-options=-O3", "-maxrregcount=32",
                                 "--maxrregcount", "64", "-rdc=true", "-O3", "-lineinfo", "-w",
                                 "--keep", "-m64", "--expt-relaxed-constexpr", "-G", "-ccbin",
                                 "g++", "--diag-suppress=177", "", "-default-device"});
    EXPECT_TRUE(parsed.line_info && parsed.no_warnings && parsed.default_device);
    EXPECT_EQ(parsed.optimize, 3);
    EXPECT_EQ(parse_options({"-O0"}).optimize, 0);
}

TEST(Options, UnknownOnesAreNamed) {
    EXPECT_NE(error_of({"-DX", "-frobnicate"}).find("'-frobnicate'"), std::string::npos);
    EXPECT_NE(error_of({"--what=1"}).find("'--what=1'"), std::string::npos);
    EXPECT_NE(error_of({"kernel.cu"}).find("'kernel.cu'"), std::string::npos);
    EXPECT_NE(error_of({"-"}).find("'-'"), std::string::npos);
    EXPECT_NE(error_of({"-D"}).find("needs a value"), std::string::npos);
    EXPECT_NE(error_of({"-lineinfo=3"}).find("-lineinfo=3"), std::string::npos);
}

}  // namespace
}  // namespace trilane::cpu
