// Kernels that launch kernels.
#include <algorithm>
#include <numeric>

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::ErrorKind;
using testing::error_of;
using testing::Program;
using testing::test_device;

const std::vector<std::string> kRelocatable = {"-rdc=true"};

TEST(DeviceLaunch, ArgumentsConvertAndAreCopied) {
    Program program(R"(
struct Pair { int a; double b; };
extern "C" __global__ void child(long* out, long add, Pair pair, float factor) {
    out[threadIdx.x + blockIdx.x * blockDim.x] += add + pair.a + (long)(pair.b * factor);
}
extern "C" __global__ void parent(long* out) {
    Pair pair = {1, 2.5};
    int add = 10;
    child<<<2, dim3(4)>>>(out, add, pair, 2);
    add = 1000;
    pair.a = 1000;
    out[threadIdx.x] = 100;
})",
                    kRelocatable);
    std::vector<long> out(8, 0);
    program.launch("parent", {1}, {1}, out.data());
    EXPECT_EQ(out[0], 116);
    for (size_t i = 1; i < 8; ++i) EXPECT_EQ(out[i], 16);
}

TEST(DeviceLaunch, AChildSeesAllThatItsParentWrote) {
    Program program(R"(
extern "C" __global__ void sum(const int* values, int n, int* out) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += values[i];
    *out = total;
}
extern "C" __global__ void fill(int* values, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) sum<<<1, 1>>>(values, gridDim.x * blockDim.x, out);
    values[i] = i;
})",
                    kRelocatable);
    std::vector<int> values(4096, -1);
    int total = 0;
    program.launch("fill", {64}, {64}, values.data(), &total);
    EXPECT_EQ(total, 4095 * 4096 / 2);
}

TEST(DeviceLaunch, RecursionTemplatesAndSharedMemory) {
    Program program(R"(
template <int step>
__global__ void add(int* out) {
    extern __shared__ int part[];
    part[threadIdx.x] = step;
    __syncthreads();
    atomicAdd(out, part[blockDim.x - 1 - threadIdx.x]);
}
extern "C" __global__ void tree(int depth, int* count, int* out) {
    atomicAdd(count, 1);
    if (depth == 0) {
        add<3><<<1, 8, 8 * sizeof(int)>>>(out);
        return;
    }
    tree<<<gridDim.x, blockDim.x>>>(depth - 1, count, out);
})",
                    kRelocatable);
    int count = 0, out = 0;
    program.launch("tree", {2}, {2}, 3, &count, &out);
    EXPECT_EQ(count, 4 + 16 + 64 + 256);
    EXPECT_EQ(out, 256 * 8 * 3);
}

TEST(DeviceLaunch, ChildrenPrintAfterTheirParentsInTheOrderOfBlocks) {
    Program program(R"(
extern "C" __global__ void child(int n) { printf("child %d\n", n); }
extern "C" __global__ void parent() {
    printf("parent %d\n", blockIdx.x);
    child<<<1, 1>>>(blockIdx.x);
})",
                    kRelocatable);
    test_device().printed.clear();
    program.launch("parent", {3}, {1});
    EXPECT_EQ(test_device().printed, "parent 0\nparent 1\nparent 2\nchild 0\nchild 1\nchild 2\n");
}

TEST(DeviceLaunch, FailuresNameTheKernel) {
    Program program(R"(
extern "C" __global__ void child(int* p) { *p = 1; }
extern "C" __global__ void parent(int* p, int threads, int bytes) {
    child<<<1, threads, bytes>>>(p);
})",
                    kRelocatable);
    int value = 0;
    ErrorKind kind{};
    auto launch = [&](int* p, int threads, int bytes) {
        return error_of([&] { program.launch("parent", {1}, {1}, p, threads, bytes); }, &kind);
    };
    EXPECT_NE(launch(&value, 2000, 0).find("launch of child: block"), std::string::npos);
    EXPECT_EQ(kind, ErrorKind::LaunchError);
    EXPECT_NE(launch(&value, 0, 0).find("launch of child: block"), std::string::npos);
    EXPECT_NE(launch(&value, 1, 1 << 20).find("launch of child: shared memory"), std::string::npos);
    EXPECT_NE(launch(nullptr, 1, 0).find("child"), std::string::npos);
    EXPECT_EQ(value, 0);
    launch(&value, 1, 0);
    EXPECT_EQ(value, 1);
}

TEST(DeviceLaunch, QuicksortWithStreamsOfItsOwn) {
    Program program(R"(
__global__ void sort(int* data, int left, int right) {
    int *l = data + left, *r = data + right, pivot = data[(left + right) / 2];
    while (l <= r) {
        while (*l < pivot) ++l;
        while (*r > pivot) --r;
        if (l <= r) {
            int held = *l;
            *l++ = *r;
            *r-- = held;
        }
    }
    int last_low = r - data, first_high = l - data;
    if (left < last_low) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sort<<<1, 1, 0, stream>>>(data, left, last_low);
        cudaStreamDestroy(stream);
    }
    if (first_high < right) sort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, first_high, right);
}
extern "C" __global__ void start(int* data, int n, int* error) {
    sort<<<1, 1>>>(data, 0, n - 1);
    *error = cudaGetLastError();
})",
                    kRelocatable);
    std::vector<int> values(1000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = int(i * 7919 % 1009);
    std::vector<int> expected = values;
    std::sort(expected.begin(), expected.end());
    int error = -1;
    program.launch("start", {1}, {1}, values.data(), int(values.size()), &error);
    EXPECT_EQ(values, expected);
    EXPECT_EQ(error, 0);
}

TEST(DeviceLaunch, MemoryFromAParentReachesItsChild) {
    Program program(R"(
__global__ void finish(int* part, int n, int* out) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += part[i];
    *out = total;
    cudaFree(part);
}
extern "C" __global__ void start(int n, int* out) {
    int* part;
    if (cudaMalloc(&part, n * sizeof(int)) != cudaSuccess) return;
    for (int i = 0; i < n; ++i) part[i] = i;
    finish<<<1, 1>>>(part, n, out);
})",
                    kRelocatable);
    int out = 0;
    program.launch("start", {1}, {1}, 100, &out);
    EXPECT_EQ(out, 4950);
}

TEST(DeviceLaunch, HostFunctionsOfTheTextMayLaunchToo) {
    Program program(R"(
extern "C" __global__ void f(int* p) { *p = 3; }
void start(int* p) { f<<<1, 1>>>(p); }
)",
                    kRelocatable);
    int value = 0;
    program.launch("f", {1}, {1}, &value);
    EXPECT_EQ(value, 3);
}

TEST(DeviceLaunch, WaitingForChildrenIsRefusedWithAReason) {
    std::string text = error_of([] {
        Program(
            "__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); "
            "cudaDeviceSynchronize(); }",
            kRelocatable);
    });
    EXPECT_NE(text.find("cannot wait"), std::string::npos) << text;
}

TEST(DeviceLaunch, NeedsRelocatableCode) {
    ErrorKind kind{};
    std::string text = error_of(
        [] { Program("__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }"); }, &kind);
    EXPECT_EQ(kind, ErrorKind::CompileError);
    EXPECT_NE(text.find("-rdc=true"), std::string::npos);
}

TEST(DeviceLaunch, WrongArgumentsAreCompileErrors) {
    for (const char* call : {"c<<<1, 1>>>()", "c<<<1, 1>>>(1, 2)", "c<<<1, 1>>>(\"text\")",
                             "c<<<1>>>(1)", "missing<<<1, 1>>>(1)"}) {
        std::string source =
            std::string("__global__ void c(int) {}\n__global__ void k() {\n") + call + "; }";
        std::string text = error_of([&] { Program(source, kRelocatable); });
        EXPECT_NE(text.find("kernel.cu:3:"), std::string::npos) << call << "\n" << text;
    }
}

}  // namespace
}  // namespace trilane::cpu
