// Copies and fills of buffers: ranges checked, order kept.
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "core/peer.h"

namespace trilane::core {
namespace {

void require_range(const char* who, const Buffer& buffer, const char* which, size_t offset,
                   size_t nbytes) {
    buffer.require_live(who);
    if (offset > buffer.nbytes() || nbytes > buffer.nbytes() - offset) [[unlikely]]
        throw_error(ErrorKind::InvalidArgument,
                    "{}: {} out of range: got {} bytes at offset {}, expected at most {} bytes in "
                    "all",
                    who, which, nbytes, offset, buffer.nbytes());
}

void require_host(const char* who, const void* pointer) {
    if (pointer == nullptr) [[unlikely]]
        throw_error(ErrorKind::InvalidArgument, "{}: null host pointer", who);
}

}  // namespace

void copy_to_device(Buffer& dst, size_t dst_offset, const void* src, size_t nbytes,
                    const StreamPtr& stream, bool wait) {
    require_range("copy_to_device", dst, "destination", dst_offset, nbytes);
    stream->context()->require_usable("copy_to_device");
    if (nbytes == 0) return;
    require_host("copy_to_device", src);
    if (wait) refuse_wait("copy_to_device", *stream);
    require_same_device(dst, stream, "copy_to_device");
    dst.record_use(stream);
    stream->context()->device().copy(CopyKind::HostToDevice, dst.address() + dst_offset,
                                     reinterpret_cast<DevicePtr>(src), nbytes, stream->raw(), wait);
}

void copy_constant(Buffer& dst, size_t dst_offset, const void* src, size_t nbytes,
                   const StreamPtr& stream) {
    const CapturePtr capture = stream->context()->captures().of(*stream);
    if (capture == nullptr) [[likely]]
        return copy_to_device(dst, dst_offset, src, nbytes, stream, true);
    const auto* bytes = static_cast<const char*>(src);
    auto kept = std::make_shared<const std::vector<char>>(bytes, bytes + nbytes);
    capture->hold(kept);
    copy_to_device(dst, dst_offset, kept->data(), nbytes, stream, false);
}

void copy_to_host(void* dst, const Buffer& src, size_t src_offset, size_t nbytes,
                  const StreamPtr& stream, bool wait) {
    require_range("copy_to_host", src, "source", src_offset, nbytes);
    stream->context()->require_usable("copy_to_host");
    if (nbytes == 0) return;
    require_host("copy_to_host", dst);
    if (wait) refuse_wait("copy_to_host", *stream);
    require_same_device(src, stream, "copy_to_host");
    const_cast<Buffer&>(src).record_use(stream);
    stream->context()->device().copy(CopyKind::DeviceToHost, reinterpret_cast<DevicePtr>(dst),
                                     src.address() + src_offset, nbytes, stream->raw(), wait);
}

void copy_on_device(Buffer& dst, size_t dst_offset, const Buffer& src, size_t src_offset,
                    size_t nbytes, const StreamPtr& stream) {
    require_range("copy_on_device", dst, "destination", dst_offset, nbytes);
    require_range("copy_on_device", src, "source", src_offset, nbytes);
    stream->context()->require_usable("copy_on_device");
    if (nbytes == 0) return;
    if (dst.context() != src.context() && is_located(dst) && is_located(src))
        return copy_between(dst, dst_offset, const_cast<Buffer&>(src), src_offset, nbytes, stream);
    require_same_device(dst, stream, "copy_on_device");
    require_same_device(src, stream, "copy_on_device");
    dst.record_use(stream);
    const_cast<Buffer&>(src).record_use(stream);
    stream->context()->device().copy(CopyKind::DeviceToDevice, dst.address() + dst_offset,
                                     src.address() + src_offset, nbytes, stream->raw(), false);
}

void fill(Buffer& dst, size_t dst_offset, uint32_t pattern, int pattern_bytes, size_t count,
          const StreamPtr& stream) {
    if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4)
        throw_error(ErrorKind::InvalidArgument,
                    "fill: bad pattern: got {} bytes, expected 1, 2 or 4", pattern_bytes);
    const auto width = static_cast<size_t>(pattern_bytes);
    if (count > SIZE_MAX / width)
        throw_error(ErrorKind::InvalidArgument, "fill: too many elements: got {}", count);
    require_range("fill", dst, "destination", dst_offset, count * width);
    if (dst_offset % width != 0)
        throw_error(ErrorKind::InvalidArgument,
                    "fill: misaligned destination: got offset {}, expected a multiple of {}",
                    dst_offset, width);
    stream->context()->require_usable("fill");
    if (count == 0) return;
    require_same_device(dst, stream, "fill");
    dst.record_use(stream);
    stream->context()->device().fill(dst.address() + dst_offset, pattern, pattern_bytes, count, 1,
                                     count * width, stream->raw());
}

}  // namespace trilane::core
