// Errors: construction, names of kinds, and the reports of destructors.
#include "core/error.h"

#include <cstdio>

namespace trilane::core {

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
