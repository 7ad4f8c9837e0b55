// Opening the driver and filling the table.
#include "devices/cuda/driver_table.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "core/env.h"
#include "core/error.h"

namespace trilane::cuda {
namespace {

using core::ErrorKind;
using core::throw_error;

using GetProcAddress = Result (*)(const char* symbol, void** function, int version, uint64_t flags,
                                  int* status);
constexpr uint64_t kLegacyStream = 1;  // stream 0 is the default stream of all threads

struct State {
    std::mutex mutex;
    std::unique_ptr<DriverTable> table;
    std::vector<std::unique_ptr<DriverTable>> retired;  // by reset_driver_for_tests()
    std::exception_ptr failure;
    bool usable = false;  // opened, new enough: whatever cuInit said
};

// Never destroyed: devices in other statics and threads may call until the process ends.
State& state() {
    static State* const instance = new State;
    return *instance;
}

std::atomic<bool> initialised{false}, forked{false};

void watch_forks() {
    static const bool watched = [] {
        pthread_atfork(nullptr, nullptr, [] {
            if (initialised.load(std::memory_order_relaxed))
                forked.store(true, std::memory_order_relaxed);
        });
        return true;
    }();
    (void)watched;
}

void* open_library(std::string& path) {
    if (const auto given = core::env_string("TRILANE_CUDA_LIBRARY"); given && !given->empty()) {
        path = *given;
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        throw_error(ErrorKind::DeviceError,
                    "the CUDA driver cannot be opened: TRILANE_CUDA_LIBRARY: {}", dlerror());
    }
    // The second is where WSL 2 keeps it; its loader is not always told.
    std::string why;
    for (const char* name : {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}) {
        path = name;
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
        const char* text = dlerror();
        if (why.empty() && text != nullptr) why = text;
    }
    if (why.find("cannot open shared object file") != std::string::npos)
        throw_error(ErrorKind::DeviceError, "libcuda.so.1 is not found: install the NVIDIA driver");
    throw_error(ErrorKind::DeviceError,
                "libcuda.so.1 cannot be loaded: {}: the NVIDIA driver is damaged or of another "
                "machine: install it again",
                why);
}

void require_version(const DriverTable& table) {
    if (table.version >= kLeastDriver) return;
    throw_error(ErrorKind::DeviceError,
                "the NVIDIA driver is too old: got one for CUDA {}.{}, expected 12.0 or newer: "
                "install driver 525 or newer",
                table.version / 1000, table.version % 1000 / 10);
}

void fill(DriverTable& table, GetProcAddress find) {
    auto look_up = [&](const char* name, int version, bool optional, void** function) {
        int status = 0;
        const Result result = find(name, function, version, kLegacyStream, &status);
        if (result == result::kSuccess && *function != nullptr) return;
        *function = nullptr;
        if (!optional)
            throw_error(ErrorKind::DeviceError,
                        "the CUDA driver {} has no {}: install a newer NVIDIA driver", table.path,
                        name);
    };
#define TRILANE_LOOK_UP(name, version, optional, parameters) \
    look_up(#name, version, optional, reinterpret_cast<void**>(&table.name));
    // The version first: a driver that is too old lacks functions, and should be called so.
    look_up("cuDriverGetVersion", 2020, false, reinterpret_cast<void**>(&table.cuDriverGetVersion));
    table.cuDriverGetVersion(&table.version);
    require_version(table);
    TRILANE_DRIVER_FUNCTIONS(TRILANE_LOOK_UP)
#undef TRILANE_LOOK_UP
}

void initialise(const DriverTable& table) {
    watch_forks();
    const Result result = table.cuInit(0);
    if (result == result::kSuccess) {
        initialised.store(true, std::memory_order_relaxed);
        return;
    }
    const char* advice = "check the driver with nvidia-smi";
    if (result == result::kNoDevice)
        advice = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr
                     ? "CUDA_VISIBLE_DEVICES hides every device, or there is none"
                     : "this machine has no NVIDIA GPU, or the process may not use it";
    else if (result == result::kSystemDriverMismatch)
        advice = "kernel module and library of the driver differ: reboot, or install it again";
    else if (result == result::kNotInitialized)
        advice =
            "after a fork of a process that used CUDA nothing can use it: start processes "
            "with the 'spawn' method";
    throw_error(ErrorKind::DeviceError, "the CUDA driver cannot be used: cuInit: {}: {}",
                result_text(table, result), advice);
}

std::unique_ptr<DriverTable> load(bool& usable) {
    auto table = std::make_unique<DriverTable>();
    void* library = open_library(table->path);
    auto find = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
    if (find == nullptr) {
        if (auto version =
                reinterpret_cast<Result (*)(int*)>(dlsym(library, "cuDriverGetVersion"))) {
            version(&table->version);
            require_version(*table);
        }
        throw_error(ErrorKind::DeviceError,
                    "the CUDA driver cannot be used: {} has no cuGetProcAddress_v2: install the "
                    "NVIDIA driver 525 or newer",
                    table->path);
    }
    fill(*table, find);
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(find), &info) != 0 && info.dli_fname != nullptr)
        table->path = info.dli_fname;
    usable = true;
    initialise(*table);
    return table;
}

}  // namespace

const DriverTable& driver_table() {
    State& s = state();
    std::lock_guard lock(s.mutex);
    if (s.failure) std::rethrow_exception(s.failure);
    if (s.table == nullptr) {
        try {
            s.table = load(s.usable);
        } catch (...) {
            s.failure = std::current_exception();
            throw;
        }
    }
    return *s.table;
}

std::string result_text(const DriverTable& driver, Result result) {
    const char *name = nullptr, *text = nullptr;
    if (driver.cuGetErrorName != nullptr) driver.cuGetErrorName(result, &name);
    if (driver.cuGetErrorString != nullptr) driver.cuGetErrorString(result, &text);
    return fmt::format("{} ({}): {}", name != nullptr ? name : "CUDA error", result,
                       text != nullptr ? text : "the driver has no text for it");
}

bool driver_usable() {
    State& s = state();
    std::lock_guard lock(s.mutex);
    return s.usable;
}

bool driver_forked() noexcept { return forked.load(std::memory_order_relaxed); }

void reset_driver_for_tests() {
    State& s = state();
    std::lock_guard lock(s.mutex);
    if (s.table != nullptr) s.retired.push_back(std::move(s.table));  // a device may still hold it
    s.failure = nullptr;
    s.usable = false;
}

}  // namespace trilane::cuda
