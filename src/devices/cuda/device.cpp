// The cuda device: its context, and what it says of itself.
#include "devices/cuda/device.h"

#include "core/env.h"
#include "core/error.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::ErrorKind;
using core::throw_error;

thread_local constinit ContextHandle thread_context = nullptr;

namespace {

bool reads_async_allocation(const core::DeviceProperties& properties) {
    const auto choice = core::env_string("TRILANE_CUDA_ALLOC");
    if (!choice || choice->empty() || *choice == "sync") return false;
    if (*choice != "async")
        throw_error(ErrorKind::InvalidArgument,
                    "TRILANE_CUDA_ALLOC: bad value: got '{}', expected sync or async", *choice);
    const auto found = properties.attributes.find(kMemoryPoolsSupported);
    if (found == properties.attributes.end() || found->second == 0)
        throw_error(ErrorKind::NotSupported,
                    "TRILANE_CUDA_ALLOC: async: device '{}' has no memory pools: use sync",
                    properties.name);
    return true;
}

DeviceHandle handle_of(const DriverTable& driver, int ordinal) {
    DeviceHandle handle = 0;
    const Result result = driver.cuDeviceGet(&handle, ordinal);
    if (result != result::kSuccess) throw_driver_error(driver, result, "cuDeviceGet");
    return handle;
}

}  // namespace

CudaDevice::CudaDevice(const DriverTable& driver, int ordinal, const core::DeviceHooks& hooks)
    : driver_(driver),
      hooks_(hooks),
      handle_(handle_of(driver, ordinal)),
      properties_(cuda_properties(driver, handle_, ordinal)),
      async_allocation_(reads_async_allocation(properties_)),
      faults_(driver),
      staging_(std::make_unique<Staging>(driver, faults_)) {}

CudaDevice::~CudaDevice() {
    {
        Scope scope(*this);
        if (context_.load() != nullptr && try_enter(scope)) {
            faults_.report(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
            if (wait_event_ != nullptr)
                faults_.report(driver_.cuEventDestroy(wait_event_), "cuEventDestroy");
            if (pool_ != nullptr)
                faults_.report(driver_.cuMemPoolDestroy(pool_), "cuMemPoolDestroy");
        }
        staging_.reset();
    }
    free_host_calls();
    if (context_.load() == nullptr || driver_forked()) return;
    // Not kept as this thread's own: the next context may have the same address.
    ContextHandle current = nullptr;
    if (driver_.cuCtxGetCurrent(&current) == result::kSuccess && current == context_.load())
        driver_.cuCtxSetCurrent(nullptr);
    thread_context = nullptr;
    faults_.report(driver_.cuDevicePrimaryCtxRelease(handle_), "cuDevicePrimaryCtxRelease");
}

ContextHandle CudaDevice::context() {
    if (ContextHandle known = context_.load(std::memory_order_acquire)) return known;
    std::lock_guard lock(mutex_);
    ContextHandle made = context_.load(std::memory_order_relaxed);
    if (made != nullptr) return made;
    check(driver_.cuDevicePrimaryCtxRetain(&made, handle_), "cuDevicePrimaryCtxRetain");
    context_.store(made, std::memory_order_release);
    return made;
}

void CudaDevice::enter(Scope& scope, const char* call) {
    faults_.require_usable(call);
    if (driver_forked()) [[unlikely]]
        throw_error(ErrorKind::DeviceError,
                    "{}: CUDA was used before this process was forked, and cannot be used in the "
                    "child: start processes with the 'spawn' method",
                    call);
    const ContextHandle own = context();
    ContextHandle current = nullptr;
    check(driver_.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
    if (current == own) [[likely]] {
        thread_context = own;
        return;
    }
    if (current == nullptr) {
        check(driver_.cuCtxSetCurrent(own), "cuCtxSetCurrent");
        thread_context = own;
        return;
    }
    check(driver_.cuCtxPushCurrent(own), "cuCtxPushCurrent");
    scope.pushed_ = true;
    thread_context = nullptr;
}

bool CudaDevice::try_enter(Scope& scope) noexcept {
    if (faults_.lost() || driver_forked()) return false;
    try {
        enter(scope, "free");
        return true;
    } catch (...) {
    }
    // What is to be freed is freed if there is any way.
    const ContextHandle own = context_.load();
    if (own == nullptr || faults_.lost()) return false;
    scope.pushed_ = driver_.cuCtxPushCurrent(own) == result::kSuccess;
    return scope.pushed_;
}

void CudaDevice::leave() noexcept {
    ContextHandle popped = nullptr;
    faults_.report(driver_.cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
}

void CudaDevice::make_current() {
    faults_.require_usable("make_current");
    const ContextHandle own = context();
    if (thread_context == own) {
        ContextHandle current = nullptr;
        check(driver_.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
        if (current == own) return;
    }
    check(driver_.cuCtxSetCurrent(own), "cuCtxSetCurrent");
    thread_context = own;
}

core::MemoryInfo CudaDevice::memory_info() {
    const Scope scope(*this, "memory_info");
    core::MemoryInfo info;
    check(driver_.cuMemGetInfo(&info.free_bytes, &info.total_bytes), "cuMemGetInfo");
    return info;
}

Compiler& CudaDevice::compiler() {
    std::lock_guard lock(mutex_);
    if (compiler_ == nullptr)
        compiler_ = std::make_unique<Compiler>(
            driver_.version / 1000, properties_.compute_major * 10 + properties_.compute_minor);
    return *compiler_;
}

std::string CudaDevice::compiler_id() { return compiler().id(); }

core::Image CudaDevice::compile(const core::Program& program) {
    core::Image image = compiler().compile(program);
    if (image.format != "relocatable") return image;
    core::LinkInput input{program.file_name, {}, std::move(image.bytes)};
    core::Image linked = link({&input, 1}, {});
    image.format = linked.format;
    image.bytes = std::move(linked.bytes);
    image.log += linked.log;
    return image;
}

std::vector<std::pair<std::string, std::string>> CudaDevice::describe() {
    std::vector<std::pair<std::string, std::string>> facts;
    try {
        facts.emplace_back("compiler", compiler().name());
        facts.emplace_back("compiler path", compiler().path());
    } catch (const core::Error& error) {
        facts.emplace_back("compiler", error.message());
    }
    facts.emplace_back("driver", fmt::format("for CUDA {}.{}", driver_.version / 1000,
                                             driver_.version % 1000 / 10));
    facts.emplace_back("driver path", driver_.path);
    facts.emplace_back(
        "code for", fmt::format("sm_{}{}", properties_.compute_major, properties_.compute_minor));
    facts.emplace_back("allocator",
                       async_allocation_ ? "stream-ordered (TRILANE_CUDA_ALLOC)" : "plain");
    return facts;
}

}  // namespace trilane::cuda
