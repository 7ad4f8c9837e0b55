// Kernels of random numbers: a thread makes one block of 128 bits.
#include "array/random.h"

#include <fmt/format.h>

#include "array/arguments.h"
#include "array/promotion.h"
#include "array/sort.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

constexpr uint64_t kRandomId = (uint64_t{1} << 31) + (1 << 19);

struct RandomRow {
    const char* kind;
    const char* single;  // statements filling x[0..3] of float
    const char* wide;    // statements filling x[0..1] of double
};

constexpr RandomRow kRows[] = {
    {"uniform",
     "for (int k = 0; k < 4; ++k) { x[k] = a + (b - a) * uniform_float(c.v[k]); if (x[k] >= b && b "
     "> a) x[k] = a; }",
     "x[0] = a + (b - a) * uniform_double(c.v[0], c.v[1]); x[1] = a + (b - a) * "
     "uniform_double(c.v[2], c.v[3]);"
     " for (int k = 0; k < 2; ++k) if (x[k] >= b && b > a) x[k] = a;"},
    {"normal",
     "normal_pair(c.v[0], c.v[1], &x[0], &x[1]); normal_pair(c.v[2], c.v[3], &x[2], &x[3]);"
     " for (int k = 0; k < 4; ++k) x[k] = a + b * x[k];",
     "normal_pair(c, &x[0], &x[1]); for (int k = 0; k < 2; ++k) x[k] = a + b * x[k];"},
    {"exponential", "for (int k = 0; k < 4; ++k) x[k] = -a * logf(uniform_float_open(c.v[k]));",
     "x[0] = -a * log(uniform_double_open(c.v[0], c.v[1])); x[1] = -a * "
     "log(uniform_double_open(c.v[2], c.v[3]));"},
};

constexpr const char* kText = R"(#include "trilane/array_ops.h"
#include "trilane/philox.h"
using namespace trilane;
typedef {0} S;
typedef {1} T;
typedef {2} P;
extern "C" __global__ void trilane_random_{3}(S* __restrict__ out, const long long n, const long long blocks,
        const unsigned long long seed, const unsigned long long offset, const P a, const P b) {{
    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= blocks) return;
    const philox_counter c = philox(seed, 0, offset + (unsigned long long)item);
    T x[{4}];
    {5}
    S* to = out + item * {4};
    if (item * {4} + {4} <= n) {{
        for (int k = 0; k < {4}; ++k) to[k] = cast<S>(x[k]);
    }} else {{
        for (int k = 0; k < n - item * {4}; ++k) to[k] = cast<S>(x[k]);
    }}
}}
)";

Array launch(uint64_t number, const char* kind, const Shape& shape, DType dtype,
             const char* compute, const char* parameter, int per_block, const char* body,
             const void* a, const void* b, RandomState state, int64_t& blocks) {
    const core::StreamPtr stream = core::current_stream();
    if (stream->context()->captures().of(*stream) != nullptr)
        throw_error(ErrorKind::NotSupported,
                    "random numbers: cuRAND generators are not part of graphs: each launch would "
                    "give the same numbers: make them before begin_capture()");
    Array result = Array::empty(shape, dtype);
    int64_t n = result.size();
    blocks = (n + per_block - 1) / per_block;
    if (n == 0) return result;
    KernelKey key;
    key.add(kRandomId + number * 64 + static_cast<uint64_t>(dtype));
    core::Function& function = find_kernel(result.context(), key, [&] {
        return KernelSource{
            fmt::format("trilane_random_{}", kind),
            fmt::format(kText, device_type(dtype), compute, parameter, kind, per_block, body)};
    });
    KernelArguments arguments;
    arguments.add(result);
    arguments.add(n);
    arguments.add(blocks);
    arguments.add(static_cast<int64_t>(state.seed));
    arguments.add(static_cast<int64_t>(state.offset));
    size_t size = std::string_view(parameter) == "float" ? 4 : 8;
    arguments.add_bytes(a, size);
    arguments.add_bytes(b, size);
    launch_threads(function, blocks, 256, arguments);
    return result;
}

}  // namespace

Array random_floats(std::string_view kind, const Shape& shape, DType dtype, double a, double b,
                    RandomState state, int64_t& blocks) {
    for (size_t k = 0; k < std::size(kRows); ++k) {
        if (kind != kRows[k].kind) continue;
        if (!is_float(dtype))
            throw_error(ErrorKind::TypeMismatch, "Unsupported dtype {} for {}",
                        core::numpy_name(dtype), kind);
        if (dtype == DType::Float64)
            return launch(k, kRows[k].kind, shape, dtype, "double", "double", 2, kRows[k].wide, &a,
                          &b, state, blocks);
        float fa = static_cast<float>(a), fb = static_cast<float>(b);
        return launch(k, kRows[k].kind, shape, dtype, "float", "float", 4, kRows[k].single, &fa,
                      &fb, state, blocks);
    }
    throw_error(ErrorKind::NotSupported, "random: distribution '{}'", kind);
}

Array random_integers(const Shape& shape, DType dtype, int64_t low, uint64_t range,
                      RandomState state, int64_t& blocks) {
    if (!is_integer(dtype) && dtype != DType::Bool)
        throw_error(ErrorKind::TypeMismatch, "Unsupported dtype {} for integers",
                    core::numpy_name(dtype));
    bool narrow = range == 0 && core::size_of(dtype) == 4;
    if (narrow)
        return launch(11, "bits", shape, dtype, "unsigned int", "long long", 4,
                      "for (int k = 0; k < 4; ++k) x[k] = c.v[k];", &low, &range, state, blocks);
    return launch(
        10, "integers", shape, dtype, "unsigned long long", "long long", 2,
        "for (int k = 0; k < 2; ++k) { const unsigned long long r = (unsigned long long)b; "
        "x[k] = (unsigned long long)a + (r ? below(c.v[2 * k], c.v[2 * k + 1], r) "
        ": ((unsigned long long)c.v[2 * k + 1] << 32 | c.v[2 * k])); }",
        &low, &range, state, blocks);
}

Array random_permutation(int64_t n, RandomState state, int64_t& blocks) {
    return argsort(random_integers({n}, DType::UInt64, 0, 0, state, blocks), 0);
}

}  // namespace trilane::array
