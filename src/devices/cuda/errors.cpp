// Kinds of driver results, and the fault that ends a context.
#include "devices/cuda/errors.h"

#include <algorithm>
#include <vector>

namespace trilane::cuda {

using core::Error;
using core::ErrorKind;

bool is_sticky(Result result) {
    switch (result) {
        case result::kEccUncorrectable:
        case result::kNvlinkUncorrectable:
        case result::kIllegalAddress:
        case result::kLaunchTimeout:
        case result::kContextIsDestroyed:
        case result::kAssert:
        case result::kHardwareStackError:
        case result::kIllegalInstruction:
        case result::kMisalignedAddress:
        case result::kInvalidAddressSpace:
        case result::kInvalidPc:
        case result::kLaunchFailed:
            return true;
        default:
            return false;
    }
}

namespace {

// Whether a kernel of ours did it, so that running it under the checks finds the place.
bool is_kernel_fault(Result result) {
    return core::fault_of_status(result) != core::FaultCode::None;
}

std::string_view advice(Result result) {
    switch (result) {
        case result::kInvalidImage:
        case result::kInvalidPtx:
            return "it is neither a cubin nor a fatbin nor PTX that this driver knows";
        case result::kNoBinaryForGpu:
            return "the image was made for another GPU architecture: compile it for this one";
        case result::kUnsupportedPtxVersion:
            return "the PTX is of a newer CUDA than the driver: compile the source to a cubin, or "
                   "install a newer driver";
        case result::kLaunchOutOfResources:
            return "the block needs more registers than there are: use fewer threads per block or "
                   "__launch_bounds__";
        case result::kCooperativeLaunchTooLarge:
            return "all blocks of a cooperative launch must be on the device at once: use fewer";
        case result::kNotInitialized:
            return "a process forked from one that used CUDA cannot use it: start processes with "
                   "the 'spawn' method";
        case result::kDeviceUnavailable:
            return "another process uses the device alone, or it has to be reset";
        default:
            return {};
    }
}

std::string compose(const DriverTable& driver, Result result, std::string_view call,
                    std::string_view hint) {
    std::string text = fmt::format("{}: {}", call, result_text(driver, result));
    if (hint.empty()) hint = advice(result);
    if (!hint.empty()) text += fmt::format(": {}", hint);
    return text;
}

}  // namespace

ErrorKind kind_of(Result result) {
    if (is_kernel_fault(result)) return ErrorKind::KernelFault;
    switch (result) {
        case result::kInvalidValue:
        case result::kInvalidDevice:
        case result::kInvalidImage:
        case result::kNoBinaryForGpu:
        case result::kInvalidPtx:
        case result::kUnsupportedPtxVersion:
        case result::kInvalidSource:
        case result::kSymbolNotFound:
        case result::kInvalidHandle:
        case result::kAlreadyRegistered:
        case result::kNotRegistered:
            return ErrorKind::InvalidArgument;
        case result::kOutOfMemory:
            return ErrorKind::OutOfMemory;
        case result::kNotFound:
            return ErrorKind::NotFound;
        case result::kLaunchOutOfResources:
        case result::kCooperativeLaunchTooLarge:
            return ErrorKind::LaunchError;
        case result::kNotSupported:
            return ErrorKind::NotSupported;
        default:
            return ErrorKind::DeviceError;
    }
}

void throw_driver_error(const DriverTable& driver, Result result, std::string_view call,
                        std::string_view hint) {
    throw Error(kind_of(result), compose(driver, result, call, hint)).with_status(result);
}

std::string FaultState::recent_names() const {
    std::vector<std::string> names;
    const unsigned next = next_.load(std::memory_order_relaxed);
    for (unsigned back = 1; back <= kRecent; ++back) {
        const unsigned at = (next - back) % kRecent;
        const std::string* name = recent_[at].load(std::memory_order_relaxed);
        const std::string& text = name != nullptr ? *name : departed_[at];
        if (!text.empty() && std::find(names.begin(), names.end(), text) == names.end())
            names.push_back(text);
    }
    std::string joined;
    for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
    return joined;
}

void FaultState::keep(Result result, std::string_view call) {
    std::lock_guard lock(mutex_);
    if (lost_.load(std::memory_order_relaxed)) return;
    text_ = result_text(driver_, result);
    fault_ = core::fault_of_status(result);
    if (fault_ != core::FaultCode::None) {
        const std::string names = recent_names();
        text_ = fmt::format("a kernel failed: {}", text_);
        if (!names.empty()) text_ += fmt::format(": launched last (newest first): {}", names);
        text_ +=
            ": the device cannot be used again in this process: run the program under `trilane "
            "check` to find the place";
        detail_ = names;
    } else {
        text_ += ": the device cannot be used again in this process";
    }
    text_ += fmt::format(" (seen by {})", call);
    lost_.store(true, std::memory_order_release);
}

void FaultState::fail(Result result, std::string_view call, std::string_view hint) {
    if (!is_sticky(result)) {
        require_usable(std::string(call).c_str());  // what follows a fault is no news
        throw Error(kind_of(result), compose(driver_, result, call, hint)).with_status(result);
    }
    keep(result, call);
    throw_lost(std::string(call).c_str());
}

void FaultState::throw_lost(const char* call) const {
    std::lock_guard lock(mutex_);
    if (fault_ != core::FaultCode::None)
        throw Error(fault_, fmt::format("{}: {}", call, text_), detail_);
    throw Error(ErrorKind::DeviceError, fmt::format("{}: {}", call, text_));
}

void FaultState::report(Result result, const char* call) noexcept {
    if (result == result::kSuccess || result == result::kDeinitialized || lost() || driver_forked())
        return;
    try {
        if (is_sticky(result)) {
            keep(result, call);
            return core::report_cleanup_failure(call, text_.c_str());
        }
        core::report_cleanup_failure(call, result_text(driver_, result).c_str());
    } catch (...) {
        core::report_cleanup_failure(call, "out of memory");
    }
}

void FaultState::forget(const std::string* name) noexcept {
    std::lock_guard lock(mutex_);
    for (unsigned i = 0; i < kRecent; ++i) {
        if (recent_[i].load(std::memory_order_relaxed) != name) continue;
        try {
            departed_[i] = *name;
        } catch (...) {
            departed_[i].clear();
        }
        recent_[i].store(nullptr, std::memory_order_relaxed);
    }
}

}  // namespace trilane::cuda
