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
    const RelaxedCapture relaxed(driver_);
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
    check(driver_.cuStreamIsCapturing(stream_of(stream), &status), "cuStreamIsCapturing");
    return status != 0;
}

void CudaDevice::capture_host_function(RawStream stream, const std::function<void()>* function) {
    const Scope scope(*this, "host_function");
    const auto run = [](void* user) noexcept {
        try {
            (*static_cast<const std::function<void()>*>(user))();
        } catch (const std::exception& error) {
            core::report_cleanup_failure("host function of a graph", error.what());
        } catch (...) {
            core::report_cleanup_failure("host function of a graph", "unknown exception");
        }
    };
    check(driver_.cuLaunchHostFunc(stream_of(stream), run,
                                   const_cast<std::function<void()>*>(function)),
          "cuLaunchHostFunc");
}

void CudaDevice::launch_graph(RawGraph graph, RawStream stream) {
    const Scope scope(*this, "launch_graph");
    check(driver_.cuGraphLaunch(graph_of(graph), stream_of(stream)), "cuGraphLaunch");
}

void CudaDevice::upload_graph(RawGraph graph, RawStream stream) {
    const Scope scope(*this, "upload_graph");
    const RelaxedCapture relaxed(driver_);
    check(driver_.cuGraphUpload(graph_of(graph), stream_of(stream)), "cuGraphUpload");
}

void CudaDevice::destroy_graph(RawGraph graph) noexcept {
    Scope scope(*this);
    if (graph == 0 || !try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    faults_.report(driver_.cuGraphExecDestroy(graph_of(graph)), "cuGraphExecDestroy");
}

}  // namespace trilane::cuda
