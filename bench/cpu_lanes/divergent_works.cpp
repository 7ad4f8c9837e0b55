// Rows against plain C++ of one element at a time: Mandelbrot, early exit, n-body, Black-Scholes.
#include <cmath>
#include <memory>

#include "kernels.h"
#include "reference.h"
#include "works.h"

namespace trilane::bench {

namespace {

struct CountData {
    CountData(Session& session, size_t n, const char* name)
        : kernel(session, kDivergentKernels, name),
          x(session, n),
          ours(session, n),
          plain(session, n) {}
    Kernel kernel;
    Buffer<float> x;
    Buffer<int> ours, plain;
    float x0 = 0, y0 = 0;
};

Work mandelbrot_work(Session& session, int shrink) {
    constexpr int width = 1024, limit = 256;
    const int height = shrink > 1 ? 256 : 1024;
    const float step = 2.5f / float(width);
    const size_t n = size_t(width) * size_t(height);
    auto data = std::make_shared<CountData>(session, n, "mandelbrot");
    Work work;
    work.refresh = [data, height, step](uint64_t seed) {
        data->x0 = -2.0f + 0.01f * float(seed % 7);
        data->y0 = -0.5f * float(height) * step + 0.003f * float(seed % 5);
        poison(data->ours);
        poison(data->plain);
    };
    work.trilane = [data, height, step] {
        data->kernel.launch({width / 16, unsigned(height) / 16}, {16, 16}, data->ours.data(), width,
                            height, data->x0, data->y0, step, limit);
    };
    work.reference = [data, height, step, &team = session.team] {
        team.run(size_t(height), 1, [&](size_t begin, size_t end) {
            reference::mandelbrot(data->plain.data(), width, data->x0, data->y0, step, limit, begin,
                                  end);
        });
    };
    work.error = [data, n] { return part_different(data->ours.data(), data->plain.data(), n); };
    work.tolerance = 2e-3;  // of the pixels: fused or not, chaos near the border
    return work;
}

Work early_exit_work(Session& session, int shrink) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    auto data = std::make_shared<CountData>(session, n, "early_exit");
    Work work;
    work.refresh = [data](uint64_t seed) {
        // Of all magnitudes: neighbours need different numbers of steps; some have none.
        fill_uniform(data->x, seed, -12, 20);
        for (size_t i = 0; i < data->x.size(); ++i)
            data->x[i] = data->x[i] > 19 ? -1.0f : std::exp2(data->x[i]);
        poison(data->ours);
        poison(data->plain);
    };
    work.trilane = [data, n] {
        data->kernel.launch({unsigned(n) / 256}, {256}, data->x.data(), data->ours.data(), int(n));
    };
    work.reference = [data, n, &team = session.team] {
        team.run(n, 256, [&](size_t begin, size_t end) {
            reference::early_exit(data->x.data(), data->plain.data(), begin, end);
        });
    };
    work.error = [data, n] { return part_different(data->ours.data(), data->plain.data(), n); };
    work.tolerance = 1e-4;  // of the elements
    return work;
}

struct NbodyData {
    NbodyData(Session& session, size_t n)
        : kernel(session, kNbodyKernel, "nbody"),
          bodies(session, 4 * n),
          ours(session, 4 * n),
          plain(session, 4 * n) {}
    Kernel kernel;
    Buffer<float> bodies, ours, plain;
};

Work nbody_work(Session& session, int shrink) {
    const size_t n = shrink > 1 ? 1024 : 4096;
    auto data = std::make_shared<NbodyData>(session, n);
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_uniform(data->bodies, seed, 0, 1);
        poison(data->ours);
        poison(data->plain);
    };
    work.trilane = [data, n] {
        data->kernel.launch({unsigned(n) / 256}, {256}, data->bodies.data(), data->ours.data(),
                            int(n));
    };
    work.reference = [data, n, &team = session.team] {
        team.run(n, 64, [&](size_t begin, size_t end) {
            reference::nbody(reinterpret_cast<const reference::Body*>(data->bodies.data()),
                             reinterpret_cast<reference::Body*>(data->plain.data()), n, begin, end);
        });
    };
    // Accelerations are sums of thousands of terms of both signs.
    work.error = [data, n] {
        return largest_error(data->ours.data(), data->plain.data(), 4 * n, double(n));
    };
    work.tolerance = 1e-4;
    return work;
}

struct OptionData {
    OptionData(Session& session, size_t n)
        : kernel(session, kBlackScholesKernel, "black_scholes"),
          spot(session, n),
          strike(session, n),
          years(session, n),
          call(session, n),
          put(session, n),
          plain_call(session, n),
          plain_put(session, n) {}
    Kernel kernel;
    Buffer<float> spot, strike, years, call, put, plain_call, plain_put;
};

Work black_scholes_work(Session& session, int shrink) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    constexpr float rate = 0.02f, volatility = 0.3f;
    auto data = std::make_shared<OptionData>(session, n);
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_uniform(data->spot, seed, 5, 30);
        fill_uniform(data->strike, seed + 1, 1, 100);
        fill_uniform(data->years, seed + 2, 0.25f, 10);
        for (auto* output : {&data->call, &data->put, &data->plain_call, &data->plain_put})
            poison(*output);
    };
    work.trilane = [data, n] {
        data->kernel.launch({unsigned(n) / 256}, {256}, data->spot.data(), data->strike.data(),
                            data->years.data(), data->call.data(), data->put.data(), rate,
                            volatility, int(n));
    };
    work.reference = [data, n, &team = session.team] {
        team.run(n, 256, [&](size_t begin, size_t end) {
            reference::black_scholes(data->spot.data(), data->strike.data(), data->years.data(),
                                     data->plain_call.data(), data->plain_put.data(), rate,
                                     volatility, begin, end);
        });
    };
    work.error = [data, n] {
        return std::max(largest_error(data->call.data(), data->plain_call.data(), n, 10),
                        largest_error(data->put.data(), data->plain_put.data(), n, 10));
    };
    work.tolerance = 1e-5;  // of about 10, the price of the share
    return work;
}

}  // namespace

std::vector<Row> divergent_rows() {
    return {{"Mandelbrot 1024^2, 256 steps", 2, 4, mandelbrot_work},
            {"early exit loop", 2, 4, early_exit_work},
            {"n-body, 4096 bodies", 2, 4, nbody_work},
            {"Black-Scholes", 2, 4, black_scholes_work}};
}

}  // namespace trilane::bench
