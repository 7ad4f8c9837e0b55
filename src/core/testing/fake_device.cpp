// The fake device: each entry counts, may fail as told, then does the obvious thing.
#include "core/testing/fake_device.h"

#include <cstdlib>
#include <cstring>

namespace trilane::core::testing {

void FakeMachine::fail(std::string entry, int n, ErrorKind kind) {
    std::lock_guard lock(mutex);
    fail_entry_ = std::move(entry);
    fail_in_ = n;
    fail_kind_ = kind;
}

void FakeMachine::lose_memory() {
    std::lock_guard lock(mutex);
    for (const auto& [address, nbytes] : memory) std::free(reinterpret_cast<void*>(address));
    for (const auto& [address, nbytes] : host_memory) std::free(address);
    memory.clear();
    host_memory.clear();
    used = 0;
}

bool FakeMachine::has_failed() {
    std::lock_guard lock(mutex);
    return fail_in_ == 0;
}

void FakeMachine::enter(const char* entry) {
    std::lock_guard lock(mutex);
    ++calls[entry];
    if (fail_in_ == 0 || (fail_entry_ != "*" && fail_entry_ != entry)) return;
    if (--fail_in_ == 0) throw_error(fail_kind_, "{}: failed as told", entry);
}

void FakeMachine::submit(RawStream stream, std::function<void()> work) {
    std::unique_lock lock(mutex);
    Stream& s = streams[stream];
    if (s.capture != nullptr) {
        s.capture->work.push_back(std::move(work));
        return;
    }
    const uint64_t position = ++s.submitted;
    s.work.push_back({std::move(work)});
    const bool wait = !hold;
    lock.unlock();
    if (wait) run_until(stream, position);
}

void FakeMachine::refuse_capture(const char* entry, RawStream stream) {
    std::lock_guard lock(mutex);
    const auto& capture = streams[stream].capture;
    if (capture == nullptr) return;
    capture->lost = true;
    throw_capture_fault(CaptureFault::Unsupported, entry, "of the fake device");
}

void FakeMachine::refuse_any_capture(const char* entry) {
    std::vector<RawStream> all;
    {
        std::lock_guard lock(mutex);
        for (const auto& [raw, stream] : streams) all.push_back(raw);
    }
    for (const RawStream raw : all) refuse_capture(entry, raw);
}

// Work runs without the lock, one piece of a stream at a time: it may call the device.
void FakeMachine::run_until(RawStream stream, uint64_t position) {
    std::unique_lock lock(mutex);
    Stream& s = streams[stream];
    while (s.completed < position) {
        if (s.running) {
            changed_.wait(lock);
            continue;
        }
        s.running = true;
        Work work = std::move(s.work.front());
        s.work.pop_front();
        lock.unlock();
        work.run();
        work.run = nullptr;
        lock.lock();
        s.running = false;
        ++s.completed;
        changed_.notify_all();
    }
}

void FakeMachine::run_all() {
    std::vector<std::pair<RawStream, uint64_t>> positions;
    {
        std::lock_guard lock(mutex);
        for (const auto& [raw, stream] : streams) positions.emplace_back(raw, stream.submitted);
    }
    for (const auto& [raw, position] : positions) run_until(raw, position);
}

uint64_t FakeMachine::submitted_to(RawStream stream) {
    std::lock_guard lock(mutex);
    return streams[stream].submitted;
}

void FakeMachine::finish(RawStream stream) { run_until(stream, submitted_to(stream)); }

int FakeMachine::calls_of(std::string_view entry) {
    std::lock_guard lock(mutex);
    const auto found = calls.find(entry);
    return found == calls.end() ? 0 : found->second;
}

bool FakeMachine::nothing_alive() {
    std::lock_guard lock(mutex);
    return memory.empty() && host_memory.empty() && live_streams == 0 && events.empty() &&
           modules.empty() && graphs.empty() && notes.empty() && shared == 0;
}

class FakeDevice final : public Device {
  public:
    FakeDevice(FakeMachinePtr machine, int ordinal, DeviceType type) : m(std::move(machine)) {
        properties_.type = type;
        properties_.ordinal = ordinal;
        properties_.name = fmt::format("Fake {}", ordinal);
        properties_.total_memory = m->capacity;
        properties_.shared_per_block_optin = 98304;
    }

    ~FakeDevice() override { m->run_all(); }

    const DeviceProperties& properties() const override { return properties_; }
    MemoryInfo memory_info() override {
        const Entry e(*m, "memory_info");
        return {m->capacity - m->used, m->capacity};
    }
    void make_current() override { const Entry e(*m, "make_current"); }
    void synchronize() override {
        m->enter("synchronize");
        m->refuse_any_capture("synchronize");
        m->run_all();
    }

    DevicePtr allocate(size_t nbytes, RawStream) override {
        const Entry e(*m, "allocate");
        if (nbytes > m->capacity - m->used)
            throw_error_with_detail(
                ErrorKind::OutOfMemory,
                fmt::format("fake device: {} bytes asked, {} free", nbytes, m->capacity - m->used),
                m->out_of_memory_detail);
        void* memory = std::aligned_alloc(512, (nbytes + 511) / 512 * 512);
        TRILANE_CHECK(memory != nullptr, "the host is out of memory");
        m->used += nbytes;
        m->memory[reinterpret_cast<DevicePtr>(memory)] = nbytes;
        return reinterpret_cast<DevicePtr>(memory);
    }
    void free(DevicePtr address, RawStream stream) noexcept override {
        {
            const Counted c(*m, "free");
            if (m->streams[stream].capture != nullptr) std::abort();  // it would be a graph's
        }
        m->submit(stream, [machine = m.get(), address] {
            std::lock_guard lock(machine->mutex);
            const auto found = machine->memory.find(address);
            if (found == machine->memory.end()) std::abort();  // freed twice or never allocated
            machine->used -= found->second;
            machine->memory.erase(found);
            std::free(reinterpret_cast<void*>(address));
        });
    }
    void* allocate_host(size_t nbytes, unsigned) override {
        const Entry e(*m, "allocate_host");
        void* memory = std::malloc(nbytes);
        m->host_memory[memory] = nbytes;
        return memory;
    }
    void free_host(void* address) noexcept override {
        const Counted c(*m, "free_host");
        if (m->host_memory.erase(address) == 0) std::abort();
        std::free(address);
    }
    DevicePtr host_device_pointer(void* address) override {
        const Entry e(*m, "host_device_pointer");
        return reinterpret_cast<DevicePtr>(address);
    }
    void register_host(void*, size_t, unsigned) override { const Entry e(*m, "register_host"); }
    void unregister_host(void*) noexcept override { const Counted c(*m, "unregister_host"); }
    DevicePtr allocate_managed(size_t nbytes, unsigned) override { return allocate(nbytes, 0); }
    void note_allocation(DevicePtr address, size_t nbytes, std::string_view name) override {
        const Counted c(*m, "note_allocation");
        m->notes[address] = {nbytes, std::string(name)};
    }
    void forget_allocation(DevicePtr address) noexcept override {
        const Counted c(*m, "forget_allocation");
        m->notes.erase(address);
    }

    void copy(CopyKind, DevicePtr dst, DevicePtr src, size_t nbytes, RawStream stream,
              bool wait) override {
        m->enter("copy");
        m->submit(stream, [=] {
            std::memmove(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), nbytes);
        });
        if (wait) m->finish(stream);
    }
    // Devices of even number reach one another; so do those of odd number.
    bool can_access_peer(int ordinal) override {
        return ordinal != properties_.ordinal && (ordinal - properties_.ordinal) % 2 == 0;
    }
    void enable_peer_access(Device&) override { m->enter("enable_peer_access"); }
    void disable_peer_access(Device&) override { m->enter("disable_peer_access"); }
    void copy_peer(DevicePtr dst, Device&, DevicePtr src, size_t nbytes, RawStream stream,
                   bool wait) override {
        m->enter("copy_peer");
        copy(CopyKind::DeviceToDevice, dst, src, nbytes, stream, wait);
    }
    // This process plays the other ones too.
    std::string share_memory(DevicePtr address) override {
        m->enter("share_memory");
        if (!m->memory.contains(address))
            throw_error(ErrorKind::InvalidArgument, "share_memory: not the start of an allocation");
        std::string handle(64, '\0');
        std::memcpy(handle.data(), &address, sizeof address);
        return handle;
    }
    DevicePtr open_shared_memory(std::string_view handle) override {
        const Entry e(*m, "open_shared_memory");
        DevicePtr address = 0;
        std::memcpy(&address, handle.data(), sizeof address);
        ++m->shared;
        return address;
    }
    void close_shared_memory(DevicePtr) noexcept override {
        const Counted c(*m, "close_shared_memory");
        --m->shared;
    }
    RawEvent create_shared_event(bool blocking) override { return create_event(false, blocking); }
    std::string share_event(RawEvent event) override {
        m->enter("share_event");
        std::string handle(64, '\0');
        std::memcpy(handle.data(), &event, sizeof event);
        return handle;
    }
    RawEvent open_shared_event(std::string_view handle) override {
        const Entry e(*m, "open_shared_event");
        RawEvent theirs = 0;
        std::memcpy(&theirs, handle.data(), sizeof theirs);
        const RawEvent raw = m->next_handle_++;
        m->events[raw] = m->events.at(theirs);
        return raw;
    }
    void copy_3d(const Copy3D& p, RawStream stream, bool wait) override {
        m->enter("copy_3d");
        m->submit(stream, [p] {
            for (size_t z = 0; z < p.depth; ++z)
                for (size_t y = 0; y < p.height; ++y)
                    std::memmove(
                        reinterpret_cast<void*>(p.dst + z * p.dst_slice_pitch + y * p.dst_pitch),
                        reinterpret_cast<void*>(p.src + z * p.src_slice_pitch + y * p.src_pitch),
                        p.width_bytes);
        });
        if (wait) m->finish(stream);
    }
    void fill(DevicePtr dst, uint32_t pattern, int pattern_bytes, size_t count, size_t height,
              size_t pitch, RawStream stream) override {
        m->enter("fill");
        m->submit(stream, [=] {
            for (size_t y = 0; y < height; ++y)
                for (size_t i = 0; i < count; ++i)
                    std::memcpy(reinterpret_cast<char*>(dst) + y * pitch +
                                    i * static_cast<size_t>(pattern_bytes),
                                &pattern, static_cast<size_t>(pattern_bytes));
        });
    }

    RawStream create_stream(bool, int) override {
        const Entry e(*m, "create_stream");
        const RawStream raw = m->next_handle_++;
        m->streams[raw];
        ++m->live_streams;
        return raw;
    }
    void destroy_stream(RawStream stream) noexcept override {
        const Counted c(*m, "destroy_stream");
        FakeMachine::Stream& s = m->streams[stream];
        if (stream == 0 || s.destroyed) std::abort();
        s.destroyed = true;
        if (s.capture != nullptr) s.capture->lost = true;
        s.capture = nullptr;
        --m->live_streams;
    }
    void synchronize_stream(RawStream stream) override {
        m->enter("synchronize_stream");
        require_live(stream);
        m->refuse_capture("synchronize_stream", stream);
        m->finish(stream);
    }
    bool stream_done(RawStream stream) override {
        const Entry e(*m, "stream_done");
        m->refuse_capture("stream_done", stream);
        return live(stream).completed == live(stream).submitted;
    }
    void stream_wait_event(RawStream stream, RawEvent event) override {
        m->enter("stream_wait_event");
        require_live(stream);
        const FakeMachine::Event known = event_at(event);
        if (auto capture = known.captured.lock()) {
            std::lock_guard lock(m->mutex);
            live(stream).capture = std::move(capture);
            return;
        }
        m->submit(stream, [machine = m.get(), known] {
            if (known.recorded) machine->run_until(known.stream, known.position);
        });
    }
    void host_function(RawStream stream, std::function<void()> function) override {
        m->enter("host_function");
        require_live(stream);
        m->submit(stream, std::move(function));
    }
    RawEvent create_event(bool timing, bool) override {
        const Entry e(*m, "create_event");
        const RawEvent raw = m->next_handle_++;
        m->events[raw].timing = timing;
        return raw;
    }
    void destroy_event(RawEvent event) noexcept override {
        const Counted c(*m, "destroy_event");
        if (m->events.erase(event) == 0) std::abort();
    }
    void record_event(RawEvent event, RawStream stream) override {
        const Entry e(*m, "record_event");
        FakeMachine::Event& known = m->events.at(event);
        known.stream = stream;
        known.position = live(stream).submitted;
        known.recorded = true;
        known.captured = live(stream).capture;
    }
    bool event_done(RawEvent event) override {
        const Entry e(*m, "event_done");
        const FakeMachine::Event& known = m->events.at(event);
        return !known.recorded || m->streams[known.stream].completed >= known.position;
    }
    void synchronize_event(RawEvent event) override {
        m->enter("synchronize_event");
        const FakeMachine::Event known = event_at(event);
        if (known.recorded) m->run_until(known.stream, known.position);
    }
    float event_elapsed_ms(RawEvent start, RawEvent stop) override {
        const Entry e(*m, "event_elapsed_ms");
        return static_cast<float>(m->events.at(stop).position) -
               static_cast<float>(m->events.at(start).position);
    }

    void begin_capture(RawStream stream, CaptureMode) override {
        const Entry e(*m, "begin_capture");
        FakeMachine::Stream& s = live(stream);
        if (stream == 0)
            throw_capture_fault(CaptureFault::Unsupported, "begin_capture", "the null stream");
        s.capture = std::make_shared<FakeMachine::Captured>();
        s.capture->origin = stream;
    }
    RawGraph end_capture(RawStream stream) override {
        const Entry e(*m, "end_capture");
        const std::shared_ptr<FakeMachine::Captured> capture = live(stream).capture;
        if (capture == nullptr)
            throw_capture_fault(CaptureFault::IllegalState, "end_capture", "nothing was begun");
        if (capture->origin != stream) {
            capture->lost = true;
            throw_capture_fault(CaptureFault::Unmatched, "end_capture", "begun elsewhere");
        }
        for (auto& [raw, s] : m->streams)
            if (s.capture == capture) s.capture = nullptr;
        if (capture->lost)
            throw_capture_fault(CaptureFault::Invalidated, "end_capture", "lost before");
        const RawGraph graph = m->next_handle_++;
        m->graphs[graph] = capture;
        return graph;
    }
    bool capturing(RawStream stream) override {
        const Entry e(*m, "capturing");
        return live(stream).capture != nullptr;
    }
    void capture_host_function(RawStream stream, const std::function<void()>* function) override {
        m->enter("capture_host_function");
        m->submit(stream, [function] { (*function)(); });
    }
    void launch_graph(RawGraph graph, RawStream stream) override {
        m->enter("launch_graph");
        std::unique_lock lock(m->mutex);
        const std::shared_ptr<FakeMachine::Captured> captured = m->graphs.at(graph);
        lock.unlock();
        for (const auto& work : captured->work) m->submit(stream, work);
    }
    void upload_graph(RawGraph graph, RawStream) override {
        const Entry e(*m, "upload_graph");
        m->graphs.at(graph);
    }
    void destroy_graph(RawGraph graph) noexcept override {
        const Counted c(*m, "destroy_graph");
        if (m->graphs.erase(graph) == 0) std::abort();
    }

    std::string compiler_id() override { return m->compiler; }
    Image compile(const Program& program) override {
        std::function<void(const Program&)> hook;
        {
            const Entry e(*m, "compile");
            hook = m->on_compile;
        }
        if (hook) hook(program);  // outside the lock: tests compile in several threads
        if (program.source.find("#error") != std::string::npos)
            throw_error_with_detail(ErrorKind::CompileError, "compile: kernel.cu(1): error",
                                    "kernel.cu(1): error: #error");
        Image image{"fake", program.source, {}, {}, {}};
        for (const std::string& name : program.name_expressions)
            image.lowered_names[name] = "lowered_" + name;
        for (const std::string& file : m->disk_files) image.files[file];
        return image;
    }
    RawModule load(const Image& image) override {
        const Entry e(*m, "load");
        if (image.format != "fake")
            throw_error(ErrorKind::InvalidArgument, "load: not for this device: got format '{}'",
                        image.format);
        const RawModule raw = m->next_handle_++;
        m->modules[raw] = image;
        return raw;
    }
    void unload(RawModule module) noexcept override {
        const Counted c(*m, "unload");
        if (m->modules.erase(module) == 0) std::abort();
    }
    FunctionInfo function(RawModule module, std::string_view name) override {
        const Entry e(*m, "function");
        const auto found = m->kernels.find(name);
        if (found == m->kernels.end() ||
            m->modules.at(module).bytes.find(name) == std::string::npos)
            throw_error(ErrorKind::NotFound, "function: '{}'", name);
        const RawFunction raw = m->next_handle_++;
        m->functions_[raw] = found->first;
        const FakeKernel& k = found->second;
        return {raw, found->first, k.parameters_known, k.parameters, k.attributes};
    }
    SymbolInfo global(RawModule module, std::string_view name) override {
        const Entry e(*m, "global");
        const auto found = m->globals.find(name);
        if (found == m->globals.end()) throw_error(ErrorKind::NotFound, "global: '{}'", name);
        std::string& memory =
            m->global_memory_.try_emplace({module, found->first}, found->second).first->second;
        return {reinterpret_cast<DevicePtr>(memory.data()), memory.size()};
    }
    std::vector<std::string> function_names(RawModule module) override {
        const Entry e(*m, "function_names");
        std::vector<std::string> names;
        for (const auto& [name, kernel] : m->kernels)
            if (m->modules.at(module).bytes.find(name) != std::string::npos) names.push_back(name);
        return names;
    }
    void set_function_attribute(RawFunction, int, int) override {
        const Entry e(*m, "set_function_attribute");
    }
    void launch(const LaunchParams& params) override {
        m->enter("launch");
        require_live(params.stream);
        std::unique_lock lock(m->mutex);
        const FakeKernel& kernel = m->kernels.at(m->functions_.at(params.function));
        const bool hold = m->hold || m->streams[params.stream].capture != nullptr;
        lock.unlock();
        if (!kernel.run) return;
        if (!hold) return m->submit(params.stream, [&] { kernel.run(params); });
        std::vector<std::string> bytes;
        for (size_t i = 0; i < params.argument_count; ++i)
            bytes.emplace_back(static_cast<const char*>(params.arguments[i]),
                               kernel.parameters_known ? kernel.parameters[i].size : 8);
        m->submit(params.stream, [run = kernel.run, p = params, bytes]() mutable {
            std::vector<void*> pointers;
            for (std::string& b : bytes) pointers.push_back(b.data());
            p.arguments = pointers.data();
            run(p);
        });
    }
    int occupancy(RawFunction, int block_threads, size_t) override {
        const Entry e(*m, "occupancy");
        return 2048 / block_threads;
    }
    std::vector<std::pair<std::string, std::string>> describe() override {
        return {{"compiler", m->compiler}};
    }

  private:
    // Held for the length of a call.
    struct Counted {
        Counted(FakeMachine& machine, const char* entry) : lock(machine.mutex) {
            ++machine.calls[entry];
        }
        std::lock_guard<std::recursive_mutex> lock;
    };
    struct Entry {
        Entry(FakeMachine& machine, const char* entry) : lock(machine.mutex) {
            machine.enter(entry);
        }
        std::lock_guard<std::recursive_mutex> lock;
    };
    void require_live(RawStream stream) {
        std::lock_guard lock(m->mutex);
        live(stream);
    }
    FakeMachine::Event event_at(RawEvent event) {
        std::lock_guard lock(m->mutex);
        return m->events.at(event);
    }
    FakeMachine::Stream& live(RawStream stream) {
        FakeMachine::Stream& s = m->streams[stream];
        if (s.destroyed) std::abort();  // used after it was destroyed
        return s;
    }
    FakeMachinePtr m;
    DeviceProperties properties_;
};

std::unique_ptr<Device> make_fake_device(FakeMachinePtr machine, int ordinal, DeviceType type) {
    return std::make_unique<FakeDevice>(std::move(machine), ordinal, type);
}

ContextPtr make_fake_context(FakeMachinePtr machine, int index) {
    return Context::create(make_fake_device(std::move(machine), index), index);
}

Program fake_program(std::string source) {
    Program program;
    program.source = std::move(source);
    return program;
}

Parameter parameter(std::string name, std::string c_type, ParameterKind kind, uint32_t size) {
    Parameter p;
    p.name = std::move(name);
    p.c_type = std::move(c_type);
    p.kind = kind;
    p.size = p.align = size;
    return p;
}

}  // namespace trilane::core::testing
