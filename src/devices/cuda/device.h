// The cuda device: core::Device over the driver.
//
// It uses the device's primary context, the one that other libraries share, and leaves a thread's
// current context as it found it, unless the thread had none. Nothing is done before the first use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/device.h"
#include "devices/cuda/compiler.h"
#include "devices/cuda/errors.h"
#include "devices/cuda/staging.h"

namespace trilane::cuda {

class CudaDevice : public core::Device {
  public:
    // `hooks` is copied. Reads the properties; the context comes with the first use.
    CudaDevice(const DriverTable& driver, int ordinal, const core::DeviceHooks& hooks);
    ~CudaDevice() override;

    const core::DeviceProperties& properties() const override { return properties_; }
    core::MemoryInfo memory_info() override;
    void make_current() override;
    void synchronize() override;

    core::DevicePtr allocate(size_t nbytes, core::RawStream stream) override;
    void free(core::DevicePtr address, core::RawStream stream) noexcept override;
    void* allocate_host(size_t nbytes, unsigned flags) override;
    void free_host(void* address) noexcept override;
    core::DevicePtr host_device_pointer(void* address) override;
    void register_host(void* address, size_t nbytes, unsigned flags) override;
    void unregister_host(void* address) noexcept override;
    core::DevicePtr allocate_managed(size_t nbytes, unsigned flags) override;

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
    bool capturing(core::RawStream stream) override;
    void capture_host_function(core::RawStream stream,
                               const std::function<void()>* function) override;
    void launch_graph(core::RawGraph graph, core::RawStream stream) override;
    void upload_graph(core::RawGraph graph, core::RawStream stream) override;
    void destroy_graph(core::RawGraph graph) noexcept override;

    bool can_access_peer(int ordinal) override;
    void enable_peer_access(core::Device& peer) override;
    void disable_peer_access(core::Device& peer) override;
    void copy_peer(core::DevicePtr dst, core::Device& dst_device, core::DevicePtr src,
                   size_t nbytes, core::RawStream stream, bool wait) override;

    std::string share_memory(core::DevicePtr address) override;
    core::DevicePtr open_shared_memory(std::string_view handle) override;
    void close_shared_memory(core::DevicePtr address) noexcept override;
    void start_profiler() override;
    void stop_profiler() override;
    core::RawEvent create_shared_event(bool blocking) override;
    std::string share_event(core::RawEvent event) override;
    core::RawEvent open_shared_event(std::string_view handle) override;

    core::RawArray create_array(const core::ArrayParams& params) override;
    void destroy_array(core::RawArray array) noexcept override;
    void copy_box(const core::BoxCopy& copy, core::RawStream stream, bool wait) override;
    core::RawTexture create_texture(const core::TextureParams& params) override;
    void destroy_texture(core::RawTexture texture) noexcept override;
    core::RawSurface create_surface(core::RawArray array) override;
    void destroy_surface(core::RawSurface surface) noexcept override;

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

    std::vector<std::pair<std::string, std::string>> describe() override;

  private:
    // Makes the context current for the length of a scope, and what was current before again.
    class Scope {
      public:
        Scope(CudaDevice& device, const char* call) : device_(device) { device.enter(*this, call); }
        ~Scope() {
            if (pushed_) [[unlikely]]
                device_.leave();
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        friend class CudaDevice;
        explicit Scope(CudaDevice& device) : device_(device) {}
        CudaDevice& device_;
        bool pushed_ = false;
    };
    struct HostCall;
    void enter(Scope& scope, const char* call);
    bool try_enter(Scope& scope) noexcept;  // false: nothing can be called any more
    void leave() noexcept;
    ContextHandle context();  // retains it the first time
    void check(Result result, const char* call) {
        if (result != result::kSuccess) [[unlikely]]
            faults_.fail(result, call);
    }
    void copy_to_device(core::DevicePtr dst, const void* src, size_t nbytes, StreamHandle stream,
                        bool wait);
    void copy_to_host(void* dst, core::DevicePtr src, size_t nbytes, StreamHandle stream,
                      bool wait);
    bool is_pageable(const void* address);
    bool is_captured(StreamHandle stream);  // or cannot be asked
    // Until `ask` is no longer kNotReady; Ctrl-C may leave it.
    void poll(const std::function<Result()>& ask, const char* call);
    // What a copy on that stream would wait for; Ctrl-C may leave it. The waiting thread's alone.
    void await_earlier(StreamHandle stream);
    // Whether such a wait can be left, and the stream can be asked.
    bool may_hold_up(StreamHandle stream);
    void await_everything();  // of our streams and the null stream's
    void free_host_calls() noexcept;
    void wait_before_destroying() noexcept;  // for work that may use it
    PoolHandle pool();
    void open_pool_to(CudaDevice& peer, bool open);
    Compiler& compiler();
    Result start(const core::LaunchParams& params) noexcept;
    [[noreturn]] void fail_launch(const core::LaunchParams& params, Result result);

    const DriverTable& driver_;
    core::DeviceHooks hooks_;
    DeviceHandle handle_ = 0;
    core::DeviceProperties properties_;
    bool async_allocation_;
    FaultState faults_;
    std::atomic<ContextHandle> context_{nullptr};
    std::mutex mutex_;  // of what follows
    PoolHandle pool_ = nullptr;
    std::unique_ptr<Compiler> compiler_;
    std::unordered_set<core::DevicePtr> managed_;
    std::unordered_set<HostCall*> host_calls_;  // that have not run yet
    std::unordered_set<StreamHandle> streams_;  // ours that are alive
    EventHandle wait_event_ = nullptr;          // await_earlier()'s, made when it is needed
    std::unique_ptr<Staging> staging_;          // made in the constructor
};

// The driver's attributes and limits of a device. Needs no context.
core::DeviceProperties cuda_properties(const DriverTable& driver, DeviceHandle handle, int ordinal);

}  // namespace trilane::cuda
