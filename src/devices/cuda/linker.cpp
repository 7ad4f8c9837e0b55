// One run of the driver's linker.
#include "devices/cuda/linker.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "devices/cuda/image_reader.h"
#include "devices/cuda/nvrtc_table.h"

namespace trilane::cuda {
namespace {

using core::ErrorKind;
using core::LinkInput;
using core::throw_error;

constexpr size_t kLogBytes = 16384;
constexpr std::string_view kArchive = "!<arch>\n";

LinkInputType type_of(const LinkInput& input) {
    if (input.bytes.starts_with(kArchive)) return kLinkLibrary;
    switch (form_of(input.bytes)) {
        case ImageForm::Cubin:
            return is_host_object(input.bytes) ? kLinkObject : kLinkCubin;
        case ImageForm::Fatbin:
            return kLinkFatbin;
        case ImageForm::Ptx:
            return kLinkPtx;
        case ImageForm::Unknown:
            break;
    }
    throw_error(ErrorKind::InvalidArgument,
                "link: {}: got {} bytes of an unknown form, expected a cubin, PTX, fatbin, object "
                "or library",
                input.name, input.bytes.size());
}

// What any call may give, whatever it was asked.
bool is_of_device(Result result) {
    return is_sticky(result) || kind_of(result) == ErrorKind::OutOfMemory ||
           result == result::kNotInitialized || result == result::kDeinitialized ||
           result == result::kInvalidContext || result == result::kDeviceUnavailable;
}

bool needs_runtime(const LinkInput& input) {
    for (const char* name : {"cudaCDP2", "cudaLaunchDevice", "cudaGetParameterBuffer"})
        if (input.bytes.find(name) != std::string::npos) return true;
    return false;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.empty())
        throw_error(ErrorKind::NotSupported, "link: {} cannot be read: set TRILANE_CUDADEVRT",
                    path);
    return bytes;
}

class Link {
  public:
    Link(const DriverTable& driver, FaultState& faults, const core::LinkOptions& options)
        : driver_(driver), faults_(faults) {
        set(kJitInfoLog, info_.data());
        set(kJitInfoLogBytes, kLogBytes);
        set(kJitErrorLog, errors_.data());
        set(kJitErrorLogBytes, kLogBytes);
        if (options.max_registers > 0) set(kJitMaxRegisters, size_t(options.max_registers));
        if (options.threads_per_block > 0)
            set(kJitThreadsPerBlock, size_t(options.threads_per_block));
        if (options.optimization_level != core::LinkOptions{}.optimization_level)
            set(kJitOptimizationLevel, size_t(options.optimization_level));
        if (options.debug) set(kJitDebugInfo, 1);
        if (options.line_info) set(kJitLineInfo, 1);
        if (options.verbose) set(kJitLogVerbose, 1);
        require(driver_.cuLinkCreate(static_cast<unsigned>(options_.size()), options_.data(),
                                     values_.data(), &handle_),
                "cuLinkCreate", false);
    }
    ~Link() {
        if (handle_ != nullptr && !faults_.lost())
            faults_.report(driver_.cuLinkDestroy(handle_), "cuLinkDestroy");
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void add(const LinkInput& input) {
        // PTX ends with its zero.
        const LinkInputType type = type_of(input);
        const size_t nbytes = input.bytes.size() + (type == kLinkPtx ? 1 : 0);
        require(driver_.cuLinkAddData(handle_, type, const_cast<char*>(input.bytes.c_str()), nbytes,
                                      input.name.c_str(), 0, nullptr, nullptr),
                "cuLinkAddData");
    }
    core::Image complete() {
        void* cubin = nullptr;
        size_t nbytes = 0;
        require(driver_.cuLinkComplete(handle_, &cubin, &nbytes), "cuLinkComplete");
        core::Image image;
        image.format = "cubin";
        image.bytes.assign(static_cast<const char*>(cubin), nbytes);
        image.log = text(info_);
        return image;
    }

  private:
    void set(JitOption option, void* value) {
        options_.push_back(option);
        values_.push_back(value);
    }
    void set(JitOption option, size_t value) { set(option, reinterpret_cast<void*>(value)); }
    static std::string text(const std::vector<char>& log) {
        return std::string(log.data(), std::find(log.begin(), log.end(), '\0') - log.begin());
    }
    // The driver has many results for pieces that do not fit (300 for a name that is missing or
    // there twice, 218 and 222 for PTX, 200 and 209 for images, 999 with a log for fatbins and
    // libraries): whatever adding and completing give is of the pieces, unless it is of the device.
    void require(Result result, const char* call, bool of_pieces = true) {
        if (result == result::kSuccess) return;
        const std::string log = text(errors_);
        if (is_of_device(result) || faults_.lost() || (!of_pieces && log.empty()))
            faults_.fail(result, call);
        std::string told = fmt::format("{}: {}", call, result_text(driver_, result));
        if (!log.empty()) told += fmt::format(": {}", log.substr(0, log.find('\n')));
        throw core::Error(ErrorKind::InvalidArgument, std::move(told), log).with_status(result);
    }
    const DriverTable& driver_;
    FaultState& faults_;
    LinkHandle handle_ = nullptr;
    // The driver writes into the logs until the link is destroyed.
    std::vector<char> info_ = std::vector<char>(kLogBytes, '\0'),
                      errors_ = std::vector<char>(kLogBytes, '\0');
    std::vector<JitOption> options_;
    std::vector<void*> values_;
};

}  // namespace

core::Image link_images(const DriverTable& driver, FaultState& faults,
                        std::span<const LinkInput> inputs, const core::LinkOptions& options) {
    if (inputs.empty()) throw_error(ErrorKind::InvalidArgument, "link: there is nothing to link");
    bool runtime = false;
    for (const LinkInput& input : inputs) {
        if (form_of(input.bytes) != ImageForm::Unknown)
            if (const std::string why = damage_of(input.bytes); !why.empty())
                throw_error(ErrorKind::InvalidArgument, "link: {} cannot be used: {}", input.name,
                            why);
        runtime = runtime || needs_runtime(input);
    }
    Link link(driver, faults, options);
    for (const LinkInput& input : inputs) link.add(input);
    if (runtime)
        link.add({"cudadevrt", "library", read_file(find_device_runtime(driver.version / 1000))});
    return link.complete();
}

}  // namespace trilane::cuda
