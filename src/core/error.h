// Errors: the two verbs of the code base. throw_error() is for faults of the user or the machine,
// TRILANE_CHECK for our own. Faces map each kind to the exception class that their users catch.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace trilane::core {

enum class ErrorKind {
    InvalidArgument,  // a value is out of its range, a handle was freed
    TypeMismatch,     // wrong number or type of arguments
    OutOfMemory,
    CompileError,  // detail() holds the compiler's text
    LaunchError,   // a configuration was refused: nothing ran
    KernelFault,   // a running kernel died: fault() says of what
    DeviceError,   // a driver call failed
    CheckError,    // found by the checks of the cpu device
    NotFound,      // no such function, symbol, file
    NotSupported,  // a feature that is not there: the message names it
    IndexError,    // an index is out of range
    Internal,      // a TRILANE_CHECK failed: our fault
};

const char* kind_name(ErrorKind kind);

// Of what a kernel died. The values are CUDA's numbers, the same in its driver and its runtime.
enum class FaultCode : int {
    None = 0,
    IllegalAddress = 700,
    LaunchTimeout = 702,  // stopped from outside, or its threads wait for one another for ever
    Assert = 710,
    StackError = 714,
    IllegalInstruction = 715,
    MisalignedAddress = 716,
    InvalidAddressSpace = 717,
    InvalidPc = 718,
    LaunchFailure = 719,  // a trap, and whatever has no number of its own
};

// How CUDA's interfaces name a fault.
struct FaultNames {
    FaultCode code;
    const char* driver_name;   // "CUDA_ERROR_ILLEGAL_ADDRESS"
    const char* runtime_name;  // "cudaErrorIllegalAddress"
    const char* text;          // "an illegal memory access was encountered"
};
const FaultNames& fault_names(FaultCode code);  // those of LaunchFailure if there is no such row
// The fault of a driver's status; None if the status is not one of a kernel that died.
FaultCode fault_of_status(int status);

// What the capture of a stream refuses. The values are CUDA's numbers, the same in its driver and
// its runtime.
enum class CaptureFault : int {
    IllegalState = 401,  // begun twice, or ended where nothing was begun
    Unsupported = 900,   // what waits or asks
    Invalidated = 901,   // lost by something that was refused before
    Merge = 902,
    Unmatched = 903,
    Unjoined = 904,
    Isolation = 905,
    Implicit = 906,
    CapturedEvent = 907,
    WrongThread = 908,
};

// How CUDA's interfaces name a status of theirs.
struct StatusNames {
    int status;
    const char* driver_name;   // "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
    const char* runtime_name;  // "cudaErrorStreamCaptureUnsupported"
    const char* text;          // "operation not permitted when stream is capturing"
};
const StatusNames* capture_status_names(int status);  // null if it is none of a CaptureFault

// Message form: "function: what is wrong: got X, expected Y: hint".
class Error : public std::exception {
  public:
    Error(ErrorKind kind, std::string message, std::string detail = {});
    Error(FaultCode fault, std::string message, std::string detail = {});  // KernelFault
    const char* what() const noexcept override { return message_.c_str(); }
    ErrorKind kind() const { return kind_; }
    const std::string& message() const { return message_; }
    // Long text that belongs to the error: compiler log, list of kernels in flight. May be empty.
    const std::string& detail() const { return detail_; }
    FaultCode fault() const { return fault_; }  // None but for KernelFault
    // CUDA's number of what went wrong, where the device gave one; 0: none is known.
    int status() const { return status_; }
    Error& with_status(int status) {
        status_ = status;
        return *this;
    }

  private:
    ErrorKind kind_;
    FaultCode fault_ = FaultCode::None;
    int status_ = 0;
    std::string message_;
    std::string detail_;
};

template <typename... Args>
[[noreturn]] void throw_error(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
    throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_fault(FaultCode fault, fmt::format_string<Args...> format, Args&&... args) {
    throw Error(fault, fmt::format(format, std::forward<Args>(args)...));
}

// DeviceError: "call: CUDA's name (number): CUDA's text: what".
[[noreturn]] void throw_capture_fault(CaptureFault fault, std::string_view call,
                                      std::string_view what);
[[noreturn]] void throw_error_with_detail(ErrorKind kind, std::string message, std::string detail);
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);

// For destructors and deleters, which never throw: writes one line to stderr.
void report_cleanup_failure(std::string_view what, const char* why) noexcept;

}  // namespace trilane::core

#define TRILANE_CHECK(condition, ...)                                     \
    do {                                                                  \
        if (!(condition)) [[unlikely]]                                    \
            ::trilane::core::check_failed(#condition, __FILE__, __LINE__, \
                                          ::fmt::format(__VA_ARGS__));    \
    } while (false)
