// The whole contract of a device. Two stand behind it: `cpu` (src/devices/cpu) and `cuda`
// (src/devices/cuda); core/testing/fake_device.h is a third, for tests. Everything above speaks to
// a device through core/context.h and the handles (stream, event, buffer, module), not to this
// class; only core/ calls it.
//
// Threads: every function may be called from any thread. Streams are the only order there is.
// Errors: functions throw core::Error; those marked noexcept report and go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.h"
#include "core/program.h"
#include "core/texture_params.h"

namespace trilane::core {

using DevicePtr = uint64_t;    // an address of device memory; on `cpu` it is a host address
using RawStream = uint64_t;    // opaque; 0 is the device's default (null) stream
using RawEvent = uint64_t;     // opaque; never 0
using RawModule = uint64_t;    // opaque; never 0
using RawFunction = uint64_t;  // opaque; never 0
using RawGraph = uint64_t;     // opaque; never 0

enum class DeviceType : uint8_t { Cpu, Cuda, Fake };
const char* device_type_name(DeviceType type);  // "cpu", "cuda", "fake"

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t{x} * y * z; }
    bool operator==(const Dim3&) const = default;
};

struct DeviceProperties {
    DeviceType type = DeviceType::Fake;
    int ordinal = 0;  // among devices of its type
    std::string name;
    std::string pci_bus_id;   // "0000:00:00.0" form, also on cpu
    std::string uuid;         // 16 raw bytes
    size_t total_memory = 0;  // bytes
    int compute_major = 0, compute_minor = 0;
    int warp_size = 32;
    int max_threads_per_block = 1024;
    Dim3 max_block{1024, 1024, 64};
    Dim3 max_grid{2147483647u, 65535, 65535};
    size_t shared_per_block = 49152;  // without opt-in
    size_t shared_per_block_optin = 49152;
    size_t constant_memory = 65536;
    int multiprocessor_count = 1;
    // Every attribute by its CUdevice_attribute number (1 = MAX_THREADS_PER_BLOCK ...): what
    // pycuda's Device.get_attribute and cupy's deviceGetAttribute read.
    std::map<int, int> attributes;
};

struct MemoryInfo {
    size_t free_bytes = 0, total_bytes = 0;
};

enum class CopyKind : uint8_t { HostToDevice, DeviceToHost, DeviceToDevice, HostToHost };

// A rectangle of bytes: `depth` slices of `height` rows of `width_bytes`. The pointers are host or
// device addresses as `kind` says. A 2-D copy has depth 1.
struct Copy3D {
    CopyKind kind = CopyKind::DeviceToDevice;
    DevicePtr dst = 0, src = 0;
    size_t dst_pitch = 0, src_pitch = 0;              // bytes from row to row
    size_t dst_slice_pitch = 0, src_slice_pitch = 0;  // bytes from slice to slice
    size_t width_bytes = 0, height = 1, depth = 1;
};

// Unknown: a device may know the size of a parameter and nothing else (an image without source).
// Any argument of that size is taken then, and Python numbers become int or float of that size.
enum class ParameterKind : uint8_t { Int, UInt, Float, Bool, Pointer, Struct, Unknown };

// A parameter of a kernel as the compiler laid it out.
struct Parameter {
    std::string name;    // "a"; empty if the compiler did not say
    std::string c_type;  // "float *", "int": as the user wrote it, for messages
    ParameterKind kind = ParameterKind::Struct;
    uint32_t size = 0;          // bytes
    uint32_t align = 1;         // bytes
    uint32_t pointee_size = 0;  // of Pointer: bytes per element, 0 if unknown or void
    ParameterKind pointee_kind = ParameterKind::Struct;  // of Pointer
    bool pointee_const = false;                          // of Pointer: const T*
};

struct FunctionAttributes {
    int max_threads_per_block = 1024;
    size_t shared_bytes = 0;  // static shared memory
    size_t const_bytes = 0;
    size_t local_bytes = 0;  // per thread
    int num_regs = 0;
    int ptx_version = 0, binary_version = 0;  // 80 means 8.0
    size_t max_dynamic_shared_bytes = 49152;  // raised by set_function_attribute
};

struct FunctionInfo {
    RawFunction raw = 0;
    std::string name;               // as it is in the module (mangled)
    bool parameters_known = false;  // false: only the device knows; arguments go unchecked
    std::vector<Parameter> parameters;
    FunctionAttributes attributes;
};

struct LaunchParams {
    RawFunction function = 0;
    Dim3 grid, block;
    size_t shared_bytes = 0;  // dynamic shared memory
    RawStream stream = 0;
    void* const* arguments = nullptr;  // one pointer per parameter, to its bytes
    size_t argument_count = 0;
    bool cooperative = false;
    Dim3 cluster{0, 0, 0};  // blocks of a cluster; 0: as the kernel was compiled
};

struct SymbolInfo {
    DevicePtr address = 0;
    size_t nbytes = 0;
};

// One finding of the checks (TRILANE_CHECK=1), already merged over threads.
struct CheckReport {
    std::string kind;  // "out-of-bounds write", "misaligned read", ...
    std::string kernel;
    std::string file;
    int line = 0;
    Dim3 block, thread;  // of the first thread that did it (0-based indices)
    std::string text;    // the whole report, several lines, ready to print
    uint64_t count = 1;  // how many accesses did the same at this place
};

// A piece of code for Device::link(). `format`: "cubin", "ptx", "fatbin", "object", "library", or
// empty: the device finds out.
struct LinkInput {
    std::string name;  // in messages
    std::string format;
    std::string bytes;
    std::map<std::string, std::string> lowered_names = {};  // of its name expressions
};

// What a linker that still compiles is asked; hints, of which a device takes what it can.
struct LinkOptions {
    int max_registers = 0;       // per thread; 0: as the linker likes
    int threads_per_block = 0;   // registers are to allow for; 0: not said
    int optimization_level = 4;  // 0 to 4
    bool line_info = false, debug = false;
    bool verbose = false;  // Image::log tells what was done
};

// Which calls of other threads a capture lets through (the numbers of CUstreamCaptureMode).
enum class CaptureMode : uint8_t { Global, ThreadLocal, Relaxed };

// What a device calls back: set once at creation, outlives the device, may be called from any
// thread, must not throw.
struct DeviceHooks {
    std::function<void(std::string_view)> print;  // text of kernels' printf, complete lines or not
    std::function<void(std::string_view)> log;    // one line for TRILANE_LOG
    std::function<void(const CheckReport&)> report;  // each new finding, as it is found
    // Whether a SIGINT that came now should stop the kernel that the main thread waits for (true
    // where the program's own handler would end what it does). Asked on a thread of the device's;
    // may wait, for instance for the GIL. Not set: SIGINT is none of the device's business.
    std::function<bool()> interrupt_stops;
};

class Device {
  public:
    virtual ~Device() = default;

    // --- identity
    virtual const DeviceProperties& properties() const = 0;
    virtual MemoryInfo memory_info() = 0;
    virtual void make_current() = 0;  // for the calling thread; cheap when it is so already
    virtual void synchronize() = 0;

    // --- memory. Stream-ordered: the memory may be used by work put on `stream` afterwards.
    virtual DevicePtr allocate(size_t nbytes, RawStream stream) = 0;  // nbytes > 0; OutOfMemory
    virtual void free(DevicePtr address, RawStream stream) noexcept = 0;
    virtual void* allocate_host(size_t nbytes, unsigned flags) = 0;  // pinned
    virtual void free_host(void* address) noexcept = 0;
    virtual DevicePtr host_device_pointer(void* address) = 0;  // of mapped pinned memory
    virtual void register_host(void* address, size_t nbytes, unsigned flags) = 0;
    virtual void unregister_host(void* address) noexcept = 0;
    virtual DevicePtr allocate_managed(size_t nbytes, unsigned flags) = 0;  // freed by free()
    // What a user's array occupies within a pool's block, for the checks. Default: nothing.
    virtual void note_allocation(DevicePtr address, size_t nbytes, std::string_view name);
    virtual void forget_allocation(DevicePtr address) noexcept;

    // --- copies and fills, ordered on `stream`. With `wait` they are done when the call returns.
    // Without, host memory must stay valid and unchanged until the stream has passed them.
    virtual void copy(CopyKind kind, DevicePtr dst, DevicePtr src, size_t nbytes, RawStream stream,
                      bool wait) = 0;
    virtual void copy_3d(const Copy3D& params, RawStream stream, bool wait) = 0;
    // `pattern` of 1, 2 or 4 bytes repeated `count` times in each of `height` rows `pitch` apart.
    virtual void fill(DevicePtr dst, uint32_t pattern, int pattern_bytes, size_t count,
                      size_t height, size_t pitch, RawStream stream) = 0;

    // --- streams and events
    virtual RawStream create_stream(bool non_blocking, int priority) = 0;
    virtual void destroy_stream(RawStream stream) noexcept = 0;
    virtual void synchronize_stream(RawStream stream) = 0;
    virtual bool stream_done(RawStream stream) = 0;
    virtual void stream_wait_event(RawStream stream, RawEvent event) = 0;
    virtual void host_function(RawStream stream, std::function<void()> function) = 0;
    virtual RawEvent create_event(bool timing, bool blocking) = 0;
    virtual void destroy_event(RawEvent event) noexcept = 0;
    virtual void record_event(RawEvent event, RawStream stream) = 0;
    virtual bool event_done(RawEvent event) = 0;  // true also if never recorded
    virtual void synchronize_event(RawEvent event) = 0;
    virtual float event_elapsed_ms(RawEvent start, RawEvent stop) = 0;

    // --- graphs: work put on a capturing stream is kept instead of done, and done again at each
    // launch. What waits or asks during a capture throws, and the capture is lost then.
    // Defaults: NotSupported; capturing() false.
    virtual void begin_capture(RawStream stream, CaptureMode mode);
    virtual RawGraph end_capture(RawStream stream);  // ready to be launched; DeviceError if lost
    // Also while the capture is lost. DeviceError for the null stream while a stream that it waits
    // for is captured.
    virtual bool capturing(RawStream stream);
    // Part of a captured stream's work; the caller keeps `function` until the graph is gone.
    virtual void capture_host_function(RawStream stream, const std::function<void()>* function);
    virtual void launch_graph(RawGraph graph, RawStream stream);
    virtual void upload_graph(RawGraph graph, RawStream stream);  // what a first launch would do
    virtual void destroy_graph(RawGraph graph) noexcept;

    // --- other devices of the same type, by ordinal. Defaults: only itself, NotSupported.
    virtual bool can_access_peer(int ordinal);
    virtual void enable_peer_access(Device& peer);  // for kernels of this device
    virtual void disable_peer_access(Device& peer);
    virtual void copy_peer(DevicePtr dst, Device& dst_device, DevicePtr src, size_t nbytes,
                           RawStream stream, bool wait);  // `src` and `stream` are of this device

    // --- other processes: handles are 64 bytes. Defaults: NotSupported.
    virtual std::string share_memory(DevicePtr address);  // the start of an allocation
    virtual DevicePtr open_shared_memory(std::string_view handle);
    virtual void close_shared_memory(DevicePtr address) noexcept;
    virtual RawEvent create_shared_event(bool blocking);  // without timing
    virtual std::string share_event(RawEvent event);
    virtual RawEvent open_shared_event(std::string_view handle);

    // --- arrays, textures, surfaces; work in flight on any stream may use them: what destroys one
    // waits for it. Defaults: NotSupported.
    virtual RawArray create_array(const ArrayParams& params);  // OutOfMemory
    virtual void destroy_array(RawArray array) noexcept;
    virtual void copy_box(const BoxCopy& copy, RawStream stream, bool wait);  // as copy_3d
    virtual RawTexture create_texture(const TextureParams& params);
    virtual void destroy_texture(RawTexture texture) noexcept;
    virtual RawSurface create_surface(RawArray array);
    virtual void destroy_surface(RawSurface surface) noexcept;

    // --- programs
    // Everything besides the program that changes what compile() gives: compiler and version,
    // target architecture or CPU features, check mode. Part of the cache key.
    virtual std::string compiler_id() = 0;
    virtual Image compile(const Program& program) = 0;  // CompileError with the log
    // One image of several pieces of compiled code. InvalidArgument with the linker's log as
    // detail. Default: NotSupported.
    virtual Image link(std::span<const LinkInput> inputs, const LinkOptions& options);
    virtual RawModule load(const Image& image) = 0;
    virtual void unload(RawModule module) noexcept = 0;
    virtual FunctionInfo function(RawModule module, std::string_view name) = 0;  // NotFound
    virtual SymbolInfo global(RawModule module, std::string_view name) = 0;      // NotFound
    virtual std::vector<std::string> function_names(RawModule module) = 0;
    virtual void set_function_attribute(RawFunction function, int attribute, int value) = 0;
    virtual void launch(const LaunchParams& params) = 0;
    // Blocks of this shape that fit on one multiprocessor.
    virtual int occupancy(RawFunction function, int block_threads, size_t shared_bytes) = 0;

    // --- the rest
    // What an outside profiler collects in between; nothing where there is none.
    virtual void start_profiler() {}
    virtual void stop_profiler() {}
    // Findings since the last call, oldest first. Empty on devices without checks.
    virtual std::vector<CheckReport> take_check_reports();
    virtual bool checks_accesses() const { return false; }  // against what note_allocation() said
    // Named facts for `trilane info`: "compiler" -> "clang 19.1.7", "threads" -> "2" ...
    virtual std::vector<std::pair<std::string, std::string>> describe() = 0;
};

}  // namespace trilane::core
