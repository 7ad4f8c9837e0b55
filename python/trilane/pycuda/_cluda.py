"""Macros that let one kernel text serve CUDA and OpenCL."""

from __future__ import annotations

CLUDA_PREAMBLE = """
#define CLUDA_PREAMBLE
#define CUDA
#define WITHIN_KERNEL __device__
#define KERNEL extern "C" __global__
#define GLOBAL_MEM
#define LOCAL_MEM __shared__
#define LOCAL_MEM_DYNAMIC extern __shared__
#define LOCAL_MEM_ARG
#define CONSTANT_MEM __constant__
#define CONSTANT_MEM_ARG
#define INLINE __forceinline__
#define SIZE_T size_t
#define VSIZE_T size_t
#define LID_0 threadIdx.x
#define LID_1 threadIdx.y
#define LID_2 threadIdx.z
#define GID_0 blockIdx.x
#define GID_1 blockIdx.y
#define GID_2 blockIdx.z
#define LDIM_0 blockDim.x
#define LDIM_1 blockDim.y
#define LDIM_2 blockDim.z
#define GDIM_0 gridDim.x
#define GDIM_1 gridDim.y
#define GDIM_2 gridDim.z
#define local_barrier() __syncthreads()
"""
