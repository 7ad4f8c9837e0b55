// A wait of the main thread that SIGINT ended. Devices that can stop a kernel throw it; the
// bindings then run the handlers of Python, whose KeyboardInterrupt leaves the call in its place.
#pragma once

#include "core/error.h"

namespace trilane::core {

// Seen as an Error it is a kernel that was stopped from outside.
class Interrupted : public Error {
  public:
    explicit Interrupted(std::string message)
        : Error(FaultCode::LaunchTimeout, std::move(message)) {}
};

}  // namespace trilane::core
