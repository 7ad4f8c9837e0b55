// What the driver reports, as errors of ours: the kind, the driver's own name and text, and what to
// do. A fault of a running kernel ends the context for good (a "sticky" error): it is kept, named
// with the kernels last launched, and told again by every later call.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "core/error.h"
#include "devices/cuda/driver_table.h"

namespace trilane::cuda {

core::ErrorKind kind_of(Result result);
bool is_sticky(Result result);  // no call of this context works after it

// For calls that belong to no device. `call` is the driver's name of it.
[[noreturn]] void throw_driver_error(const DriverTable& driver, Result result,
                                     std::string_view call, std::string_view hint = {});

// The faults of one device, and which kernels ran last. Any thread.
class FaultState {
  public:
    explicit FaultState(const DriverTable& driver) : driver_(driver) {}

    bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    void require_usable(const char* call) const {
        if (lost()) [[unlikely]]
            throw_lost(call);
    }
    // Throws for `result`, which is not success; keeps it if it is sticky.
    [[noreturn]] void fail(Result result, std::string_view call, std::string_view hint = {});
    // For destructors: keeps a sticky error, writes a line for what is no consequence of an earlier
    // fault or of the end of the process.
    void report(Result result, const char* call) noexcept;

    // Costs two stores. `name` must live until forget(name).
    void note_launch(const std::string* name) noexcept {
        const unsigned at = next_.load(std::memory_order_relaxed);
        next_.store(at + 1, std::memory_order_relaxed);
        recent_[at % kRecent].store(name, std::memory_order_relaxed);
    }
    // The name goes away: its text is kept as long as the ring holds it.
    void forget(const std::string* name) noexcept;

  private:
    static constexpr unsigned kRecent = 8;
    [[noreturn]] void throw_lost(const char* call) const;
    void keep(Result result, std::string_view call);
    std::string recent_names() const;
    const DriverTable& driver_;
    std::atomic<bool> lost_{false};
    mutable std::mutex mutex_;
    core::FaultCode fault_ = core::FaultCode::None;
    std::string text_, detail_;  // of the fault
    std::atomic<unsigned> next_{0};
    std::array<std::atomic<const std::string*>, kRecent> recent_{};
    std::array<std::string, kRecent> departed_;  // names whose kernels were unloaded
};

}  // namespace trilane::cuda
