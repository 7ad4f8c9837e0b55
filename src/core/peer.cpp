// Peers: access is opened once per pair of devices; order is made of events.
#include "core/peer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory_pool.h"
#include "core/registry.h"

namespace trilane::core {

namespace {

// Devices of this thread whose memory the next launch uses. Mostly empty.
std::vector<ContextPtr>& announced() {
    thread_local std::vector<ContextPtr> contexts;
    return contexts;
}

// What is known of a pair of devices, in one direction.
struct Pair {
    bool open = false;     // the memory is reached
    bool asked = false;    // because the user asked
    bool refused = false;  // it cannot be
};

// By the addresses of the two contexts, which live as long as the process.
struct Pairs {
    std::mutex mutex;
    std::map<std::pair<const Context*, const Context*>, Pair> known;
    Pair& at(const ContextPtr& from, const ContextPtr& to) {  // `mutex` is held
        return known[{from.get(), to.get()}];
    }
};

Pairs& pairs() {
    static Pairs* const instance = new Pairs;  // never destroyed: see registry.cpp
    return *instance;
}

bool is_captured(const Stream& stream) {
    Captures& captures = stream.context()->captures();
    return captures.any() && captures.of(stream) != nullptr;
}

void refuse_capture(const char* who, const Stream& stream) {
    if (is_captured(stream)) [[unlikely]]
        throw_error(ErrorKind::NotSupported,
                    "{}: memory of two devices while a stream is captured: got a captured stream "
                    "of device {}: copy before the capture",
                    who, stream.context()->index());
}

bool same_type(const Context& a, const Context& b) {
    return const_cast<Context&>(a).properties().type == const_cast<Context&>(b).properties().type;
}

}  // namespace

bool can_access_peer(const ContextPtr& from, const ContextPtr& to) {
    if (from == to || !same_type(*from, *to)) return false;
    return from->device().can_access_peer(to->properties().ordinal);
}

bool reach(const ContextPtr& from, const ContextPtr& to) {
    if (from == to) return true;
    std::lock_guard lock(pairs().mutex);
    Pair& peer = pairs().at(from, to);
    if (peer.open) return true;
    if (peer.refused || !can_access_peer(from, to)) {
        peer.refused = true;
        return false;
    }
    from->device().enable_peer_access(to->device());
    peer.open = true;
    return true;
}

PeerChange enable_peer_access(const ContextPtr& from, const ContextPtr& to) {
    if (!reach(from, to) || from == to) return PeerChange::Impossible;
    std::lock_guard lock(pairs().mutex);
    Pair& peer = pairs().at(from, to);
    if (peer.asked) return PeerChange::Already;
    peer.asked = true;
    return PeerChange::Done;
}

PeerChange disable_peer_access(const ContextPtr& from, const ContextPtr& to) {
    std::lock_guard lock(pairs().mutex);
    Pair& peer = pairs().at(from, to);
    if (!peer.asked) return PeerChange::NotEnabled;
    from->device().disable_peer_access(to->device());
    peer.asked = peer.open = false;
    return PeerChange::Done;
}

ContextPtr context_holding(DevicePtr address) {
    if (address == 0) return nullptr;
    for (const ContextPtr& context : live_contexts())
        if (context->pool().owns(address)) return context;
    return nullptr;
}

void order_after(const StreamPtr& later, const StreamPtr& earlier) {
    if (later->id() == earlier->id()) return;
    const EventPtr event = Event::create(earlier->context(), false);
    event->record(*earlier);
    later->wait_for(*event);
}

void use_on(Buffer& buffer, const StreamPtr& stream, const char* who) {
    const ContextPtr& home = buffer.context();
    if (home == stream->context() || !is_located(buffer)) [[likely]]
        return buffer.record_use(stream);
    if (!reach(stream->context(), home))
        throw_error(ErrorKind::InvalidArgument,
                    "{}: memory of a device that cannot be reached: got memory of device {}, "
                    "expected memory of device {}: copy it there",
                    who, home->index(), stream->context()->index());
    // A graph keeps the memory; a stream outside of the capture cannot be waited for in it.
    if (is_captured(*stream)) return buffer.record_use(stream);
    std::vector<ContextPtr>& others = announced();
    const StreamPtr theirs = current_stream(home);
    refuse_capture("launch", *theirs);
    // Each time: what was announced before may be of a launch that failed.
    order_after(stream, theirs);
    if (std::find(others.begin(), others.end(), home) == others.end()) others.push_back(home);
    buffer.record_use(theirs);  // it waits for the launch: see finish_peer_uses
}

void finish_peer_uses(const StreamPtr& stream) {
    std::vector<ContextPtr>& others = announced();
    if (others.empty()) [[likely]]
        return;
    const std::vector<ContextPtr> done = std::move(others);
    others.clear();
    if (is_captured(*stream)) return;  // of launches that failed, before the capture
    for (const ContextPtr& other : done) {
        const StreamPtr theirs = current_stream(other);
        if (!is_captured(*theirs)) order_after(theirs, stream);
    }
}

namespace {

// Calls copy(device of the source, stream of the source) with the order that both sides need.
template <typename Copy>
void ordered_copy(Buffer& dst, Buffer& src, const StreamPtr& stream, const Copy& copy) {
    const ContextPtr &to = dst.context(), &from = src.context();
    const bool of_target = stream->context() == to;
    if (!of_target && stream->context() != from)
        throw_error(ErrorKind::InvalidArgument,
                    "copy between devices: stream of a third device: got a stream of device {}, "
                    "expected one of device {} or {}",
                    stream->context()->index(), from->index(), to->index());
    if (!same_type(*to, *from))
        throw_error(ErrorKind::NotSupported,
                    "copy between devices of different types: got {} and {}: copy by the host",
                    device_type_name(from->properties().type),
                    device_type_name(to->properties().type));
    from->require_usable("copy between devices");
    const StreamPtr writes = of_target ? stream : current_stream(to);
    const StreamPtr reads = of_target ? current_stream(from) : stream;
    refuse_capture("copy between devices", *writes);
    refuse_capture("copy between devices", *reads);
    reach(from, to);  // without access the driver copies by the host
    order_after(reads, writes);
    dst.record_use(writes);
    src.record_use(reads);
    copy(from->device(), *reads);
    order_after(writes, reads);
}

}  // namespace

void copy_between(Buffer& dst, size_t dst_offset, Buffer& src, size_t src_offset, size_t nbytes,
                  const StreamPtr& stream) {
    ordered_copy(dst, src, stream, [&](Device& device, const Stream& reads) {
        device.copy_peer(dst.address() + dst_offset, dst.context()->device(),
                         src.address() + src_offset, nbytes, reads.raw(), false);
    });
}

void copy_region_between(const Copy3D& params, Buffer& dst, Buffer& src, const StreamPtr& stream,
                         bool wait) {
    const bool rows = params.height > 1 && (params.src_pitch != params.width_bytes ||
                                            params.dst_pitch != params.width_bytes);
    const size_t pieces = rows ? params.height : 1;
    const size_t nbytes = rows ? params.width_bytes : params.width_bytes * params.height;
    ordered_copy(dst, src, stream, [&](Device& device, const Stream& reads) {
        for (size_t z = 0; z < params.depth; ++z)
            for (size_t y = 0; y < pieces; ++y)
                device.copy_peer(params.dst + z * params.dst_slice_pitch + y * params.dst_pitch,
                                 dst.context()->device(),
                                 params.src + z * params.src_slice_pitch + y * params.src_pitch,
                                 nbytes, reads.raw(), false);
    });
    if (wait) stream->synchronize();
}

void require_same_device(const Buffer& buffer, const StreamPtr& stream, const char* who) {
    if (buffer.context() == stream->context() || !is_located(buffer)) [[likely]]
        return;
    throw_error(ErrorKind::InvalidArgument,
                "{}: stream of another device: got a stream of device {}, expected one of device "
                "{}, where the memory is",
                who, stream->context()->index(), buffer.context()->index());
}

DeviceScope::~DeviceScope() {
    if (current_device_index() == before_) return;
    try {
        set_current_device(before_);
    } catch (const std::exception& error) {
        report_cleanup_failure("making a device current again", error.what());
    }
}

}  // namespace trilane::core
