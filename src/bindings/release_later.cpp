// A list of what is to be let go, emptied by the interpreter between two of its instructions.
#include "bindings/release_later.h"

#include <mutex>
#include <vector>

#include "bindings/bindings.h"
#include "core/error.h"

namespace trilane::bindings {
namespace {

struct Waiting {
    std::mutex mutex;
    std::vector<std::function<void()>> releases;
};

// Never destroyed: callbacks may come while the process ends.
Waiting& waiting() {
    static auto* list = new Waiting;
    return *list;
}

int empty(void*) {
    release_now();
    return 0;
}

}  // namespace

void release_later(std::function<void()> release) noexcept {
    try {
        bool first = false;
        {
            std::lock_guard lock(waiting().mutex);
            first = waiting().releases.empty();
            waiting().releases.push_back(std::move(release));
        }
        // If the interpreter's own list is full, the next release_now() comes from elsewhere.
        if (first) (void)Py_AddPendingCall(empty, nullptr);
    } catch (const std::exception& error) {
        core::report_cleanup_failure("letting an object go", error.what());
    }
}

void release_now() {
    std::vector<std::function<void()>> releases;
    {
        std::lock_guard lock(waiting().mutex);
        releases.swap(waiting().releases);
    }
    for (std::function<void()>& release : releases) release();
}

}  // namespace trilane::bindings
