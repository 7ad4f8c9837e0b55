// The cpu device: core::Device over the front end (compile/), the lowering (lower/), the runtime
// (run/) and the checks (check/).
//
// Every operation completes before its call returns; streams and events keep their meaning: work on
// one stream is serial also between threads, and handles are checked. On a captured stream the same
// operations are kept for a graph (capture.h).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device.h"
#include "devices/cpu/capture.h"
#include "devices/cpu/device_memory.h"
#include "devices/cpu/device_streams.h"

namespace trilane::cpu {

class LoadedModule;
struct LaunchState;

class CpuDevice : public core::Device {
  public:
    // `hooks` is copied.
    CpuDevice(int ordinal, const core::DeviceHooks* hooks);
    ~CpuDevice() override;

    const core::DeviceProperties& properties() const override { return properties_; }
    core::MemoryInfo memory_info() override { return memory_.info(); }
    void make_current() override {}
    void synchronize() override;

    core::DevicePtr allocate(size_t nbytes, core::RawStream stream) override;
    void free(core::DevicePtr address, core::RawStream stream) noexcept override;
    void* allocate_host(size_t nbytes, unsigned flags) override;
    void free_host(void* address) noexcept override;
    core::DevicePtr host_device_pointer(void* address) override;
    void register_host(void* address, size_t nbytes, unsigned flags) override;
    void unregister_host(void* address) noexcept override;
    core::DevicePtr allocate_managed(size_t nbytes, unsigned flags) override;
    void note_allocation(core::DevicePtr address, size_t nbytes, std::string_view name) override;
    void forget_allocation(core::DevicePtr address) noexcept override;

    void copy(core::CopyKind kind, core::DevicePtr dst, core::DevicePtr src, size_t nbytes,
              core::RawStream stream, bool wait) override;
    void copy_3d(const core::Copy3D& params, core::RawStream stream, bool wait) override;
    void fill(core::DevicePtr dst, uint32_t pattern, int pattern_bytes, size_t count, size_t height,
              size_t pitch, core::RawStream stream) override;

    core::RawStream create_stream(bool non_blocking, int priority) override;
    void destroy_stream(core::RawStream stream) noexcept override;
    void synchronize_stream(core::RawStream stream) override;
    bool stream_done(core::RawStream stream) override;
    void stream_wait_event(core::RawStream stream, core::RawEvent event) override;
    void host_function(core::RawStream stream, std::function<void()> function) override;
    core::RawEvent create_event(bool timing, bool blocking) override;
    void destroy_event(core::RawEvent event) noexcept override;
    void record_event(core::RawEvent event, core::RawStream stream) override;
    bool event_done(core::RawEvent event) override;
    void synchronize_event(core::RawEvent event) override;
    float event_elapsed_ms(core::RawEvent start, core::RawEvent stop) override;

    void begin_capture(core::RawStream stream, core::CaptureMode mode) override;
    core::RawGraph end_capture(core::RawStream stream) override;
    bool capturing(core::RawStream stream) override { return captures_.capturing(stream); }
    void capture_host_function(core::RawStream stream,
                               const std::function<void()>* function) override;
    void launch_graph(core::RawGraph graph, core::RawStream stream) override;
    void upload_graph(core::RawGraph graph, core::RawStream stream) override;
    void destroy_graph(core::RawGraph graph) noexcept override;

    core::RawArray create_array(const core::ArrayParams& params) override;
    void destroy_array(core::RawArray array) noexcept override;
    void copy_box(const core::BoxCopy& copy, core::RawStream stream, bool wait) override;
    core::RawTexture create_texture(const core::TextureParams& params) override;
    void destroy_texture(core::RawTexture texture) noexcept override;
    core::RawSurface create_surface(core::RawArray array) override;
    void destroy_surface(core::RawSurface surface) noexcept override;

    bool can_access_peer(int ordinal) override { return ordinal != properties_.ordinal; }
    void enable_peer_access(core::Device&) override {}  // one address space
    void disable_peer_access(core::Device&) override {}
    void copy_peer(core::DevicePtr dst, core::Device& dst_device, core::DevicePtr src,
                   size_t nbytes, core::RawStream stream, bool wait) override;

    std::string compiler_id() override;
    core::Image compile(const core::Program& program) override;
    core::Image link(std::span<const core::LinkInput> inputs,
                     const core::LinkOptions& options) override;
    core::RawModule load(const core::Image& image) override;
    void unload(core::RawModule module) noexcept override;
    core::FunctionInfo function(core::RawModule module, std::string_view name) override;
    core::SymbolInfo global(core::RawModule module, std::string_view name) override;
    std::vector<std::string> function_names(core::RawModule module) override;
    void set_function_attribute(core::RawFunction function, int attribute, int value) override;
    void launch(const core::LaunchParams& params) override;
    int occupancy(core::RawFunction function, int block_threads, size_t shared_bytes) override;

    std::vector<core::CheckReport> take_check_reports() override;
    bool checks_accesses() const override { return check_; }
    // As TRILANE_CHECK=1 does at creation: for programs compiled and memory noted from now on.
    void enable_checks();
    // TRILANE_LANES, read at each compile. InvalidArgument if it is no number of lanes.
    static int lanes_asked();
    std::vector<std::pair<std::string, std::string>> describe() override;

  private:
    void prepare(const core::LaunchParams& params, LaunchState& launch) const;
    // A launch that was checked before.
    void run_again(const core::LaunchParams& params, uint64_t wait) const;
    GraphNode launch_node(const core::LaunchParams& params);
    // As the caller's only turn on the stream, but for functions of the host's.
    void replay(const GraphWork& work, core::RawStream stream);
    // If captured work is what it stands for.
    void refuse_captured(DeviceStreams::Event& event, const char* what);
    // Memory of the device's own that kernels may read, known to the checks as `name`.
    core::DevicePtr make_noted(size_t nbytes, const char* name);
    void free_noted(core::DevicePtr address) noexcept;
    core::DeviceProperties properties_;
    core::DeviceHooks hooks_;
    DeviceMemory memory_;
    DeviceStreams streams_;
    DeviceCaptures captures_;
    bool check_ = false;
};

// Name, limits and CUdevice_attribute values of cpu device `ordinal`.
core::DeviceProperties cpu_properties(int ordinal, size_t memory_limit);

// Blocks of so many threads and so much shared memory on one multiprocessor of the model.
int model_occupancy(int block_threads, size_t shared_bytes);

}  // namespace trilane::cpu
