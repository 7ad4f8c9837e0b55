// What the parts of the cuda device share and nobody else sees.
#pragma once

#include "devices/cuda/driver_api.h"

namespace trilane::cuda {

// The context that this thread had current when it last called. Others may have changed it since:
// launches try with it and look again when they are refused, every other call looks first.
extern thread_local constinit ContextHandle thread_context;

inline StreamHandle stream_of(uint64_t raw) { return reinterpret_cast<StreamHandle>(raw); }
inline EventHandle event_of(uint64_t raw) { return reinterpret_cast<EventHandle>(raw); }

}  // namespace trilane::cuda
