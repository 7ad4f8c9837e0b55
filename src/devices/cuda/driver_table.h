// Every function of the driver that we call, found at run time: libcuda.so.1 is opened, and each
// entry asked for by cuGetProcAddress in the version whose signature is declared here. One table
// for all calls lets tests put a fake driver in its place.
#pragma once

#include <string>

#include "devices/cuda/driver_api.h"

namespace trilane::cuda {

constexpr int kLeastDriver = 12000;  // CUDA 12.0, driver 525

// X(name, version of the interface, whether a driver may lack it, parameters)
// clang-format off
#define TRILANE_DRIVER_FUNCTIONS(X)                                                                \
    X(cuInit, 2000, false, (unsigned flags))                                                       \
    X(cuDriverGetVersion, 2020, false, (int* version))                                             \
    X(cuGetErrorName, 6000, false, (Result error, const char** text))                              \
    X(cuGetErrorString, 6000, false, (Result error, const char** text))                            \
    X(cuDeviceGetCount, 2000, false, (int* count))                                                 \
    X(cuDeviceGet, 2000, false, (DeviceHandle* device, int ordinal))                               \
    X(cuDeviceGetName, 2000, false, (char* name, int nbytes, DeviceHandle device))                 \
    X(cuDeviceGetPCIBusId, 4010, false, (char* text, int nbytes, DeviceHandle device))             \
    X(cuDeviceGetUuid, 11040, false, (Uuid* uuid, DeviceHandle device))                            \
    X(cuDeviceTotalMem, 3020, false, (size_t* nbytes, DeviceHandle device))                        \
    X(cuDeviceGetAttribute, 2000, false, (int* value, int attribute, DeviceHandle device))         \
    X(cuDevicePrimaryCtxRetain, 7000, false, (ContextHandle* context, DeviceHandle device))        \
    X(cuDevicePrimaryCtxRelease, 11000, false, (DeviceHandle device))                              \
    X(cuCtxGetCurrent, 4000, false, (ContextHandle* context))                                      \
    X(cuCtxSetCurrent, 4000, false, (ContextHandle context))                                       \
    X(cuCtxPushCurrent, 4000, false, (ContextHandle context))                                      \
    X(cuCtxPopCurrent, 4000, false, (ContextHandle* context))                                      \
    X(cuCtxSynchronize, 2000, false, ())                                                           \
    X(cuMemGetInfo, 3020, false, (size_t* free_bytes, size_t* total_bytes))                        \
    X(cuMemAlloc, 3020, false, (DeviceAddress* address, size_t nbytes))                            \
    X(cuMemFree, 3020, false, (DeviceAddress address))                                             \
    X(cuMemPoolCreate, 11020, false, (PoolHandle* pool, const PoolProperties* properties))         \
    X(cuMemPoolDestroy, 11020, false, (PoolHandle pool))                                           \
    X(cuMemPoolSetAttribute, 11020, false, (PoolHandle pool, int attribute, void* value))          \
    X(cuMemPoolSetAccess, 11020, false,                                                            \
      (PoolHandle pool, const PoolAccess* accesses, size_t count))                                 \
    X(cuMemPoolTrimTo, 11020, false, (PoolHandle pool, size_t nbytes_kept))                        \
    X(cuMemAllocFromPoolAsync, 11020, false,                                                       \
      (DeviceAddress* address, size_t nbytes, PoolHandle pool, StreamHandle stream))               \
    X(cuMemFreeAsync, 11020, false, (DeviceAddress address, StreamHandle stream))                  \
    X(cuMemAllocManaged, 6000, false, (DeviceAddress* address, size_t nbytes, unsigned flags))     \
    X(cuMemHostAlloc, 2020, false, (void** address, size_t nbytes, unsigned flags))                \
    X(cuMemFreeHost, 2000, false, (void* address))                                                 \
    X(cuMemHostRegister, 6050, false, (void* address, size_t nbytes, unsigned flags))              \
    X(cuMemHostUnregister, 4000, false, (void* address))                                           \
    X(cuMemHostGetDevicePointer, 3020, false,                                                      \
      (DeviceAddress* address, void* host, unsigned flags))                                        \
    X(cuPointerGetAttribute, 4000, false, (void* value, int attribute, DeviceAddress address))     \
    X(cuMemcpyHtoD, 3020, false, (DeviceAddress dst, const void* src, size_t nbytes))              \
    X(cuMemcpyDtoH, 3020, false, (void* dst, DeviceAddress src, size_t nbytes))                    \
    X(cuMemcpyHtoDAsync, 3020, false,                                                              \
      (DeviceAddress dst, const void* src, size_t nbytes, StreamHandle stream))                    \
    X(cuMemcpyDtoHAsync, 3020, false,                                                              \
      (void* dst, DeviceAddress src, size_t nbytes, StreamHandle stream))                          \
    X(cuMemcpyDtoDAsync, 3020, false,                                                              \
      (DeviceAddress dst, DeviceAddress src, size_t nbytes, StreamHandle stream))                  \
    X(cuMemcpy3DAsync, 3020, false, (const Memcpy3D* params, StreamHandle stream))                 \
    X(cuArray3DCreate, 3020, false, (ArrayHandle* array, const ArrayDescriptor* descriptor))       \
    X(cuArrayDestroy, 2000, false, (ArrayHandle array))                                            \
    X(cuTexObjectCreate, 5000, false,                                                              \
      (uint64_t* texture, const ResourceDescriptor* resource,                                      \
       const TextureDescriptor* descriptor, const void* view))                                     \
    X(cuTexObjectDestroy, 5000, false, (uint64_t texture))                                         \
    X(cuSurfObjectCreate, 5000, false, (uint64_t* surface, const ResourceDescriptor* resource))    \
    X(cuSurfObjectDestroy, 5000, false, (uint64_t surface))                                        \
    X(cuMemsetD8Async, 3020, false,                                                                \
      (DeviceAddress dst, unsigned char value, size_t count, StreamHandle stream))                 \
    X(cuMemsetD16Async, 3020, false,                                                               \
      (DeviceAddress dst, unsigned short value, size_t count, StreamHandle stream))                \
    X(cuMemsetD32Async, 3020, false,                                                               \
      (DeviceAddress dst, unsigned value, size_t count, StreamHandle stream))                      \
    X(cuMemsetD2D8Async, 3020, false,                                                              \
      (DeviceAddress dst, size_t pitch, unsigned char value, size_t width, size_t height,          \
       StreamHandle stream))                                                                       \
    X(cuMemsetD2D16Async, 3020, false,                                                             \
      (DeviceAddress dst, size_t pitch, unsigned short value, size_t width, size_t height,         \
       StreamHandle stream))                                                                       \
    X(cuMemsetD2D32Async, 3020, false,                                                             \
      (DeviceAddress dst, size_t pitch, unsigned value, size_t width, size_t height,               \
       StreamHandle stream))                                                                       \
    X(cuStreamCreateWithPriority, 5050, false, (StreamHandle* stream, unsigned flags, int priority)) \
    X(cuStreamDestroy, 4000, false, (StreamHandle stream))                                         \
    X(cuStreamSynchronize, 2000, false, (StreamHandle stream))                                     \
    X(cuStreamQuery, 2000, false, (StreamHandle stream))                                           \
    X(cuStreamWaitEvent, 3020, false, (StreamHandle stream, EventHandle event, unsigned flags))    \
    X(cuLaunchHostFunc, 10000, false, (StreamHandle stream, HostCallback function, void* user))    \
    X(cuEventCreate, 2000, false, (EventHandle* event, unsigned flags))                            \
    X(cuEventDestroy, 4000, false, (EventHandle event))                                            \
    X(cuEventRecord, 2000, false, (EventHandle event, StreamHandle stream))                        \
    X(cuEventQuery, 2000, false, (EventHandle event))                                              \
    X(cuEventSynchronize, 2000, false, (EventHandle event))                                        \
    X(cuEventElapsedTime, 2000, false, (float* ms, EventHandle start, EventHandle stop))           \
    X(cuModuleLoadDataEx, 2010, false,                                                             \
      (ModuleHandle* module, const void* image, unsigned option_count, JitOption* options,         \
       void** values))                                                                             \
    X(cuModuleUnload, 2000, false, (ModuleHandle module))                                          \
    X(cuModuleGetFunction, 2000, false,                                                            \
      (FunctionHandle* function, ModuleHandle module, const char* name))                           \
    X(cuModuleGetGlobal, 3020, false,                                                              \
      (DeviceAddress* address, size_t* nbytes, ModuleHandle module, const char* name))             \
    X(cuModuleGetFunctionCount, 12040, true, (unsigned* count, ModuleHandle module))               \
    X(cuModuleEnumerateFunctions, 12040, true,                                                     \
      (FunctionHandle* functions, unsigned count, ModuleHandle module))                            \
    X(cuFuncGetName, 12030, true, (const char** name, FunctionHandle function))                    \
    X(cuFuncGetParamInfo, 12040, true,                                                             \
      (FunctionHandle function, size_t index, size_t* offset, size_t* nbytes))                     \
    X(cuLinkCreate, 6050, false,                                                                   \
      (unsigned option_count, JitOption* options, void** values, LinkHandle* link))                \
    X(cuLinkAddData, 6050, false,                                                                  \
      (LinkHandle link, int type, void* data, size_t nbytes, const char* name,                     \
       unsigned option_count, JitOption* options, void** values))                                  \
    X(cuLinkComplete, 5050, false, (LinkHandle link, void** cubin, size_t* nbytes))                \
    X(cuLinkDestroy, 5050, false, (LinkHandle link))                                               \
    X(cuStreamBeginCapture, 10010, false, (StreamHandle stream, int mode))                         \
    X(cuStreamEndCapture, 10000, false, (StreamHandle stream, GraphHandle* graph))                 \
    X(cuStreamIsCapturing, 10000, false, (StreamHandle stream, int* status))                       \
    X(cuThreadExchangeStreamCaptureMode, 10010, false, (int* mode))                                \
    X(cuGraphInstantiateWithFlags, 11040, false,                                                   \
      (GraphExecHandle* exec, GraphHandle graph, unsigned long long flags))                        \
    X(cuGraphDestroy, 10000, false, (GraphHandle graph))                                           \
    X(cuGraphExecDestroy, 10000, false, (GraphExecHandle exec))                                    \
    X(cuGraphLaunch, 10000, false, (GraphExecHandle exec, StreamHandle stream))                    \
    X(cuGraphUpload, 11010, false, (GraphExecHandle exec, StreamHandle stream))                    \
    X(cuDeviceCanAccessPeer, 4000, false,                                                          \
      (int* can, DeviceHandle device, DeviceHandle peer))                                          \
    X(cuCtxEnablePeerAccess, 4000, false, (ContextHandle peer, unsigned flags))                    \
    X(cuCtxDisablePeerAccess, 4000, false, (ContextHandle peer))                                   \
    X(cuMemcpyPeerAsync, 4000, false,                                                              \
      (DeviceAddress dst, ContextHandle dst_context, DeviceAddress src,                            \
       ContextHandle src_context, size_t nbytes, StreamHandle stream))                             \
    X(cuIpcGetMemHandle, 4010, false, (IpcHandle* handle, DeviceAddress address))                  \
    X(cuIpcOpenMemHandle, 11000, false,                                                            \
      (DeviceAddress* address, IpcHandle handle, unsigned flags))                                  \
    X(cuIpcCloseMemHandle, 4010, false, (DeviceAddress address))                                   \
    X(cuIpcGetEventHandle, 4010, false, (IpcHandle* handle, EventHandle event))                    \
    X(cuIpcOpenEventHandle, 4010, false, (EventHandle* event, IpcHandle handle))                   \
    X(cuProfilerStart, 4000, false, ())                                                            \
    X(cuProfilerStop, 4000, false, ())                                                             \
    X(cuFuncGetAttribute, 2020, false, (int* value, int attribute, FunctionHandle function))       \
    X(cuFuncSetAttribute, 9000, false, (FunctionHandle function, int attribute, int value))        \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, false,                                    \
      (int* blocks, FunctionHandle function, int block_threads, size_t dynamic_shared))            \
    X(cuLaunchKernel, 4000, false,                                                                 \
      (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                 \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                \
       StreamHandle stream, void** arguments, void** extra))                                       \
    X(cuLaunchKernelEx, 11060, false,                                                              \
      (const LaunchConfig* config, FunctionHandle function, void** arguments, void** extra))
// clang-format on

struct DriverTable {
#define TRILANE_MEMBER(name, version, optional, parameters) Result(*name) parameters = nullptr;
    TRILANE_DRIVER_FUNCTIONS(TRILANE_MEMBER)
#undef TRILANE_MEMBER
    int version = 0;   // 13000: CUDA 13.0
    std::string path;  // of the library
};

// Opened, filled and initialised on the first call, and kept until the process ends:
// TRILANE_CUDA_LIBRARY, else libcuda.so.1. Throws DeviceError that says why there is none and what
// to do; every later call then throws the same.
const DriverTable& driver_table();

// Whether driver_table() found a driver that is new enough, whatever that then said. False before.
bool driver_usable();

// "CUDA_ERROR_INVALID_VALUE (1): invalid argument", as far as the driver knows.
std::string result_text(const DriverTable& driver, Result result);

// True in a child of the process that initialised the driver: it cannot be used there.
bool driver_forked() noexcept;

void reset_driver_for_tests();  // the next driver_table() reads the environment again

}  // namespace trilane::cuda
