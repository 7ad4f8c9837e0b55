// <cuda_device_runtime_api.h>: what of the runtime's API kernels may call beside launches; there
// without an include where kernels may launch kernels (-rdc=true).
#pragma once

typedef struct CUstream_st* cudaStream_t;

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
};
typedef enum cudaError cudaError_t;

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

// All streams of kernels are one: launched grids start in the order of their launches.
__device__ inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    *stream = (cudaStream_t)0x10;
    return flags == cudaStreamNonBlocking ? cudaSuccess : cudaErrorInvalidValue;
}
__device__ inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }

// A launch that fails ends the whole launch with an error on the host: kernels see none.
__device__ inline cudaError_t cudaGetLastError() { return cudaSuccess; }
__device__ inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

template <typename T>
__device__ inline cudaError_t cudaMalloc(T** memory, size_t nbytes) {
    *memory = (T*)malloc(nbytes);
    return *memory != nullptr || nbytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
__device__ inline cudaError_t cudaFree(void* memory) {
    free(memory);
    return cudaSuccess;
}
