// Findings of the checks: merged by place, kept until somebody takes them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/device.h"

namespace trilane::cpu {

enum class AccessKind : uint32_t { Read, Write, Atomic };
enum class AccessSpace : uint32_t { Global, Shared, DynamicShared, Local, Variable };

// One access in the source. Generated code holds these as constants: the layout is that of
// check/instrument.cpp.
struct CheckSite {
    const char* file;
    const char* name;  // of the array or pointer as the source has it; empty if unknown
    uint32_t line;
    AccessKind kind;
    AccessSpace space;
    uint32_t element;  // bytes per element of the array, 1 if unknown
    uint64_t align;    // that the access needs
};

// Where an access went, and by whom.
struct AccessFault {
    uint64_t address = 0, nbytes = 0;
    uint64_t begin = 0, size = 0;  // the array's, size 0 if there is none
    std::string array;             // its name, empty if unknown
    std::string neighbour;         // sentence about the address where there is no array
    std::string kernel;
    core::Dim3 block, thread;
};

// Text and fields of a report. The access is out of bounds unless `misaligned`.
core::CheckReport describe_fault(const CheckSite& site, const AccessFault& fault, bool misaligned);

class CheckReports {
  public:
    // Never destroyed.
    static CheckReports& get();
    // Merges with an earlier one of the same kind, kernel, line and array. True if it is the first.
    bool add(core::CheckReport report, const std::string& array);
    // Oldest first; afterwards a place counts as new again.
    std::vector<core::CheckReport> take();

  private:
    std::mutex mutex_;
    std::map<std::string, size_t> index_;
    std::vector<core::CheckReport> reports_;
};

}  // namespace trilane::cpu
