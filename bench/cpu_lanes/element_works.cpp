// Rows of element-wise work: vector add, SAXPY, triad, and maps of functions against libmvec.
#include <memory>
#include <type_traits>

#include "kernels.h"
#include "reference.h"
#include "works.h"

namespace trilane::bench {

namespace {

enum class Element { Add, Saxpy, Triad };

template <typename Real>
struct ElementData {
    ElementData(Session& session, size_t n, const char* name)
        : kernel(session, kElementKernels, name,
                 {std::is_same_v<Real, double> ? "-DREAL=double" : "-DREAL=float"}),
          a(session, n),
          b(session, n),
          ours(session, n),
          plain(session, n) {}
    Kernel kernel;
    Buffer<Real> a, b, ours, plain;
};

template <typename Real>
Work element_work(Session& session, int shrink, Element what, const char* name, bool stride) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    auto data = std::make_shared<ElementData<Real>>(session, n, name);
    const Real scale = Real(1.5);
    Work work;
    work.refresh = [data, what](uint64_t seed) {
        fill_uniform(data->a, seed, Real(-1), Real(1));
        fill_uniform(data->b, seed + 1, Real(-1), Real(1));
        if (what == Element::Saxpy) {
            fill_uniform(data->ours, seed + 2, Real(-1), Real(1));
            std::copy_n(data->ours.data(), data->ours.size(), data->plain.data());
        } else {
            poison(data->ours);
            poison(data->plain);
        }
    };
    work.trilane = [data, n, scale, stride] {
        const unsigned blocks = stride ? 128 : unsigned((n + 255) / 256);
        data->kernel.launch({blocks}, {256}, data->a.data(), data->b.data(), data->ours.data(),
                            scale, int(n));
    };
    work.reference = [data, n, scale, what, &team = session.team] {
        team.run(n, 4096, [&](size_t begin, size_t end) {
            const Real *a = data->a.data(), *b = data->b.data();
            Real* c = data->plain.data();
            if (what == Element::Add) reference::add(a, b, c, begin, end);
            if (what == Element::Saxpy) reference::saxpy(a, c, scale, begin, end);
            if (what == Element::Triad) reference::triad(a, b, c, scale, begin, end);
        });
    };
    work.error = [data, n] {
        return largest_error(data->ours.data(), data->plain.data(), n, 1e-3);
    };
    work.tolerance = what == Element::Add ? 0 : 1e-4;  // fused or not
    return work;
}

struct MathData {
    MathData(Session& session, size_t n, const char* name)
        : kernel(session, kMathKernels, name),
          x(session, n),
          p(session, n),
          ours(session, n),
          plain(session, n) {}
    Kernel kernel;
    Buffer<float> x, p, ours, plain;
};

struct MathFunction {
    const char* name;
    float low, high;
    void (*reference)(MathData& data, size_t begin, size_t end);
};

Work math_work(Session& session, int shrink, const MathFunction& function) {
    const size_t n = (size_t{1} << 24) / size_t(shrink);
    auto data = std::make_shared<MathData>(session, n, function.name);
    Work work;
    work.refresh = [data, function](uint64_t seed) {
        fill_uniform(data->x, seed, function.low, function.high);
        fill_uniform(data->p, seed + 1, -3.0f, 3.0f);
        poison(data->ours);
        poison(data->plain);
    };
    work.trilane = [data, n] {
        data->kernel.launch({unsigned((n + 255) / 256)}, {256}, data->x.data(), data->p.data(),
                            data->ours.data(), int(n));
    };
    work.reference = [data, n, function, &team = session.team] {
        team.run(n, 4096, [&](size_t begin, size_t end) { function.reference(*data, begin, end); });
    };
    work.error = [data, n] {
        return largest_error(data->ours.data(), data->plain.data(), n, 1e-3);
    };
    work.tolerance = 2e-6;  // libmvec: 4 ulp
    return work;
}

}  // namespace

std::vector<Row> element_rows() {
    struct Kind {
        const char *title, *name, *stride_name;
        Element what;
    };
    std::vector<Row> rows;
    for (const Kind& kind : {Kind{"vector add", "add", "add_stride", Element::Add},
                             Kind{"SAXPY", "saxpy", "saxpy_stride", Element::Saxpy},
                             Kind{"triad", "triad", "triad_stride", Element::Triad}}) {
        for (bool stride : {false, true}) {
            const std::string title = std::string(kind.title) + (stride ? ", grid-stride" : "");
            const char* name = stride ? kind.stride_name : kind.name;
            rows.push_back({title + ", float", 0.9, 1.0, [=](Session& session, int shrink) {
                                return element_work<float>(session, shrink, kind.what, name,
                                                           stride);
                            }});
            rows.push_back({title + ", double", 0.9, 1.0, [=](Session& session, int shrink) {
                                return element_work<double>(session, shrink, kind.what, name,
                                                            stride);
                            }});
        }
    }
    return rows;
}

std::vector<Row> math_rows() {
    std::vector<Row> rows;
    for (const MathFunction& function :
         {MathFunction{"exp_map", -80.0f, 80.0f,
                       [](MathData& data, size_t begin, size_t end) {
                           reference::exp_map(data.x.data(), data.plain.data(), begin, end);
                       }},
          MathFunction{"sin_map", -30.0f, 30.0f,
                       [](MathData& data, size_t begin, size_t end) {
                           reference::sin_map(data.x.data(), data.plain.data(), begin, end);
                       }},
          MathFunction{"pow_map", 0.01f, 100.0f, [](MathData& data, size_t begin, size_t end) {
                           reference::pow_map(data.x.data(), data.p.data(), data.plain.data(),
                                              begin, end);
                       }}}) {
        const std::string title = std::string(function.name, 3) + "f map";
        rows.push_back({title, 0.6, 0.9, [=](Session& session, int shrink) {
                            return math_work(session, shrink, function);
                        }});
    }
    return rows;
}

}  // namespace trilane::bench
