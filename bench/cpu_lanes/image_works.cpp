// Rows of data moved about: 5-point stencil, transpose through shared memory, bitonic sort.
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels.h"
#include "reference.h"
#include "works.h"

namespace trilane::bench {

namespace {

constexpr size_t kSide = 1024, kPixels = kSide * kSide;

struct ImageData {
    ImageData(Session& session, const char* name)
        : kernel(session, kImageKernels, name),
          in(session, kPixels),
          ours(session, kPixels),
          plain(session, kPixels) {}
    Kernel kernel;
    Buffer<float> in, ours, plain;
};

// What both rows share: inputs, an output that shows what was left out, an exact or near result.
Work image_work(const std::shared_ptr<ImageData>& data, double tolerance) {
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_uniform(data->in, seed, 1, 2);
        // The stencil leaves the border as it is.
        std::fill_n(data->ours.data(), kPixels, 0.0f);
        std::fill_n(data->plain.data(), kPixels, 0.0f);
    };
    work.error = [data] {
        return largest_error(data->ours.data(), data->plain.data(), kPixels, 1e-3);
    };
    work.tolerance = tolerance;
    work.repeats = 16;
    return work;
}

Work stencil_work(Session& session, int) {
    auto data = std::make_shared<ImageData>(session, "stencil");
    Work work = image_work(data, 1e-6);
    work.trilane = [data] {
        data->kernel.launch({kSide / 32, kSide / 8}, {32, 8}, data->in.data(), data->ours.data(),
                            int(kSide), int(kSide));
    };
    work.reference = [data, &team = session.team] {
        team.run(kSide, 8, [&](size_t begin, size_t end) {
            reference::stencil(data->in.data(), data->plain.data(), kSide, kSide, begin, end);
        });
    };
    return work;
}

Work transpose_work(Session& session, int) {
    auto data = std::make_shared<ImageData>(session, "transpose");
    Work work = image_work(data, 0);
    work.trilane = [data] {
        data->kernel.launch({kSide / 32, kSide / 32}, {32, 8}, data->in.data(), data->ours.data(),
                            int(kSide));
    };
    work.reference = [data, &team = session.team] {
        team.run(kSide, 32, [&](size_t begin, size_t end) {
            reference::transpose(data->in.data(), data->plain.data(), kSide, begin, end);
        });
    };
    return work;
}

struct SortData {
    SortData(Session& session, size_t n)
        : kernel(session, kBitonicKernel, "bitonic_step"), ours(session, n), plain(session, n) {}
    Kernel kernel;
    Buffer<float> ours, plain;
};

template <typename Step>
void bitonic_sort(size_t n, const Step& step) {
    for (size_t k = 2; k <= n; k *= 2)
        for (size_t j = k / 2; j > 0; j /= 2) step(j, k);
}

Work bitonic_work(Session& session, int shrink, bool vectors) {
    const size_t n = kPixels / size_t(shrink);
    auto data = std::make_shared<SortData>(session, n);
    Work work;
    work.refresh = [data, n](uint64_t seed) {
        fill_uniform(data->ours, seed, -1, 1);
        std::copy_n(data->ours.data(), n, data->plain.data());
    };
    work.trilane = [data, n] {
        bitonic_sort(n, [&](size_t j, size_t k) {
            data->kernel.launch({unsigned(n) / 256}, {256}, data->ours.data(), int(j), int(k));
        });
    };
    work.reference = [data, n, vectors, &team = session.team] {
        bitonic_sort(n, [&](size_t j, size_t k) {
            team.run(n, 256, [&](size_t begin, size_t end) {
                reference::bitonic_step(data->plain.data(), j, k, vectors, begin, end);
            });
        });
    };
    work.error = [data, n] {
        const float* sorted = data->plain.data();
        if (!std::is_sorted(sorted, sorted + n)) return HUGE_VAL;
        return largest_error(data->ours.data(), sorted, n, 1e-3);
    };
    return work;
}

}  // namespace

std::vector<Row> image_rows() {
    return {{"5-point stencil 1024^2", 0.6, 0.9, stencil_work},
            {"transpose 1024^2, shared tiles", 0.6, 0.9, transpose_work},
            {"bitonic sort of 2^20", 0.6, 0.9,
             [](Session& session, int shrink) { return bitonic_work(session, shrink, false); }},
            {"bitonic sort, C++ with vectors", 0, 0,
             [](Session& session, int shrink) { return bitonic_work(session, shrink, true); }}};
}

}  // namespace trilane::bench
