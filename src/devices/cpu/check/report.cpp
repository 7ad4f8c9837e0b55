// Words of the reports.
#include "devices/cpu/check/report.h"

#include <utility>

#include "core/error.h"

namespace trilane::cpu {
namespace {

const char* word_of(AccessKind kind) {
    switch (kind) {
        case AccessKind::Read:
            return "read";
        case AccessKind::Write:
            return "write";
        default:
            return "atomic";
    }
}

const char* space_of(AccessSpace space) {
    switch (space) {
        case AccessSpace::Shared:
        case AccessSpace::DynamicShared:
            return "shared array";
        case AccessSpace::Local:
            return "local array";
        case AccessSpace::Variable:
            return "variable";
        default:
            return "array";
    }
}

// "array 'c' has 400 elements of 4 bytes: index 400 is behind its end"
std::string describe_array(const CheckSite& site, const AccessFault& fault) {
    // Bytes and untyped memory are counted in units of the access.
    uint64_t element = site.element > 1 ? site.element : fault.nbytes <= 16 ? fault.nbytes : 1;
    if (element == 0 || fault.size % element != 0) element = 1;
    auto distance = static_cast<int64_t>(fault.address - fault.begin);
    int64_t index = distance / static_cast<int64_t>(element);
    if (distance < 0 && distance % static_cast<int64_t>(element) != 0) --index;
    std::string name = fault.array.empty() ? "" : fmt::format(" '{}'", fault.array);
    std::string size = element == 1
                           ? fmt::format("{} bytes", fault.size)
                           : fmt::format("{} elements of {} bytes", fault.size / element, element);
    const char* where = distance < 0                                   ? "before its start"
                        : static_cast<uint64_t>(distance) < fault.size ? "inside, its end is not"
                                                                       : "behind its end";
    return fmt::format("{}{} has {}: index {} is {}", space_of(site.space), name, size, index,
                       where);
}

}  // namespace

core::CheckReport describe_fault(const CheckSite& site, const AccessFault& fault, bool misaligned) {
    core::CheckReport report;
    report.kind =
        fmt::format("{} {}", misaligned ? "misaligned" : "out-of-bounds", word_of(site.kind));
    report.kernel = fault.kernel;
    report.file = site.file;
    report.line = static_cast<int>(site.line);
    report.block = fault.block;
    report.thread = fault.thread;
    std::string text = fmt::format(
        "{} of {} bytes in kernel {}\n    at {}:{}, block ({}, {}, {}), thread ({}, {}, {})\n    ",
        report.kind, fault.nbytes, fault.kernel, report.file, report.line, fault.block.x,
        fault.block.y, fault.block.z, fault.thread.x, fault.thread.y, fault.thread.z);
    std::string name = fault.array.empty() ? "" : fmt::format(" through '{}'", fault.array);
    if (misaligned)
        text +=
            fmt::format("address {:#x}{} is not a multiple of {}", fault.address, name, site.align);
    else if (fault.size != 0)
        text += describe_array(site, fault);
    else
        text +=
            fmt::format("address {:#x}{} is in no array{}", fault.address, name, fault.neighbour);
    report.text = std::move(text);
    return report;
}

CheckReports& CheckReports::get() {
    static auto* reports = new CheckReports;
    return *reports;
}

bool CheckReports::add(core::CheckReport report, const std::string& array) {
    std::string key = fmt::format("{}\n{}\n{}:{}\n{}", report.kind, report.kernel, report.file,
                                  report.line, array);
    std::lock_guard lock(mutex_);
    auto [found, first] = index_.emplace(std::move(key), reports_.size());
    if (first)
        reports_.push_back(std::move(report));
    else
        ++reports_[found->second].count;
    return first;
}

std::vector<core::CheckReport> CheckReports::take() {
    std::lock_guard lock(mutex_);
    index_.clear();
    return std::exchange(reports_, {});
}

}  // namespace trilane::cpu
