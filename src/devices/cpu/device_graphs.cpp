// Graphs of the cpu device: made of captured work, and launched.
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/interrupt.h"
#include "devices/cpu/device.h"
#include "devices/cpu/loaded_module.h"
#include "devices/cpu/run/interrupt.h"

namespace trilane::cpu {

namespace {

struct CpuGraph {
    GraphWork work;
    DeviceStreams::Stream turn;  // launches of a graph follow each other
    std::atomic<std::thread::id> runner{};
};

CpuGraph* graph_of(core::RawGraph raw) { return reinterpret_cast<CpuGraph*>(raw); }

// The arguments of a launch, kept as they are now.
class KeptLaunch {
  public:
    KeptLaunch(const core::LaunchParams& params, const std::vector<core::Parameter>& parameters)
        : params_(params) {
        constexpr size_t kAlign = 128;
        std::vector<size_t> places;
        size_t nbytes = 0;
        for (const core::Parameter& parameter : parameters) {
            const size_t align = std::max<size_t>(parameter.align, 16);
            nbytes = (nbytes + align - 1) / align * align;
            places.push_back(nbytes);
            nbytes += parameter.size;
        }
        bytes_.reset(
            static_cast<char*>(std::aligned_alloc(kAlign, (nbytes + kAlign) / kAlign * kAlign)));
        if (bytes_ == nullptr) throw std::bad_alloc();
        for (size_t i = 0; i < parameters.size(); ++i) {
            std::memcpy(bytes_.get() + places[i], params.arguments[i], parameters[i].size);
            pointers_.push_back(bytes_.get() + places[i]);
        }
        params_.arguments = pointers_.data();
    }
    KeptLaunch(const KeptLaunch&) = delete;
    const core::LaunchParams& params() const { return params_; }

  private:
    struct Free {
        void operator()(char* bytes) const { std::free(bytes); }
    };
    core::LaunchParams params_;
    std::unique_ptr<char[], Free> bytes_;
    std::vector<void*> pointers_;
};

}  // namespace

GraphNode CpuDevice::launch_node(const core::LaunchParams& params) {
    const auto* kernel = reinterpret_cast<const LoadedKernel*>(params.function);
    auto kept = std::make_shared<KeptLaunch>(params, kernel->lowered.description.parameters);
    return {[this, kept](uint64_t wait) { run_again(kept->params(), wait); }};
}

void CpuDevice::begin_capture(core::RawStream stream, core::CaptureMode mode) {
    captures_.begin(stream, streams_.is_blocking(stream, "begin_capture"), mode);
}

core::RawGraph CpuDevice::end_capture(core::RawStream stream) {
    GraphWork work = captures_.end(stream);
    auto graph = std::make_unique<CpuGraph>();
    graph->work = std::move(work);
    return reinterpret_cast<core::RawGraph>(graph.release());
}

void CpuDevice::capture_host_function(core::RawStream stream,
                                      const std::function<void()>* function) {
    const bool kept = captures_.keep(stream, "host_function", [&] {
        return GraphNode{[function](uint64_t) { (*function)(); }, true};
    });
    if (!kept) host_function(stream, *function);
}

void CpuDevice::launch_graph(core::RawGraph raw, core::RawStream stream) {
    CpuGraph& graph = *graph_of(raw);
    if (captures_.keep_all(stream, "launch_graph", graph.work)) return;
    if (graph.runner.load() == std::this_thread::get_id())
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "launch_graph: a function of the host's in a graph launched that graph");
    const DeviceStreams::Turn turn(nullptr, graph.turn);
    struct Running {
        explicit Running(CpuGraph& g) : graph(g) { graph.runner = std::this_thread::get_id(); }
        ~Running() { graph.runner = std::thread::id(); }
        CpuGraph& graph;
    } running(graph);
    replay(graph.work, stream);
}

// Where a function of the host's comes, the stream is free: it may use the device.
void CpuDevice::replay(const GraphWork& work, core::RawStream stream) {
    size_t i = 0;
    do {
        for (; i < work.size() && work[i].node->on_host; ++i) work[i].node->run(0);
        const auto turn = streams_.enter(stream, "launch_graph");
        const MainWait wait(true);
        for (; i < work.size() && !work[i].node->on_host; ++i) {
            if (is_stopped(wait.serial()))
                throw core::Interrupted("the launch of a graph was ended by SIGINT");
            work[i].node->run(wait.serial());
        }
    } while (i < work.size());
}

void CpuDevice::upload_graph(core::RawGraph, core::RawStream stream) {
    captures_.refuse(stream, "upload_graph");
    const auto turn = streams_.enter(stream, "upload_graph");
}

void CpuDevice::destroy_graph(core::RawGraph graph) noexcept { delete graph_of(graph); }

}  // namespace trilane::cpu
