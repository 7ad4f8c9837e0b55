// The choice between BLAS and the kernel, and the calls.
#include "array/host_blas.h"

#include <atomic>
#include <complex>
#include <vector>

#include "core/context.h"
#include "core/device.h"

namespace trilane::array {

using core::DType;

namespace {

std::atomic<const HostBlas*> blas{nullptr};

// Multiplications from which the library is the faster one, its threads waking up counted.
constexpr double kLargeReal = 300.0 * 300 * 300, kLargeComplex = 96.0 * 96 * 96;

enum : int { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };  // of CBLAS

struct Product {
    void* function = nullptr;
    DType dtype = DType::Float32;
    int transpose = kNoTranspose;
    int64_t m = 0, n = 0, k = 0, leading = 0;
    core::DevicePtr a = 0, b = 0, c = 0;
    std::vector<int64_t> offsets;
};

template <typename T>
void multiply_real(const Product& p, const void* a, const void* b, void* c) {
    using Gemm = void (*)(int, int, int, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*,
                          int64_t, T, T*, int64_t);
    reinterpret_cast<Gemm>(p.function)(
        kRowMajor, p.transpose, kNoTranspose, p.m, p.n, p.k, T(1), static_cast<const T*>(a),
        p.leading, static_cast<const T*>(b), p.n, T(0), static_cast<T*>(c), p.n);
}

template <typename T>
void multiply_complex(const Product& p, const void* a, const void* b, void* c) {
    using Gemm = void (*)(int, int, int, int64_t, int64_t, int64_t, const void*, const void*,
                          int64_t, const void*, int64_t, const void*, void*, int64_t);
    const std::complex<T> one(1), zero(0);
    reinterpret_cast<Gemm>(p.function)(kRowMajor, p.transpose, kNoTranspose, p.m, p.n, p.k, &one, a,
                                       p.leading, b, p.n, &zero, c, p.n);
}

void run(const Product& p) {
    const int64_t item = static_cast<int64_t>(core::size_of(p.dtype));
    auto at = [](core::DevicePtr base, int64_t offset) {
        return reinterpret_cast<void*>(base + static_cast<core::DevicePtr>(offset));
    };
    for (size_t i = 0; i * 2 < p.offsets.size(); ++i) {
        const void *a = at(p.a, p.offsets[2 * i]), *b = at(p.b, p.offsets[2 * i + 1]);
        void* c = at(p.c, static_cast<int64_t>(i) * p.m * p.n * item);
        switch (p.dtype) {
            case DType::Float32:
                multiply_real<float>(p, a, b, c);
                break;
            case DType::Float64:
                multiply_real<double>(p, a, b, c);
                break;
            case DType::Complex64:
                multiply_complex<float>(p, a, b, c);
                break;
            default:
                multiply_complex<double>(p, a, b, c);
        }
    }
}

void* function_for(const HostBlas& library, DType dtype) {
    switch (dtype) {
        case DType::Float32:
            return library.single_real;
        case DType::Float64:
            return library.double_real;
        case DType::Complex64:
            return library.single_complex;
        case DType::Complex128:
            return library.double_complex;
        default:
            return nullptr;
    }
}

// Rows or columns of a that lie side by side: as it is, or as its transpose. False for others.
bool set_layout(const Array& a, Product& p) {
    const auto item = static_cast<int64_t>(a.itemsize());
    const int64_t row = a.strides()[a.ndim() - 2], column = a.strides()[a.ndim() - 1];
    if (column == item && row % item == 0 && row >= p.k * item) {
        p.leading = row / item;
        return true;
    }
    if (row == item && column % item == 0 && column >= p.m * item) {
        p.transpose = kTranspose;
        p.leading = column / item;
        return true;
    }
    return false;
}

}  // namespace

void set_host_blas(const HostBlas& library) { blas.store(new HostBlas(library)); }

bool multiply_by_blas(const core::StreamPtr& stream, const Array& a, const Array& b, const Array& c,
                      const std::vector<int64_t>& offsets) {
    const HostBlas* library = blas.load();
    if (library == nullptr) return false;
    Product p;
    p.dtype = c.dtype();
    p.function = function_for(*library, p.dtype);
    p.m = c.shape()[c.ndim() - 2];
    p.n = c.shape()[c.ndim() - 1];
    p.k = a.shape()[a.ndim() - 1];
    const bool is_complex = p.dtype == DType::Complex64 || p.dtype == DType::Complex128;
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * double(p.k);
    if (p.function == nullptr || work < (is_complex ? kLargeComplex : kLargeReal)) return false;
    const core::ContextPtr& context = stream->context();
    if (context->properties().type != core::DeviceType::Cpu ||
        context->device().checks_accesses() || stream->capturing() || !set_layout(a, p))
        return false;
    p.a = a.data();
    p.b = b.data();
    p.c = c.data();
    p.offsets = offsets;
    stream->host_function([p = std::move(p)] { run(p); });
    return true;
}

}  // namespace trilane::array
