// The side of a program in the protocol of NVTX 3. Names, numbers and layouts are NVTX's.
#include "core/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "core/error.h"

namespace trilane::core::nvtx {
namespace {

using AnyFunction = void (*)();

// nvtxEventAttributes_t.
struct EventAttributes {
    uint16_t version = 3;
    uint16_t size = 48;
    uint32_t category = 0;
    int32_t color_type = 0;  // 1: ARGB
    uint32_t color = 0;
    int32_t payload_type = 0;
    int32_t reserved = 0;
    uint64_t payload = 0;
    int32_t message_type = 1;  // of char
    const char* message = nullptr;
};
static_assert(sizeof(EventAttributes) == 48 && offsetof(EventAttributes, message) == 40);

// NvtxCallbackModule, and how many callbacks each has, the invalid one with number 0 among them.
enum Module : int { kCore = 1, kCuda, kOpenCl, kCudaRuntime, kCore2, kSync };
constexpr unsigned kCallbacks[] = {0, 16, 9, 15, 7, 16, 7};
// NvtxCallbackIdCore.
enum Callback : int {
    kMarkEx = 1,
    kRangeStartEx = 4,
    kRangeEnd = 7,
    kRangePushEx = 8,
    kRangePop = 11
};

// Of every module, since a profiler may ask for all; ours are those of kCore.
constexpr unsigned kMost = 16;
std::array<std::array<AnyFunction, kMost>, std::size(kCallbacks)> functions{};
std::array<std::array<AnyFunction*, kMost + 1>, std::size(kCallbacks)> tables{};

// NvtxExportTableCallbacks and NvtxExportTableVersionInfo.
struct CallbacksTable {
    size_t size;
    int (*module_table)(int module, AnyFunction*** table, unsigned* count);
};
struct VersionTable {
    size_t size;
    uint32_t version, reserved;
    void (*set_profiler_version)(uint32_t version);
};

int module_table(int module, AnyFunction*** table, unsigned* count) {
    if (module < kCore || module > kSync) return 0;
    if (count != nullptr) *count = kCallbacks[module];
    if (table != nullptr) *table = tables[static_cast<size_t>(module)].data();
    return 1;
}

const void* export_table(uint32_t which) {
    static const CallbacksTable callbacks{sizeof(CallbacksTable), module_table};
    static const VersionTable version{sizeof(VersionTable), 3, 0, [](uint32_t) {}};
    if (which == 1) return &callbacks;
    return which == 3 ? &version : nullptr;
}

using Initialize = int (*)(const void* (*export_table)(uint32_t));

enum class State : int { Unknown, Silent, Listening };
std::atomic<State> state{State::Unknown};
std::mutex mutex;

void clear_tables() {
    for (size_t module = kCore; module <= kSync; ++module) {
        functions[module].fill(nullptr);
        tables[module].fill(nullptr);  // number 0 is none, and so is the one after the last
        for (size_t i = 1; i < kCallbacks[module]; ++i) tables[module][i] = &functions[module][i];
    }
}

State find_profiler() {
    const char* path = std::getenv("NVTX_INJECTION64_PATH");
    if (path == nullptr || *path == '\0') return State::Silent;
    void* library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) {
        const char* why = dlerror();
        report_cleanup_failure("NVTX_INJECTION64_PATH", why != nullptr ? why : path);
        return State::Silent;
    }
    auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
    if (initialize != nullptr && initialize(export_table) != 0) return State::Listening;
    dlclose(library);
    clear_tables();
    return State::Silent;
}

bool look() {
    std::lock_guard lock(mutex);
    if (state.load(std::memory_order_relaxed) == State::Unknown) {
        clear_tables();
        state.store(find_profiler(), std::memory_order_release);
    }
    return state.load(std::memory_order_relaxed) == State::Listening;
}

// The profiler's function, or null.
template <typename Function>
Function function_of(Callback which) {
    if (!listening()) return nullptr;
    return reinterpret_cast<Function>(functions[kCore][which]);
}

EventAttributes event_of(const char* message, Color color) {
    EventAttributes event;
    event.message = message;
    if (color) {
        event.color_type = 1;
        event.color = *color;
    }
    return event;
}

constexpr int kNobodyCounts = -2;  // NVTX_NO_PUSH_POP_TRACKING

}  // namespace

bool listening() {
    const State seen = state.load(std::memory_order_acquire);
    if (seen == State::Unknown) [[unlikely]]
        return look();
    return seen == State::Listening;
}

void mark(const char* message, Color color) {
    const auto function = function_of<void (*)(const EventAttributes*)>(kMarkEx);
    if (function == nullptr) return;
    const EventAttributes event = event_of(message, color);
    function(&event);
}

int push_range(const char* message, Color color) {
    const auto function = function_of<int (*)(const EventAttributes*)>(kRangePushEx);
    if (function == nullptr) return kNobodyCounts;
    const EventAttributes event = event_of(message, color);
    return function(&event);
}

int pop_range() {
    const auto function = function_of<int (*)()>(kRangePop);
    return function == nullptr ? kNobodyCounts : function();
}

uint64_t start_range(const char* message, Color color) {
    const auto function = function_of<uint64_t (*)(const EventAttributes*)>(kRangeStartEx);
    if (function == nullptr) return 0;
    const EventAttributes event = event_of(message, color);
    return function(&event);
}

void end_range(uint64_t range) {
    const auto function = function_of<void (*)(uint64_t)>(kRangeEnd);
    if (function != nullptr) function(range);
}

void forget_profiler_for_tests() {
    std::lock_guard lock(mutex);
    state.store(State::Unknown, std::memory_order_release);
}

}  // namespace trilane::core::nvtx
