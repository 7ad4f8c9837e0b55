// Graphs: captured streams, kept to be launched again.
#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::RawGraph;
using core::RawStream;

namespace {

GraphExecHandle graph_of(RawGraph graph) { return reinterpret_cast<GraphExecHandle>(graph); }

}  // namespace

void CudaDevice::begin_capture(RawStream stream, core::CaptureMode mode) {
    const Scope scope(*this, "begin_capture");
    check(driver_.cuStreamBeginCapture(stream_of(stream), static_cast<int>(mode)),
          "cuStreamBeginCapture");
}

RawGraph CudaDevice::end_capture(RawStream stream) {
    const Scope scope(*this, "end_capture");
    GraphHandle graph = nullptr;
    check(driver_.cuStreamEndCapture(stream_of(stream), &graph), "cuStreamEndCapture");
    if (graph == nullptr)
        core::throw_error(core::ErrorKind::DeviceError,
                          "end_capture: the capture was lost: something that waits or asks was "
                          "called during it");
    GraphExecHandle exec = nullptr;
    const Result result = driver_.cuGraphInstantiateWithFlags(&exec, graph, 0);
    faults_.report(driver_.cuGraphDestroy(graph), "cuGraphDestroy");
    check(result, "cuGraphInstantiateWithFlags");
    return reinterpret_cast<RawGraph>(exec);
}

bool CudaDevice::capturing(RawStream stream) {
    const Scope scope(*this, "capturing");
    int status = 0;
    const Result result = driver_.cuStreamIsCapturing(stream_of(stream), &status);
    // Another stream is captured: what is asked of the default stream cannot be told.
    if (result == result::kStreamCaptureImplicit) return false;
    check(result, "cuStreamIsCapturing");
    return status != 0;
}

void CudaDevice::launch_graph(RawGraph graph, RawStream stream) {
    const Scope scope(*this, "launch_graph");
    check(driver_.cuGraphLaunch(graph_of(graph), stream_of(stream)), "cuGraphLaunch");
}

void CudaDevice::upload_graph(RawGraph graph, RawStream stream) {
    const Scope scope(*this, "upload_graph");
    check(driver_.cuGraphUpload(graph_of(graph), stream_of(stream)), "cuGraphUpload");
}

void CudaDevice::destroy_graph(RawGraph graph) noexcept {
    Scope scope(*this);
    if (graph != 0 && try_enter(scope))
        faults_.report(driver_.cuGraphExecDestroy(graph_of(graph)), "cuGraphExecDestroy");
}

}  // namespace trilane::cuda
