// The ring, its threads, and the two directions.
#include "devices/cuda/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/env.h"

namespace trilane::cuda {
namespace {

constexpr size_t kSlotBytes = size_t{2} << 20;
constexpr size_t kSlotsPerThread = 2;
// Where it overtakes the driver on an H200: 3 MiB to the host, 6 MiB to the device.
constexpr size_t kDefaultLeast = size_t{6} << 20;

size_t thread_count() {
    const long long asked = core::env_int("TRILANE_CUDA_STAGING_THREADS", 0);
    if (asked > 0) return static_cast<size_t>(std::min<long long>(asked, 64));
    return std::clamp<size_t>(std::thread::hardware_concurrency() / 2, 1, 6);
}

}  // namespace

size_t Staging::least_bytes() {
    static const size_t least = [] {
        const long long kib = core::env_int("TRILANE_CUDA_STAGING_KIB", kDefaultLeast >> 10);
        return kib <= 0 ? SIZE_MAX : static_cast<size_t>(kib) << 10;
    }();
    return least;
}

size_t Staging::ring_bytes() {
    static const size_t nbytes = thread_count() * kSlotsPerThread * kSlotBytes;
    return nbytes;
}

Staging::~Staging() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    release();
}

void Staging::release() noexcept {
    for (const Slot& slot : slots_) {
        if (faults_.lost()) break;
        if (slot.event != nullptr)
            faults_.report(driver_.cuEventDestroy(slot.event), "cuEventDestroy");
        if (slot.memory != nullptr)
            faults_.report(driver_.cuMemFreeHost(slot.memory), "cuMemFreeHost");
    }
    slots_.clear();
}

bool Staging::prepare(ContextHandle context) {
    if (unavailable_) return false;
    if (!threads_.empty()) return true;
    const size_t threads = thread_count();
    slots_.resize(threads * kSlotsPerThread);
    for (Slot& slot : slots_) {
        Result result = driver_.cuMemHostAlloc(&slot.memory, kSlotBytes, 0);
        if (result == result::kSuccess)
            result = driver_.cuEventCreate(&slot.event, kEventDisableTiming);
        if (result == result::kSuccess) continue;
        release();
        if (is_sticky(result)) faults_.fail(result, "cuMemHostAlloc");
        unavailable_ = true;  // the driver's own way needs no memory
        return false;
    }
    start_threads(context);
    return true;
}

void Staging::start_threads(ContextHandle context) {
    try {
        while (threads_.size() * kSlotsPerThread < slots_.size()) {
            const size_t index = threads_.size();
            threads_.emplace_back([this, context, index] { run_thread(context, index); });
        }
    } catch (const std::system_error&) {
        if (threads_.empty()) throw;  // fewer threads do as well
    }
}

void Staging::run_thread(ContextHandle context, size_t index) {
    bool current = false;
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
        const auto& work = *work_;
        lock.unlock();
        std::exception_ptr failure;
        try {
            if (!current) check(driver_.cuCtxSetCurrent(context), "cuCtxSetCurrent");
            current = true;
            work(index);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure && !failure_) failure_ = failure;
        if (--running_ == 0) done_.notify_all();
    }
}

void Staging::run_all(const std::function<void(size_t)>& work, StreamHandle stream) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    failure_ = nullptr;
    running_ = threads_.size();
    ++round_;
    wake_.notify_all();
    done_.wait(lock, [&] { return running_ == 0; });
    work_ = nullptr;
    if (!failure_) return;
    // Copies may still use slots whose events were not recorded.
    if (!faults_.lost()) driver_.cuStreamSynchronize(stream);
    std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool Staging::to_device(ContextHandle context, DeviceAddress dst, const void* src, size_t nbytes,
                        StreamHandle stream) {
    std::lock_guard turn(turn_);
    if (!prepare(context)) return false;
    std::atomic<size_t> next{0};
    run_all(
        [&](size_t thread) {
            for (size_t use = 0;; ++use) {
                const size_t offset = next.fetch_add(kSlotBytes, std::memory_order_relaxed);
                if (offset >= nbytes) return;
                const size_t count = std::min(kSlotBytes, nbytes - offset);
                const Slot& slot = slots_[thread * kSlotsPerThread + use % kSlotsPerThread];
                // Free when its last copy is done, of this call or the one before.
                check(driver_.cuEventSynchronize(slot.event), "cuEventSynchronize");
                std::memcpy(slot.memory, static_cast<const char*>(src) + offset, count);
                check(driver_.cuMemcpyHtoDAsync(dst + offset, slot.memory, count, stream),
                      "cuMemcpyHtoDAsync");
                check(driver_.cuEventRecord(slot.event, stream), "cuEventRecord");
            }
        },
        stream);
    return true;
}

bool Staging::to_host(ContextHandle context, void* dst, DeviceAddress src, size_t nbytes,
                      StreamHandle stream) {
    std::lock_guard turn(turn_);
    if (!prepare(context)) return false;
    std::atomic<size_t> next{0};
    run_all(
        [&](size_t thread) {
            struct Pending {
                const Slot* slot;
                size_t offset, count;
            };
            Pending pending[kSlotsPerThread];
            size_t issued = 0, finished = 0;
            auto finish = [&] {
                const Pending& p = pending[finished++ % kSlotsPerThread];
                check(driver_.cuEventSynchronize(p.slot->event), "cuEventSynchronize");
                std::memcpy(static_cast<char*>(dst) + p.offset, p.slot->memory, p.count);
            };
            while (true) {
                const size_t offset = next.fetch_add(kSlotBytes, std::memory_order_relaxed);
                if (offset >= nbytes) break;
                if (issued - finished == kSlotsPerThread) finish();
                const Slot& slot = slots_[thread * kSlotsPerThread + issued % kSlotsPerThread];
                // A copy to the device may still read the slot.
                check(driver_.cuEventSynchronize(slot.event), "cuEventSynchronize");
                const size_t count = std::min(kSlotBytes, nbytes - offset);
                check(driver_.cuMemcpyDtoHAsync(slot.memory, src + offset, count, stream),
                      "cuMemcpyDtoHAsync");
                check(driver_.cuEventRecord(slot.event, stream), "cuEventRecord");
                pending[issued++ % kSlotsPerThread] = {&slot, offset, count};
            }
            while (finished < issued) finish();
        },
        stream);
    return true;
}

}  // namespace trilane::cuda
