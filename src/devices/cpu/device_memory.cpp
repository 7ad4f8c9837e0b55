// Allocation with an account, copies and fills.
#include "devices/cpu/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/env.h"
#include "core/error.h"
#include "core/size_text.h"
#include "devices/cpu/device.h"

namespace trilane::cpu {

using core::ErrorKind;
using core::throw_error;

namespace {

constexpr size_t kAlign = 256;
constexpr size_t kHugePage = size_t{2} << 20;

size_t machine_memory() {
    auto total = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
    std::ifstream group("/sys/fs/cgroup/memory.max");
    size_t limit = 0;
    if (group >> limit && limit > 0) total = std::min(total, limit);  // "max" is no number
    return total;
}

void* allocate_aligned(size_t nbytes) {
    bool large = nbytes >= 4 * kHugePage;
    size_t align = large ? kHugePage : kAlign;
    void* memory = std::aligned_alloc(align, (nbytes + align - 1) / align * align);
    if (memory != nullptr && large) madvise(memory, nbytes, MADV_HUGEPAGE);
    return memory;
}

bool inside(const std::map<core::DevicePtr, size_t>& ranges, core::DevicePtr address) {
    auto next = ranges.upper_bound(address);
    if (next == ranges.begin()) return false;
    --next;
    return address < next->first + next->second;
}

}  // namespace

size_t parse_memory_size(const std::string& text) {
    char* end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    std::string unit = end;
    unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
    std::transform(unit.begin(), unit.end(), unit.begin(),
                   [](char c) { return char(std::toupper(c)); });
    if (!unit.empty() && unit.back() == 'B') unit.pop_back();
    if (!unit.empty() && unit.back() == 'I') unit.pop_back();
    double scale = unit.empty()  ? 1
                   : unit == "K" ? 1024.0
                   : unit == "M" ? 1048576.0
                   : unit == "G" ? 1073741824.0
                   : unit == "T" ? 1099511627776.0
                                 : 0;
    if (end == text.c_str() || scale == 0 || !(number * scale >= 1) || number * scale > 1e18)
        throw_error(ErrorKind::InvalidArgument,
                    "TRILANE_CPU_MEMORY: got \"{}\", expected a size such as 4GB or 512MB", text);
    return size_t(number * scale);
}

size_t memory_limit() {
    if (auto text = core::env_string("TRILANE_CPU_MEMORY"); text && !text->empty())
        return parse_memory_size(*text);
    return machine_memory() / 4 * 3;
}

DeviceMemory::~DeviceMemory() {
    for (auto& block : blocks_) std::free(reinterpret_cast<void*>(block.first));
    for (auto& block : pinned_) std::free(reinterpret_cast<void*>(block.first));
}

core::MemoryInfo DeviceMemory::info() {
    std::lock_guard lock(mutex_);
    return {limit_ - used_, limit_};
}

namespace {

// The pool says what was asked for, and puts only the reason behind it.
[[noreturn]] void throw_out_of_memory(size_t nbytes, const std::string& why) {
    core::throw_error_with_detail(ErrorKind::OutOfMemory,
                                  fmt::format("allocate: out of device memory: asked for {}: {}",
                                              core::size_text(nbytes), why),
                                  why);
}

}  // namespace

core::DevicePtr DeviceMemory::allocate(size_t nbytes) {
    TRILANE_CHECK(nbytes > 0, "allocate: 0 bytes");
    size_t rounded = nbytes > SIZE_MAX - kAlign ? nbytes : (nbytes + kAlign - 1) / kAlign * kAlign;
    {
        std::lock_guard lock(mutex_);
        if (rounded > limit_ - used_)
            throw_out_of_memory(nbytes,
                                fmt::format("the device has {} in all, {} of them in use: "
                                            "TRILANE_CPU_MEMORY sets the limit",
                                            core::size_text(limit_), core::size_text(used_)));
        used_ += rounded;
    }
    void* memory = allocate_aligned(rounded);
    std::lock_guard lock(mutex_);
    if (memory == nullptr) {
        used_ -= rounded;
        throw_out_of_memory(nbytes, "the system has no more");
    }
    auto address = reinterpret_cast<core::DevicePtr>(memory);
    blocks_.emplace(address, rounded);
    return address;
}

void DeviceMemory::free(core::DevicePtr address) noexcept {
    {
        std::lock_guard lock(mutex_);
        auto found = blocks_.find(address);
        if (found == blocks_.end()) {
            core::report_cleanup_failure("free", "not an address of the cpu device's memory");
            return;
        }
        used_ -= found->second;
        blocks_.erase(found);
    }
    std::free(reinterpret_cast<void*>(address));
}

void* DeviceMemory::allocate_host(size_t nbytes) {
    void* memory = allocate_aligned(std::max<size_t>(nbytes, 1));
    if (memory == nullptr)
        throw_error(ErrorKind::OutOfMemory, "allocate_host: the system has no {} bytes left",
                    nbytes);
    std::lock_guard lock(mutex_);
    pinned_.emplace(reinterpret_cast<core::DevicePtr>(memory), std::max<size_t>(nbytes, 1));
    return memory;
}

void DeviceMemory::free_host(void* address) noexcept {
    {
        std::lock_guard lock(mutex_);
        if (pinned_.erase(reinterpret_cast<core::DevicePtr>(address)) == 0) {
            core::report_cleanup_failure("free_host", "not an address of pinned memory");
            return;
        }
    }
    std::free(address);
}

void DeviceMemory::register_host(void* address, size_t nbytes) {
    std::lock_guard lock(mutex_);
    auto key = reinterpret_cast<core::DevicePtr>(address);
    if (address == nullptr || nbytes == 0)
        throw_error(ErrorKind::InvalidArgument, "register_host: no memory given");
    if (inside(registered_, key))
        throw_error(ErrorKind::InvalidArgument, "register_host: {} is registered already", address);
    registered_.emplace(key, nbytes);
}

bool DeviceMemory::unregister_host(void* address) {
    std::lock_guard lock(mutex_);
    return registered_.erase(reinterpret_cast<core::DevicePtr>(address)) != 0;
}

bool DeviceMemory::is_host_memory(const void* address) {
    std::lock_guard lock(mutex_);
    auto key = reinterpret_cast<core::DevicePtr>(address);
    return inside(pinned_, key) || inside(registered_, key);
}

core::DevicePtr CpuDevice::allocate(size_t nbytes, core::RawStream) {
    return memory_.allocate(nbytes);
}
void CpuDevice::free(core::DevicePtr address, core::RawStream) noexcept { memory_.free(address); }
void* CpuDevice::allocate_host(size_t nbytes, unsigned) {
    void* address = memory_.allocate_host(nbytes);
    note_allocation(reinterpret_cast<core::DevicePtr>(address), nbytes, "pinned memory");
    return address;
}
void CpuDevice::free_host(void* address) noexcept {
    forget_allocation(reinterpret_cast<core::DevicePtr>(address));
    memory_.free_host(address);
}
core::DevicePtr CpuDevice::host_device_pointer(void* address) {
    if (!memory_.is_host_memory(address))
        throw_error(ErrorKind::InvalidArgument,
                    "host_device_pointer: {} is not in pinned or registered memory", address);
    return reinterpret_cast<core::DevicePtr>(address);
}
void CpuDevice::register_host(void* address, size_t nbytes, unsigned) {
    memory_.register_host(address, nbytes);
    note_allocation(reinterpret_cast<core::DevicePtr>(address), nbytes, "registered memory");
}
void CpuDevice::unregister_host(void* address) noexcept {
    forget_allocation(reinterpret_cast<core::DevicePtr>(address));
    if (!memory_.unregister_host(address))
        core::report_cleanup_failure("unregister_host", "the memory is not registered");
}
core::DevicePtr CpuDevice::allocate_managed(size_t nbytes, unsigned) {
    return memory_.allocate(nbytes);
}

namespace {

void check_addresses(const char* what, core::DevicePtr dst, core::DevicePtr src, size_t nbytes) {
    if (nbytes > 0 && (dst == 0 || src == 0))
        throw_error(ErrorKind::InvalidArgument, "{}: the {} address is null", what,
                    dst == 0 ? "destination's" : "source's");
}

char* host(core::DevicePtr address) { return reinterpret_cast<char*>(address); }

template <typename T>
void fill_row(core::DevicePtr dst, uint32_t pattern, size_t count) {
    std::fill_n(reinterpret_cast<T*>(dst), count, static_cast<T>(pattern));
}

void fill_rows(core::DevicePtr dst, uint32_t pattern, int pattern_bytes, size_t count,
               size_t height, size_t pitch) {
    for (size_t row = 0; row < height; ++row, dst += pitch) {
        if (pattern_bytes == 1)
            std::memset(host(dst), int(pattern & 255), count);
        else if (pattern_bytes == 2)
            fill_row<uint16_t>(dst, pattern, count);
        else
            fill_row<uint32_t>(dst, pattern, count);
    }
}

void copy_rows(const core::Copy3D& p) {
    for (size_t z = 0; z < p.depth; ++z)
        for (size_t y = 0; y < p.height; ++y)
            std::memmove(host(p.dst) + z * p.dst_slice_pitch + y * p.dst_pitch,
                         host(p.src) + z * p.src_slice_pitch + y * p.src_pitch, p.width_bytes);
}

// A graph does it on this thread, as the call would have.
template <typename Work>
GraphNode node(const Work& work) {
    return {[work](uint64_t) { work(); }};
}

}  // namespace

void CpuDevice::copy(core::CopyKind, core::DevicePtr dst, core::DevicePtr src, size_t nbytes,
                     core::RawStream stream, bool wait) {
    check_addresses("copy", dst, src, nbytes);
    if (wait) captures_.refuse(stream, "copy");
    const auto work = [=] {
        if (nbytes > 0) std::memmove(host(dst), host(src), nbytes);
    };
    if (captures_.keep(stream, "copy", [&] { return node(work); })) return;
    auto turn = streams_.enter(stream, "copy");
    work();
}

void CpuDevice::copy_peer(core::DevicePtr dst, core::Device&, core::DevicePtr src, size_t nbytes,
                          core::RawStream stream, bool wait) {
    copy(core::CopyKind::DeviceToDevice, dst, src, nbytes, stream, wait);
}

void CpuDevice::copy_3d(const core::Copy3D& p, core::RawStream stream, bool wait) {
    check_addresses("copy", p.dst, p.src, p.width_bytes * p.height * p.depth);
    if (p.height > 1 && (p.dst_pitch < p.width_bytes || p.src_pitch < p.width_bytes))
        throw_error(ErrorKind::InvalidArgument,
                    "copy: pitch too small: got {} and {}, expected {} bytes at least", p.dst_pitch,
                    p.src_pitch, p.width_bytes);
    if (wait) captures_.refuse(stream, "copy");
    if (captures_.keep(stream, "copy", [&] { return node([p] { copy_rows(p); }); })) return;
    auto turn = streams_.enter(stream, "copy");
    copy_rows(p);
}

void CpuDevice::fill(core::DevicePtr dst, uint32_t pattern, int pattern_bytes, size_t count,
                     size_t height, size_t pitch, core::RawStream stream) {
    if (count == 0 || height == 0) return;
    check_addresses("fill", dst, dst, count);
    if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4)
        throw_error(ErrorKind::InvalidArgument, "fill: pattern of {} bytes, expected 1, 2 or 4",
                    pattern_bytes);
    if (dst % size_t(pattern_bytes) != 0)
        throw_error(ErrorKind::InvalidArgument, "fill: the address is not a multiple of {}",
                    pattern_bytes);
    const auto work = [=] { fill_rows(dst, pattern, pattern_bytes, count, height, pitch); };
    if (captures_.keep(stream, "fill", [&] { return node(work); })) return;
    auto turn = streams_.enter(stream, "fill");
    work();
}

}  // namespace trilane::cpu
