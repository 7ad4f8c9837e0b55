// Python objects that are let go on a thread which must not do it: a driver's callback thread,
// where no call of the driver is allowed, and what an object gives back (memory, a registration) is
// one.
#pragma once

#include <functional>

namespace trilane::bindings {

// Runs `release` soon on a thread of the interpreter, with the GIL; never if that has ended. Takes
// no GIL itself and may be called on any thread. `release` must not throw.
void release_later(std::function<void()> release) noexcept;

// Runs what waits, now. The caller has the GIL and may call the driver.
void release_now();

}  // namespace trilane::bindings
