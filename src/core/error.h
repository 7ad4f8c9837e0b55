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

  private:
    ErrorKind kind_;
    FaultCode fault_ = FaultCode::None;
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
