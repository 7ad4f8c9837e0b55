// Copies and fills.
#include <algorithm>
#include <cstring>

#include "core/background.h"
#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::CopyKind;
using core::DevicePtr;

namespace {

void* host_of(DevicePtr address) { return reinterpret_cast<void*>(address); }

void copy_on_host(const core::Copy3D& p) {
    for (size_t slice = 0; slice < p.depth; ++slice)
        for (size_t row = 0; row < p.height; ++row)
            std::memcpy(host_of(p.dst + slice * p.dst_slice_pitch + row * p.dst_pitch),
                        host_of(p.src + slice * p.src_slice_pitch + row * p.src_pitch),
                        p.width_bytes);
}

// The driver counts the distance of slices in rows. One slice needs no distance, one row no pitch.
Memcpy3D box_of(const core::Copy3D& p) {
    Memcpy3D box;
    const bool from_host = p.kind == CopyKind::HostToDevice;
    const bool to_host = p.kind == CopyKind::DeviceToHost;
    box.src_type = from_host ? kMemoryHost : kMemoryDevice;
    box.dst_type = to_host ? kMemoryHost : kMemoryDevice;
    box.src_host = from_host ? host_of(p.src) : nullptr;
    box.src_device = from_host ? 0 : p.src;
    box.dst_host = to_host ? host_of(p.dst) : nullptr;
    box.dst_device = to_host ? 0 : p.dst;
    box.src_pitch = std::max(p.src_pitch, p.width_bytes);
    box.dst_pitch = std::max(p.dst_pitch, p.width_bytes);
    box.src_height = p.depth > 1 ? p.src_slice_pitch / box.src_pitch : p.height;
    box.dst_height = p.depth > 1 ? p.dst_slice_pitch / box.dst_pitch : p.height;
    box.width = p.width_bytes;
    box.height = p.height;
    box.depth = p.depth;
    return box;
}

bool slices_are_rows(const core::Copy3D& p) {
    if (p.depth <= 1) return true;
    auto whole = [&](size_t slice_pitch, size_t pitch) {
        return pitch >= p.width_bytes && slice_pitch % pitch == 0 &&
               slice_pitch / pitch >= p.height;
    };
    return whole(p.src_slice_pitch, p.src_pitch) && whole(p.dst_slice_pitch, p.dst_pitch);
}

}  // namespace

// The driver knows the memory that it pinned itself, ours or another library's.
bool CudaDevice::is_pageable(const void* address) {
    unsigned type = 0;
    return driver_.cuPointerGetAttribute(&type, kPointerMemoryType,
                                         reinterpret_cast<DeviceAddress>(address)) !=
           result::kSuccess;
}

// A graph copies from and to the user's memory each time; the ring's would be used again.
bool CudaDevice::is_captured(StreamHandle stream) {
    int status = 0;
    return driver_.cuStreamIsCapturing(stream, &status) != result::kSuccess || status != 0;
}

void CudaDevice::copy_to_device(DevicePtr dst, const void* src, size_t nbytes, StreamHandle stream,
                                bool wait) {
    // The ring takes no more than it holds before the stream is free.
    if (!wait && nbytes > Staging::ring_bytes() && may_hold_up(stream) && is_pageable(src))
        await_earlier(stream);
    if (nbytes >= Staging::least_bytes() && is_pageable(src) && !is_captured(stream) &&
        staging_->to_device(context(), dst, src, nbytes, stream)) {
        if (wait) check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
        return;
    }
    if (wait && stream == nullptr)
        return check(driver_.cuMemcpyHtoD(dst, src, nbytes), "cuMemcpyHtoD");
    check(driver_.cuMemcpyHtoDAsync(dst, src, nbytes, stream), "cuMemcpyHtoDAsync");
    if (wait) check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void CudaDevice::copy_to_host(void* dst, DevicePtr src, size_t nbytes, StreamHandle stream,
                              bool wait) {
    // Into pageable memory the driver copies at once, after what is on the stream.
    if (!wait && may_hold_up(stream) && is_pageable(dst)) await_earlier(stream);
    if (nbytes >= Staging::least_bytes() && is_pageable(dst) && !is_captured(stream) &&
        staging_->to_host(context(), dst, src, nbytes, stream))
        return;
    if (wait && stream == nullptr)
        return check(driver_.cuMemcpyDtoH(dst, src, nbytes), "cuMemcpyDtoH");
    check(driver_.cuMemcpyDtoHAsync(dst, src, nbytes, stream), "cuMemcpyDtoHAsync");
    if (wait) check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void CudaDevice::copy(CopyKind kind, DevicePtr dst, DevicePtr src, size_t nbytes,
                      core::RawStream raw, bool wait) {
    if (nbytes == 0) return;
    const Scope scope(*this, "copy");
    const StreamHandle stream = stream_of(raw);
    if (wait && core::wait_may_be_left()) await_earlier(stream);
    switch (kind) {
        case CopyKind::HostToDevice:
            return copy_to_device(dst, host_of(src), nbytes, stream, wait);
        case CopyKind::DeviceToHost:
            return copy_to_host(host_of(dst), src, nbytes, stream, wait);
        case CopyKind::DeviceToDevice:
            check(driver_.cuMemcpyDtoDAsync(dst, src, nbytes, stream), "cuMemcpyDtoDAsync");
            break;
        case CopyKind::HostToHost:
            check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
            std::memcpy(host_of(dst), host_of(src), nbytes);
            return;
    }
    if (wait) check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void CudaDevice::copy_3d(const core::Copy3D& params, core::RawStream raw, bool wait) {
    if (params.width_bytes == 0 || params.height == 0 || params.depth == 0) return;
    const Scope scope(*this, "copy_3d");
    const StreamHandle stream = stream_of(raw);
    if (wait && core::wait_may_be_left()) await_earlier(stream);
    if (params.kind == CopyKind::HostToHost) {
        check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
        return copy_on_host(params);
    }
    if (slices_are_rows(params)) {
        const Memcpy3D box = box_of(params);
        check(driver_.cuMemcpy3DAsync(&box, stream), "cuMemcpy3DAsync");
    } else {
        for (size_t slice = 0; slice < params.depth; ++slice) {
            core::Copy3D one = params;
            one.depth = 1;
            one.src += slice * params.src_slice_pitch;
            one.dst += slice * params.dst_slice_pitch;
            const Memcpy3D box = box_of(one);
            check(driver_.cuMemcpy3DAsync(&box, stream), "cuMemcpy3DAsync");
        }
    }
    if (wait) check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void CudaDevice::fill(DevicePtr dst, uint32_t pattern, int pattern_bytes, size_t count,
                      size_t height, size_t pitch, core::RawStream raw) {
    if (count == 0 || height == 0) return;
    const Scope scope(*this, "fill");
    const StreamHandle stream = stream_of(raw);
    const auto byte = static_cast<unsigned char>(pattern);
    const auto half = static_cast<unsigned short>(pattern);
    const size_t row = count * static_cast<size_t>(pattern_bytes);
    if (height == 1 || pitch == row) {
        const size_t all = count * height;
        if (pattern_bytes == 1)
            check(driver_.cuMemsetD8Async(dst, byte, all, stream), "cuMemsetD8Async");
        else if (pattern_bytes == 2)
            check(driver_.cuMemsetD16Async(dst, half, all, stream), "cuMemsetD16Async");
        else
            check(driver_.cuMemsetD32Async(dst, pattern, all, stream), "cuMemsetD32Async");
    } else if (pattern_bytes == 1) {
        check(driver_.cuMemsetD2D8Async(dst, pitch, byte, count, height, stream),
              "cuMemsetD2D8Async");
    } else if (pattern_bytes == 2) {
        check(driver_.cuMemsetD2D16Async(dst, pitch, half, count, height, stream),
              "cuMemsetD2D16Async");
    } else {
        check(driver_.cuMemsetD2D32Async(dst, pitch, pattern, count, height, stream),
              "cuMemsetD2D32Async");
    }
}

}  // namespace trilane::cuda
