// The part of NVIDIA's driver interface that we call: our own declarations, by its public
// documentation, so that no CUDA header is needed to build. Layouts are fixed by its binary
// interface; the static_asserts hold them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trilane::cuda {

using Result = int;
using DeviceHandle = int;
using DeviceAddress = uint64_t;
// Opaque to us; types of their own so that they cannot be mixed up.
using ContextHandle = struct DriverContext*;
using StreamHandle = struct DriverStream*;
using EventHandle = struct DriverEvent*;
using ModuleHandle = struct DriverModule*;
using FunctionHandle = struct DriverFunction*;
using PoolHandle = struct DriverPool*;
using LinkHandle = struct DriverLink*;
using GraphHandle = struct DriverGraph*;
using GraphExecHandle = struct DriverGraphExec*;
using ArrayHandle = struct DriverArray*;
using HostCallback = void (*)(void* user);

// Results that decide something here; every other one is named by the driver itself.
namespace result {
constexpr Result kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3,
                 kDeinitialized = 4, kDeviceUnavailable = 46, kNoDevice = 100, kInvalidDevice = 101,
                 kInvalidImage = 200, kInvalidContext = 201, kNoBinaryForGpu = 209,
                 kEccUncorrectable = 214, kInvalidPtx = 218, kNvlinkUncorrectable = 220,
                 kUnsupportedPtxVersion = 222, kInvalidSource = 300, kSymbolNotFound = 302,
                 kInvalidHandle = 400, kNotFound = 500, kNotReady = 600, kIllegalAddress = 700,
                 kLaunchOutOfResources = 701, kNotPermitted = 800, kLaunchTimeout = 702,
                 kContextIsDestroyed = 709, kAssert = 710, kAlreadyRegistered = 712,
                 kNotRegistered = 713, kHardwareStackError = 714, kIllegalInstruction = 715,
                 kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718,
                 kLaunchFailed = 719, kCooperativeLaunchTooLarge = 720, kSystemDriverMismatch = 803,
                 kCompatNotSupported = 804, kNotSupported = 801, kStreamCaptureUnsupported = 900,
                 kIllegalState = 401, kStreamCaptureMerge = 902, kStreamCaptureUnmatched = 903,
                 kStreamCaptureIsolation = 905, kCapturedEvent = 907,
                 kStreamCaptureWrongThread = 908, kStreamCaptureInvalidated = 901,
                 kPeerAccessAlreadyEnabled = 704, kPeerAccessNotEnabled = 705,
                 kStreamCaptureImplicit = 906, kUnknown = 999;
}  // namespace result

constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2;
constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2;
constexpr unsigned kMemoryAttachGlobal = 1;

// CUdevice_attribute, where it is read by name; all are read by number.
enum DeviceAttribute : int {
    kMaxThreadsPerBlock = 1,
    kMaxBlockX = 2,
    kMaxBlockY = 3,
    kMaxBlockZ = 4,
    kMaxGridX = 5,
    kMaxGridY = 6,
    kMaxGridZ = 7,
    kSharedPerBlock = 8,
    kConstantMemory = 9,
    kWarpSize = 10,
    kMultiprocessorCount = 16,
    kComputeMajor = 75,
    kComputeMinor = 76,
    kSharedPerBlockOptin = 97,
    kMemoryPoolsSupported = 115,
};

// CUfunction_attribute.
enum FunctionAttribute : int {
    kFunctionMaxThreads = 0,
    kFunctionShared = 1,
    kFunctionConst = 2,
    kFunctionLocal = 3,
    kFunctionRegisters = 4,
    kFunctionPtxVersion = 5,
    kFunctionBinaryVersion = 6,
    kFunctionMaxDynamicShared = 8,
};

// CUpointer_attribute and its memory types.
constexpr int kPointerMemoryType = 2;
constexpr unsigned kMemoryHost = 1, kMemoryDevice = 2, kMemoryArray = 3, kMemoryUnified = 4;

// CUjit_option.
enum JitOption : int {
    kJitMaxRegisters = 0,
    kJitThreadsPerBlock = 1,
    kJitInfoLog = 3,
    kJitInfoLogBytes = 4,
    kJitErrorLog = 5,
    kJitErrorLogBytes = 6,
    kJitOptimizationLevel = 7,
    kJitDebugInfo = 11,
    kJitLogVerbose = 12,
    kJitLineInfo = 13,
};

// CUjitInputType.
enum LinkInputType : int {
    kLinkCubin = 0,
    kLinkPtx = 1,
    kLinkFatbin = 2,
    kLinkObject = 3,
    kLinkLibrary = 4,
};

struct IpcHandle {
    char bytes[64];
};
constexpr unsigned kIpcLazyPeerAccess = 1;
constexpr unsigned kEventInterprocess = 4;

// A copy of a box of bytes (CUDA_MEMCPY3D).
struct Memcpy3D {
    size_t src_x = 0, src_y = 0, src_z = 0, src_lod = 0;
    unsigned src_type = 0;
    const void* src_host = nullptr;
    DeviceAddress src_device = 0;
    ArrayHandle src_array = nullptr;
    void* reserved0 = nullptr;
    size_t src_pitch = 0, src_height = 0;
    size_t dst_x = 0, dst_y = 0, dst_z = 0, dst_lod = 0;
    unsigned dst_type = 0;
    void* dst_host = nullptr;
    DeviceAddress dst_device = 0;
    ArrayHandle dst_array = nullptr;
    void* reserved1 = nullptr;
    size_t dst_pitch = 0, dst_height = 0;
    size_t width = 0, height = 0, depth = 0;
};
static_assert(sizeof(Memcpy3D) == 200 && offsetof(Memcpy3D, dst_x) == 88 &&
              offsetof(Memcpy3D, width) == 176);

// CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescriptor {
    size_t width = 0, height = 0, depth = 0;
    unsigned format = 0, channels = 0, flags = 0;
};
static_assert(sizeof(ArrayDescriptor) == 40 && offsetof(ArrayDescriptor, format) == 24 &&
              offsetof(ArrayDescriptor, flags) == 32);
constexpr unsigned kArrayLayered = 1, kArraySurface = 2, kArrayCubemap = 4, kArrayGather = 8;
// CUarray_format.
constexpr unsigned kFormatUnsigned8 = 1, kFormatUnsigned16 = 2, kFormatUnsigned32 = 3,
                   kFormatSigned8 = 8, kFormatSigned16 = 9, kFormatSigned32 = 10, kFormatHalf = 16,
                   kFormatFloat = 32;

// CUDA_RESOURCE_DESC.
struct ResourceDescriptor {
    int type = 0;
    union {
        int reserved[32];
        struct {
            ArrayHandle array;
        } array;
        struct {
            DeviceAddress address;
            unsigned format, channels;
            size_t nbytes;
        } linear;
        struct {
            DeviceAddress address;
            unsigned format, channels;
            size_t width, height, pitch;
        } pitch2d;
    } res{};
    unsigned flags = 0;
};
static_assert(sizeof(ResourceDescriptor) == 144 && offsetof(ResourceDescriptor, res) == 8 &&
              offsetof(ResourceDescriptor, flags) == 136);
static_assert(offsetof(ResourceDescriptor, res.linear.nbytes) == 24 &&
              offsetof(ResourceDescriptor, res.pitch2d.pitch) == 40);
constexpr int kResourceArray = 0, kResourceLinear = 2, kResourcePitch2D = 3;

// CUDA_TEXTURE_DESC.
struct TextureDescriptor {
    int address_mode[3] = {};
    int filter = 0;
    unsigned flags = 0;
    unsigned max_anisotropy = 0;
    int mipmap_filter = 0;
    float mipmap_bias = 0, mipmap_least = 0, mipmap_most = 0;
    float border[4] = {};
    int reserved[12] = {};
};
static_assert(sizeof(TextureDescriptor) == 104 && offsetof(TextureDescriptor, flags) == 16 &&
              offsetof(TextureDescriptor, border) == 40);
constexpr unsigned kTextureReadAsInteger = 1, kTextureNormalizedCoordinates = 2, kTextureSrgb = 16;

struct LaunchAttribute {
    int id = 0;
    int pad = 0;
    union {
        char bytes[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } cluster;
    } value{};
};
static_assert(sizeof(LaunchAttribute) == 72);
constexpr int kLaunchCooperative = 2, kLaunchCluster = 4;

struct LaunchConfig {
    unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1;
    unsigned shared_bytes = 0;
    StreamHandle stream = nullptr;
    LaunchAttribute* attributes = nullptr;
    unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

struct PoolProperties {
    int allocation_type = 1;  // pinned to its place: the only one there is
    int handle_types = 0;
    int location_type = 1;  // a device
    int location_id = 0;
    void* security_attributes = nullptr;
    size_t most_bytes = 0;
    unsigned short usage = 0;
    unsigned char reserved[54] = {};
};
static_assert(sizeof(PoolProperties) == 88);
constexpr int kPoolReleaseThreshold = 4;

struct PoolAccess {
    int location_type = 1;  // a device
    int location_id = 0;
    int flags = 3;  // reads and writes
};
static_assert(sizeof(PoolAccess) == 12);

struct Uuid {
    char bytes[16];
};

}  // namespace trilane::cuda
