// run_front_end on simple texts: kernels found, names lowered, IR retargeted.
#include "devices/cpu/compile/front_end.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "devices/cpu/compile/testing.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

namespace trilane::cpu {
namespace {

using core::ParameterKind;
using testing::compile_error;
using testing::compile_text;
using testing::ir_of;

TEST(FrontEnd, VectorAdd) {
    FrontEndResult result = compile_text(R"(
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
)");
    ASSERT_EQ(result.kernels.size(), 1u);
    const KernelDescription& kernel = result.kernels[0];
    EXPECT_EQ(kernel.name, "_Z3addPKfS0_Pfi");
    EXPECT_EQ(kernel.line, 2);
    EXPECT_EQ(kernel.file, "kernel.cu");
    EXPECT_EQ(kernel.max_threads_per_block, 1024);
    ASSERT_EQ(kernel.parameters.size(), 4u);
    EXPECT_EQ(kernel.parameters[0].name, "a");
    EXPECT_EQ(kernel.parameters[0].c_type, "const float *");
    EXPECT_EQ(kernel.parameters[0].kind, ParameterKind::Pointer);
    EXPECT_EQ(kernel.parameters[0].pointee_size, 4u);
    EXPECT_EQ(kernel.parameters[0].pointee_kind, ParameterKind::Float);
    EXPECT_TRUE(kernel.parameters[0].pointee_const);
    EXPECT_FALSE(kernel.parameters[2].pointee_const);
    EXPECT_EQ(kernel.parameters[3].kind, ParameterKind::Int);
    EXPECT_EQ(kernel.parameters[3].size, 4u);
    EXPECT_EQ(result.module->getTargetTriple(), "x86_64-unknown-linux-gnu");
    EXPECT_FALSE(llvm::verifyModule(*result.module, &llvm::errs()));
    EXPECT_EQ(ir_of(result).find("target-features"), std::string::npos);
}

TEST(FrontEnd, NameExpressionsGiveSymbols) {
    FrontEndResult result = compile_text(R"(
template <class T, int N> __global__ void fill(T* p) { p[threadIdx.x] = N; }
namespace ns {
template <class T> __device__ T value;
__constant__ float table[4];
__global__ void plain(int* p) { *p = 1; }
}
__device__ int counter;
extern "C" __global__ void named(int* p) { *p = counter; }
)",
                                         {},
                                         {"fill<float, 3>", "&fill<double,1>", "ns::value<double>",
                                          "ns::table", "ns::plain", "named", "counter"});
    const auto& names = result.lowered_names;
    EXPECT_EQ(names.at("fill<float, 3>"), "_Z4fillIfLi3EEvPT_");
    EXPECT_EQ(names.at("&fill<double,1>"), "_Z4fillIdLi1EEvPT_");
    EXPECT_EQ(names.at("ns::value<double>"), "_ZN2ns5valueIdEE");
    EXPECT_EQ(names.at("ns::table"), "_ZN2ns5tableE");
    EXPECT_EQ(names.at("ns::plain"), "_ZN2ns5plainEPi");
    EXPECT_EQ(names.at("named"), "named");
    EXPECT_EQ(names.at("counter"), "counter");
    EXPECT_EQ(result.kernels.size(), 4u);
    EXPECT_EQ(result.module->getNamedGlobal("_ZN2ns5tableE")->getAddressSpace(), 4u);
    EXPECT_EQ(result.module->getNamedGlobal("counter")->getAddressSpace(), 1u);
    for (const auto& global : result.module->globals())
        EXPECT_EQ(global.getName().find("__trl_name_"), llvm::StringRef::npos);
}

TEST(FrontEnd, WrongNameExpressionIsNamed) {
    core::Program program;
    program.source = "__global__ void k() {}";
    program.name_expressions = {"k", "missing<int>"};
    std::string error = compile_error(program);
    EXPECT_NE(error.find("<name expression 1>"), std::string::npos) << error;
    EXPECT_NE(error.find("undeclared identifier 'missing'"), std::string::npos) << error;
}

TEST(FrontEnd, ParametersOfEveryKind) {
    FrontEndResult result = compile_text(R"(
struct S { float a; double b[2]; short c; };
enum E { A, B };
enum class Small : unsigned char { C };
__global__ __launch_bounds__(128, 2) void k(S s, E e, Small f, bool b, unsigned long long u,
    float4 v, const S* ps, void* vp, int** pp, double d, const volatile short* cv) { *pp = 0; }
)");
    ASSERT_EQ(result.kernels.size(), 1u);
    const auto& p = result.kernels[0].parameters;
    ASSERT_EQ(p.size(), 11u);
    EXPECT_EQ(result.kernels[0].max_threads_per_block, 128);
    EXPECT_EQ(p[0].kind, ParameterKind::Struct);
    EXPECT_EQ(p[0].size, 32u);
    EXPECT_EQ(p[0].align, 8u);
    EXPECT_EQ(p[1].kind, ParameterKind::UInt);
    EXPECT_EQ(p[2].size, 1u);
    EXPECT_EQ(p[3].kind, ParameterKind::Bool);
    EXPECT_EQ(p[4].kind, ParameterKind::UInt);
    EXPECT_EQ(p[4].size, 8u);
    EXPECT_EQ(p[5].c_type, "float4");
    EXPECT_EQ(p[5].align, 16u);
    EXPECT_EQ(p[6].c_type, "const S *");
    EXPECT_EQ(p[6].pointee_size, 32u);
    EXPECT_EQ(p[7].pointee_size, 0u);
    EXPECT_EQ(p[8].pointee_kind, ParameterKind::Pointer);
    EXPECT_EQ(p[9].kind, ParameterKind::Float);
    EXPECT_TRUE(p[10].pointee_const);
    EXPECT_EQ(p[10].pointee_size, 2u);
}

TEST(FrontEnd, DiagnosticsShowLineAndCaret) {
    std::string error = compile_error("\n__global__ void k(int* p) {\n    *p = nothing;\n}\n");
    EXPECT_NE(error.find("kernel.cu:3:10: error: use of undeclared identifier 'nothing'"),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("*p = nothing;"), std::string::npos);
    EXPECT_NE(error.find("^"), std::string::npos);
}

TEST(FrontEnd, LineDirectivesCount) {
    std::string error = compile_error("#line 41 \"user.py\"\n__global__ void k() { oops; }\n");
    EXPECT_NE(error.find("user.py:41:23: error:"), std::string::npos) << error;
    FrontEndResult result = compile_text("#line 7 \"user.py\"\n__global__ void k() {}\n");
    EXPECT_EQ(result.kernels.at(0).file, "user.py");
    EXPECT_EQ(result.kernels.at(0).line, 7);
}

TEST(FrontEnd, HostFunctionsAreHostCodeUnlessAskedOtherwise) {
    const char* text =
        "int twice(int x) { return 2 * x; }\n__global__ void k(int* p) { *p = twice(*p); }";
    std::string error = compile_error(text);
    EXPECT_NE(error.find("call to __host__ function from __global__ function"), std::string::npos);
    EXPECT_NE(error.find("-default-device"), std::string::npos);
    EXPECT_EQ(compile_text(text, {"-default-device"}).kernels.size(), 1u);
    EXPECT_EQ(compile_text(text, {"--device-as-default-execution-space"}).kernels.size(), 1u);
}

TEST(FrontEnd, OptionsReachTheText) {
    const char* text = R"(
#if N != 4 || defined(GONE) || !defined(FLAG) || __CUDA_ARCH__ != 750 || __cplusplus < 202002L
#error options were lost
#endif
__global__ void k(int* p) { *p = N; }
)";
    compile_text(text,
                 {"-DN=4", "-D", "FLAG", "-DGONE", "-U", "GONE", "-std=c++20", "-arch=sm_75"});
    compile_text(text, {"--define-macro=N=4", "--define-macro", "FLAG", "--std", "c++20",
                        "--gpu-architecture=compute_75"});
}

TEST(FrontEnd, HeadersInMemoryAndForcedIncludes) {
    core::Program program;
    program.source = "#include <inner/b.h>\n__global__ void k(int* p) { *p = B + A; }";
    program.headers = {{"inner/b.h", "#pragma once\n#include \"c.h\"\n"},
                       {"inner/c.h", "#define B 2\n"},
                       {"a.h", "#define A 1\n"}};
    program.options = {"-include", "a.h"};
    EXPECT_EQ(run_front_end(program, false).kernels.size(), 1u);
}

TEST(FrontEnd, RealFilesOnlyBelowIncludeDirectories) {
    std::string dir = ::testing::TempDir() + "trilane_include_test";
    std::filesystem::create_directories(dir + "/sub");
    std::ofstream(dir + "/outer.h") << "#define OUTER 1\n";
    std::ofstream(dir + "/sub/inner.h") << "#include \"../outer.h\"\n";
    const char* text = "#include \"inner.h\"\n__global__ void k(int* p) { *p = OUTER; }";
    EXPECT_NE(compile_error(text).find("'inner.h' file not found"), std::string::npos);
    const FrontEndResult with_folder = compile_text(text, {"-I" + dir + "/sub"});
    EXPECT_EQ(with_folder.kernels.size(), 1u);
    EXPECT_EQ(with_folder.files,
              (std::vector<std::string>{dir + "/sub/inner.h", dir + "/sub/../outer.h"}));
    EXPECT_EQ(compile_text(text, {"-I", dir + "/sub"}).kernels.size(), 1u);
    std::string absolute = "#include \"" + dir + "/outer.h\"\n__global__ void k() {}";
    EXPECT_NE(compile_error(absolute).find("file not found"), std::string::npos);
    EXPECT_EQ(compile_text(absolute, {"-I" + dir}).kernels.size(), 1u);
    EXPECT_NE(compile_error("#include \"/etc/passwd\"\n").find("file not found"),
              std::string::npos);
    std::filesystem::remove_all(dir);
}

TEST(FrontEnd, UnusedCodeGoesAndUsersVariablesStay) {
    FrontEndResult result = compile_text(R"(
__device__ int used(int x) { return x + 1; }
__device__ int unused(int x) { return x + 2; }
__constant__ float table[8];
static __device__ int hidden;
__global__ void k(int* p) { *p = used(*p); }
)");
    EXPECT_NE(result.module->getFunction("_Z4usedi"), nullptr);
    EXPECT_EQ(result.module->getFunction("_Z6unusedi"), nullptr);
    ASSERT_NE(result.module->getNamedGlobal("table"), nullptr);
    EXPECT_EQ(result.module->getNamedGlobal("_ZL6hidden"), nullptr);
}

TEST(FrontEnd, ConvergentStaysOnlyWhereThreadsMeet) {
    FrontEndResult result = compile_text(R"(
__device__ __noinline__ int plain(int x) { return x * 3; }
__device__ __noinline__ void meet() { __syncthreads(); }
__device__ int again(int n) { return n < 2 ? n : again(n - 1) + again(n - 2); }
__global__ void k(int* p) { *p = plain(*p) + again(*p); meet(); }
)");
    llvm::Module& module = *result.module;
    EXPECT_FALSE(module.getFunction("_Z5plaini")->isConvergent());
    EXPECT_TRUE(module.getFunction("_Z4meetv")->isConvergent());
    EXPECT_TRUE(module.getFunction("_Z4meetv")->hasFnAttribute(llvm::Attribute::AlwaysInline));
    EXPECT_FALSE(module.getFunction("_Z5plaini")->hasFnAttribute(llvm::Attribute::AlwaysInline));
    EXPECT_FALSE(module.getFunction("_Z5againi")->hasFnAttribute(llvm::Attribute::AlwaysInline));
}

TEST(FrontEnd, ContractionIsDecided) {
    const char* text = "__global__ void k(float* p) { p[0] = p[1] * p[2] + p[3]; }";
    EXPECT_NE(ir_of(compile_text(text)).find("llvm.fma.f32"), std::string::npos);
    std::string off = ir_of(compile_text(text, {"-fmad=false"}));
    EXPECT_EQ(off.find("llvm.fma"), std::string::npos);
    EXPECT_NE(off.find("fmul float"), std::string::npos);
    EXPECT_EQ(off.find("contract"), std::string::npos);
}

}  // namespace
}  // namespace trilane::cpu
