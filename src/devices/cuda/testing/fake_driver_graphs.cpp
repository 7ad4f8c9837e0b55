// The fake driver's links, graphs, peers, handles for other processes, and profilers.
//
// A graph is a list of functions: what a capturing stream was given, with its arguments copied.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "devices/cuda/testing/fake_driver_state.h"

namespace trilane::cuda::testing {
namespace {

// --- links: texts one after the other. Results and logs are those of an H200's driver (580).

Result say(Link& link, Result result, const std::string& log) {
    std::strcpy(link.errors, log.c_str());
    return result;
}
// ".entry NAME" and ".func NAME" define, ".extern NAME" needs.
Result note_names(Link& link, std::string_view text, const std::string& piece) {
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const size_t space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const std::string_view word = line.substr(0, space);
        const std::string_view after = line.substr(space + 1);
        const std::string name(after.substr(0, after.find(' ')));
        if (word == ".extern") link.missing.emplace(name, piece);
        if (word != ".entry" && word != ".func") continue;
        const auto [first, is_new] = link.defined.emplace(name, piece);
        if (!is_new)
            return say(link, r::kInvalidSource,
                       "error   : Multiple definition of '" + name + "' in '" + piece +
                           "', first defined in '" + first->second + "'");
    }
    return r::kSuccess;
}

Result fake_link_create(unsigned, JitOption*, void** values, LinkHandle* link) {
    ENTER();
    auto* made = new Link;
    made->errors = static_cast<char*>(values[2]);
    links.insert(made);
    ++machine.links;
    *link = reinterpret_cast<LinkHandle>(made);
    return r::kSuccess;
}
Result fake_link_add(LinkHandle link, int type, void* data, size_t nbytes, const char* name,
                     unsigned, JitOption*, void**) {
    ENTER();
    auto* known = reinterpret_cast<Link*>(link);
    if (!links.contains(known)) return r::kInvalidHandle;
    if (type == kLinkLibrary) {
        known->has_runtime = true;
        ++machine.libraries_linked;
        return r::kSuccess;
    }
    const std::string text(static_cast<const char*>(data), nbytes);
    if (text.find("broken") != std::string::npos)
        return say(*known, r::kInvalidPtx,
                   "ptxas application ptx input, line 2; fatal   : Parsing error near 'broken': "
                   "syntax error\nptxas fatal   : Ptx assembly aborted due to errors");
    if (text.starts_with(".version 99"))
        return say(*known, r::kUnsupportedPtxVersion,
                   "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.0; "
                   "current version is '9.0'");
    if (type == kLinkCubin) return r::kNoBinaryForGpu;
    if (type == kLinkFatbin)
        return say(*known, r::kInvalidImage,
                   "error   : Binary format for key='0', ident='' is not recognized");
    if (type == kLinkObject)
        return say(*known, r::kUnknown,
                   std::string("fatal   : Could not find fatbin in '") + name + "'");
    known->text += text.c_str();
    return note_names(*known, text, name);
}
Result fake_link_complete(LinkHandle link, void** cubin, size_t* nbytes) {
    ENTER();
    auto* known = reinterpret_cast<Link*>(link);
    if (!links.contains(known)) return r::kInvalidHandle;
    const std::string kUnlinked = ".unlinked";
    for (size_t at = known->text.find(kUnlinked); at != std::string::npos;
         at = known->text.find(kUnlinked))
        known->text.replace(at, kUnlinked.size(), ".linked");
    if (known->text.find(".calls") != std::string::npos && !known->has_runtime) {
        known->missing.emplace("cudaLaunchDeviceV2", "kernel");
    }
    for (const auto& [symbol, piece] : known->missing)
        if (!known->defined.contains(symbol))
            return say(*known, r::kInvalidSource,
                       "error   : Undefined reference to '" + symbol + "' in '" + piece + "'");
    *cubin = known->text.data();
    *nbytes = known->text.size();
    ++machine.links_done;
    return r::kSuccess;
}
Result fake_link_destroy(LinkHandle link) {
    ENTER_DESTROY();
    auto* known = reinterpret_cast<Link*>(link);
    if (links.erase(known) == 0) return r::kInvalidHandle;
    delete known;
    --machine.links;
    return answer;
}

// --- graphs

Result fake_begin_capture(StreamHandle stream, int mode) {
    ENTER();
    if (mode < 0 || mode > 2) return r::kInvalidValue;
    if (!known_stream(stream)) return r::kInvalidHandle;
    if (stream == nullptr) return r::kStreamCaptureUnsupported;
    if (captures.contains(stream)) return r::kIllegalState;
    captures[stream] = std::make_shared<Capture>();
    captures[stream]->origin = stream;
    captures[stream]->mode = mode;
    captures[stream]->thread = std::this_thread::get_id();
    return r::kSuccess;
}
Result fake_end_capture(StreamHandle stream, GraphHandle* graph) {
    *graph = nullptr;
    ENTER();
    const auto found = captures.find(stream);
    if (found == captures.end()) return r::kIllegalState;
    const std::shared_ptr<Capture> capture = found->second;
    if (capture->origin != stream) {
        capture->lost = true;
        return r::kStreamCaptureUnmatched;
    }
    if (capture->mode != kCaptureRelaxed && capture->thread != std::this_thread::get_id())
        return r::kStreamCaptureWrongThread;
    const bool lost = capture->lost;
    if (!lost) {
        auto* made = new Graph{capture->work};
        graphs.insert(made);
        ++machine.graphs;
        *graph = reinterpret_cast<GraphHandle>(made);
    }
    std::erase_if(captures, [&](const auto& other) { return other.second == capture; });
    return lost ? r::kStreamCaptureInvalidated : r::kSuccess;
}
Result fake_is_capturing(StreamHandle stream, int* status) {
    ENTER();
    const auto found = captures.find(stream);
    *status = found == captures.end() ? 0 : found->second->lost ? 2 : 1;
    for (const auto& [raw, capture] : captures)
        if (stream == nullptr && blocking.contains(raw)) return r::kStreamCaptureImplicit;
    return r::kSuccess;
}
// Nothing that could fail.
Result fake_exchange_mode(int* mode) {
    std::swap(*mode, capture_mode);
    return r::kSuccess;
}
Result fake_instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
    ENTER();
    auto* known = reinterpret_cast<Graph*>(graph);
    if (!graphs.contains(known)) return r::kInvalidHandle;
    UNSAFE();
    auto* made = new Graph{known->work};
    graphs.insert(made);
    ++machine.graphs;
    *exec = reinterpret_cast<GraphExecHandle>(made);
    return r::kSuccess;
}
template <class Handle>
Result fake_graph_destroy(Handle graph) {
    ENTER_DESTROY();
    auto* known = reinterpret_cast<Graph*>(graph);
    if (graphs.erase(known) == 0) return r::kInvalidHandle;
    delete known;
    --machine.graphs;
    return answer;
}
Result fake_graph_launch(GraphExecHandle exec, StreamHandle stream) {
    ENTER();
    auto* known = reinterpret_cast<Graph*>(exec);
    if (!graphs.contains(known)) return r::kInvalidHandle;
    return submit(stream, [all = known->work] {
        for (const auto& work : all) work();
    });
}
Result fake_graph_upload(GraphExecHandle exec, StreamHandle stream) {
    ENTER();
    return graphs.contains(reinterpret_cast<Graph*>(exec)) && known_stream(stream)
               ? r::kSuccess
               : r::kInvalidHandle;
}

// --- peers

int device_of(ContextHandle context) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(context) - 0x1000);
}
Result fake_can_access(int* can, DeviceHandle device, DeviceHandle peer) {
    ENTER(false);
    *can = device != peer && device < machine.device_count && peer < machine.device_count;
    return r::kSuccess;
}
Result fake_enable_peer(ContextHandle peer, unsigned flags) {
    ENTER();
    if (flags != 0 || peer == stack.back()) return r::kInvalidValue;
    if (!peers.insert({device_of(stack.back()), device_of(peer)}).second)
        return r::kPeerAccessAlreadyEnabled;
    return r::kSuccess;
}
Result fake_disable_peer(ContextHandle peer) {
    ENTER();
    return peers.erase({device_of(stack.back()), device_of(peer)}) == 0 ? r::kPeerAccessNotEnabled
                                                                        : r::kSuccess;
}
Result fake_copy_peer(DeviceAddress dst, ContextHandle, DeviceAddress src, ContextHandle,
                      size_t nbytes, StreamHandle stream) {
    ENTER();
    if (!on_device(dst, nbytes) || !on_device(src, nbytes) || !known_stream(stream))
        return r::kInvalidValue;
    ++machine.peer_copies;
    return move(at(dst), at(src), nbytes);
}

// --- other processes: this one plays both

Result fake_share(IpcHandle* handle, DeviceAddress address) {
    ENTER();
    if (!memory.contains(address) || from_pools.contains(address)) return r::kInvalidValue;
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle->bytes, &address, sizeof address);
    return r::kSuccess;
}
Result fake_open(DeviceAddress* address, IpcHandle handle, unsigned flags) {
    ENTER();
    std::memcpy(address, handle.bytes, sizeof *address);
    if (flags != kIpcLazyPeerAccess || !memory.contains(*address)) return r::kInvalidValue;
    ++machine.shared;
    return r::kSuccess;
}
Result fake_close(DeviceAddress address) {
    ENTER_DESTROY();
    if (!memory.contains(address)) return r::kInvalidValue;
    --machine.shared;
    return answer;
}
Result fake_share_event(IpcHandle* handle, EventHandle event) {
    ENTER();
    auto* known = reinterpret_cast<Event*>(event);
    if (!events.contains(known) || !known->shared) return r::kInvalidValue;
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle->bytes, &event, sizeof event);
    return r::kSuccess;
}
Result fake_open_event(EventHandle* event, IpcHandle handle) {
    ENTER();
    Event* known = nullptr;
    std::memcpy(&known, handle.bytes, sizeof known);
    if (!events.contains(known)) return r::kInvalidValue;
    auto* made = new Event(*known);
    events.insert(made);
    ++machine.events;
    *event = reinterpret_cast<EventHandle>(made);
    return r::kSuccess;
}

// --- profilers

Result fake_profiler_start() {
    ENTER();
    ++machine.profiling;
    return r::kSuccess;
}
Result fake_profiler_stop() {
    ENTER();
    --machine.profiling;
    return r::kSuccess;
}

}  // namespace

std::vector<Row> graph_rows() {
    return {
        {"cuLinkCreate", pointer(fake_link_create)},
        {"cuLinkAddData", pointer(fake_link_add)},
        {"cuLinkComplete", pointer(fake_link_complete)},
        {"cuLinkDestroy", pointer(fake_link_destroy)},
        {"cuStreamBeginCapture", pointer(fake_begin_capture)},
        {"cuStreamEndCapture", pointer(fake_end_capture)},
        {"cuStreamIsCapturing", pointer(fake_is_capturing)},
        {"cuThreadExchangeStreamCaptureMode", pointer(fake_exchange_mode)},
        {"cuGraphInstantiateWithFlags", pointer(fake_instantiate)},
        {"cuGraphDestroy", pointer(fake_graph_destroy<GraphHandle>)},
        {"cuGraphExecDestroy", pointer(fake_graph_destroy<GraphExecHandle>)},
        {"cuGraphLaunch", pointer(fake_graph_launch)},
        {"cuGraphUpload", pointer(fake_graph_upload)},
        {"cuDeviceCanAccessPeer", pointer(fake_can_access)},
        {"cuCtxEnablePeerAccess", pointer(fake_enable_peer)},
        {"cuCtxDisablePeerAccess", pointer(fake_disable_peer)},
        {"cuMemcpyPeerAsync", pointer(fake_copy_peer)},
        {"cuIpcGetMemHandle", pointer(fake_share)},
        {"cuIpcOpenMemHandle", pointer(fake_open)},
        {"cuIpcCloseMemHandle", pointer(fake_close)},
        {"cuIpcGetEventHandle", pointer(fake_share_event)},
        {"cuIpcOpenEventHandle", pointer(fake_open_event)},
        {"cuProfilerStart", pointer(fake_profiler_start)},
        {"cuProfilerStop", pointer(fake_profiler_stop)},
    };
}

}  // namespace trilane::cuda::testing
