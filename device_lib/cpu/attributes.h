// CUDA's keywords as clang attributes, the macros that CUDA text tests, and the two spellings that
// our own device functions use.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ __inline__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __cluster_dims__(...) __attribute__((annotate("trilane_cluster_dims", __VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __CUDA_ALIGN__(n) __attribute__((aligned(n)))
#define __nv_pure__ __attribute__((pure))
#define __device_builtin__
#define __cudart_builtin__
#define __specialization_static static
#define __tile_static__ __shared__

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __TRILANE__ 1
#define __TRILANE_CPU__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1

// Ours. `nodebug` makes a report about an access inside an inlined wrapper name the user's line.
#define TRILANE_D __attribute__((device, always_inline, nodebug)) inline
#define TRILANE_HD __attribute__((host, device, always_inline, nodebug)) inline
#define TRILANE_HD_CALL __attribute__((host, device, nodebug)) inline
#if __cplusplus >= 201402L
#define TRILANE_CONSTEXPR_14 constexpr
#else
#define TRILANE_CONSTEXPR_14
#endif
// First line of a body whose roundings are its meaning: no contraction, no reassociation.
#define TRILANE_EXACT _Pragma("clang fp contract(off) reassociate(off)")
