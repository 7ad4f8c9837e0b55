// The compiler with a real NVRTC. Where none is installed these tests have nothing to run on.
#include "devices/cuda/compiler.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "core/testing/expect_error.h"
#include "core/testing/temporary_directory.h"
#include "devices/cuda/compile_inputs.h"
#include "devices/cuda/embedded_files.h"
#include "devices/cuda/image_reader.h"
#include "devices/cuda/kernel_signature.h"
#include "devices/cuda/nvrtc_table.h"
#include "devices/cuda/testing/watchdog.h"

namespace trilane::cuda {
namespace {

using core::ErrorKind;
using core::ParameterKind;

class CompilerTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!nvrtc_is_there(13)) GTEST_SKIP() << "no NVRTC on this machine";
        compiler_ = std::make_unique<Compiler>(13, 90);
    }
    core::Image compile(std::string source, std::vector<std::string> options = {},
                        std::vector<std::string> names = {}) {
        core::Program program;
        program.source = std::move(source);
        program.options = std::move(options);
        program.name_expressions = std::move(names);
        return compiler_->compile(program);
    }
    static std::vector<KernelSignature> signatures(const core::Image& image) {
        std::vector<KernelSignature> found;
        for (const std::string& symbol : symbols_with_prefix(image.bytes, kSignaturePrefix))
            if (auto signature = read_signature(symbol)) found.push_back(*signature);
        return found;
    }
    std::unique_ptr<Compiler> compiler_;

  private:
    testing::Watchdog watchdog_;
};

constexpr const char* kNothing = "extern \"C\" __global__ void f(int *a) { a[0] = 1; }\n";
constexpr const char* kScale =
    "#define ARRAY(t) const t *\n"
    "typedef unsigned long long count_t;\n"
    "enum Mode { Up, Down };\n"
    "struct Pair { int a; double b; };\n"
    "extern \"C\" __global__ void scale(ARRAY(float) a, float *b, count_t n, Mode mode, Pair "
    "pair,\n"
    "                                 short (*grid)[4], bool on, int) {\n"
    "    if (on) b[threadIdx.x] = a[threadIdx.x] * n + pair.a + mode + grid[0][1];\n"
    "}\n";

TEST_F(CompilerTest, MakesACubinWithTheTypesOfKernelsInIt) {
    const core::Image image = compile(kScale);
    EXPECT_EQ(image.format, "cubin");
    EXPECT_EQ(form_of(image.bytes), ImageForm::Cubin);
    EXPECT_EQ(damage_of(image.bytes), "");
    EXPECT_EQ(kernel_names(image.bytes), std::vector<std::string>{"scale"});
    const auto found = signatures(image);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kernel, "scale");
    const auto& p = found[0].parameters;
    ASSERT_EQ(p.size(), 8u);
    EXPECT_EQ(p[0].name, "a");
    EXPECT_EQ(p[0].c_type, "const float *");
    EXPECT_EQ(p[0].kind, ParameterKind::Pointer);
    EXPECT_EQ(p[0].pointee_kind, ParameterKind::Float);
    EXPECT_EQ(p[0].pointee_size, 4u);
    EXPECT_TRUE(p[0].pointee_const);
    EXPECT_FALSE(p[1].pointee_const);
    EXPECT_EQ(p[2].name, "n");
    EXPECT_EQ(p[2].kind, ParameterKind::UInt);
    EXPECT_EQ(p[2].size, 8u);
    EXPECT_NE(p[3].kind, ParameterKind::Struct);  // an enumeration is what holds it
    EXPECT_EQ(p[3].size, 4u);
    EXPECT_EQ(p[4].kind, ParameterKind::Struct);
    EXPECT_EQ(p[4].c_type, "Pair");
    EXPECT_EQ(p[5].kind, ParameterKind::Pointer);
    EXPECT_EQ(p[6].kind, ParameterKind::Bool);
    EXPECT_EQ(p[7].kind, ParameterKind::Int);
    EXPECT_EQ(p[7].name, "");
}

TEST_F(CompilerTest, APtxCarriesTheTypesToo) {
    const core::Image image = compile(kScale, {"-arch=compute_75"});
    EXPECT_EQ(image.format, "ptx");
    EXPECT_EQ(kernel_names(image.bytes), std::vector<std::string>{"scale"});
    ASSERT_EQ(signatures(image).size(), 1u);
    EXPECT_EQ(signatures(image)[0].parameters.size(), 8u);
}

TEST_F(CompilerTest, WhatOnlyLooksLikeAKernelDoesNoHarm) {
    const core::Image image = compile(
        "#if 0\nextern \"C\" __global__ void absent(int *a) {}\n#endif\n"
        "extern \"C\" { __global__ void there(int *a) { a[0] = 1; } }\n");
    EXPECT_EQ(kernel_names(image.bytes), std::vector<std::string>{"there"});
}

TEST_F(CompilerTest, OldLanguagesCompileWithoutTypes) {
    const core::Image image =
        compile("extern \"C\" __global__ void f(int *a) { a[0] = 1; }", {"--std=c++11"});
    EXPECT_TRUE(signatures(image).empty());
}

TEST_F(CompilerTest, NamesOfTemplatesAreLowered) {
    const core::Image image =
        compile("template <class T> __global__ void fill(T *a, int n) { a[n] = T(1); }", {},
                {"fill<float>", "fill<double>"});
    ASSERT_EQ(image.lowered_names.size(), 2u);
    const auto signature = signature_of_mangled(image.lowered_names.at("fill<float>"));
    ASSERT_TRUE(signature);
    ASSERT_EQ(signature->parameters.size(), 2u);
    EXPECT_EQ(signature->parameters[0].c_type, "float *");
    EXPECT_EQ(signature->parameters[1].kind, ParameterKind::Int);
}

TEST_F(CompilerTest, ErrorsSayTheLineAndCarryTheLog) {
    try {
        compile("extern \"C\" __global__ void f(int *a) {\n  a[0] = nothing;\n}\n");
        FAIL() << "compiled";
    } catch (const core::Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::CompileError);
        EXPECT_NE(error.message().find("kernel.cu(2)"), std::string::npos) << error.message();
        EXPECT_NE(error.message().find("nothing"), std::string::npos) << error.message();
        EXPECT_NE(error.detail().find("nothing"), std::string::npos);
        EXPECT_EQ(error.detail().find("trilane_signatures"), std::string::npos);
    }
    EXPECT_ERROR(compile("int a;", {"--no-such-option"}), CompileError, "no-such-option");
    EXPECT_ERROR(compile("#include <no_such_file.h>\n"), CompileError, "no_such_file.h");
}

TEST_F(CompilerTest, OptionsOfNvccAreTakenToo) {
    const core::Image image =
        compile("extern \"C\" __global__ void f(int *a) { a[0] = N; }",
                {"-O3", "-Xcompiler", "-fPIC", "-DN=4", "--ptxas-options=-v", "-lineinfo", "-g",
                 "-gencode", "arch=compute_90,code=sm_90", "-Xptxas", "-O2", "--use_fast_math",
                 "-w", "-std=c++17", "--expt-relaxed-constexpr"});
    EXPECT_EQ(image.format, "cubin");
}

TEST_F(CompilerTest, FilesOfTheUserAreNoted) {
    const core::testing::TemporaryDirectory folder;
    std::filesystem::create_directory(folder.path() + "/sub");
    std::ofstream(folder.path() + "/value.h") << "#include \"sub/deep.h\"\n";
    std::ofstream(folder.path() + "/sub/deep.h") << "#define VALUE 7\n";
    const core::Image image =
        compile("#include \"value.h\"\nextern \"C\" __global__ void f(int *a) { a[0] = VALUE; }",
                {"-I" + folder.path()});
    EXPECT_EQ(image.files.size(), 2u);
    EXPECT_TRUE(image.files.contains(folder.path() + "/sub/deep.h"));
}

// Each header that we give to NVRTC stands alone and with all the others.
TEST_F(CompilerTest, OurHeadersCompile) {
    std::string all;
    for (const EmbeddedFile& file : include_folder::embedded_files()) {
        const std::string name(file.name);
        if (!is_served(name) || name == "pycuda-helpers.hpp") continue;
        const std::string line = "#include <" + name + ">\n";
        EXPECT_NO_THROW(compile(line + line + kNothing)) << name;
        all += line;
    }
    EXPECT_NO_THROW(compile(all + kNothing));
    EXPECT_NO_THROW(compile(all + kNothing, {"--std=c++20"}));
}

TEST_F(CompilerTest, WhatNvccKnowsWithoutAnIncludeIsKnown) {
    EXPECT_NO_THROW(compile(
        "extern \"C\" __global__ void f(int64_t *a, double *x, uint n) {\n"
        "    a[0] = INT_MAX + sizeof(uint8_t) + isnormal(x[0]);\n"
        "    memmove(a, a + 1, 8);\n"
        "    x[0] = std::sqrt(x[1]) + pow(n, 2) + pow(x[2], 2) + std::max(x[3], FLT_MAX * 1.0);\n"
        "    __int128 wide = n;\n"
        "    a[1] = (long long)(wide >> 3);\n"
        "}\n"));
    // A text with names of its own keeps them.
    EXPECT_NO_THROW(
        compile("typedef long int64_t;\nusing uint = unsigned;\n"
                "extern \"C\" __global__ void f(int64_t *a, uint n) { a[0] = INT_MAX; }"));
}

TEST_F(CompilerTest, TraitsOfTypesAreRight) {
    EXPECT_NO_THROW(compile(
        "#include <type_traits>\n#include <utility>\n#include <limits>\n"
        "struct Empty {};\nenum Color { Red };\n"
        "using namespace std;\n"
        "static_assert(is_same<decay_t<const int (&)[3]>, const int *>::value, \"\");\n"
        "static_assert(is_same<decay_t<int(int)>, int (*)(int)>::value, \"\");\n"
        "static_assert(is_same<add_lvalue_reference_t<void>, void>::value, \"\");\n"
        "static_assert(is_same<make_unsigned_t<long>, unsigned long>::value, \"\");\n"
        "static_assert(is_same<remove_cv_t<const volatile int>, int>::value, \"\");\n"
        "static_assert(is_function<void(int)>::value && !is_function<int>::value, \"\");\n"
        "static_assert(is_empty<Empty>::value && is_enum<Color>::value, \"\");\n"
        "static_assert(is_signed<float>::value && is_unsigned<unsigned>::value, \"\");\n"
        "static_assert(!is_signed<bool>::value && !is_signed<Empty>::value, \"\");\n"
        "static_assert(is_scalar<int Empty::*>::value && is_pointer<int *const>::value, \"\");\n"
        "static_assert(rank<int[2][3]>::value == 2 && extent<int[2][3], 1>::value == 3, \"\");\n"
        "static_assert(is_convertible<int, double>::value, \"\");\n"
        "static_assert(!is_convertible<Empty, int>::value, \"\");\n"
        "static_assert(is_same<make_index_sequence<3>, index_sequence<0, 1, 2>>::value, \"\");\n"
        "static_assert(numeric_limits<int>::min() == -2147483647 - 1, \"\");\n"
        "static_assert(numeric_limits<float>::infinity() > 3e38f, \"\");\n"));
}

TEST_F(CompilerTest, KernelsThatLaunchKernelsAreToBeLinked) {
    const std::string launches =
        "extern \"C\" __global__ void child(int *a) { a[0] = 1; }\n"
        "extern \"C\" __global__ void parent(int *a) { child<<<1, 1>>>(a); }\n";
    const core::Image image = compile(launches, {"-rdc=true"});
    EXPECT_EQ(image.format, "relocatable");
    EXPECT_TRUE(is_relocatable(image.bytes));
    EXPECT_NE(image.bytes.find("cudaCDP2"), std::string::npos);  // what the linker looks for
    EXPECT_EQ(compile(kNothing, {"-dc"}).format, "object");
    const core::Image whole = compile(kNothing, {"-rdc=true"});
    EXPECT_EQ(whole.format, "cubin");
    EXPECT_FALSE(is_relocatable(whole.bytes));
    EXPECT_FALSE(is_host_object(whole.bytes));
    try {
        compile(launches);
        FAIL() << "compiled";
    } catch (const core::Error& error) {
        EXPECT_NE(error.detail().find("-rdc=true"), std::string::npos);
    }
}

}  // namespace
}  // namespace trilane::cuda
