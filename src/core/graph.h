// Graphs: captured work, done again at each launch. Made by Stream::end_capture().
#pragma once

#include <memory>

#include "core/capture.h"
#include "core/stream.h"

namespace trilane::core {

class Graph : public std::enable_shared_from_this<Graph> {
  public:
    // Memory, code and functions of the host that the work uses live on until its launches are
    // done.
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    const ContextPtr& context() const { return context_; }
    RawGraph raw() const { return raw_; }

    // In the order of `stream`, which may be another than the captured ones; launches of one graph
    // follow each other. On a captured stream the work becomes part of that capture.
    void launch(const StreamPtr& stream);
    void upload(const StreamPtr& stream);  // what the first launch would do first

  private:
    friend class Captures;
    Graph(ContextPtr context, RawGraph raw, CapturePtr capture);
    void require_here(const char* who, const StreamPtr& stream) const;
    ContextPtr context_;
    RawGraph raw_;
    CapturePtr capture_;
};

}  // namespace trilane::core
