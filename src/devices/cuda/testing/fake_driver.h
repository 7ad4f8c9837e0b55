// What tests see and steer of the fake driver: a shared library with the driver's interface over
// host memory. Work is done when it is called; nothing of NVIDIA's is needed.
#pragma once

#include <cstddef>

namespace trilane::cuda::testing {

struct FakeDriver {
    // --- how the machine is
    int version = 13000;
    int device_count = 1;
    size_t capacity = size_t{1} << 30;  // device memory, bytes
    const char* lacking = nullptr;      // a function that cuGetProcAddress does not find

    // --- failing. The n-th call from now (1 is the next) fails with `fail_with`; if `for_ever`
    // every later call too, as after a fault of a kernel. What destroys something does so all the
    // same, as the driver does.
    int fail_at = 0;
    int fail_with = 0;
    bool for_ever = false;
    bool has_failed = false;
    int calls = 0;  // so far

    // --- what is alive
    int contexts = 0;  // retained and not released
    int blocks = 0, host_blocks = 0, registered = 0, streams = 0, events = 0, modules = 0,
        pools = 0, links = 0, graphs = 0, shared = 0, host_functions = 0, arrays = 0, textures = 0,
        surfaces = 0;
    size_t used = 0;  // bytes of device memory
    int launches = 0, cooperative_launches = 0, staged_copies = 0;
    int cluster_launches = 0, links_done = 0, libraries_linked = 0, peer_copies = 0;
    int profiling = 0;      // started and not stopped
    int pool_accesses = 0;  // given to other devices
    int not_ready = 0;      // so many queries from now find work in flight
    // After a launch of the kernel `endless`: work that never ends is in flight. What would wait
    // for it in the driver is counted and answered with an error.
    bool endless = false;
    int endless_waits = 0;

    void (*lose_everything)() = nullptr;  // what the end of a context takes with it

    int alive() const {
        return contexts + blocks + host_blocks + registered + streams + events + modules + pools +
               links + graphs + shared + arrays + textures + surfaces;
    }
};

}  // namespace trilane::cuda::testing

// The exported way to it.
extern "C" trilane::cuda::testing::FakeDriver* trilane_fake_driver();
