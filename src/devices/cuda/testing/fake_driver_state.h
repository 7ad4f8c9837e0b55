// The fake driver's machine: what is alive in it, and what every call does first.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "devices/cuda/driver_api.h"
#include "devices/cuda/testing/fake_driver.h"

namespace trilane::cuda::testing {

namespace r = trilane::cuda::result;

struct Capture;
struct Event {
    bool recorded = false, timing = true, shared = false;
    std::weak_ptr<Capture> captured;  // it is a point of that work
    bool of_capture = false;          // of one that may be over
    std::chrono::steady_clock::time_point time;
};
struct Kernel {
    std::string name;
    std::vector<size_t> sizes;
    int max_dynamic_shared = 49152;
};
struct Link {
    std::string text;
    std::map<std::string, std::string> defined, missing;  // names, and the piece of each
    bool has_runtime = false;
    char* errors = nullptr;
};
struct Capture {
    StreamHandle origin = nullptr;
    int mode = 0;
    std::thread::id thread;
    std::vector<std::function<void()>> work;
    bool lost = false;
};
struct Graph {
    std::vector<std::function<void()>> work;
};
struct Array {
    ArrayDescriptor shape;
    size_t element = 0;  // bytes
    std::vector<char> data;
    size_t row() const { return shape.width * element; }
    size_t rows() const { return shape.height == 0 ? 1 : shape.height; }
    size_t slices() const { return shape.depth == 0 ? 1 : shape.depth; }
};
struct Module {
    std::map<std::string, Kernel> kernels;
    std::string symbol = std::string(64, '\0');
};

inline FakeDriver machine;
inline std::recursive_mutex mutex;
inline std::map<DeviceAddress, size_t> memory;
inline std::set<DeviceAddress> from_pools;  // of memory
inline std::map<void*, size_t> host_memory, registered;
inline std::set<Event*> events;
inline std::set<Module*> modules;
inline std::set<Link*> links;
inline std::map<StreamHandle, std::shared_ptr<Capture>> captures;  // by the streams that take part
inline std::set<StreamHandle> blocking;  // streams that the null stream waits for
inline std::set<Graph*> graphs;
inline std::set<Array*> arrays;
inline std::set<uint64_t> textures, surfaces;
inline uint64_t next_texture = 1;
inline std::set<std::pair<int, int>> peers;  // whose memory a device may use
inline thread_local int capture_mode = 0;
inline std::set<uint64_t> streams;
inline std::set<void*> pools;
inline uint64_t next_stream = 16;  // small ones stand for default streams
inline int sticky = 0;
inline thread_local std::vector<ContextHandle> stack;
inline thread_local bool in_callback = false;  // of the driver, where it takes no calls

inline ContextHandle the_context(int device) {
    return reinterpret_cast<ContextHandle>(uintptr_t{0x1000} + static_cast<uintptr_t>(device));
}

// What this call answers before it does anything; 0 if it may go on.
inline Result enter(bool needs_context = true) {
    ++machine.calls;
    if (in_callback) return r::kNotPermitted;
    if (sticky != 0) return sticky;
    if (machine.fail_at > 0 && --machine.fail_at == 0) {
        machine.has_failed = true;
        if (machine.for_ever) sticky = machine.fail_with;
        return machine.fail_with;
    }
    if (needs_context && (stack.empty() || stack.back() == nullptr)) return r::kInvalidContext;
    return r::kSuccess;
}

// Whether work is in flight: for what asks, and for what would wait.
inline bool is_busy() {
    if (machine.not_ready > 0) return --machine.not_ready, true;
    return machine.endless;
}
inline bool would_wait_for_ever() {
    if (machine.endless) ++machine.endless_waits;
    return machine.endless;
}

#define ENTER(...)               \
    std::lock_guard lock(mutex); \
    if (Result refused = enter(__VA_ARGS__); refused != 0) return refused
// For what destroys: the answer is given at the end.
#define ENTER_DESTROY()          \
    std::lock_guard lock(mutex); \
    const Result answer = enter()

// Device memory is host memory; so is managed memory.
inline Result allocate(DeviceAddress* address, size_t nbytes) {
    if (nbytes == 0) return r::kInvalidValue;
    if (machine.used + nbytes > machine.capacity) return r::kOutOfMemory;
    void* block = std::aligned_alloc(512, (nbytes + 511) / 512 * 512);
    if (block == nullptr) return r::kOutOfMemory;
    std::memset(block, 0xa5, nbytes);
    *address = reinterpret_cast<DeviceAddress>(block);
    memory[*address] = nbytes;
    machine.used += nbytes;
    ++machine.blocks;
    return r::kSuccess;
}

inline Result release(DeviceAddress address) {
    const auto found = memory.find(address);
    if (found == memory.end()) return r::kInvalidValue;
    machine.used -= found->second;
    from_pools.erase(address);
    --machine.blocks;
    std::free(reinterpret_cast<void*>(address));
    memory.erase(found);
    return r::kSuccess;
}

inline bool inside(const std::map<DeviceAddress, size_t>& map, DeviceAddress address,
                   size_t nbytes) {
    auto found = map.upper_bound(address);
    if (found == map.begin()) return false;
    --found;
    return address - found->first <= found->second &&
           nbytes <= found->second - (address - found->first);
}

inline bool on_device(DeviceAddress address, size_t nbytes) {
    return inside(memory, address, nbytes);
}
inline bool known_stream(StreamHandle stream) {
    return stream == nullptr || streams.contains(reinterpret_cast<uint64_t>(stream));
}
inline void* at(DeviceAddress address) { return reinterpret_cast<void*>(address); }

inline Result move(void* dst, const void* src, size_t nbytes) {
    std::memmove(dst, src, nbytes);
    return r::kSuccess;
}

// A function of the driver's by its name.
struct Row {
    const char* name;
    void* function;
};
template <typename F>
void* pointer(F* function) {
    return reinterpret_cast<void*>(function);
}
std::vector<Row> memory_rows();
std::vector<Row> texture_rows();  // and copies of boxes
// Whether the stream may be used now. Use of the null stream loses the captures of streams that it
// waits for.
inline Result usable(StreamHandle stream) {
    if (!known_stream(stream)) return r::kInvalidHandle;
    if (captures.empty()) return r::kSuccess;
    bool met = false;
    if (stream == nullptr)
        for (auto& [raw, capture] : captures)
            if (blocking.contains(raw)) met = capture->lost = true;
    if (met) return r::kStreamCaptureImplicit;
    const auto found = captures.find(stream);
    return found != captures.end() && found->second->lost ? r::kStreamCaptureInvalidated
                                                          : r::kSuccess;
}
// Does the work now, or at each launch of the graph that the stream is captured for.
inline Result submit(StreamHandle stream, std::function<void()> work) {
    if (const Result refused = usable(stream); refused != r::kSuccess) return refused;
    if (const auto found = captures.find(stream); found != captures.end())
        found->second->work.push_back(std::move(work));
    else
        work();
    return r::kSuccess;
}
// What waits for a stream or asks about it: if it is captured, that is lost.
inline Result ask(StreamHandle stream) {
    if (const Result refused = usable(stream); refused != r::kSuccess) return refused;
    const auto found = captures.find(stream);
    if (found == captures.end()) return r::kSuccess;
    found->second->lost = true;
    return r::kStreamCaptureUnsupported;
}
inline Result ask(const Event& event) {
    if (!event.of_capture) return r::kSuccess;
    if (const auto capture = event.captured.lock()) capture->lost = true;
    return r::kCapturedEvent;
}
// What may not be called beside certain captures, unless the thread's mode lets it. They are lost.
inline Result spoils_capture() {
    bool met = false;
    for (auto& [stream, capture] : captures) {
        const bool own = capture->thread == std::this_thread::get_id();
        if (capture->mode == kCaptureRelaxed || capture_mode == kCaptureRelaxed) continue;
        if (own || (capture->mode == kCaptureGlobal && capture_mode == kCaptureGlobal))
            met = capture->lost = true;
    }
    return met ? r::kStreamCaptureUnsupported : r::kSuccess;
}
// What waits for the whole device, in every mode.
inline Result ask_all() {
    for (auto& [stream, capture] : captures) capture->lost = true;
    return captures.empty() ? r::kSuccess : r::kStreamCaptureUnsupported;
}
#define UNSAFE() \
    if (const Result spoilt = spoils_capture(); spoilt != r::kSuccess) return spoilt
std::vector<Row> graph_rows();
std::vector<Row> module_rows();  // and streams, events, launches

}  // namespace trilane::cuda::testing
