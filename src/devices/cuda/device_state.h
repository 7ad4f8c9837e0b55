// What the parts of the cuda device share and nobody else sees.
#pragma once

#include "devices/cuda/driver_table.h"

namespace trilane::cuda {

// The context that this thread had current when it last called. Others may have changed it since:
// launches try with it and look again when they are refused, every other call looks first.
extern thread_local constinit ContextHandle thread_context;

inline StreamHandle stream_of(uint64_t raw) { return reinterpret_cast<StreamHandle>(raw); }
inline EventHandle event_of(uint64_t raw) { return reinterpret_cast<EventHandle>(raw); }

// While a stream is captured in the global mode, the driver refuses calls that have nothing to do
// with it (allocations, questions about events), in every thread, and the capture is lost. Those of
// ours do no harm: for the length of a scope this thread says so. What waits for captured work is
// refused all the same.
class RelaxedCapture {
  public:
    explicit RelaxedCapture(const DriverTable& driver) noexcept
        : driver_(driver),
          set_(driver.cuThreadExchangeStreamCaptureMode(&mode_) == result::kSuccess) {}
    ~RelaxedCapture() {
        if (set_) driver_.cuThreadExchangeStreamCaptureMode(&mode_);
    }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    const DriverTable& driver_;
    int mode_ = kCaptureRelaxed;  // then the thread's own
    bool set_;
};

}  // namespace trilane::cuda
