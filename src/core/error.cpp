// Errors: construction, names of kinds, and the reports of destructors.
#include "core/error.h"

#include <cstdio>

namespace trilane::core {
namespace {

constexpr FaultNames kFaults[] = {
    {FaultCode::LaunchFailure, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure",
     "unspecified launch failure"},
    {FaultCode::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {FaultCode::LaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout",
     "the launch timed out and was terminated"},
    {FaultCode::Assert, "CUDA_ERROR_ASSERT", "cudaErrorAssert", "device-side assert triggered"},
    {FaultCode::StackError, "CUDA_ERROR_HARDWARE_STACK_ERROR", "cudaErrorHardwareStackError",
     "hardware stack error"},
    {FaultCode::IllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {FaultCode::MisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress",
     "misaligned address"},
    {FaultCode::InvalidAddressSpace, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"},
    {FaultCode::InvalidPc, "CUDA_ERROR_INVALID_PC", "cudaErrorInvalidPc",
     "invalid program counter"},
};

constexpr StatusNames kCaptureFaults[] = {
    {401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

}  // namespace

const StatusNames* capture_status_names(int status) {
    for (const StatusNames& row : kCaptureFaults)
        if (row.status == status) return &row;
    return nullptr;
}

void throw_capture_fault(CaptureFault fault, std::string_view call, std::string_view what) {
    const int status = static_cast<int>(fault);
    const StatusNames* names = capture_status_names(status);
    throw Error(ErrorKind::DeviceError, fmt::format("{}: {} ({}): {}: {}", call, names->driver_name,
                                                    status, names->text, what))
        .with_status(status);
}

const FaultNames& fault_names(FaultCode code) {
    for (const FaultNames& row : kFaults)
        if (row.code == code) return row;
    return kFaults[0];
}

FaultCode fault_of_status(int status) {
    for (const FaultNames& row : kFaults)
        if (static_cast<int>(row.code) == status) return row.code;
    return FaultCode::None;
}

const char* kind_name(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::InvalidArgument:
            return "InvalidArgument";
        case ErrorKind::TypeMismatch:
            return "TypeMismatch";
        case ErrorKind::OutOfMemory:
            return "OutOfMemory";
        case ErrorKind::CompileError:
            return "CompileError";
        case ErrorKind::LaunchError:
            return "LaunchError";
        case ErrorKind::KernelFault:
            return "KernelFault";
        case ErrorKind::DeviceError:
            return "DeviceError";
        case ErrorKind::CheckError:
            return "CheckError";
        case ErrorKind::NotFound:
            return "NotFound";
        case ErrorKind::NotSupported:
            return "NotSupported";
        case ErrorKind::IndexError:
            return "IndexError";
        case ErrorKind::Internal:
            return "Internal";
    }
    return "unknown";
}

Error::Error(ErrorKind kind, std::string message, std::string detail)
    : kind_(kind), message_(std::move(message)), detail_(std::move(detail)) {}

Error::Error(FaultCode fault, std::string message, std::string detail)
    : Error(ErrorKind::KernelFault, std::move(message), std::move(detail)) {
    fault_ = fault;
}

void throw_error_with_detail(ErrorKind kind, std::string message, std::string detail) {
    throw Error(kind, std::move(message), std::move(detail));
}

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
    throw Error(ErrorKind::Internal,
                fmt::format("internal error: {}: {} failed at {}:{}: this is a fault of Trilane, "
                            "please report it",
                            message, condition, file, line));
}

void report_cleanup_failure(std::string_view what, const char* why) noexcept {
    std::fprintf(stderr, "trilane: %.*s: %s\n", static_cast<int>(what.size()), what.data(),
                 why != nullptr ? why : "unknown reason");
}

}  // namespace trilane::core
