// Clusters: blocks that run at once, their barrier, and the shared memory of the others.
#include <numeric>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::error_of;
using testing::Program;

constexpr const char* kText = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(int* out, int rounds) {
    __shared__ int mine[32];
    extern __shared__ int sums[];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x;
    int* next = cluster.map_shared_rank(mine, (rank + 1) % cluster.num_blocks());
    mine[t] = blockIdx.x * 100 + t;
    sums[t] = 0;
    for (int i = 0; i < rounds; ++i) {
        cluster.sync();
        const int v = next[t];
        sums[t] += v;
        cluster.sync();
        mine[t] = v;
    }
    out[blockIdx.x * 32 + t] = sums[t];
}

extern "C" __global__ void __cluster_dims__(2, 2, 2) places(int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    const int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    dim3 in = cluster.block_index(), c = __clusterIdx(), n = __clusterGridDimInClusters();
    out += b * 8;
    if (threadIdx.x != 1) return;
    out[0] = in.x + 10 * in.y + 100 * in.z;
    out[1] = c.x + 10 * c.y + 100 * c.z;
    out[2] = n.x + 10 * n.y + 100 * n.z;
    out[3] = cluster.block_rank();
    out[4] = cluster.num_blocks() + 10 * cluster.dim_blocks().z;
    out[5] = cluster.thread_rank();
    out[6] = cluster.num_threads();
    out[7] = cluster.thread_index().x;
}

// A histogram whose bins are spread over the cluster.
extern "C" __global__ void __cluster_dims__(2) histogram(const int* in, int n, int* out) {
    __shared__ int bins[8];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = in[i] & 15;
        atomicAdd(cluster.map_shared_rank(bins, bin / 8) + bin % 8, 1);
    }
    cluster.sync();
    if (threadIdx.x < 8) atomicAdd(out + cluster.block_rank() * 8 + threadIdx.x, bins[threadIdx.x]);
}

// Work between arrival and wait; threads that have returned are not waited for.
extern "C" __global__ void __cluster_dims__(3) split(int* out) {
    __shared__ int value;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x >= 5) return;
    if (threadIdx.x == 0) value = 7 * (blockIdx.x + 1);
    auto token = cluster.barrier_arrive();
    int sum = threadIdx.x;
    for (int i = 0; i < 10; ++i) sum += __shfl_sync(0x1f, sum, i % 5) & 1;
    cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    if (threadIdx.x == 4 && blockIdx.x % 3 == 1) return;
    for (int r = 0; r < 3; ++r) sum = sum * 3 + *cluster.map_shared_rank(&value, r);
    out[blockIdx.x * 5 + threadIdx.x] = sum;
    cluster.sync();
    if (threadIdx.x == 0 && cluster.query_shared_rank(cluster.map_shared_rank(&value, 2)) == 2 &&
        cluster.query_shared_rank(&value) == cluster.block_rank())
        atomicAdd(out + 60, 1);
}

template <int n> __global__ void __cluster_dims__(n, 1, 1) sized(int* out) {
    cg::this_cluster().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = cg::this_cluster().num_blocks();
}

extern "C" __global__ void plain(int* out) {
    __shared__ int v;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) v = 5;
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&v, cluster.num_blocks() - 1) * 10 +
        cluster.num_blocks();
}
extern "C" __global__ void __cluster_dims__(16) large(int* out) { out[0] = 1; }
extern "C" __global__ void __cluster_dims__(2) stuck(int* out) {
    if (threadIdx.x == 0) cg::this_cluster().sync(); else __syncthreads();
    out[0] = 1;
}
extern "C" __global__ void __cluster_dims__(2) outside(int* out, int rank) {
    __shared__ int v;
    *cg::this_cluster().map_shared_rank(&v, rank) = 1;
    cg::this_cluster().sync();
    out[0] = *cg::this_cluster().map_shared_rank(out, 0);
}
// A block that waits for a word which another writes into its shared memory.
extern "C" __global__ void __cluster_dims__(2) signal(int* out) {
    __shared__ volatile int flag;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) flag = 0;
    cluster.sync();
    if (threadIdx.x == 0) {
        if (cluster.block_rank() == 1) {
            __nanosleep(10);
            atomicExch((int*)cluster.map_shared_rank((int*)&flag, 0), 41);
        } else {
            while (flag == 0) {}
            out[blockIdx.x] = flag + 1;
        }
    }
    cluster.sync();
}
)";

class Cluster : public ::testing::TestWithParam<const char*> {
  protected:
    Cluster() : lanes_("TRILANE_LANES", GetParam()), program_(kText) {}
    ScopedVariable lanes_;
    Program program_;
};

TEST_P(Cluster, ReadsWhatTheNextBlockHas) {
    for (uint32_t blocks : {4u, 8u, 48u}) {
        std::vector<int> out(blocks * 32, -1);
        program_.launch_with("ring", {blocks}, {32}, 128, false, out.data(), 3);
        for (uint32_t b = 0; b < blocks; ++b)
            for (uint32_t t = 0; t < 32; ++t) {
                int sum = 0;
                for (uint32_t i = 1; i <= 3; ++i) sum += int((b / 4 * 4 + (b + i) % 4) * 100 + t);
                ASSERT_EQ(out[b * 32 + t], sum) << b << " " << t;
            }
    }
}

TEST_P(Cluster, KnowsItsPlaces) {
    std::vector<int> out(4 * 6 * 2 * 8, -1);
    program_.launch("places", {4, 6, 2}, {3}, out.data());
    for (int z = 0, b = 0; z < 2; ++z)
        for (int y = 0; y < 6; ++y)
            for (int x = 0; x < 4; ++x, ++b) {
                const int rank = x % 2 + y % 2 * 2 + z % 2 * 4;
                const std::vector<int> expected{x % 2 + y % 2 * 10 + z % 2 * 100,
                                                x / 2 + y / 2 * 10 + z / 2 * 100,
                                                2 + 30 + 100,
                                                rank,
                                                28,
                                                rank * 3 + 1,
                                                24,
                                                x % 2 * 3 + 1};
                EXPECT_EQ(std::vector<int>(out.begin() + b * 8, out.begin() + b * 8 + 8), expected)
                    << x << y << z;
            }
}

TEST_P(Cluster, AddsInTheSharedMemoryOfOthers) {
    std::vector<int> in(1000), out(16, 0), expected(16, 0);
    for (int i = 0; i < 1000; ++i) ++expected[size_t((in[size_t(i)] = i * i % 23) & 15)];
    program_.launch("histogram", {6}, {64}, in.data(), 1000, out.data());
    EXPECT_EQ(out, expected);
}

TEST_P(Cluster, WorksBetweenArrivalAndWait) {
    std::vector<int> out(61, -1);
    out[60] = 0;
    program_.launch("split", {12}, {40}, out.data());
    EXPECT_EQ(out[60], 12);
    for (int b = 0; b < 12; ++b)
        for (int t = 0; t < 5; ++t) {
            std::vector<int> sums{0, 1, 2, 3, 4};
            for (int i = 0; i < 10; ++i) {
                const int bit = sums[size_t(i % 5)] & 1;
                for (int& sum : sums) sum += bit;
            }
            int sum = sums[size_t(t)];
            for (int r = 0; r < 3; ++r) sum = sum * 3 + 7 * (b / 3 * 3 + r + 1);
            EXPECT_EQ(out[size_t(b * 5 + t)], t == 4 && b % 3 == 1 ? -1 : sum) << b << " " << t;
        }
}

TEST_P(Cluster, WaitsForAWordOfAnotherBlock) {
    std::vector<int> out(8, -1);
    program_.launch("signal", {8}, {32}, out.data());
    EXPECT_EQ(out, (std::vector<int>{42, -1, 42, -1, 42, -1, 42, -1}));
}

TEST_P(Cluster, IsOneBlockWithoutTheWord) {
    std::vector<int> out(3, -1);
    program_.launch("plain", {3}, {33}, out.data());
    EXPECT_EQ(out, (std::vector<int>{51, 51, 51}));
}

TEST_P(Cluster, SaysWhatIsWrong) {
    std::vector<int> out(64, -1);
    core::ErrorKind kind{};
    std::string error = error_of([&] { program_.launch("ring", {6}, {32}, out.data(), 1); }, &kind);
    EXPECT_NE(
        error.find("a grid must be whole clusters: got (6,1,1) blocks in clusters of (4,1,1)"),
        std::string::npos)
        << error;
    EXPECT_EQ(kind, core::ErrorKind::LaunchError);
    error = error_of([&] { program_.launch("large", {16}, {32}, out.data()); });
    EXPECT_NE(error.find("clusters: got (16,1,1) blocks, expected 1 to 8"), std::string::npos)
        << error;
    error = error_of([&] { program_.launch("stuck", {4}, {32}, out.data()); }, &kind);
    EXPECT_EQ(kind, core::ErrorKind::KernelFault);
    EXPECT_NE(error.find("stuck: deadlock in block ("), std::string::npos) << error;
    EXPECT_NE(error.find("1 of 32 threads wait at the cluster's barrier"), std::string::npos)
        << error;
    error = error_of([&] { program_.launch("outside", {2}, {1}, out.data(), 2); });
    EXPECT_NE(error.find("map_shared_rank: got rank 2, the cluster has 2 blocks"),
              std::string::npos)
        << error;
    error = error_of([&] { program_.launch("outside", {2}, {1}, out.data(), 1); });
    EXPECT_NE(error.find("lies in the shared memory of no block"), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Lanes, Cluster, ::testing::Values("0", "1", "32"));

TEST(ClusterLaunch, SizeOfATemplateAndOfALaunch) {
    core::Program text;
    text.source = kText;
    text.name_expressions = {"sized<2>", "sized<5>"};
    CpuDevice& device = testing::test_device().device;
    const core::Image image = device.compile(text);
    const core::RawModule module = device.load(image);
    auto run = [&](const std::string& name, uint32_t blocks, core::Dim3 cluster) {
        std::vector<int> out(blocks, -1);
        int* pointer = out.data();
        const void* arguments[] = {&pointer};
        core::LaunchParams params;
        params.function = device.function(module, name).raw;
        params.grid = {blocks};
        params.block = {32};
        params.cluster = cluster;
        params.arguments = const_cast<void* const*>(arguments);
        params.argument_count = 1;
        device.launch(params);
        return out;
    };
    EXPECT_EQ(run(image.lowered_names.at("sized<2>"), 4, {0, 0, 0}), std::vector<int>(4, 2));
    EXPECT_EQ(run(image.lowered_names.at("sized<5>"), 10, {0, 0, 0}), std::vector<int>(10, 5));
    EXPECT_EQ(run("plain", 6, {3, 1, 1}), std::vector<int>(6, 53));
    EXPECT_NE(error_of([&] {
                  run(image.lowered_names.at("sized<2>"), 4, {4, 1, 1});
              }).find("clusters: got (4,1,1), expected (2,1,1)"),
              std::string::npos);
    device.unload(module);
}

TEST(ClusterLaunch, UnderChecks) {
    const ScopedVariable checks("TRILANE_CHECK", "1");
    core::DeviceHooks hooks;
    CpuDevice device(0, &hooks);
    core::Program text;
    text.source = kText;
    const core::RawModule module = device.load(device.compile(text));
    std::vector<int> out(4 * 32, -1);
    device.note_allocation(reinterpret_cast<core::DevicePtr>(out.data()), out.size() * 4, "out");
    int* pointer = out.data();
    int rounds = 1;
    const void* arguments[] = {&pointer, &rounds};
    core::LaunchParams params;
    params.function = device.function(module, "ring").raw;
    params.grid = {4};
    params.block = {32};
    params.shared_bytes = 128;
    params.arguments = const_cast<void* const*>(arguments);
    params.argument_count = 2;
    device.launch(params);
    EXPECT_EQ(out[0], 100);
    EXPECT_EQ(out[127], 31);
    EXPECT_TRUE(device.take_check_reports().empty());
    device.forget_allocation(reinterpret_cast<core::DevicePtr>(out.data()));
    device.unload(module);
}

}  // namespace
}  // namespace trilane::cpu
