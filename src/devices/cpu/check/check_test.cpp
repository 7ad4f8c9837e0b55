// Checked kernels, from the text to the report: what is found, what is said, what goes on.
#include <gtest/gtest.h>

#include "devices/cpu/check/allocation_table.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::CheckReport;

// Host memory that the table knows as an array of the user, with room to spare around it.
template <typename T>
class Array {
  public:
    explicit Array(size_t count, T value = T(), std::string name = {})
        : memory_(count + 2 * kSpare, value), count_(count) {
        AllocationTable::get().note(address(), count * sizeof(T), name);
    }
    ~Array() { AllocationTable::get().forget(address()); }
    uint64_t address() { return reinterpret_cast<uint64_t>(data()); }
    T* data() { return memory_.data() + kSpare; }
    T& operator[](size_t i) { return data()[i]; }
    bool spare_untouched(T value = T()) {
        for (size_t i = 0; i < kSpare; ++i)
            if (memory_[i] != value || memory_[kSpare + count_ + i] != value) return false;
        return true;
    }

  private:
    static constexpr size_t kSpare = 4096;
    std::vector<T> memory_;
    size_t count_;
};

class Checked : public ::testing::Test {
  protected:
    void SetUp() override {
        device().enable_checks();
        device().take_check_reports();
    }
    CpuDevice& device() {
        static auto* hooks = new core::DeviceHooks;
        static auto* device = new CpuDevice(0, hooks);
        return *device;
    }

    template <typename... Args>
    std::vector<CheckReport> run(const std::string& source, core::Dim3 grid, core::Dim3 block,
                                 size_t shared, Args... arguments) {
        core::Program program;
        program.source = source;
        core::RawModule module = device().load(device().compile(program));
        std::vector<const void*> pointers{static_cast<const void*>(&arguments)...};
        core::LaunchParams params;
        params.function = device().function(module, "k").raw;
        params.grid = grid;
        params.block = block;
        params.shared_bytes = shared;
        params.arguments = const_cast<void* const*>(pointers.data());
        params.argument_count = pointers.size();
        device().launch(params);
        device().unload(module);
        return device().take_check_reports();
    }
};

bool says(const CheckReport& report, const std::string& part) {
    bool found = report.text.find(part) != std::string::npos;
    EXPECT_TRUE(found) << "no '" << part << "' in:\n" << report.text;
    return found;
}

TEST_F(Checked, WriteBehindTheEndIsReportedAndLeftOut) {
    Array<float> a(400, 1), c(400, 0);
    auto reports = run(R"(
extern "C" __global__ void k(const float* a, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + 1;
})",
                       {2}, {256}, 0, a.data(), c.data());
    ASSERT_EQ(reports.size(), 2u);
    const CheckReport& read = reports[0].kind.ends_with("read") ? reports[0] : reports[1];
    const CheckReport& write = reports[0].kind.ends_with("read") ? reports[1] : reports[0];
    EXPECT_EQ(read.kind, "out-of-bounds read");
    EXPECT_EQ(write.kind, "out-of-bounds write");
    EXPECT_EQ(write.count, 112u);
    EXPECT_EQ(write.kernel, "k");
    EXPECT_EQ(write.file, "kernel.cu");
    EXPECT_EQ(write.line, 4);
    EXPECT_EQ(write.block.x, 1u);
    EXPECT_EQ(write.thread.x, 144u);
    says(write, "out-of-bounds write of 4 bytes in kernel k");
    says(write, "kernel.cu:4, block (1, 0, 0), thread (144, 0, 0)");
    says(write, "array 'c' has 400 elements of 4 bytes: index 400 is behind its end");
    says(read, "array 'a' has 400 elements");
    EXPECT_TRUE(c.spare_untouched());
    for (int i = 0; i < 400; ++i) ASSERT_EQ(c[i], 2);
    EXPECT_TRUE(device().take_check_reports().empty());
}

TEST_F(Checked, CorrectKernelsGiveNoReport) {
    Array<int> a(1000, 3), out(1000, 0);
    auto reports = run(R"(
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ void recurse(int* local, int depth) {
    int mine[4] = {1, 2, 3, 4};
    if (depth > 0) recurse(mine, depth - 1);
    local[depth & 1] += mine[depth & 3];
}
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter;
struct Pair { int* data; int n; };
extern "C" __global__ void k(const int* a, int* out, Pair pair) {
    __shared__ int tile[128];
    extern __shared__ int dynamic[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int local[4] = {0, 0, 0, 0};
    tile[t] = i < pair.n ? a[i] : 0;
    dynamic[t] = t;
    __syncthreads();
    int* either = t & 1 ? tile : dynamic;
    const char* text = t & 1 ? "odd" : "even";
    recurse(local, 3);
    local[t & 3] += table[t & 3] + fib(5);
    int* heap = (int*)malloc(16);
    heap[t & 3] = text[t & 1];
    if (i < pair.n) pair.data[i] = either[127 - t] + local[t & 3] + heap[t & 3];
    free(heap);
    __syncthreads();
    atomicAdd(&counter, __shfl_xor_sync(~0u, t, 1));
    int4 v = *(int4*)&tile[t & ~3];
    memcpy(local, &v, sizeof(v));
    if (i < pair.n) out[i] = pair.data[i] + local[1];
})",
                       {8}, {128}, 512, a.data(), out.data(), [&] {
                           struct {
                               int* data;
                               int n;
                           } pair{out.data(), 1000};
                           return pair;
                       }());
    for (const CheckReport& report : reports) ADD_FAILURE() << report.text;
    EXPECT_TRUE(out.spare_untouched());
}

TEST_F(Checked, ReadsBeforeTheStartGiveZero) {
    Array<int> a(16, 7), out(16, -1);
    auto reports = run(R"(extern "C" __global__ void k(int* a, int* out) {
    out[threadIdx.x] = a[(int)threadIdx.x - 1];
})",
                       {1}, {16}, 0, a.data(), out.data());
    ASSERT_EQ(reports.size(), 1u);
    says(reports[0], "array 'a' has 16 elements of 4 bytes: index -1 is before its start");
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], 7);
}

TEST_F(Checked, ANeighbourInThePoolIsNotOneself) {
    std::vector<int> pool(64, 5);
    auto base = reinterpret_cast<uint64_t>(pool.data());
    AllocationTable::get().note(base, 32 * 4, "first");
    AllocationTable::get().note(base + 32 * 4, 32 * 4, "second");
    auto reports = run(R"(extern "C" __global__ void k(int* a) { a[threadIdx.x] = 1; })", {1}, {33},
                       0, pool.data());
    AllocationTable::get().forget(base);
    AllocationTable::get().forget(base + 32 * 4);
    ASSERT_EQ(reports.size(), 1u);
    says(reports[0], "array 'a (first)' has 32 elements");
    EXPECT_EQ(pool[31], 1);
    EXPECT_EQ(pool[32], 5);
}

TEST_F(Checked, SharedArraysHaveTheirOwnBounds) {
    Array<int> out(64, 0);
    auto reports = run(R"(extern "C" __global__ void k(int* out) {
    __shared__ int first[32];
    __shared__ int second[32];
    second[threadIdx.x & 31] = 1;
    first[threadIdx.x] = 9;
    __syncthreads();
    out[threadIdx.x] = second[threadIdx.x & 31];
})",
                       {1}, {64}, 0, out.data());
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].count, 32u);
    EXPECT_EQ(reports[0].line, 5);
    says(reports[0], "shared array 'first' has 32 elements of 4 bytes: index 32 is behind its end");
    for (int i = 0; i < 64; ++i) ASSERT_EQ(out[i], 1);
}

TEST_F(Checked, DynamicSharedMemoryIsAsLargeAsTheLaunchSays) {
    Array<int> out(64, 0);
    const char* source = R"(extern "C" __global__ void k(int* out) {
    extern __shared__ int room[];
    room[threadIdx.x] = 4;
    out[threadIdx.x] = room[threadIdx.x];
})";
    EXPECT_TRUE(run(source, {1}, {64}, 256, out.data()).empty());
    auto reports = run(source, {1}, {64}, 128, out.data());
    ASSERT_EQ(reports.size(), 2u);
    says(reports[0], "shared array 'room' has 32 elements");
    EXPECT_EQ(out[31], 4);
    EXPECT_EQ(out[32], 0);
}

TEST_F(Checked, LocalArraysAndVariables) {
    Array<int> out(8, 0);
    auto reports = run(R"(
__device__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void k(int* out, int n) {
    int local[4];
    for (int i = 0; i < n; ++i)
        local[i] = i;
    out[0] = local[n & 3] + table[n];
})",
                       {1}, {1}, 0, out.data(), 6);
    ASSERT_EQ(reports.size(), 2u);
    says(reports[0], "local array 'local' has 4 elements of 4 bytes: index 4 is behind its end");
    EXPECT_EQ(reports[0].count, 2u);
    EXPECT_EQ(reports[0].line, 6);
    says(reports[1], "variable 'table' has 4 elements of 4 bytes: index 6 is behind its end");
    EXPECT_EQ(out[0], 2);
}

TEST_F(Checked, MisalignedAccess) {
    Array<int> room(32, 0);
    int* a = room.data();
    while (reinterpret_cast<uint64_t>(a) % 16 != 0) ++a;
    auto reports = run(R"(extern "C" __global__ void k(char* a) {
    *(int*)(a + 2) = 1;
    *(float4*)(a + 32) = make_float4(2, 2, 2, 2);
    *(float4*)(a + 8) = make_float4(1, 1, 1, 1);
})",
                       {1}, {1}, 0, a);
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0].kind, "misaligned write");
    EXPECT_EQ(reports[0].line, 2);
    says(reports[0], "is not a multiple of 4");
    EXPECT_EQ(reports[1].line, 4);
    says(reports[1], "is not a multiple of 16");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(a[i], 0);
    for (int i = 8; i < 12; ++i) EXPECT_NE(a[i], 0);
}

TEST_F(Checked, PointersInsideStructuresAndMemory) {
    Array<int> a(8, 1);
    Array<int*> pointers(1, a.data());
    struct View {
        int* data;
        long n;
    } view{a.data(), 8};
    auto reports = run(R"(struct View { int* data; long n; };
extern "C" __global__ void k(View view, int** pointers) {
    view.data[view.n] = 2;
    pointers[0][8192] = 3;
})",
                       {1}, {1}, 0, view, pointers.data());
    ASSERT_EQ(reports.size(), 2u);
    says(reports[0], "array 'view' has 8 elements of 4 bytes: index 8 is behind its end");
    EXPECT_EQ(reports[1].line, 4);
    says(reports[1], "is in no array");
    EXPECT_TRUE(a.spare_untouched(1));
}

TEST_F(Checked, AtomicsCopiesAndNullPointers) {
    Array<int> a(8, 1);
    auto reports = run(R"(extern "C" __global__ void k(int* a, int* null) {
    a[0] = 10 + atomicAdd(&a[8], 5);
    a[1] = 10 + atomicCAS(&a[9], 0, 5);
    memcpy(a + 4, a, 32);
    *null = 3;
})",
                       {1}, {1}, 0, a.data(), static_cast<int*>(nullptr));
    ASSERT_EQ(reports.size(), 4u);
    EXPECT_EQ(reports[0].kind, "out-of-bounds atomic");
    says(reports[0], "index 8 is behind its end");
    EXPECT_EQ(reports[1].kind, "out-of-bounds atomic");
    says(reports[2], "out-of-bounds write of 32 bytes");
    says(reports[2], "index 4 is inside, its end is not");
    says(reports[3], "through 'null' is in no array: it is a null pointer");
    EXPECT_EQ(a[0], 10);
    EXPECT_EQ(a[1], 10);
    EXPECT_EQ(a[4], 1);
    EXPECT_TRUE(a.spare_untouched(1));
}

TEST_F(Checked, FreedMemory) {
    Array<int> out(1, 0);
    auto reports = run(R"(extern "C" __global__ void k(int* out) {
    int* heap = (int*)malloc(64);
    heap[16] = 1;
    free(heap);
    *out = 5 + heap[0];
})",
                       {1}, {1}, 0, out.data());
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0].line, 3);
    EXPECT_EQ(reports[1].kind, "out-of-bounds read");
    EXPECT_EQ(out[0], 5);
}

TEST_F(Checked, PlacesAreThoseOfTheUsersText) {
    Array<float> a(4, 0);
    auto reports = run(R"(
__device__ __forceinline__ void put(float* p, int i) {
#line 70 "user.py"
    __stcg(p + i, 1.0f);
}
#line 90 "user.py"
extern "C" __global__ void k(float* v_a) { put(v_a, 4); }
)",
                       {1}, {1}, 0, a.data());
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].file, "user.py");
    EXPECT_EQ(reports[0].line, 70);
    says(reports[0], "array 'a' has 4 elements");
}

TEST_F(Checked, ThreadsOfABlockWithBarriersAreNamed) {
    Array<int> a(64, 0);
    auto reports = run(R"(extern "C" __global__ void k(int* a) {
    int t = threadIdx.x + threadIdx.y * blockDim.x;
    if (t < 32) { __syncthreads(); } else { __syncthreads(); }
    a[t + blockIdx.y] = t;
})",
                       {1, 2}, {8, 8}, 0, a.data());
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].count, 1u);
    EXPECT_EQ(reports[0].block, (core::Dim3{0, 1, 0}));
    EXPECT_EQ(reports[0].thread, (core::Dim3{7, 7, 0}));
}

TEST(AllocationTable, FindsTheLargestRangeAround) {
    AllocationTable table;
    table.note(1000, 10, "off");
    EXPECT_EQ(table.size(), 0u);
    table.enable();
    table.note(1000, 100, "outer");
    table.note(1040, 20, "inner");
    table.note(5000, 8, "far", RangeKind::Variable);
    EXPECT_EQ(table.find(1050)->name, "outer");
    EXPECT_EQ(table.find(1099)->name, "outer");
    EXPECT_FALSE(table.find(1100));
    EXPECT_FALSE(table.find(999));
    EXPECT_EQ(table.find(5007)->kind, RangeKind::Variable);
    uint64_t begin = 0, nbytes = 0;
    EXPECT_TRUE(table.bounds(1050, begin, nbytes));
    EXPECT_EQ(begin, 1000u);
    EXPECT_EQ(nbytes, 100u);
    table.note(1000, 100, "renamed");
    EXPECT_EQ(table.size(), 3u);
    table.forget(1000);
    EXPECT_EQ(table.find(1050)->name, "inner");
    EXPECT_TRUE(table.bounds(1050, begin, nbytes));
    EXPECT_EQ(begin, 1040u);
    EXPECT_EQ(table.before(3000)->name, "inner");
    table.forget(1040);
    EXPECT_FALSE(table.bounds(1050, begin, nbytes));
    table.forget(77);
    EXPECT_FALSE(table.before(10));
}

}  // namespace
}  // namespace trilane::cpu
