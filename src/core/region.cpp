// Fills, and copies of rectangles, of memory that buffers own.
#include "core/region.h"

#include "core/error.h"
#include "core/peer.h"

namespace trilane::core {
namespace {

void check_side(Buffer* buffer, DevicePtr address, size_t extent, const char* side) {
    if (!buffer) return;
    buffer->require_live("copy_region");
    DevicePtr begin = buffer->address();
    if (address < begin || address - begin > buffer->nbytes() ||
        extent > buffer->nbytes() - (address - begin))
        throw_error(ErrorKind::InvalidArgument,
                    "copy_region: {} is outside its allocation: got {} bytes from byte {}, "
                    "expected at most {} bytes",
                    side, extent, static_cast<int64_t>(address - begin), buffer->nbytes());
}

void default_pitches(size_t& pitch, size_t& slice_pitch, const Copy3D& params, const char* side) {
    if (pitch == 0) pitch = params.width_bytes;
    if (slice_pitch == 0) slice_pitch = pitch * params.height;
    if (pitch < params.width_bytes && params.height > 1)
        throw_error(ErrorKind::InvalidArgument,
                    "copy_region: the pitch of {} is smaller than a row: got {}, expected at "
                    "least {} bytes",
                    side, pitch, params.width_bytes);
}

}  // namespace

size_t region_extent(size_t width_bytes, size_t height, size_t depth, size_t pitch,
                     size_t slice_pitch) {
    if (width_bytes == 0 || height == 0 || depth == 0) return 0;
    return (depth - 1) * slice_pitch + (height - 1) * pitch + width_bytes;
}

void fill(Buffer& dst, size_t offset, uint32_t pattern, int pattern_bytes, size_t count,
          size_t height, size_t pitch, const StreamPtr& stream) {
    dst.require_live("fill");
    if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4)
        throw_error(ErrorKind::InvalidArgument,
                    "fill: no such pattern: got {} bytes, expected 1, 2 or 4", pattern_bytes);
    size_t row = count * static_cast<size_t>(pattern_bytes);
    if (height <= 1) pitch = row;
    size_t extent = region_extent(row, height, 1, pitch, 0);
    if (offset > dst.nbytes() || extent > dst.nbytes() - offset)
        throw_error(ErrorKind::InvalidArgument,
                    "fill: outside the allocation: got {} bytes from byte {}, expected at most {} "
                    "bytes",
                    extent, offset, dst.nbytes());
    if (extent == 0) return;
    require_same_device(dst, stream, "fill");
    Device& device = stream->context()->device();
    device.make_current();
    device.fill(dst.address() + offset, pattern, pattern_bytes, count, height, pitch,
                stream->raw());
    dst.record_use(stream);
}

void copy_region(Copy3D params, Buffer* dst, Buffer* src, const StreamPtr& stream, bool wait) {
    default_pitches(params.dst_pitch, params.dst_slice_pitch, params, "the destination");
    default_pitches(params.src_pitch, params.src_slice_pitch, params, "the source");
    check_side(dst, params.dst,
               region_extent(params.width_bytes, params.height, params.depth, params.dst_pitch,
                             params.dst_slice_pitch),
               "the destination");
    check_side(src, params.src,
               region_extent(params.width_bytes, params.height, params.depth, params.src_pitch,
                             params.src_slice_pitch),
               "the source");
    if (params.width_bytes == 0 || params.height == 0 || params.depth == 0) return;
    if (wait) refuse_wait("copy_3d", *stream);
    if (dst && src && dst->context() != src->context() && is_located(*dst) && is_located(*src))
        return copy_region_between(params, *dst, *src, stream, wait);
    if (dst) require_same_device(*dst, stream, "copy_region");
    if (src) require_same_device(*src, stream, "copy_region");
    Device& device = stream->context()->device();
    device.make_current();
    device.copy_3d(params, stream->raw(), wait);
    if (dst) dst->record_use(stream);
    if (src) src->record_use(stream);
}

}  // namespace trilane::core
