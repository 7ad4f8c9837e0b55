// Copies between host and device, fills, rectangles.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "bindings/arguments.h"
#include "bindings/bindings.h"
#include "bindings/copy_sides.h"
#include "bindings/host_view.h"
#include "bindings/release_later.h"
#include "core/error.h"
#include "core/region.h"

namespace trilane::bindings {

void keep_until_done(const core::StreamPtr& stream, std::unique_ptr<HostView> view) {
    if (core::CapturePtr capture = stream->context()->captures().of(*stream)) {
        // Each launch of the graph copies again. It may end on any thread.
        capture->hold(std::shared_ptr<const void>(
            view.release(), [](HostView* kept) { release_later([kept] { delete kept; }); }));
        return;
    }
    if (stream->context()->properties().type != core::DeviceType::Cuda) return;
    release_now();
    std::shared_ptr<HostView> held = std::move(view);
    nb::gil_scoped_release unlocked;
    // The driver calls this on a thread of its own, where registered memory could not be given
    // back.
    stream->host_function([held = std::move(held)]() mutable {
        release_later([held = std::move(held)]() mutable { held.reset(); });
    });
}

Side side_of(nb::handle object, bool host, bool write, size_t offset, size_t extent,
             const core::ContextPtr& context) {
    Side side;
    if (!host) {
        size_t start = 0;
        side.buffer = buffer_of(object, offset + extent, start, "copy_3d", context);
        side.address = side.buffer->address() + start + offset;
        return side;
    }
    if (PyLong_Check(object.ptr())) {  // a bare host address
        side.address = nb::cast<core::DevicePtr>(object) + offset;
        return side;
    }
    side.view = std::make_unique<HostView>(
        object, write ? HostView::Access::Write : HostView::Access::Read, "copy_3d");
    if (offset > side.view->nbytes() || extent > side.view->nbytes() - offset)
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "copy_3d: outside the host array: got {} bytes from byte {}, expected at "
                          "most {} bytes",
                          extent, offset, side.view->nbytes());
    side.address = reinterpret_cast<core::DevicePtr>(side.view->data()) + offset;
    return side;
}

namespace {

using namespace nb::literals;

size_t host_bytes(const HostView& view, std::optional<size_t> nbytes, const char* who) {
    if (!nbytes) return view.nbytes();
    if (*nbytes > view.nbytes())
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "{}: the host array is too small: got {} bytes, expected at least {}",
                          who, view.nbytes(), *nbytes);
    return *nbytes;
}

void to_device(nb::handle dst, nb::handle src, std::optional<size_t> nbytes, size_t dst_offset,
               const core::StreamPtr& given, bool wait) {
    auto view = std::make_unique<HostView>(src, HostView::Access::Read, "copy_to_device");
    size_t count = host_bytes(*view, nbytes, "copy_to_device");
    size_t offset = 0;
    core::BufferPtr buffer = buffer_of(dst, dst_offset + count, offset, "copy_to_device",
                                       given ? given->context() : nullptr);
    core::StreamPtr stream = stream_or_current(given, buffer->context());
    {
        nb::gil_scoped_release unlocked;
        core::copy_to_device(*buffer, offset + dst_offset, view->data(), count, stream, wait);
    }
    if (!wait) keep_until_done(stream, std::move(view));
}

void to_host(nb::handle dst, nb::handle src, std::optional<size_t> nbytes, size_t src_offset,
             const core::StreamPtr& given, bool wait) {
    auto view = std::make_unique<HostView>(dst, HostView::Access::Write, "copy_to_host");
    size_t count = host_bytes(*view, nbytes, "copy_to_host");
    size_t offset = 0;
    core::BufferPtr buffer = buffer_of(src, src_offset + count, offset, "copy_to_host",
                                       given ? given->context() : nullptr);
    core::StreamPtr stream = stream_or_current(given, buffer->context());
    {
        nb::gil_scoped_release unlocked;
        core::copy_to_host(view->data(), *buffer, offset + src_offset, count, stream, wait);
    }
    if (!wait) keep_until_done(stream, std::move(view));
}

void on_device(nb::handle dst, nb::handle src, size_t nbytes, size_t dst_offset, size_t src_offset,
               const core::StreamPtr& given, bool wait) {
    size_t to = 0, from = 0;
    core::ContextPtr hint = given ? given->context() : nullptr;
    core::BufferPtr target = buffer_of(dst, dst_offset + nbytes, to, "copy_on_device", hint);
    core::BufferPtr source = buffer_of(src, src_offset + nbytes, from, "copy_on_device", hint);
    core::StreamPtr stream = stream_or_current(given, target->context());
    nb::gil_scoped_release unlocked;
    core::copy_on_device(*target, to + dst_offset, *source, from + src_offset, nbytes, stream);
    if (wait) stream->synchronize();
}

void fill_memory(nb::handle dst, uint32_t pattern, int pattern_bytes, size_t count, size_t height,
                 size_t pitch, size_t dst_offset, const core::StreamPtr& given) {
    size_t row = count * static_cast<size_t>(std::max(pattern_bytes, 0));
    size_t extent = core::region_extent(row, height, 1, height > 1 ? pitch : row, 0);
    size_t offset = 0;
    core::BufferPtr buffer =
        buffer_of(dst, dst_offset + extent, offset, "fill", given ? given->context() : nullptr);
    core::StreamPtr stream = stream_or_current(given, buffer->context());
    nb::gil_scoped_release unlocked;
    core::fill(*buffer, offset + dst_offset, pattern, pattern_bytes, count, height, pitch, stream);
}

core::CopyKind kind_of(const std::string& name) {
    if (name == "HtoD") return core::CopyKind::HostToDevice;
    if (name == "DtoH") return core::CopyKind::DeviceToHost;
    if (name == "DtoD") return core::CopyKind::DeviceToDevice;
    if (name == "HtoH") return core::CopyKind::HostToHost;
    core::throw_error(core::ErrorKind::InvalidArgument,
                      "copy_3d: no such kind of copy: got '{}', expected HtoD, DtoH, DtoD or HtoH",
                      name);
}

void copy_3d(const std::string& kind_name, nb::handle dst, nb::handle src, core::Copy3D params,
             size_t dst_offset, size_t src_offset, const core::StreamPtr& given, bool wait) {
    using core::CopyKind;
    params.kind = kind_of(kind_name);
    bool host_src = params.kind == CopyKind::HostToDevice || params.kind == CopyKind::HostToHost;
    bool host_dst = params.kind == CopyKind::DeviceToHost || params.kind == CopyKind::HostToHost;
    auto extent = [&](size_t pitch, size_t slice_pitch) {
        if (pitch == 0) pitch = params.width_bytes;
        if (slice_pitch == 0) slice_pitch = pitch * params.height;
        return core::region_extent(params.width_bytes, params.height, params.depth, pitch,
                                   slice_pitch);
    };
    core::ContextPtr hint = given ? given->context() : nullptr;
    Side to = side_of(dst, host_dst, true, dst_offset,
                      extent(params.dst_pitch, params.dst_slice_pitch), hint);
    Side from = side_of(src, host_src, false, src_offset,
                        extent(params.src_pitch, params.src_slice_pitch), hint);
    params.dst = to.address;
    params.src = from.address;
    core::BufferPtr known = to.buffer ? to.buffer : from.buffer;
    core::StreamPtr stream =
        known ? stream_or_current(given, known->context()) : stream_or_current(given);
    {
        nb::gil_scoped_release unlocked;
        core::copy_region(params, to.buffer.get(), from.buffer.get(), stream, wait);
    }
    if (wait) return;
    if (to.view) keep_until_done(stream, std::move(to.view));
    if (from.view) keep_until_done(stream, std::move(from.view));
}

void bind_linear(nb::module_& m) {
    m.def(
        "copy_to_device",
        [](nb::object dst, nb::object src, std::optional<size_t> nbytes, size_t dst_offset,
           const core::StreamPtr& stream,
           bool wait) { to_device(dst, src, nbytes, dst_offset, stream, wait); },
        "dst"_a, "src"_a, "nbytes"_a = nb::none(), nb::kw_only(), "dst_offset"_a = 0,
        "stream"_a.none() = nb::none(), "wait"_a = true);
    m.def(
        "copy_to_host",
        [](nb::object dst, nb::object src, std::optional<size_t> nbytes, size_t src_offset,
           const core::StreamPtr& stream,
           bool wait) { to_host(dst, src, nbytes, src_offset, stream, wait); },
        "dst"_a, "src"_a, "nbytes"_a = nb::none(), nb::kw_only(), "src_offset"_a = 0,
        "stream"_a.none() = nb::none(), "wait"_a = true);
    m.def(
        "copy_on_device",
        [](nb::object dst, nb::object src, size_t nbytes, size_t dst_offset, size_t src_offset,
           const core::StreamPtr& stream,
           bool wait) { on_device(dst, src, nbytes, dst_offset, src_offset, stream, wait); },
        "dst"_a, "src"_a, "nbytes"_a, nb::kw_only(), "dst_offset"_a = 0, "src_offset"_a = 0,
        "stream"_a.none() = nb::none(), "wait"_a = false);
}

}  // namespace

void bind_copy(nb::module_& m) {
    bind_linear(m);
    m.def(
        "fill",
        [](nb::object dst, uint32_t pattern, int pattern_bytes, size_t count, size_t height,
           size_t pitch, size_t dst_offset, const core::StreamPtr& stream) {
            fill_memory(dst, pattern, pattern_bytes, count, height, pitch, dst_offset, stream);
        },
        "dst"_a, "pattern"_a, "pattern_bytes"_a, "count"_a, nb::kw_only(), "height"_a = 1,
        "pitch"_a = 0, "dst_offset"_a = 0, "stream"_a.none() = nb::none(),
        "`pattern` of 1, 2 or 4 bytes, `count` times in each of `height` rows.");
    m.def(
        "copy_3d",
        [](const std::string& kind, nb::object dst, nb::object src, size_t width_bytes,
           size_t height, size_t depth, size_t dst_pitch, size_t src_pitch, size_t dst_slice_pitch,
           size_t src_slice_pitch, size_t dst_offset, size_t src_offset,
           const core::StreamPtr& stream, bool wait) {
            core::Copy3D params;
            params.width_bytes = width_bytes;
            params.height = height;
            params.depth = depth;
            params.dst_pitch = dst_pitch;
            params.src_pitch = src_pitch;
            params.dst_slice_pitch = dst_slice_pitch;
            params.src_slice_pitch = src_slice_pitch;
            copy_3d(kind, dst, src, params, dst_offset, src_offset, stream, wait);
        },
        "kind"_a, "dst"_a, "src"_a, "width_bytes"_a, "height"_a = 1, "depth"_a = 1, nb::kw_only(),
        "dst_pitch"_a = 0, "src_pitch"_a = 0, "dst_slice_pitch"_a = 0, "src_slice_pitch"_a = 0,
        "dst_offset"_a = 0, "src_offset"_a = 0, "stream"_a.none() = nb::none(), "wait"_a = true);
    m.def(
        "resolve_memory",
        [](nb::object memory) {
            MemoryRef ref = memory_of(memory, "resolve_memory");
            return nb::make_tuple(ref.address, ref.buffer);
        },
        "memory"_a, "The address, and the Buffer if it is known.");
}

}  // namespace trilane::bindings
