// The fake driver's streams, events, modules and launches.
//
// No iostream here: beside the real NVRTC in one process, with libstdc++ linked statically into
// each, the facets of one were found by the ids of another, and reading a number never ended.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "devices/cuda/testing/fake_driver_state.h"

namespace trilane::cuda::testing {
namespace {

// --- streams and events

Result fake_stream_create(StreamHandle* stream, unsigned flags, int) {
    ENTER();
    UNSAFE();
    streams.insert(next_stream);
    *stream = reinterpret_cast<StreamHandle>(next_stream++);
    if ((flags & kStreamNonBlocking) == 0) blocking.insert(*stream);
    ++machine.streams;
    return r::kSuccess;
}
Result fake_stream_destroy(StreamHandle stream) {
    ENTER_DESTROY();
    if (const auto found = captures.find(stream); found != captures.end()) {
        const std::shared_ptr<Capture> capture = found->second;
        capture->lost = true;
        captures.erase(found);
        if (capture->origin == stream)
            std::erase_if(captures, [&](const auto& other) { return other.second == capture; });
    }
    blocking.erase(stream);
    if (streams.erase(reinterpret_cast<uint64_t>(stream)) == 0) return r::kInvalidHandle;
    --machine.streams;
    return answer;
}
Result fake_stream_wait(StreamHandle stream) {
    ENTER();
    if (const Result refused = ask(stream); refused != r::kSuccess) return refused;
    return would_wait_for_ever() ? r::kUnknown : r::kSuccess;
}
Result fake_stream_query(StreamHandle stream) {
    {
        ENTER();
        if (const Result refused = ask(stream); refused != r::kSuccess) return refused;
        if (is_busy()) return r::kNotReady;
    }
    return fake_stream_wait(stream);
}
Result fake_stream_wait_event(StreamHandle stream, EventHandle event, unsigned) {
    ENTER();
    const auto* known = reinterpret_cast<Event*>(event);
    if (!events.contains(reinterpret_cast<Event*>(event))) return r::kInvalidHandle;
    if (const Result refused = usable(stream); refused != r::kSuccess) return refused;
    const auto own = captures.find(stream);
    const std::shared_ptr<Capture> theirs = known->captured.lock();
    if (theirs == nullptr) {
        if (known->of_capture) return r::kCapturedEvent;
        if (own == captures.end() || !known->recorded) return r::kSuccess;
        own->second->lost = true;
        return r::kStreamCaptureIsolation;
    }
    if (stream == nullptr || (own != captures.end() && own->second != theirs)) {
        theirs->lost = true;
        if (stream == nullptr) return r::kStreamCaptureImplicit;
        own->second->lost = true;
        return r::kStreamCaptureMerge;
    }
    captures[stream] = theirs;
    return r::kSuccess;
}
Result fake_host_function(StreamHandle stream, HostCallback function, void* user) {
    const auto call = [function, user] {
        in_callback = true;
        function(user);
        in_callback = false;
    };
    {
        ENTER();
        if (const Result refused = usable(stream); refused != r::kSuccess) return refused;
        ++machine.host_functions;
        if (captures.contains(stream)) return submit(stream, call);
    }
    call();
    return r::kSuccess;
}
Result fake_event_create(EventHandle* event, unsigned flags) {
    ENTER();
    auto* made = new Event;
    made->timing = (flags & kEventDisableTiming) == 0;
    made->shared = (flags & kEventInterprocess) != 0;
    events.insert(made);
    ++machine.events;
    *event = reinterpret_cast<EventHandle>(made);
    return r::kSuccess;
}
Result fake_event_destroy(EventHandle event) {
    ENTER_DESTROY();
    auto* known = reinterpret_cast<Event*>(event);
    if (events.erase(known) == 0) return r::kInvalidHandle;
    delete known;
    --machine.events;
    return answer;
}
Result fake_event_record(EventHandle event, StreamHandle stream) {
    ENTER();
    auto* known = reinterpret_cast<Event*>(event);
    if (!events.contains(known)) return r::kInvalidHandle;
    if (const Result refused = usable(stream); refused != r::kSuccess) return refused;
    const auto own = captures.find(stream);
    known->of_capture = own != captures.end();
    known->captured.reset();
    if (known->of_capture) {
        known->captured = own->second;
        return r::kSuccess;
    }
    known->recorded = true;
    known->time = std::chrono::steady_clock::now();
    return r::kSuccess;
}
Result fake_event_wait(EventHandle event) {
    ENTER();
    UNSAFE();
    if (would_wait_for_ever()) return r::kUnknown;
    auto* known = reinterpret_cast<Event*>(event);
    return events.contains(known) ? ask(*known) : r::kInvalidHandle;
}
Result fake_event_query(EventHandle event) {
    ENTER();
    UNSAFE();
    auto* known = reinterpret_cast<Event*>(event);
    if (!events.contains(known)) return r::kInvalidHandle;
    if (const Result refused = ask(*known); refused != r::kSuccess) return refused;
    return is_busy() ? r::kNotReady : r::kSuccess;
}
Result fake_event_elapsed(float* ms, EventHandle start, EventHandle stop) {
    ENTER();
    auto *a = reinterpret_cast<Event*>(start), *b = reinterpret_cast<Event*>(stop);
    if (!events.contains(a) || !events.contains(b) || !a->timing || !b->timing || !a->recorded ||
        !b->recorded)
        return r::kInvalidHandle;
    *ms = std::chrono::duration<float, std::milli>(b->time - a->time).count();
    return r::kSuccess;
}

// --- modules

// The next word of `text`, which loses it; empty at its end.
std::string_view take_word(std::string_view& text) {
    const size_t first = text.find_first_not_of(' ');
    text.remove_prefix(first == std::string_view::npos ? text.size() : first);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

// `.entry NAME SIZE...` with the bytes of each parameter.
void read_entry(std::string_view line, std::map<std::string, Kernel>& kernels) {
    if (take_word(line) != ".entry") return;
    const std::string name(take_word(line));
    if (name.empty()) return;
    Kernel& kernel = kernels[name];
    kernel.name = name;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
        kernel.sizes.push_back(std::strtoull(std::string(word).c_str(), nullptr, 10));
}

Result fake_load(ModuleHandle* module, const void* image, unsigned, JitOption* options,
                 void** values) {
    ENTER();
    UNSAFE();
    if (std::strncmp(static_cast<const char*>(image), ".version", 8) != 0) return r::kInvalidImage;
    const std::string text = static_cast<const char*>(image);
    if (text.find("broken") != std::string::npos) {
        for (int i = 0; i < 4; ++i)
            if (options[i] == kJitErrorLog)
                std::strcpy(static_cast<char*>(values[i]), "ptxas: line 3: broken\nmore");
        return r::kInvalidPtx;
    }
    if (text.find(".unlinked") != std::string::npos) return r::kInvalidImage;
    auto made = std::make_unique<Module>();
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        read_entry(line, made->kernels);
    }
    *module = reinterpret_cast<ModuleHandle>(made.get());
    modules.insert(made.release());
    ++machine.modules;
    return r::kSuccess;
}
Result fake_unload(ModuleHandle module) {
    ENTER_DESTROY();
    UNSAFE();
    auto* known = reinterpret_cast<Module*>(module);
    if (modules.erase(known) == 0) return r::kInvalidHandle;
    delete known;
    --machine.modules;
    return answer;
}
Result fake_function(FunctionHandle* function, ModuleHandle module, const char* name) {
    ENTER();
    auto& kernels = reinterpret_cast<Module*>(module)->kernels;
    const auto found = kernels.find(name);
    if (found == kernels.end()) return r::kNotFound;
    *function = reinterpret_cast<FunctionHandle>(&found->second);
    return r::kSuccess;
}
Result fake_global(DeviceAddress* address, size_t* nbytes, ModuleHandle module, const char* name) {
    ENTER();
    if (std::strcmp(name, "symbol") != 0) return r::kNotFound;
    std::string& symbol = reinterpret_cast<Module*>(module)->symbol;
    *address = reinterpret_cast<DeviceAddress>(symbol.data());
    *nbytes = symbol.size();
    return r::kSuccess;
}
Result fake_function_count(unsigned* count, ModuleHandle module) {
    ENTER();
    *count = static_cast<unsigned>(reinterpret_cast<Module*>(module)->kernels.size());
    return r::kSuccess;
}
Result fake_enumerate(FunctionHandle* functions, unsigned count, ModuleHandle module) {
    ENTER();
    for (auto& [name, kernel] : reinterpret_cast<Module*>(module)->kernels)
        if (count-- > 0) *functions++ = reinterpret_cast<FunctionHandle>(&kernel);
    return r::kSuccess;
}
Kernel& kernel_of(FunctionHandle function) { return *reinterpret_cast<Kernel*>(function); }
Result fake_function_name(const char** name, FunctionHandle function) {
    ENTER();
    *name = kernel_of(function).name.c_str();
    return r::kSuccess;
}
Result fake_param_info(FunctionHandle function, size_t index, size_t* offset, size_t* nbytes) {
    ENTER();
    const auto& sizes = kernel_of(function).sizes;
    if (index >= sizes.size()) return r::kInvalidValue;
    *offset = 0;
    for (size_t i = 0; i <= index; ++i) {
        const size_t align = sizes[i] < 8 ? sizes[i] : 8;
        *offset = (*offset + align - 1) / align * align + (i < index ? sizes[i] : 0);
    }
    *nbytes = sizes[index];
    return r::kSuccess;
}
Result fake_function_attribute(int* value, int attribute, FunctionHandle function) {
    ENTER();
    const int values[] = {1024, 128, 0, 16, 40, 90, 90, 0, kernel_of(function).max_dynamic_shared};
    if (attribute < 0 || attribute > 8) return r::kInvalidValue;
    *value = values[attribute];
    return r::kSuccess;
}
Result fake_set_attribute(FunctionHandle function, int attribute, int value) {
    ENTER();
    if (attribute != kFunctionMaxDynamicShared || value < 0 || value > 232448 - 128)
        return r::kInvalidValue;
    kernel_of(function).max_dynamic_shared = value;
    return r::kSuccess;
}
Result fake_occupancy(int* blocks, FunctionHandle, int block_threads, size_t) {
    ENTER();
    *blocks = block_threads > 1024 ? 0 : 2048 / block_threads;
    return r::kSuccess;
}
Result run(const Kernel& kernel, void** arguments) {
    ++machine.launches;
    if (kernel.name == "fault") {
        sticky = r::kIllegalAddress;
        return r::kSuccess;  // faults show later
    }
    if (kernel.name == "endless") machine.endless = true;
    if (kernel.name != "add") return r::kSuccess;
    const float* in[2];
    float* out = nullptr;
    int count = 0;
    std::memcpy(&in[0], arguments[0], 8);
    std::memcpy(&in[1], arguments[1], 8);
    std::memcpy(&out, arguments[2], 8);
    std::memcpy(&count, arguments[3], 4);
    for (int i = 0; i < count; ++i) out[i] = in[0][i] + in[1][i];
    return r::kSuccess;
}
Result run_on(StreamHandle stream, const Kernel& kernel, void** arguments) {
    if (captures.empty()) {
        uint8_t values[4096];  // read as the driver does: tools see what is not there
        for (size_t i = 0, at = 0; arguments != nullptr && i < kernel.sizes.size(); ++i)
            if (const size_t nbytes = kernel.sizes[i]; at + nbytes <= sizeof values)
                std::memcpy(values + at, arguments[i], nbytes), at += nbytes;
        return run(kernel, arguments);
    }
    std::vector<std::string> bytes;
    for (size_t i = 0; arguments != nullptr && i < kernel.sizes.size(); ++i)
        bytes.emplace_back(static_cast<const char*>(arguments[i]), kernel.sizes[i]);
    auto work = [&kernel, bytes = std::move(bytes)] {
        std::vector<void*> pointers;
        for (const std::string& value : bytes) pointers.push_back(const_cast<char*>(value.data()));
        run(kernel, pointers.data());
    };
    return submit(stream, work);
}
Result fake_launch(FunctionHandle function, unsigned, unsigned, unsigned, unsigned block, unsigned,
                   unsigned, unsigned, StreamHandle stream, void** arguments, void**) {
    ENTER();
    if (block > 1024) return r::kInvalidValue;
    return run_on(stream, kernel_of(function), arguments);
}
Result fake_launch_ex(const LaunchConfig* config, FunctionHandle function, void** arguments,
                      void**) {
    ENTER();
    for (unsigned i = 0; i < config->attribute_count; ++i)
        if (config->attributes[i].id == kLaunchCooperative) {
            if (config->grid_x > 132 * 2) return r::kCooperativeLaunchTooLarge;
            ++machine.cooperative_launches;
        } else if (config->attributes[i].id == kLaunchCluster) {
            if (config->grid_x % config->attributes[i].value.cluster.x != 0)
                return r::kInvalidValue;
            ++machine.cluster_launches;
        }
    return run_on(config->stream, kernel_of(function), arguments);
}

}  // namespace

std::vector<Row> module_rows() {
    return {
        {"cuStreamCreateWithPriority", pointer(fake_stream_create)},
        {"cuStreamDestroy", pointer(fake_stream_destroy)},
        {"cuStreamSynchronize", pointer(fake_stream_wait)},
        {"cuStreamQuery", pointer(fake_stream_query)},
        {"cuStreamWaitEvent", pointer(fake_stream_wait_event)},
        {"cuLaunchHostFunc", pointer(fake_host_function)},
        {"cuEventCreate", pointer(fake_event_create)},
        {"cuEventDestroy", pointer(fake_event_destroy)},
        {"cuEventRecord", pointer(fake_event_record)},
        {"cuEventQuery", pointer(fake_event_query)},
        {"cuEventSynchronize", pointer(fake_event_wait)},
        {"cuEventElapsedTime", pointer(fake_event_elapsed)},
        {"cuModuleLoadDataEx", pointer(fake_load)},
        {"cuModuleUnload", pointer(fake_unload)},
        {"cuModuleGetFunction", pointer(fake_function)},
        {"cuModuleGetGlobal", pointer(fake_global)},
        {"cuModuleGetFunctionCount", pointer(fake_function_count)},
        {"cuModuleEnumerateFunctions", pointer(fake_enumerate)},
        {"cuFuncGetName", pointer(fake_function_name)},
        {"cuFuncGetParamInfo", pointer(fake_param_info)},
        {"cuFuncGetAttribute", pointer(fake_function_attribute)},
        {"cuFuncSetAttribute", pointer(fake_set_attribute)},
        {"cuOccupancyMaxActiveBlocksPerMultiprocessor", pointer(fake_occupancy)},
        {"cuLaunchKernel", pointer(fake_launch)},
        {"cuLaunchKernelEx", pointer(fake_launch_ex)},
    };
}

}  // namespace trilane::cuda::testing
