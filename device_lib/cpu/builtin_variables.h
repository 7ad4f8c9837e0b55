// threadIdx, blockIdx, blockDim, gridDim, warpSize: properties that read the special registers.
#pragma once

#define TRILANE_INDEX(type, reg)                                                        \
    struct type {                                                                       \
        __declspec(property(get = get_x)) unsigned int x;                               \
        __declspec(property(get = get_y)) unsigned int y;                               \
        __declspec(property(get = get_z)) unsigned int z;                               \
        static TRILANE_D unsigned int get_x() { return __nvvm_read_ptx_sreg_##reg##_x(); } \
        static TRILANE_D unsigned int get_y() { return __nvvm_read_ptx_sreg_##reg##_y(); } \
        static TRILANE_D unsigned int get_z() { return __nvvm_read_ptx_sreg_##reg##_z(); } \
        TRILANE_D operator uint3() const { return make_uint3(get_x(), get_y(), get_z()); } \
        TRILANE_D operator dim3() const { return dim3(get_x(), get_y(), get_z()); }        \
    };

TRILANE_INDEX(trilane_thread_index, tid)
TRILANE_INDEX(trilane_block_index, ctaid)
TRILANE_INDEX(trilane_block_dim, ntid)
TRILANE_INDEX(trilane_grid_dim, nctaid)
#undef TRILANE_INDEX

static constexpr __device__ trilane_thread_index threadIdx{};
static constexpr __device__ trilane_block_index blockIdx{};
static constexpr __device__ trilane_block_dim blockDim{};
static constexpr __device__ trilane_grid_dim gridDim{};
constexpr int warpSize = 32;
