// Launches of translated kernels.
#include "bindings/jit_launch.h"

#include <nanobind/stl/shared_ptr.h>

#include <cstring>

#include "core/env.h"
#include "core/error.h"
#include "core/host_memory.h"
#include "core/peer.h"

namespace trilane::bindings {
namespace {

constexpr size_t kSmallStage = 64 * 1024;  // host arrays below this in all travel together

// The cpu device reads host memory where it lies; with checks, arrays get tracked copies.
bool uses_host_memory(const core::ContextPtr& context) {
    return context->properties().type == core::DeviceType::Cpu && !core::env_flag("TRILANE_CHECK");
}

// A launch that waits for its kernel has no place in a graph: neither can what it copies back be
// copied at each launch, nor what it looks at afterwards be looked at.
void refuse_captured(const core::StreamPtr& stream, const Variant& variant,
                     const std::vector<ArrayArgument>& arrays) {
    if (stream->context()->captures().of(*stream) == nullptr) [[likely]]
        return;
    const std::string call = fmt::format("launch of {}", variant.function->name());
    for (const ArrayArgument& a : arrays)
        if (a.host || a.target.is_valid())
            core::throw_capture_fault(
                core::CaptureFault::Unsupported, call,
                fmt::format("argument {}: got an array of the host, expected one of the device, "
                            "because the launch is captured: make it by cuda.to_device() before",
                            a.parameter + 1));
    if (variant.raises)
        core::throw_capture_fault(
            core::CaptureFault::Unsupported, call,
            "the kernel may raise exceptions, which are looked for after each launch, and the "
            "launch is captured: compile it without debug=True and without raise and assert");
}

size_t rounded(size_t nbytes) { return (nbytes + 255) / 256 * 256; }

// Host arrays on their way to the device and back.
class Staging {
  public:
    Staging(std::vector<ArrayArgument>& arrays, uint64_t writes, core::StreamPtr stream)
        : arrays_(arrays), writes_(writes), stream_(std::move(stream)) {
        for (ArrayArgument& a : arrays_)
            if (a.host) total_ += rounded(a.host->nbytes());
    }

    void copy_in() {
        // With checks each has bounds of its own.
        together_ = total_ > 0 && total_ <= kSmallStage && !core::env_flag("TRILANE_CHECK");
        if (together_) {
            buffer_ = core::Buffer::allocate(stream_, total_);
            block_.resize(total_);
        }
        size_t at = 0;
        for (ArrayArgument& a : arrays_) {
            if (!a.host) continue;
            size_t nbytes = a.host->nbytes();
            if (together_) {
                if (a.copy_in) std::memcpy(block_.data() + at, a.host->data(), nbytes);
                a.address = buffer_->address() + at;
                at += rounded(nbytes);
                continue;
            }
            a.staged = core::Buffer::allocate(stream_, nbytes);
            a.address = a.staged->address();
            if (a.copy_in && nbytes) {
                nb::gil_scoped_release unlocked;
                core::copy_to_device(*a.staged, 0, a.host->data(), nbytes, stream_, true);
            }
        }
        if (together_) {
            nb::gil_scoped_release unlocked;
            core::copy_to_device(*buffer_, 0, block_.data(), total_, stream_, true);
        }
    }

    // Where host memory is used in place: what the kernel writes and nobody wants back goes to a
    // copy.
    void protect() {
        for (ArrayArgument& a : arrays_) {
            size_t nbytes = a.host && !a.copy_out && written_by_kernel(a) ? a.host->nbytes() : 0;
            if (nbytes == 0) continue;
            a.staged = core::Buffer::allocate(stream_, nbytes);
            a.address = a.staged->address();
            if (a.copy_in)
                core::copy_to_device(*a.staged, 0, a.host->data(), nbytes, stream_, true);
        }
    }

    void copy_out() {
        bool any = false;
        for (ArrayArgument& a : arrays_) any |= a.host && written(a);
        if (together_ && any) {
            nb::gil_scoped_release unlocked;
            core::copy_to_host(block_.data(), *buffer_, 0, total_, stream_, true);
        }
        size_t at = 0;
        for (ArrayArgument& a : arrays_) {
            if (!a.host) continue;
            size_t nbytes = a.host->nbytes(), place = at;
            at += rounded(nbytes);
            if (!written(a)) continue;
            if (together_) {
                std::memcpy(a.host->data(), block_.data() + place, nbytes);
            } else if (nbytes) {
                nb::gil_scoped_release unlocked;
                core::copy_to_host(a.host->data(), *a.staged, 0, nbytes, stream_, true);
            }
        }
    }

    bool written(const ArrayArgument& a) const { return a.copy_out && written_by_kernel(a); }

    bool written_by_kernel(const ArrayArgument& a) const {
        return writes_ >> std::min<size_t>(a.parameter, 63) & 1;
    }

  private:
    std::vector<ArrayArgument>& arrays_;
    uint64_t writes_;
    core::StreamPtr stream_;
    size_t total_ = 0;
    bool together_ = false;
    core::BufferPtr buffer_;
    std::vector<char> block_;
};

}  // namespace

void KernelDispatcher::add(const std::vector<std::string>& codes,
                           std::shared_ptr<Variant> variant) {
    Entry entry{variant->function->context()->index(), {}, std::move(variant)};
    for (const std::string& code : codes) entry.types.push_back(jit::types::parse(code));
    entries_.push_back(std::move(entry));
}

std::shared_ptr<Variant> KernelDispatcher::find(const KernelArguments& arguments, int device) {
    if (only_ && only_device_ == device) return only_;
    for (const Entry& entry : entries_)
        if (entry.device == device && entry.types == arguments.types()) return entry.variant;
    nb::list codes;
    for (jit::TypeRef type : arguments.types())
        codes.append(nb::str(jit::types::code(type).c_str()));
    nb::object made = owner_.attr("compile_for")(codes, device);
    return nb::cast<std::shared_ptr<Variant>>(made);
}

void KernelDispatcher::launch(const core::LaunchConfig& given, nb::handle tuple) {
    core::LaunchConfig config = given;
    if (!config.stream) config.stream = core::current_stream();
    const core::ContextPtr& context = config.stream->context();
    bool place = uses_host_memory(context);
    KernelArguments arguments(owner_, place, nb::len(tuple));
    for (nb::handle object : nb::borrow<nb::tuple>(tuple)) arguments.add(object);
    std::shared_ptr<Variant> variant = find(arguments, context->index());
    if (arguments.types().size() != variant->parameters.size())
        core::throw_error(
            core::ErrorKind::TypeMismatch, "{}: wrong number of arguments: got {}, expected {}",
            variant->function->name(), arguments.types().size(), variant->parameters.size());
    config.cooperative |= variant->cooperative;
    refuse_captured(config.stream, *variant, arguments.arrays());
    Staging staging(arguments.arrays(), variant->writes, config.stream);
    if (place)
        staging.protect();
    else
        staging.copy_in();
    arguments.pack(variant->parameters);
    core::BufferPtr failure;
    if (variant->raises) {
        jit::Failure empty;
        failure = core::Buffer::allocate(config.stream, sizeof empty);
        core::copy_to_device(*failure, 0, &empty, sizeof empty, config.stream, true);
        core::DevicePtr address = failure->address();
        arguments.pointers().push_back(arguments.keep(&address, 8, 8));
    }
    if (variant->dynamic_shared) {
        auto bytes = static_cast<uint32_t>(config.shared_bytes);
        arguments.pointers().push_back(arguments.keep(&bytes, 4, 4));
    }
    for (const ArrayArgument& a : arguments.arrays())
        if (a.buffer && (a.buffer->stream() != config.stream || context->captures().any()))
            core::use_on(*a.buffer, config.stream, variant->function->name().c_str());
    jit::Failure raised;
    {
        nb::gil_scoped_release unlocked;
        core::launch_packed(*variant->function, config, arguments.pointers().data(),
                            arguments.pointers().size());
        if (failure) core::copy_to_host(&raised, *failure, 0, sizeof raised, config.stream, true);
    }
    if (!place) staging.copy_out();
    for (const ArrayArgument& a : arguments.arrays())
        if (a.target.is_valid() && staging.written(a)) owner_.attr("copy_back")(a.target, a.owner);
    if (raised.site != 0)
        variant->failures(raised.site - 1,
                          nb::make_tuple(raised.block[0], raised.block[1], raised.block[2]),
                          nb::make_tuple(raised.thread[0], raised.thread[1], raised.thread[2]));
}

}  // namespace trilane::bindings
