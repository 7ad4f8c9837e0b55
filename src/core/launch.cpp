// Launches: configuration and arguments are checked before anything starts.
#include "core/launch.h"

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/pack.h"
#include "core/peer.h"

namespace trilane::core {
namespace {

constexpr size_t kInline = 32;  // arguments packed without the heap

[[noreturn]] void bad_configuration(const Function& f, const std::string& what) {
    throw_error(ErrorKind::InvalidArgument, "launch of {}: {}", f.name(), what);
}

std::string text_of(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

void check_shape(const Function& f, const LaunchConfig& c, const DeviceProperties& device) {
    const Dim3 &g = c.grid, &b = c.block;
    if (g.x == 0 || g.y == 0 || g.z == 0)
        bad_configuration(f, fmt::format("empty grid: got {}, expected at least 1 block in each "
                                         "dimension",
                                         text_of(g)));
    if (b.x == 0 || b.y == 0 || b.z == 0)
        bad_configuration(f, fmt::format("empty block: got {}, expected at least 1 thread in each "
                                         "dimension",
                                         text_of(b)));
    const Dim3 &mb = device.max_block, &mg = device.max_grid;
    if (b.x > mb.x || b.y > mb.y || b.z > mb.z)
        bad_configuration(f, fmt::format("block too large: got {}, expected at most {}: use more "
                                         "blocks of fewer threads",
                                         text_of(b), text_of(mb)));
    if (b.count() > static_cast<uint64_t>(device.max_threads_per_block))
        bad_configuration(f, fmt::format("block too large: got {} = {} threads, expected at most "
                                         "{}: use more blocks of fewer threads",
                                         text_of(b), b.count(), device.max_threads_per_block));
    if (g.x > mg.x || g.y > mg.y || g.z > mg.z)
        bad_configuration(
            f, fmt::format("grid too large: got {}, expected at most {}", text_of(g), text_of(mg)));
    const int most = f.info().attributes.max_threads_per_block;
    if (b.count() > static_cast<uint64_t>(most))
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: too many threads for this kernel: got {} per block, expected at "
                    "most {}: its registers or __launch_bounds__ allow no more",
                    f.name(), b.count(), most);
}

void check_shared(const Function& f, size_t dynamic, const DeviceProperties& device) {
    const FunctionAttributes& a = f.info().attributes;
    const size_t most = std::max(device.shared_per_block, a.max_dynamic_shared_bytes);
    if (dynamic <= a.max_dynamic_shared_bytes && a.shared_bytes + dynamic <= most) return;
    const size_t device_most = device.shared_per_block_optin;
    const bool may_opt_in = a.shared_bytes + dynamic <= device_most;
    bad_configuration(
        f, fmt::format("too much shared memory: got {} bytes static and {} dynamic, expected at "
                       "most {} together: {}",
                       a.shared_bytes, dynamic, most,
                       may_opt_in
                           ? fmt::format("raise the function's MAX_DYNAMIC_SHARED_SIZE_BYTES "
                                         "attribute, the device gives a block up to {}",
                                         device_most)
                           : fmt::format("the device gives a block {} at the very most, and that "
                                         "only if the function's MAX_DYNAMIC_SHARED_SIZE_BYTES "
                                         "attribute is raised",
                                         device_most)));
}

void start(Function& f, const LaunchConfig& config, const StreamPtr& stream, void* const* arguments,
           size_t count) {
    LaunchParams params;
    params.function = f.info().raw;
    params.grid = config.grid;
    params.block = config.block;
    params.shared_bytes = config.shared_bytes;
    params.stream = stream->raw();
    params.arguments = arguments;
    params.argument_count = count;
    params.cooperative = config.cooperative;
    params.cluster = config.cluster;
    if (f.context()->captures().any()) [[unlikely]]
        if (CapturePtr capture = f.context()->captures().of(*stream)) capture->hold(f.module());
    f.context()->device().launch(params);
    finish_peer_uses(stream);
}

// The stream to use; checks everything but the arguments.
StreamPtr prepare(Function& f, const LaunchConfig& config) {
    const ContextPtr& context = f.context();
    context->require_usable("launch");
    check_shape(f, config, context->properties());
    check_shared(f, config.shared_bytes, context->properties());
    StreamPtr stream = config.stream != nullptr ? config.stream : current_stream(context);
    if (stream->context() != context) [[unlikely]]
        bad_configuration(f, fmt::format("stream of another device: got device {}, expected {}",
                                         stream->context()->index(), context->index()));
    return stream;
}

}  // namespace

void launch(Function& f, const LaunchConfig& config, std::span<const Argument> arguments) {
    const StreamPtr stream = prepare(f, config);
    const FunctionInfo& info = f.info();
    const size_t count = arguments.size();
    if (info.parameters_known && count != info.parameters.size()) [[unlikely]]
        throw_argument_count(info, arguments);

    PackedValue values[kInline];
    void* pointers[kInline];
    std::unique_ptr<PackedValue[]> more_values;
    std::unique_ptr<void*[]> more_pointers;
    PackedValue* value = values;
    void** pointer = pointers;
    if (count > kInline) {
        more_values = std::make_unique<PackedValue[]>(count);
        more_pointers = std::make_unique<void*[]>(count);
        value = more_values.get();
        pointer = more_pointers.get();
    }
    for (size_t i = 0; i < count; ++i) {
        const Argument& given = arguments[i];
        if (given.buffer != nullptr) given.buffer->require_live("launch");
        pointer[i] = info.parameters_known ? pack_argument(info, i, given, value[i])
                                           : pack_unchecked(info, i, given, value[i]);
    }
    // Before the launch: if it fails after it started something, the memory is still guarded.
    for (const Argument& given : arguments)
        if (given.buffer != nullptr) use_on(*given.buffer, stream, f.name().c_str());
    start(f, config, stream, pointer, count);
}

void launch_packed(Function& f, const LaunchConfig& config, void* const* arguments, size_t count) {
    const StreamPtr stream = prepare(f, config);
    start(f, config, stream, arguments, count);
}

}  // namespace trilane::core
