// Graphs: launches, and their end.
#include "core/graph.h"

#include "core/error.h"

namespace trilane::core {

Graph::Graph(ContextPtr context, RawGraph raw, CapturePtr capture)
    : context_(std::move(context)), raw_(raw), capture_(std::move(capture)) {}

Graph::~Graph() {
    if (context_->usable())
        context_->captures().retire(std::move(capture_), raw_);
    else
        new CapturePtr(std::move(capture_));  // what it holds must not be touched from a child
}

void Graph::require_here(const char* who, const StreamPtr& stream) const {
    context_->require_usable(who);
    if (stream->context() != context_)
        throw_error(ErrorKind::InvalidArgument,
                    "{}: graph and stream belong to different devices: got a stream of device {}, "
                    "expected one of device {}",
                    who, stream->context()->index(), context_->index());
}

void Graph::launch(const StreamPtr& stream) {
    require_here("Graph.launch", stream);
    // Before the launch: if it fails after it started something, what it uses is still kept.
    if (CapturePtr other = context_->captures().of(*stream))
        other->hold(shared_from_this());
    else
        capture_->add_stream(stream);
    context_->device().launch_graph(raw_, stream->raw());
}

void Graph::upload(const StreamPtr& stream) {
    require_here("Graph.upload", stream);
    capture_->add_stream(stream);
    context_->device().upload_graph(raw_, stream->raw());
}

}  // namespace trilane::core
