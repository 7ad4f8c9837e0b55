// Missing features and hostile texts: an error that names the place, never a crash.
#include <gtest/gtest.h>

#include "devices/cpu/compile/testing.h"

namespace trilane::cpu {
namespace {

using testing::compile_error;
using testing::compile_text;

void expect_error(const std::string& source, const std::string& part) {
    std::string error = compile_error(source);
    EXPECT_NE(error.find(part), std::string::npos) << "for " << source.substr(0, 200) << "\n"
                                                   << error;
}

std::string repeat(const std::string& piece, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += piece;
    return text;
}

TEST(Unsupported, InlineAssemblyIsNamedWithItsText) {
    expect_error(
        "__global__ void k(int* p) {\n    int r;\n"
        "    asm volatile(\"bfe.u32 %0, %1, 4, 5;\" : \"=r\"(r) : \"r\"(*p));\n    *p = r;\n}",
        "kernel.cu:3:18: error: inline PTX assembly is not supported on the cpu device: "
        "'bfe.u32 $0, $1, 4, 5;'");
}

TEST(Unsupported, AssemblyThatNobodyReachesIsNoFault) {
    EXPECT_EQ(
        compile_text("__device__ void f() { asm volatile(\"trap;\"); }\n"
                     "__global__ void k(int* p) { asm volatile(\"\" ::: \"memory\"); *p = 1; }")
            .kernels.size(),
        1u);
}

TEST(Unsupported, RefusedFunctionsGiveTheirReason) {
    expect_error(
        "__device__ __attribute__((error(\"textures are missing\"))) float fetch(int);\n"
        "__global__ void k(float* p) {\n    *p = fetch(3);\n}",
        "kernel.cu:3:10: error: 'fetch' is not supported on the cpu device: textures are "
        "missing");
}

TEST(Unsupported, DeviceSideLaunch) {
    expect_error("__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }",
                 "kernel.cu:2:23");
    expect_error("__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }",
                 "dynamic parallelism");
}

TEST(Unsupported, MemoryBeyondTheLimits) {
    expect_error(
        "__global__ void k(int* p) { __shared__ char x[1ull << 60]; x[*p] = 1; *p = x[5]; }",
        "kernel 'k' uses too much shared data: 'x' has 1152921504606846976 bytes");
    expect_error(
        "__global__ void k(int* p) { __shared__ int x[10000], y[2289]; x[*p] = 1; y[*p] = 2; "
        "*p = x[5] + y[5]; }",
        "may have 49152 bytes together");
    expect_error("__global__ void k(int* p) { char x[1ull << 40]; x[*p] = 1; *p = x[5]; }",
                 "too much local memory");
    expect_error("__constant__ char x[70000]; __global__ void k(int* p) { *p = x[5]; }",
                 "too much constant memory: 70000 bytes");
    expect_error("__device__ char x[1ull << 50]; __global__ void k(int* p) { *p = x[5]; }",
                 "'x' is too large");
}

TEST(Unsupported, DeclaredButNotDefined) {
    expect_error("__device__ int f(int);\n__global__ void k(int* p) { *p = f(1); }",
                 "kernel.cu:1:16: error: function 'f' is used in device code but not defined");
    expect_error("extern __device__ int v;\n__global__ void k(int* p) { *p = v; }",
                 "kernel.cu:1:23: error: variable 'v' is used in device code but not defined");
}

TEST(Unsupported, VariadicKernel) {
    expect_error("__global__ void k(int n, ...) {}", "variable number of parameters");
}

TEST(Hostile, UnfinishedTexts) {
    expect_error("__global__ void k(int* p) { *p = ", "expected expression");
    expect_error("__global__ void k(int* p) { /* ", "unterminated /* comment");
    expect_error("__global__ void k(int* p) { \"abc ", "error:");
    expect_error(repeat("#if 1\n", 1000), "unterminated conditional directive");
    expect_error(std::string("\x00\x01\xff\xfe{", 5), "error:");
    expect_error("#include \"kernel.cu\"\n", "nested too deeply");
}

TEST(Hostile, DeepNesting) {
    expect_error("__global__ void k(int* p) { *p = " + repeat("(", 100000) + "1; }",
                 "bracket nesting level exceeded");
    expect_error("__global__ void k() { " + repeat("{", 100000) + " }",
                 "bracket nesting level exceeded");
    expect_error(
        "template <int N> struct A { static const int v = A<N - 1>::v; };"
        "__global__ void k(int* p) { *p = A<100000>::v; }",
        "recursive template instantiation exceeded maximum depth");
    expect_error("__global__ void k(int* p) { int a" + repeat("[2]", 1000) + "; }", "too large");
}

// The parser itself overflows its stack here; the process must live and compile on.
TEST(Hostile, CrashOfTheCompilerIsAnError) {
    expect_error("__global__ void k(int* p) { *p = " + repeat("!", 400000) + "1; }",
                 "the compiler failed");
    EXPECT_EQ(compile_text("__global__ void k(int* p) { *p = 1; }").kernels.size(), 1u);
}

TEST(Hostile, PragmaOnceInTheMainText) {
    EXPECT_EQ(compile_text("#pragma once\n__global__ void k(int* p) { *p = 1; }").kernels.size(),
              1u);
}

TEST(Hostile, FileNamesThatMeanSomethingElse) {
    core::Program program;
    program.source = "__global__ void k() {}";
    for (const char* name : {"-", "", "<string>", "a \"b\".cu", "/etc/passwd"}) {
        program.file_name = name;
        EXPECT_EQ(compile_error(program), "") << name;
    }
}

TEST(Hostile, ModuleAssemblyIsNotKept) {
    auto result = compile_text("asm(\".globl stolen\");\n__global__ void k() {}");
    EXPECT_EQ(result.module->getModuleInlineAsm(), "");
}

}  // namespace
}  // namespace trilane::cpu
