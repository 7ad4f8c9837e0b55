// A device made of host memory and C++ functions, for tests of everything above a Device: no GPU,
// no compiler. Its streams can be held, so that work stays in flight until a test lets it go on,
// and any call can be told to fail.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/error.h"

namespace trilane::core::testing {

struct FakeKernel {
    std::vector<Parameter> parameters;
    bool parameters_known = true;
    FunctionAttributes attributes;
    // Runs once for a launch; `arguments` as in LaunchParams, copied when it was launched.
    std::function<void(const LaunchParams& params)> run;
};

// What a test sees of the device; shared with it, so that it can be asked after the device is gone.
struct FakeMachine {
    struct Work {
        std::function<void()> run;
    };
    // What is captured, and a graph made of it: work in the order it was given.
    struct Captured {
        RawStream origin = 0;
        bool lost = false;
        std::vector<std::function<void()>> work;
    };
    struct Stream {
        std::deque<Work> work;
        uint64_t submitted = 0, completed = 0;
        bool destroyed = false;
        bool running = false;
        std::shared_ptr<Captured> capture;
    };
    struct Event {
        RawStream stream = 0;
        uint64_t position = 0;  // of `submitted` when it was recorded
        bool recorded = false, timing = false;
        std::weak_ptr<Captured> captured;
    };
    struct Note {
        size_t nbytes;
        std::string name;
    };

    ~FakeMachine() { lose_memory(); }

    std::recursive_mutex mutex;
    size_t capacity = size_t{1} << 30;  // device memory, bytes
    std::string out_of_memory_detail;   // of the error then
    size_t used = 0;
    bool hold = false;  // streams keep their work until finish() or a wait
    std::map<std::string, FakeKernel, std::less<>> kernels;   // by name
    std::map<std::string, std::string, std::less<>> globals;  // name -> initial bytes
    std::string compiler = "fake 1";
    std::vector<std::string> disk_files;  // what compile() says it read
    std::function<void(const Program&)> on_compile;

    // --- what is alive, and what was called
    std::map<DevicePtr, size_t> memory;
    std::map<void*, size_t> host_memory;
    std::map<RawStream, Stream> streams;  // 0 is the null stream
    std::map<RawEvent, Event> events;
    std::map<RawModule, Image> modules;
    std::map<RawGraph, std::shared_ptr<Captured>> graphs;
    std::map<DevicePtr, Note> notes;
    std::map<std::string, int, std::less<>> calls;
    int live_streams = 0;
    int shared = 0;  // memory of "other processes" that is open

    // The n-th call from now (1 is the next) of `entry`, or of any that may throw if it is "*",
    // fails once with `kind`.
    void fail(std::string entry, int n, ErrorKind kind = ErrorKind::DeviceError);
    void lose_memory();             // all that is allocated: what a lost device leaves
    bool has_failed();              // whether what fail() ordered has happened
    void finish(RawStream stream);  // does all its held work
    int calls_of(std::string_view entry);
    bool nothing_alive();  // nor anything that is open

  private:
    friend class FakeDevice;
    void enter(const char* entry);
    void submit(RawStream stream, std::function<void()> work);
    // What asks or waits: throws, and the capture is lost, if the stream is captured.
    void refuse_capture(const char* entry, RawStream stream);
    void refuse_any_capture(const char* entry);
    void run_until(RawStream stream, uint64_t position);
    void run_all();
    uint64_t submitted_to(RawStream stream);
    std::condition_variable_any changed_;
    std::string fail_entry_;
    int fail_in_ = 0;
    ErrorKind fail_kind_ = ErrorKind::DeviceError;
    uint64_t next_handle_ = 1;
    std::map<RawFunction, std::string> functions_;
    std::map<std::pair<RawModule, std::string>, std::string> global_memory_;
};
using FakeMachinePtr = std::shared_ptr<FakeMachine>;

std::unique_ptr<Device> make_fake_device(FakeMachinePtr machine, int ordinal = 0,
                                         DeviceType type = DeviceType::Fake);
ContextPtr make_fake_context(FakeMachinePtr machine, int index = 0);

// A kernel in a fake module's source: each registered name that stands in Program::source.
Program fake_program(std::string source);
Parameter parameter(std::string name, std::string c_type, ParameterKind kind, uint32_t size);

}  // namespace trilane::core::testing
