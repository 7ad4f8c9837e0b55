// Rows of matrix products: naive against a vectorised i-k-j loop, tiled against tiled.
#include <memory>

#include "kernels.h"
#include "reference.h"
#include "works.h"

namespace trilane::bench {

namespace {

struct MatrixData {
    MatrixData(Session& session, size_t n, const char* name)
        : kernel(session, kMatmulKernels, name),
          a(session, n * n),
          b(session, n * n),
          ours(session, n * n),
          plain(session, n * n) {}
    Kernel kernel;
    Buffer<float> a, b, ours, plain;
};

Work matmul_work(Session& session, const char* name, core::Dim3 block, bool tiled) {
    constexpr size_t n = 512;
    auto data = std::make_shared<MatrixData>(session, n, name);
    Work work;
    work.refresh = [data](uint64_t seed) {
        fill_uniform(data->a, seed, -1, 1);
        fill_uniform(data->b, seed + 1, -1, 1);
        poison(data->ours);
        poison(data->plain);
    };
    work.trilane = [data, block] {
        data->kernel.launch({unsigned(n) / block.x, unsigned(n) / block.y}, block, data->a.data(),
                            data->b.data(), data->ours.data(), int(n));
    };
    work.reference = [data, tiled, &team = session.team] {
        team.run(n, 16, [&](size_t begin, size_t end) {
            auto* matmul = tiled ? reference::matmul_tiled : reference::matmul_ikj;
            matmul(data->a.data(), data->b.data(), data->plain.data(), n, begin, end);
        });
    };
    work.error = [data] {
        return largest_error(data->ours.data(), data->plain.data(), n * n, 1.0);
    };
    work.tolerance = 1e-4;
    return work;
}

Row matmul_row(const char* title, double at_least, double goal, const char* name, core::Dim3 block,
               bool tiled) {
    return {title, at_least, goal,
            [=](Session& session, int) { return matmul_work(session, name, block, tiled); }};
}

}  // namespace

std::vector<Row> matrix_rows() {
    return {matmul_row("naive matmul 512, blocks 16x16", 0.4, 0.8, "naive", {16, 16}, false),
            matmul_row("naive matmul 512, blocks 32x8", 0.4, 0.8, "naive", {32, 8}, false),
            matmul_row("tiled matmul 512, blocks 16x16", 0.7, 1.0, "tiled", {16, 16}, true)};
}

}  // namespace trilane::bench
