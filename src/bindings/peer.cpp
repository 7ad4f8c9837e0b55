// Several devices: access to one another's memory.
#include "core/peer.h"

#include "bindings/arguments.h"
#include "bindings/locate.h"
#include "core/registry.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

const char* name_of(core::PeerChange change) {
    switch (change) {
        case core::PeerChange::Done:
            return "done";
        case core::PeerChange::Impossible:
            return "impossible";
        case core::PeerChange::Already:
            return "already";
        case core::PeerChange::NotEnabled:
            return "not enabled";
    }
    return "";
}

void copy_peer(nb::handle dst, const core::ContextPtr& dst_context, nb::handle src,
               const core::ContextPtr& src_context, size_t nbytes, const core::StreamPtr& given,
               bool wait) {
    MemoryRef to = memory_of(dst, "copy_peer"), from = memory_of(src, "copy_peer");
    auto whole = [&](MemoryRef& ref, const core::ContextPtr& context) {
        if (ref.buffer && (!context || ref.buffer->context() == context)) {
            if (nbytes > ref.nbytes)
                core::throw_error(core::ErrorKind::InvalidArgument,
                                  "copy_peer: out of range: got {} bytes, expected at most {}",
                                  nbytes, ref.nbytes);
            return ref.buffer;
        }
        const core::DevicePtr address =
            ref.buffer ? ref.buffer->address() + ref.offset : ref.address;
        ref.offset = 0;
        return core::Buffer::adopt(home_of(address, context), address, nbytes, nullptr);
    };
    const core::BufferPtr target = whole(to, dst_context), source = whole(from, src_context);
    const core::StreamPtr stream = stream_or_current(given, target->context());
    nb::gil_scoped_release unlocked;
    if (nbytes == 0) return;
    if (target->context() == source->context())
        core::copy_on_device(*target, to.offset, *source, from.offset, nbytes, stream);
    else
        core::copy_between(*target, to.offset, *source, from.offset, nbytes, stream);
    if (wait) stream->synchronize();
}

}  // namespace

core::ContextPtr home_of(core::DevicePtr address, const core::ContextPtr& given,
                         const core::ContextPtr& fallback) {
    if (given) return given;
    if (core::device_count() > 1) {
        nb::gil_scoped_release unlocked;
        if (core::ContextPtr home = core::context_holding(address)) return home;
    }
    return context_or_current(fallback);
}

void bind_peer(nb::module_& m) {
    m.def(
        "can_access_peer",
        [](const core::ContextPtr& context, const core::ContextPtr& peer) {
            nb::gil_scoped_release unlocked;
            return core::can_access_peer(context, peer);
        },
        "context"_a, "peer"_a, "Whether kernels of one device can be given memory of another.");
    m.def(
        "enable_peer_access",
        [](const core::ContextPtr& context, const core::ContextPtr& peer) {
            nb::gil_scoped_release unlocked;
            return name_of(core::enable_peer_access(context, peer));
        },
        "context"_a, "peer"_a,
        "'done', 'already' or 'impossible'. Memory of a peer is also reached without it, where it\n"
        "can be.");
    m.def(
        "disable_peer_access",
        [](const core::ContextPtr& context, const core::ContextPtr& peer) {
            nb::gil_scoped_release unlocked;
            return name_of(core::disable_peer_access(context, peer));
        },
        "context"_a, "peer"_a, "'done' or 'not enabled'.");
    m.def(
        "copy_peer",
        [](nb::object dst, const core::ContextPtr& dst_context, nb::object src,
           const core::ContextPtr& src_context, size_t nbytes, const core::StreamPtr& stream,
           bool wait) { copy_peer(dst, dst_context, src, src_context, nbytes, stream, wait); },
        "dst"_a, "dst_context"_a.none(), "src"_a, "src_context"_a.none(), "nbytes"_a, nb::kw_only(),
        "stream"_a.none() = nb::none(), "wait"_a = false,
        "Copy between devices. A context says where a bare address is; allocations know theirs.\n"
        "The stream is of one of the two devices; on the other the copy comes after what is on "
        "its\n"
        "current stream, and before what follows.");
}

}  // namespace trilane::bindings
