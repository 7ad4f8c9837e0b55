// Rows of sums over blocks: tree and shuffle reduction, scan, histogram.
#include <memory>
#include <mutex>
#include <numeric>

#include "kernels.h"
#include "reference.h"
#include "works.h"

namespace trilane::bench {

namespace {

constexpr unsigned kBlock = 256, kBlocks = 128;

struct SumData {
    SumData(Session& session, size_t n, const char* name)
        : kernel(session, kReductionKernels, name), x(session, n), partial(session, kBlocks) {}
    Kernel kernel;
    Buffer<float> x, partial;
    double ours = 0, plain = 0;
};

Work sum_work(Session& session, int shrink, const char* name) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    auto data = std::make_shared<SumData>(session, n, name);
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_uniform(data->x, seed, 0, 1);
        poison(data->partial);
        data->ours = data->plain = 0;
    };
    work.trilane = [data, n] {
        data->kernel.launch({kBlocks}, {kBlock}, data->x.data(), data->partial.data(), int(n));
        const float* partial = data->partial.data();
        data->ours = std::accumulate(partial, partial + kBlocks, 0.0);
    };
    work.reference = [data, n, &team = session.team] {
        std::mutex mutex;
        double total = 0;
        team.run(n, 4096, [&](size_t begin, size_t end) {
            const float part = reference::sum(data->x.data(), begin, end);
            std::lock_guard lock(mutex);
            total += part;
        });
        data->plain = total;
    };
    work.error = [data] { return largest_error(&data->ours, &data->plain, 1, 0); };
    work.tolerance = 1e-5;
    return work;
}

struct ScanData {
    ScanData(Session& session, size_t n)
        : kernel(session, kReductionKernels, "block_scan"),
          x(session, n),
          ours(session, n),
          plain(session, n) {}
    Kernel kernel;
    Buffer<float> x, ours, plain;
};

Work scan_work(Session& session, int shrink) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    auto data = std::make_shared<ScanData>(session, n);
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_uniform(data->x, seed, 0, 1);
        poison(data->ours);
        poison(data->plain);
    };
    work.trilane = [data, n] {
        data->kernel.launch({unsigned(n) / kBlock}, {kBlock}, data->x.data(), data->ours.data(),
                            int(n));
    };
    work.reference = [data, n, &team = session.team] {
        team.run(n, kBlock, [&](size_t begin, size_t end) {
            reference::block_scan(data->x.data(), data->plain.data(), kBlock, begin, end);
        });
    };
    work.error = [data, n] {
        return largest_error(data->ours.data(), data->plain.data(), n, 1e-3);
    };
    work.tolerance = 1e-5;
    return work;
}

struct HistogramData {
    HistogramData(Session& session, size_t n)
        : kernel(session, kHistogramKernel, "histogram"),
          values(session, n),
          ours(session, 256),
          plain(session, 256) {}
    Kernel kernel;
    Buffer<uint8_t> values;
    Buffer<uint32_t> ours, plain;
};

Work histogram_work(Session& session, int shrink) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    auto data = std::make_shared<HistogramData>(session, n);
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_bytes(data->values, seed);
        std::fill_n(data->ours.data(), 256, 0u);
        std::fill_n(data->plain.data(), 256, 0u);
    };
    work.trilane = [data, n] {
        data->kernel.launch({kBlocks}, {kBlock}, data->values.data(), data->ours.data(), int(n));
    };
    work.reference = [data, n, &team = session.team] {
        std::mutex mutex;
        team.run(n, 4096, [&](size_t begin, size_t end) {
            uint32_t counts[256] = {};
            reference::histogram(data->values.data(), counts, begin, end);
            std::lock_guard lock(mutex);
            for (size_t bin = 0; bin < 256; ++bin) data->plain[bin] += counts[bin];
        });
    };
    work.error = [data] {
        return part_different(reinterpret_cast<const int*>(data->ours.data()),
                              reinterpret_cast<const int*>(data->plain.data()), 256);
    };
    return work;
}

}  // namespace

std::vector<Row> reduction_rows() {
    auto sum_row = [](const char* title, const char* name) {
        return Row{title, 0.4, 0.7,
                   [=](Session& session, int shrink) { return sum_work(session, shrink, name); }};
    };
    return {sum_row("tree reduction", "reduce_tree"),
            sum_row("warp-shuffle reduction", "reduce_shuffle"),
            {"block scan, blocks of 256", 0.4, 0.7, scan_work},
            {"histogram, shared atomics", 0.3, 0.6, histogram_work}};
}

}  // namespace trilane::bench
