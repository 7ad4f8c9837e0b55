// Which devices there are: asked once, of the factories that the extension registered.
#include "core/registry.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>

#include "core/background.h"
#include "core/env.h"
#include "core/error.h"

namespace trilane::core {
namespace {

struct Choice {
    std::optional<DeviceType> type;  // none: the best there is
    int count = 0;                   // after the colon; 0: none given
};

struct Slot {
    size_t factory = 0;
    int ordinal = 0;
    std::mutex creation;
    ContextPtr context;  // guarded by `creation`, read under it
};

struct Registry {
    std::mutex mutex;
    std::vector<DeviceFactory> factories;
    bool probed = false;
    std::vector<DeviceTypeState> states;
    std::vector<std::shared_ptr<Slot>> slots;
    bool driver_missing = false;  // of a type that TRILANE_DEVICE admits
};

// Never destroyed: contexts live until the process ends, and handles in other statics and threads
// may go after this translation unit's statics would.
Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

Choice read_choice() {
    Choice choice;
    const auto text = env_string("TRILANE_DEVICE");
    if (!text || text->empty()) return choice;
    const size_t colon = text->find(':');
    const std::string name = text->substr(0, colon);
    bool good = true;
    if (name == "cpu") {
        choice.type = DeviceType::Cpu;
    } else if (name == "cuda") {
        choice.type = DeviceType::Cuda;
    } else if (name == "fake") {
        choice.type = DeviceType::Fake;
    } else {
        good = false;
    }
    if (colon != std::string::npos) {
        const char* first = text->data() + colon + 1;
        const char* last = text->data() + text->size();
        const auto [end, error] = std::from_chars(first, last, choice.count);
        good =
            good && error == std::errc{} && end == last && choice.count >= 1 && choice.count <= 64;
    }
    if (!good)
        throw_error(ErrorKind::InvalidArgument,
                    "TRILANE_DEVICE: bad value: got '{}', expected cpu, cuda, or one with a count "
                    "of 1 to 64 as in cpu:4",
                    *text);
    return choice;
}

// `mutex` is held. In the order in which types are preferred.
void probe(Registry& r) {
    if (r.probed) return;
    const Choice choice = read_choice();
    std::vector<size_t> order(r.factories.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    auto rank = [&](size_t i) {
        const DeviceType type = r.factories[i].type;
        return type == DeviceType::Cuda ? 0 : type == DeviceType::Cpu ? 1 : 2;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return rank(a) < rank(b); });
    std::vector<DeviceTypeState> states;
    std::vector<std::shared_ptr<Slot>> slots;
    r.driver_missing = false;
    for (const size_t i : order) {
        DeviceTypeState state{r.factories[i].type, 0, {}};
        const bool chosen = choice.type == state.type;
        try {
            state.count = r.factories[i].count(chosen ? choice.count : 0, state.why_not);
        } catch (const std::exception& error) {
            state.why_not = error.what();
        }
        if (chosen && choice.count != 0) state.count = std::min(state.count, choice.count);
        const bool used = choice.type ? chosen : slots.empty();
        if (used && state.count == 0 && r.factories[i].has_driver && !r.factories[i].has_driver())
            r.driver_missing = true;
        for (int ordinal = 0; used && ordinal < state.count; ++ordinal) {
            auto slot = std::make_shared<Slot>();
            slot->factory = i;
            slot->ordinal = ordinal;
            slots.push_back(std::move(slot));
        }
        states.push_back(std::move(state));
    }
    if (choice.type && std::none_of(states.begin(), states.end(),
                                    [&](const auto& s) { return s.type == *choice.type; }))
        states.push_back({*choice.type, 0, "this build has no device of this type"});
    r.states = std::move(states);
    r.slots = std::move(slots);
    r.probed = true;
}

// `mutex` is held, and there is none.
std::string no_device_message(const Registry& r) {
    std::string reasons;
    for (const DeviceTypeState& state : r.states)
        reasons += fmt::format(
            "{}{}: {}", reasons.empty() ? "" : "; ", device_type_name(state.type),
            state.count > 0 ? "there, but TRILANE_DEVICE excludes it" : state.why_not.c_str());
    return fmt::format("no device: {}: 'trilane info' says more",
                       reasons.empty() ? "this build has no device" : reasons);
}

}  // namespace

void register_device_factory(DeviceFactory factory) {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    for (const auto& slot : r.slots) {
        std::lock_guard creation(slot->creation);
        TRILANE_CHECK(slot->context == nullptr, "a device factory came after the first device");
    }
    r.factories.push_back(std::move(factory));
    r.probed = false;
    r.slots.clear();
}

int device_count() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    probe(r);
    return static_cast<int>(r.slots.size());
}

ContextPtr context_of(int index) {
    Registry& r = registry();
    std::shared_ptr<Slot> slot;
    std::function<std::unique_ptr<Device>(int)> create;
    {
        std::lock_guard lock(r.mutex);
        probe(r);
        if (r.slots.empty()) throw Error(ErrorKind::DeviceError, no_device_message(r));
        if (index < 0 || index >= static_cast<int>(r.slots.size()))
            throw_error(ErrorKind::InvalidArgument,
                        "device: no such device: got {}, expected 0 to {}", index,
                        r.slots.size() - 1);
        slot = r.slots[static_cast<size_t>(index)];
        create = r.factories[slot->factory].create;
    }
    std::lock_guard creation(slot->creation);
    if (slot->context == nullptr) {
        ContextPtr context = Context::create(create(slot->ordinal), index);
        context->device().make_current();
        context->keep();
        slot->context = std::move(context);
    }
    return slot->context;
}

std::vector<ContextPtr> live_contexts() {
    Registry& r = registry();
    std::vector<std::shared_ptr<Slot>> slots;
    {
        std::lock_guard lock(r.mutex);
        slots = r.slots;
    }
    std::vector<ContextPtr> result;
    for (const auto& slot : slots) {
        std::lock_guard creation(slot->creation);
        if (slot->context != nullptr) result.push_back(slot->context);
    }
    return result;
}

// Whether there is a choice of devices neither by number nor by kind, and the one is a GPU.
static bool is_only_gpu() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    probe(r);
    return r.slots.size() == 1 && r.factories[r.slots[0]->factory].type == DeviceType::Cuda;
}

void start_early() {
    run_in_background([] {
        try {
            if (is_only_gpu()) context_of(0);
        } catch (...) {
            // Told to the first who asks.
        }
    });
}

std::vector<DeviceTypeState> describe_device_types() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    probe(r);
    return r.states;
}

std::optional<NoDevice> no_device() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    probe(r);
    if (!r.slots.empty()) return std::nullopt;
    return NoDevice{r.driver_missing ? 35 : 100, no_device_message(r)};
}

void reset_registry_for_tests() {
    forget_current_for_tests();
    reset_env_for_tests();
    Registry& r = registry();
    std::vector<std::shared_ptr<Slot>> slots;
    {
        std::lock_guard lock(r.mutex);
        slots.swap(r.slots);
        r.factories.clear();
        r.states.clear();
        r.probed = false;
    }
    for (const auto& slot : slots) {
        std::lock_guard creation(slot->creation);
        if (slot->context != nullptr) slot->context->unkeep();
        slot->context.reset();
    }
}

}  // namespace trilane::core
