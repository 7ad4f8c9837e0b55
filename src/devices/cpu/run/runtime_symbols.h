// The only symbols that generated code can reach outside itself: never the process's symbol table.
#pragma once

#include <cstdint>
#include <span>

namespace trilane::cpu {

struct RuntimeSymbol {
    const char* name;
    void* address;
};

// libm, memcpy and its kin, compiler support routines, and the entries of the runtime below.
std::span<const RuntimeSymbol> runtime_symbols();

// Entries for code that does not hold the block's values itself. All may be called only by a
// kernel.
extern "C" {
uint32_t trilane_rt_thread_idx(uint32_t axis);  // axis 3: linear index in the block
uint32_t trilane_rt_block_idx(uint32_t axis);
uint32_t trilane_rt_block_dim(uint32_t axis);  // axis 3: all threads
uint32_t trilane_rt_grid_dim(uint32_t axis);
uint32_t trilane_rt_cluster_dim(uint32_t axis);
// Where block `rank` of the cluster has what lies at an address of some block's shared memory, and
// which block that is. A fault ends the launch.
void* trilane_rt_cluster_map(const void* address, uint32_t rank);
uint32_t trilane_rt_cluster_rank(const void* address);
void* trilane_rt_shared();
uint64_t trilane_rt_dynamic_offset();
uint32_t trilane_rt_is_shared(const void* address);
uint32_t trilane_rt_smid();
uint32_t trilane_rt_nsmid();
uint64_t trilane_rt_clock();  // nanoseconds, monotone
void trilane_rt_trap();
void trilane_rt_parted();  // threads reached different barriers: ends the launch
// Lanes `active` of the vector that begins at thread x, y, z wait at a warp operation for
// `missing`, which wait at a barrier: ends the launch.
void trilane_rt_stuck(uint32_t kind, uint32_t line, uint32_t mask, uint32_t missing,
                      uint32_t active, uint32_t x, uint32_t y, uint32_t z);
int trilane_rt_vprintf(const char* format, const void* values);
void trilane_rt_assertfail(const char* message, const char* file, uint32_t line,
                           const char* function, uint64_t char_bytes);
// An access of a surface outside its array or at a byte where no element begins: ends the launch.
void trilane_rt_surface_fault(const char* function, int32_t x, int32_t y, int32_t z);
// A warp operation of the lanes `active`, those with the same mask among themselves. Needs no
// running kernel.
void trilane_rt_warp_exchange(uint32_t kind, uint32_t active, void* exchange);
void* trilane_rt_malloc(uint64_t nbytes);
void trilane_rt_free(void* address);
// Queues a grid that starts when the running grid has ended. `shape`: grid, block.
void trilane_rt_launch(const char* kernel, const uint32_t* shape, uint64_t shared,
                       void* const* arguments, const uint32_t* sizes, uint32_t count);
}

}  // namespace trilane::cpu
