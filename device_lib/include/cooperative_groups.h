// Cooperative groups: thread_block, tiles, coalesced and partitioned groups, the cluster, the grid.
// Tiles of more than 32 threads meet at named barriers.
#pragma once

namespace cooperative_groups {

namespace details {

TRILANE_D unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
TRILANE_D unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
TRILANE_D unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }

template <class T> struct is_shuffled { static constexpr bool value = false; };
template <> struct is_shuffled<int> { static constexpr bool value = true; };
template <> struct is_shuffled<unsigned int> { static constexpr bool value = true; };
template <> struct is_shuffled<long> { static constexpr bool value = true; };
template <> struct is_shuffled<unsigned long> { static constexpr bool value = true; };
template <> struct is_shuffled<long long> { static constexpr bool value = true; };
template <> struct is_shuffled<unsigned long long> { static constexpr bool value = true; };
template <> struct is_shuffled<float> { static constexpr bool value = true; };
template <> struct is_shuffled<double> { static constexpr bool value = true; };

// Any trivially copyable value travels as 32-bit words. `lane` is that of the warp.
template <class T, bool direct = is_shuffled<T>::value> struct exchange {
    static TRILANE_D T from_lane(unsigned int mask, const T& value, unsigned int lane) {
        constexpr unsigned int words = (sizeof(T) + 3) / 4;
        unsigned int w[words] = {};
        __builtin_memcpy(w, &value, sizeof(T));
        for (unsigned int i = 0; i < words; ++i) w[i] = __shfl_sync(mask, w[i], (int)lane);
        T result;
        __builtin_memcpy(&result, w, sizeof(T));
        return result;
    }
};
template <class T> struct exchange<T, true> {
    static TRILANE_D T from_lane(unsigned int mask, T value, unsigned int lane) {
        return __shfl_sync(mask, value, (int)lane);
    }
};
template <class T>
TRILANE_D T from_lane(unsigned int mask, const T& value, unsigned int lane) {
    return exchange<T>::from_lane(mask, value, lane);
}

// One counter and one generation per module: a launch runs alone in it.
template <class> struct grid_barrier {
    static __device__ unsigned int arrived, generation;
};
template <class T> __device__ unsigned int grid_barrier<T>::arrived = 0;
template <class T> __device__ unsigned int grid_barrier<T>::generation = 0;

TRILANE_D void grid_sync() {
    using barrier = grid_barrier<void>;
    __syncthreads();
    if (thread_rank() == 0) {
        unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
        unsigned int seen = __atomic_load_n(&barrier::generation, __ATOMIC_ACQUIRE);
        __threadfence();
        if (atomicAdd(&barrier::arrived, 1u) == blocks - 1) {
            __atomic_store_n(&barrier::arrived, 0u, __ATOMIC_RELAXED);
            __atomic_store_n(&barrier::generation, seen + 1, __ATOMIC_RELEASE);
        } else {
            while (__atomic_load_n(&barrier::generation, __ATOMIC_ACQUIRE) == seen) {
            }
        }
    }
    __syncthreads();
}

}  // namespace details

// --- the block --------------------------------------------------------------------------------
class thread_block {
  public:
    static TRILANE_D void sync() { __syncthreads(); }
    static TRILANE_D unsigned int size() { return details::block_size(); }
    static TRILANE_D unsigned int num_threads() { return details::block_size(); }
    static TRILANE_D unsigned int thread_rank() { return details::thread_rank(); }
    static TRILANE_D dim3 group_index() { return blockIdx; }
    static TRILANE_D dim3 thread_index() { return threadIdx; }
    static TRILANE_D dim3 group_dim() { return blockDim; }
    static TRILANE_D dim3 dim_threads() { return blockDim; }
};
TRILANE_D thread_block this_thread_block() { return thread_block(); }
// Tiles of several warps need no memory of the caller here.
template <unsigned int max_block_size = 1024> struct block_tile_memory { unsigned char unused; };
template <unsigned int max_block_size>
TRILANE_D thread_block this_thread_block(block_tile_memory<max_block_size>&) {
    return thread_block();
}

// --- the cluster: one block unless the kernel has __cluster_dims__ --------------------------------
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define _CG_HAS_CLUSTER_GROUP
class cluster_group {
  public:
    struct arrival_token {};
    static TRILANE_D bool is_valid() { return true; }
    static TRILANE_D void sync() {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    static TRILANE_D arrival_token barrier_arrive() {
        __cluster_barrier_arrive();
        return arrival_token();
    }
    static TRILANE_D void barrier_wait() { __cluster_barrier_wait(); }
    static TRILANE_D void barrier_wait(arrival_token&&) { __cluster_barrier_wait(); }

    static TRILANE_D unsigned int query_shared_rank(const void* address) {
        return __cluster_query_shared_rank(address);
    }
    template <class T> static TRILANE_D T* map_shared_rank(T* address, int rank) {
        return (T*)__cluster_map_shared_rank((const void*)address, (unsigned int)rank);
    }

    static TRILANE_D dim3 block_index() { return __clusterRelativeBlockIdx(); }
    static TRILANE_D unsigned int block_rank() { return __clusterRelativeBlockRank(); }
    static TRILANE_D dim3 dim_blocks() { return __clusterDim(); }
    static TRILANE_D unsigned int num_blocks() { return __clusterSizeInBlocks(); }
    static TRILANE_D dim3 thread_index() {
        dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    static TRILANE_D unsigned int thread_rank() {
        return block_rank() * details::block_size() + details::thread_rank();
    }
    static TRILANE_D dim3 dim_threads() {
        dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    static TRILANE_D unsigned int num_threads() { return num_blocks() * details::block_size(); }
    static TRILANE_D unsigned int size() { return num_threads(); }
};
TRILANE_D cluster_group this_cluster() { return cluster_group(); }
#endif

// --- the grid ---------------------------------------------------------------------------------
class grid_group {
  public:
    static TRILANE_D bool is_valid() { return true; }
    static TRILANE_D void sync() { details::grid_sync(); }
    static TRILANE_D unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static TRILANE_D unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static TRILANE_D unsigned long long num_threads() {
        return num_blocks() * details::block_size();
    }
    static TRILANE_D unsigned long long size() { return num_threads(); }
    static TRILANE_D unsigned long long thread_rank() {
        return block_rank() * details::block_size() + details::thread_rank();
    }
    static TRILANE_D dim3 group_dim() { return gridDim; }
    static TRILANE_D dim3 dim_blocks() { return gridDim; }
    static TRILANE_D dim3 block_index() { return blockIdx; }
};
TRILANE_D grid_group this_grid() { return grid_group(); }

// --- groups within a warp ---------------------------------------------------------------------
// What a tile and a coalesced group have alike: a mask of lanes; ranks count its set bits.
class coalesced_group {
  public:
    TRILANE_D explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0,
                                       unsigned int meta_size = 1)
        : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
    TRILANE_D void sync() const { __syncwarp(mask_); }
    TRILANE_D unsigned int size() const { return (unsigned int)__popc(mask_); }
    TRILANE_D unsigned int num_threads() const { return size(); }
    TRILANE_D unsigned int thread_rank() const {
        return (unsigned int)__popc(mask_ & ((1u << details::lane()) - 1u));
    }
    TRILANE_D unsigned int meta_group_rank() const { return meta_rank_; }
    TRILANE_D unsigned int meta_group_size() const { return meta_size_; }
    TRILANE_D unsigned int mask() const { return mask_; }

    // A rank outside the group gives the caller's own value.
    template <class T> TRILANE_D T shfl(T value, unsigned int rank) const {
        unsigned int lane = rank < size() ? __fns(mask_, 0, (int)rank + 1) : details::lane();
        return details::from_lane(mask_, value, lane);
    }
    template <class T> TRILANE_D T shfl_up(T value, unsigned int delta) const {
        return shfl(value, thread_rank() >= delta ? thread_rank() - delta : thread_rank());
    }
    template <class T> TRILANE_D T shfl_down(T value, unsigned int delta) const {
        return shfl(value, thread_rank() + delta < size() ? thread_rank() + delta : thread_rank());
    }
    TRILANE_D int any(int p) const { return __any_sync(mask_, p); }
    TRILANE_D int all(int p) const { return __all_sync(mask_, p); }
    TRILANE_D unsigned int ballot(int p) const { return pack(__ballot_sync(mask_, p)); }
    template <class T> TRILANE_D unsigned int match_any(T value) const {
        return pack(__match_any_sync(mask_, value));
    }
    template <class T> TRILANE_D unsigned int match_all(T value, int& pred) const {
        return pack(__match_all_sync(mask_, value, &pred));
    }

  private:
    // Lane bits to rank bits.
    TRILANE_D unsigned int pack(unsigned int lanes) const {
        unsigned int packed = 0, rank = 0;
        for (unsigned int lane = 0; lane < 32; ++lane)
            if ((mask_ >> lane) & 1u) packed |= ((lanes >> lane) & 1u) << rank++;
        return packed;
    }
    unsigned int mask_, meta_rank_, meta_size_;
};
TRILANE_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace details {

// Up to 32 threads: lanes of one warp.
template <unsigned int N> class warp_tile {
  public:
    static TRILANE_D unsigned int mask() {
        unsigned int all = N == 32 ? 0xffffffffu : (1u << (N & 31u)) - 1u;
        return all << (details::lane() & ~(N - 1u));
    }
    static TRILANE_D void sync() { __syncwarp(mask()); }
    static TRILANE_D unsigned int size() { return N; }
    static TRILANE_D unsigned int num_threads() { return N; }
    static TRILANE_D unsigned int thread_rank() { return details::lane() & (N - 1u); }
    static TRILANE_D unsigned int meta_group_rank() { return details::thread_rank() / N; }
    static TRILANE_D unsigned int meta_group_size() { return (details::block_size() + N - 1) / N; }

    template <class T> static TRILANE_D T shfl(T value, int rank) {
        return details::from_lane(mask(), value, base() + ((unsigned int)rank & (N - 1u)));
    }
    template <class T> static TRILANE_D T shfl_up(T value, unsigned int delta) {
        unsigned int rank = thread_rank();
        return details::from_lane(mask(), value, base() + (rank >= delta ? rank - delta : rank));
    }
    template <class T> static TRILANE_D T shfl_down(T value, unsigned int delta) {
        unsigned int rank = thread_rank();
        return details::from_lane(mask(), value, base() + (rank + delta < N ? rank + delta : rank));
    }
    template <class T> static TRILANE_D T shfl_xor(T value, unsigned int lanes) {
        unsigned int to = thread_rank() ^ lanes;
        return details::from_lane(mask(), value, base() + (to < N ? to : thread_rank()));
    }
    // Combines pairwise by lane bits, so the order is fixed.
    template <class T, class Op> static TRILANE_D T combine(T value, Op op) {
        for (unsigned int step = N / 2; step > 0; step /= 2)
            value = op(value, shfl_xor(value, step));
        return value;
    }
    static TRILANE_D int any(int p) { return __any_sync(mask(), p); }
    static TRILANE_D int all(int p) { return __all_sync(mask(), p); }
    static TRILANE_D unsigned int ballot(int p) { return __ballot_sync(mask(), p) >> base(); }
    template <class T> static TRILANE_D unsigned int match_any(T value) {
        return __match_any_sync(mask(), value) >> base();
    }
    template <class T> static TRILANE_D unsigned int match_all(T value, int& pred) {
        return __match_all_sync(mask(), value, &pred) >> base();
    }

  private:
    static TRILANE_D unsigned int base() { return details::lane() & ~(N - 1u); }
};

// One place per warp of the block, for what tiles of several warps exchange.
template <class T> TRILANE_D T* tile_slots() {
    alignas(T) __shared__ unsigned char slots[32 * sizeof(T)];
    return (T*)slots;
}
struct either {
    TRILANE_D int operator()(int a, int b) const { return a | b; }
};
struct both {
    TRILANE_D int operator()(int a, int b) const { return a & b; }
};

// 64 threads and more: whole warps, which meet at a barrier of their own.
template <unsigned int N> class wide_tile {
  public:
    static TRILANE_D void sync() {
        unsigned int left = details::block_size() - first_thread();
        __nvvm_barrier_sync_cnt(1 + meta_group_rank(), left < N ? left : N);
    }
    static TRILANE_D unsigned int size() { return N; }
    static TRILANE_D unsigned int num_threads() { return N; }
    static TRILANE_D unsigned int thread_rank() { return details::thread_rank() & (N - 1u); }
    static TRILANE_D unsigned int meta_group_rank() { return details::thread_rank() / N; }
    static TRILANE_D unsigned int meta_group_size() { return (details::block_size() + N - 1) / N; }

    // All threads give the same rank.
    template <class T> static TRILANE_D T shfl(T value, unsigned int rank) {
        T* slot = tile_slots<T>() + first_thread() / 32;
        if (thread_rank() == rank) *slot = value;
        sync();
        T result = *slot;
        sync();
        return result;
    }
    static TRILANE_D int any(int p) { return combine((int)(p != 0), either()); }
    static TRILANE_D int all(int p) { return combine((int)(p != 0), both()); }

    // Each warp combines its values, then the results go from the first warp to the last.
    template <class T, class Op> static TRILANE_D T combine(T value, Op op) {
        T* slots = tile_slots<T>();
        value = warp_tile<32>::combine(value, op);
        if (details::lane() == 0) slots[details::thread_rank() / 32] = value;
        sync();
        unsigned int first = first_thread() / 32, warps = (details::block_size() + 31) / 32;
        T result = slots[first];
        for (unsigned int w = first + 1; w < first + N / 32 && w < warps; ++w)
            result = op(result, slots[w]);
        sync();
        return result;
    }

  private:
    static TRILANE_D unsigned int first_thread() { return details::thread_rank() & ~(N - 1u); }
};

template <unsigned int N, bool wide = (N > 32)> struct tile_of { using type = warp_tile<N>; };
template <unsigned int N> struct tile_of<N, true> { using type = wide_tile<N>; };

}  // namespace details

template <unsigned int N, class Parent = void>
class thread_block_tile : public details::tile_of<N>::type {
    static_assert(N >= 1 && N <= 512 && (N & (N - 1)) == 0,
                  "thread_block_tile: a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");

  public:
    thread_block_tile() = default;
    // A tile does not remember its parent: thread_block_tile<32> takes any of 32 threads.
    template <class Other> TRILANE_D thread_block_tile(const thread_block_tile<N, Other>&) {}
};

template <unsigned int N, class Parent>
TRILANE_D thread_block_tile<N, Parent> tiled_partition(const Parent&) {
    return thread_block_tile<N, Parent>();
}

// A group whose kind is known at run time only: the block, or lanes of one warp.
class thread_group {
  public:
    TRILANE_D thread_group(const thread_block&) : lanes_(0, 0, 1), whole_(true) {}
    TRILANE_D thread_group(const coalesced_group& g) : lanes_(g), whole_(false) {}
    template <unsigned int N, class P>
    TRILANE_D thread_group(const thread_block_tile<N, P>& t)
        : lanes_(t.mask(), t.meta_group_rank(), t.meta_group_size()), whole_(false) {}
    TRILANE_D void sync() const {
        if (whole_)
            __syncthreads();
        else
            lanes_.sync();
    }
    TRILANE_D unsigned int size() const { return whole_ ? details::block_size() : lanes_.size(); }
    TRILANE_D unsigned int num_threads() const { return size(); }
    TRILANE_D unsigned int thread_rank() const {
        return whole_ ? details::thread_rank() : lanes_.thread_rank();
    }
    TRILANE_D const coalesced_group& lanes() const { return lanes_; }
    TRILANE_D bool is_block() const { return whole_; }

  private:
    coalesced_group lanes_;
    bool whole_;
};
// `size` is a power of two up to 32.
TRILANE_D thread_group tiled_partition(const thread_group&, unsigned int size) {
    unsigned int all = size >= 32 ? 0xffffffffu : (1u << size) - 1u;
    unsigned int base = details::lane() & ~(size - 1u);
    return coalesced_group(all << base, details::thread_rank() / size,
                           (details::block_size() + size - 1) / size);
}

// The threads that give the same label, or the same truth.
template <class Group> TRILANE_D coalesced_group labeled_partition(const Group& g, int label) {
    unsigned int mask = __match_any_sync(g.mask(), label);
    unsigned int first = (unsigned int)__ffs((int)mask) - 1u;
    unsigned int leaders = __ballot_sync(g.mask(), details::lane() == first);
    return coalesced_group(mask, (unsigned int)__popc(leaders & ((1u << first) - 1u)),
                           (unsigned int)__popc(leaders));
}
template <class Group> TRILANE_D coalesced_group binary_partition(const Group& g, bool p) {
    unsigned int yes = __ballot_sync(g.mask(), p);
    unsigned int mine = p ? yes : g.mask() & ~yes;
    return coalesced_group(mine, p && yes != g.mask() ? 1u : 0u,
                           yes == g.mask() || yes == 0 ? 1u : 2u);
}

template <class Group> TRILANE_D void sync(const Group& g) { g.sync(); }
template <class Group> TRILANE_D unsigned int thread_rank(const Group& g) {
    return (unsigned int)g.thread_rank();
}
template <class Group> TRILANE_D unsigned int group_size(const Group& g) {
    return (unsigned int)g.size();
}

// One thread of the group runs the function: the one with rank 0.
template <class Group, class F, class... A>
TRILANE_D void invoke_one(const Group& g, F&& f, A&&... arguments) {
    if (g.thread_rank() == 0) f(static_cast<A&&>(arguments)...);
}

}  // namespace cooperative_groups

#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"
