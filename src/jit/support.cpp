// Support text of translated kernels. Kept small: every kernel is compiled with it.
#include "jit/support.h"

namespace trilane::jit {
namespace {

constexpr const char* kBase = R"cuda(
namespace tl {
struct None {};
template <class T, int N, char L, class I> struct Array { T* data; I shape[N ? N : 1]; };
template <class T, int N, class I> struct Array<T, N, 'A', I> { T* data; I shape[N ? N : 1]; I strides[N ? N : 1]; };
template <int N> struct alignas(N % 8 == 0 ? 8 : N % 4 == 0 ? 4 : N % 2 == 0 ? 2 : 1) Bytes { unsigned char data[N]; };
template <int K, class T, int N, class I> __device__ __forceinline__ I stride(const Array<T, N, 'C', I>& a) {
    I s = (I)sizeof(T);
    for (int i = N - 1; i > K; --i) s *= a.shape[i];
    return s;
}
template <int K, class T, int N, class I> __device__ __forceinline__ I stride(const Array<T, N, 'F', I>& a) {
    I s = (I)sizeof(T);
    for (int i = 0; i < K; ++i) s *= a.shape[i];
    return s;
}
template <int K, class T, int N, class I> __device__ __forceinline__ I stride(const Array<T, N, 'A', I>& a) { return a.strides[K]; }
template <class T, class I> __device__ __forceinline__ T& at(T* data, I offset) { return *(T*)((char*)data + offset); }
template <class I> __device__ __forceinline__ I wrap(I i, I n) { return i < 0 ? i + n : i; }
template <class T, int N, char L, class I> __device__ __forceinline__ long long count(const Array<T, N, L, I>& a) {
    long long n = 1;
    for (int i = 0; i < N; ++i) n *= a.shape[i];
    return n;
}
template <class T> __device__ __forceinline__ T least(T a, T b) { return b < a ? b : a; }
template <class T> __device__ __forceinline__ T greatest(T a, T b) { return b > a ? b : a; }
__device__ __forceinline__ long long floor_divide(long long a, long long b) {
    if (b == 0) return 0;
    if (b == -1) return (long long)(0ULL - (unsigned long long)a) == a ? 0 : -a;
    long long q = a / b;
    return q - (long long)((a % b != 0) & ((a < 0) != (b < 0)));
}
__device__ __forceinline__ unsigned long long floor_divide(unsigned long long a, unsigned long long b) { return b == 0 ? 0 : a / b; }
__device__ __forceinline__ long long modulo(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    long long r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
__device__ __forceinline__ unsigned long long modulo(unsigned long long a, unsigned long long b) { return b == 0 ? 0 : a % b; }
template <class T> __device__ __forceinline__ T modulo(T a, T b) {
    T r = fmod(a, b);
    if (r == 0) return copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
}
template <class T> __device__ __forceinline__ T floor_divide(T a, T b) {
    if (b == 0) return a / b;
    T r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysign((T)0, a / b);
    T f = floor(q);
    return q - f > (T)0.5 ? f + 1 : f;
}
template <int N, class T> __device__ __forceinline__ T power(T x) {
    if (N == 0) return (T)1;
    T r = x;
    bool first = true;
    for (int n = N; n; n >>= 1) {
        if (n & 1) { r = first ? x : r * x; first = false; }
        x = x * x;
    }
    return r;
}
template <class T> __device__ inline T raised(T x, unsigned long long n) {
    T r = (T)1;
    for (; n; n >>= 1) {
        if (n & 1) r *= x;
        x *= x;
    }
    return r;
}
__device__ inline long long integer_power(long long x, long long n) {
    if (n >= 0) return (long long)raised((unsigned long long)x, (unsigned long long)n);
    if (x == 1) return 1;
    if (x == -1) return n & 1 ? -1 : 1;
    return x == 0 ? (long long)(1ULL << 63) : 0;
}
__device__ inline unsigned long long integer_power(unsigned long long x, long long n) {
    return n >= 0 ? raised(x, (unsigned long long)n) : x == 1 ? 1ULL : x == 0 ? 1ULL << 63 : 0ULL;
}
template <class T> __device__ inline T integer_power(T x, long long n) {
    unsigned long long m = n < 0 ? 0ULL - (unsigned long long)n : (unsigned long long)n;
    if (m > 65536) return (T)pow((double)x, (double)n);
    T r = raised(x, m);
    return n < 0 ? (T)1 / r : r;
}
template <class T> __device__ __forceinline__ T absolute(T x) { return x < (T)0 ? (T)-x : x; }
__device__ __forceinline__ float absolute(float x) { return fabsf(x); }
__device__ __forceinline__ double absolute(double x) { return fabs(x); }
template <class T> __device__ __forceinline__ T magnitude(T x) { return x < 0 ? (T)-x : x; }
template <class T> __device__ __forceinline__ T sign(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x; }
template <class T> __device__ inline T round_digits(T x, long long digits) {
    if (!isfinite(x)) return x;
    double scale = pow(10.0, (double)(digits < 0 ? -digits : digits));
    double y = digits < 0 ? (double)x / scale : (double)x * scale;
    if (!isfinite(y)) return x;
    y = rint(y);
    return (T)(digits < 0 ? y * scale : y / scale);
}
// -1, 0 or 1: how integers of different signs stand to each other by value.
__device__ __forceinline__ int order(long long a, unsigned long long b) {
    return a < 0 || (unsigned long long)a < b ? -1 : (unsigned long long)a > b;
}
__device__ __forceinline__ int order(unsigned long long a, long long b) { return -order(b, a); }
template <class T> __device__ __forceinline__ T np_maximum(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
template <class T> __device__ __forceinline__ T np_minimum(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
template <class T> __device__ __forceinline__ T np_fmax(T a, T b) { return a != a ? b : b != b ? a : a > b ? a : b; }
template <class T> __device__ __forceinline__ T np_fmin(T a, T b) { return a != a ? b : b != b ? a : a < b ? a : b; }
__device__ inline long long gcd(long long a, long long b) {
    while (b) { long long r = a % b; a = b; b = r; }
    return a < 0 ? -a : a;
}
template <class T> __device__ __forceinline__ long long range_length(T start, T stop, T step) {
    if (step == 0) return 0;
    if (step > 0) return start < stop ? ((long long)stop - (long long)start + (long long)step - 1) / (long long)step : 0;
    return start > stop ? ((long long)start - (long long)stop - (long long)step - 1) / -(long long)step : 0;
}
template <class I> struct Slice { I start, length, step; };
template <class I>
__device__ __forceinline__ Slice<I> slice(bool has_start, long long start, bool has_stop, long long stop, long long step, long long n) {
    long long low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    if (!has_start) start = step > 0 ? low : high;
    else if (start < 0) start = start + n < low ? low : start + n;
    else if (start > high) start = high;
    if (!has_stop) stop = step > 0 ? high : low;
    else if (stop < 0) stop = stop + n < low ? low : stop + n;
    else if (stop > high) stop = high;
    return {(I)start, (I)(step == 0 ? 0 : range_length(start, stop, step)), (I)step};
}
template <class To, class From> __device__ __forceinline__ To relayout_item(const From& a);
template <class A> struct Rank;
template <class T, int N, char L, class I> struct Rank<Array<T, N, L, I> > { static const int value = N; };
template <int K, int N> struct Fill {
    template <class To, class From> __device__ static __forceinline__ void strides(To& to, const From& from) {
        to.strides[K] = stride<K>(from);
        Fill<K + 1, N>::strides(to, from);
    }
    template <class To, class From> __device__ static __forceinline__ void reversed(To& to, const From& from) {
        to.strides[N - 1 - K] = stride<K>(from);
        Fill<K + 1, N>::reversed(to, from);
    }
};
template <int N> struct Fill<N, N> {
    template <class To, class From> __device__ static __forceinline__ void strides(To&, const From&) {}
    template <class To, class From> __device__ static __forceinline__ void reversed(To&, const From&) {}
};
template <class T, int N, char L, class I, class From>
__device__ __forceinline__ void set_strides(Array<T, N, L, I>&, const From&) {}
template <class T, int N, class I, class From>
__device__ __forceinline__ void set_strides(Array<T, N, 'A', I>& to, const From& from) { Fill<0, N>::strides(to, from); }
template <class T, int N, char L, class I, class From>
__device__ __forceinline__ void set_reversed(Array<T, N, L, I>&, const From&) {}
template <class T, int N, class I, class From>
__device__ __forceinline__ void set_reversed(Array<T, N, 'A', I>& to, const From& from) { Fill<0, N>::reversed(to, from); }
template <class To, class T, int N, char L, class I> __device__ __forceinline__ To relayout(const Array<T, N, L, I>& a) {
    To to;
    to.data = a.data;
    for (int i = 0; i < N; ++i) to.shape[i] = a.shape[i];
    set_strides(to, a);
    return to;
}
template <class To, class T, int N, char L, class I> __device__ __forceinline__ To transposed(const Array<T, N, L, I>& a) {
    To to;
    to.data = a.data;
    for (int i = 0; i < N; ++i) to.shape[N - 1 - i] = a.shape[i];
    set_reversed(to, a);
    return to;
}
template <class T, int N, char L, class I, class U>
__device__ __forceinline__ void view_data(Array<T, N, L, I>& to, U* data, long long last) {
    to.data = (T*)data;
    if (N > 0) to.shape[N - 1] = (I)(last * (long long)sizeof(U) / (long long)sizeof(T));
}
template <class To, class T, int N, char L, class I> __device__ __forceinline__ To viewed(const Array<T, N, L, I>& a) {
    To to;
    for (int i = 0; i < N; ++i) to.shape[i] = a.shape[i];
    view_data(to, a.data, (long long)a.shape[N ? N - 1 : 0]);
    return to;
}
__device__ __forceinline__ int laneid() {
    return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u);
}
__device__ __forceinline__ bool eq_sync(unsigned int mask, int p) { return __all_sync(mask, p) || !__any_sync(mask, p); }
template <class T> __device__ __forceinline__ T match_bits(T v) { return v; }
__device__ __forceinline__ unsigned int match_bits(float v) { return __float_as_uint(v); }
__device__ __forceinline__ unsigned long long match_bits(double v) { return (unsigned long long)__double_as_longlong(v); }
struct Failure { int site, block[3], thread[3]; };
__device__ inline void raise(Failure* f, int site) {
    if (atomicCAS(&f->site, 0, site) != 0) return;
    f->block[0] = blockIdx.x; f->block[1] = blockIdx.y; f->block[2] = blockIdx.z;
    f->thread[0] = threadIdx.x; f->thread[1] = threadIdx.y; f->thread[2] = threadIdx.z;
}
}  // namespace tl
)cuda";

constexpr const char* kComplex = R"cuda(
namespace tl {
template <class T> __device__ __forceinline__ T absolute(const trilane::complex<T>& z) { return trilane::abs(z); }
// NumPy's order: by the real parts, then by the imaginary ones; NaN is in no order.
template <class T> __device__ __forceinline__ bool is_nan(const trilane::complex<T>& z) { return z.re != z.re || z.im != z.im; }
template <class C> __device__ __forceinline__ bool complex_less(const C& a, const C& b) {
    return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}
template <class C> __device__ __forceinline__ bool complex_less_equal(const C& a, const C& b) {
    return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}
template <class T> __device__ __forceinline__ trilane::complex<T> np_maximum(const trilane::complex<T>& a, const trilane::complex<T>& b) { return is_nan(a) || complex_less_equal(b, a) ? a : b; }
template <class T> __device__ __forceinline__ trilane::complex<T> np_minimum(const trilane::complex<T>& a, const trilane::complex<T>& b) { return is_nan(a) || complex_less_equal(a, b) ? a : b; }
template <class T> __device__ __forceinline__ trilane::complex<T> np_fmax(const trilane::complex<T>& a, const trilane::complex<T>& b) { return is_nan(b) || complex_less_equal(b, a) ? a : b; }
template <class T> __device__ __forceinline__ trilane::complex<T> np_fmin(const trilane::complex<T>& a, const trilane::complex<T>& b) { return is_nan(b) || complex_less_equal(a, b) ? a : b; }
}  // namespace tl
)cuda";

constexpr const char* kRecords = R"cuda(
namespace tl {
// Fields of packed records need not be aligned.
template <class T> __device__ __forceinline__ T load(const unsigned char* p) {
    if (((unsigned long long)p & (sizeof(T) - 1)) == 0) return *(const T*)p;
    union { unsigned char bytes[sizeof(T)]; T value; } u;
    for (int i = 0; i < (int)sizeof(T); ++i) u.bytes[i] = p[i];
    return u.value;
}
template <class T> __device__ __forceinline__ void store(unsigned char* p, T v) {
    if (((unsigned long long)p & (sizeof(T) - 1)) == 0) { *(T*)p = v; return; }
    union { unsigned char bytes[sizeof(T)]; T value; } u;
    u.value = v;
    for (int i = 0; i < (int)sizeof(T); ++i) p[i] = u.bytes[i];
}
}  // namespace tl
)cuda";

constexpr const char* kViews = R"cuda(
namespace tl {
template <int K, int N> struct Walk {
    template <class A> __device__ static __forceinline__ long long offset(const A& a, long long& rest) {
        long long inner = Walk<K + 1, N>::offset(a, rest);
        long long i = rest % a.shape[K];
        rest /= a.shape[K];
        return inner + i * stride<K>(a);
    }
    // the item of `a` (with M dimensions, the last ones) beside position `rest` of `shape`
    template <int M, class A, class I> __device__ static __forceinline__ long long beside(const A& a, const I* shape, long long& rest) {
        long long inner = Walk<K + 1, N>::template beside<M>(a, shape, rest);
        long long i = rest % shape[K];
        rest /= shape[K];
        return inner + part<M>(a, i);
    }
    template <int M, class A> __device__ static __forceinline__ long long part(const A& a, long long i) {
        const int k = K - (N - M);
        if (k < 0) return 0;
        return a.shape[k < 0 ? 0 : k] == 1 ? 0 : i * stride<(K - (N - M) < 0 ? 0 : K - (N - M))>(a);
    }
};
template <int N> struct Walk<N, N> {
    template <class A> __device__ static __forceinline__ long long offset(const A&, long long&) { return 0; }
    template <int M, class A, class I> __device__ static __forceinline__ long long beside(const A&, const I*, long long&) { return 0; }
};
// NumPy's rule: dimensions of `b`, the last ones of `a`, are as long or 1.
template <class T, int N, char L, class I, class U, int M, char K, class J>
__device__ inline bool fits(const Array<T, N, L, I>& a, const Array<U, M, K, J>& b) {
    for (int k = 0; k < M && k < N; ++k)
        if (b.shape[M - 1 - k] != 1 && b.shape[M - 1 - k] != a.shape[N - 1 - k]) return false;
    return true;
}
template <class T, int N, char L, class I, class V> __device__ inline void fill_view(const Array<T, N, L, I>& a, V v) {
    long long n = count(a);
    for (long long k = 0; k < n; ++k) {
        long long rest = k;
        at(a.data, Walk<0, N>::offset(a, rest)) = v;
    }
}
template <class T, int N, char L, class I, class U, int M, char K, class J>
__device__ inline void copy_view(const Array<T, N, L, I>& a, const Array<U, M, K, J>& b) {
    long long n = count(a);
    for (long long k = 0; k < n; ++k) {
        long long rest = k, other = k;
        at(a.data, Walk<0, N>::offset(a, rest)) = (T)at(b.data, Walk<0, N>::template beside<M>(b, a.shape, other));
    }
}
}  // namespace tl
)cuda";

constexpr const char* kAtomics = R"cuda(
namespace tl {
typedef unsigned long long u64;
__device__ __forceinline__ int atomic_cas(int* p, int a, int b) { return atomicCAS(p, a, b); }
__device__ __forceinline__ unsigned int atomic_cas(unsigned int* p, unsigned int a, unsigned int b) { return atomicCAS(p, a, b); }
__device__ __forceinline__ long long atomic_cas(long long* p, long long a, long long b) { return (long long)atomicCAS((u64*)p, (u64)a, (u64)b); }
__device__ __forceinline__ u64 atomic_cas(u64* p, u64 a, u64 b) { return atomicCAS(p, a, b); }
__device__ __forceinline__ float atomic_cas(float* p, float a, float b) { return __uint_as_float(atomicCAS((unsigned int*)p, __float_as_uint(a), __float_as_uint(b))); }
__device__ __forceinline__ double atomic_cas(double* p, double a, double b) {
    return __longlong_as_double((long long)atomicCAS((u64*)p, (u64)__double_as_longlong(a), (u64)__double_as_longlong(b)));
}
__device__ __forceinline__ bool same_bits(int a, int b) { return a == b; }
__device__ __forceinline__ bool same_bits(unsigned int a, unsigned int b) { return a == b; }
__device__ __forceinline__ bool same_bits(long long a, long long b) { return a == b; }
__device__ __forceinline__ bool same_bits(u64 a, u64 b) { return a == b; }
__device__ __forceinline__ bool same_bits(float a, float b) { return __float_as_uint(a) == __float_as_uint(b); }
__device__ __forceinline__ bool same_bits(double a, double b) { return __double_as_longlong(a) == __double_as_longlong(b); }
template <class T, class F> __device__ __forceinline__ T atomic_update(T* p, F change) {
    T old = *(volatile T*)p;
    while (true) {
        T next = change(old);
        if (same_bits(next, old)) return old;
        T seen = atomic_cas(p, old, next);
        if (same_bits(seen, old)) return old;
        old = seen;
    }
}
__device__ __forceinline__ int atomic_add(int* p, int v) { return atomicAdd(p, v); }
__device__ __forceinline__ unsigned int atomic_add(unsigned int* p, unsigned int v) { return atomicAdd(p, v); }
__device__ __forceinline__ long long atomic_add(long long* p, long long v) { return (long long)atomicAdd((u64*)p, (u64)v); }
__device__ __forceinline__ u64 atomic_add(u64* p, u64 v) { return atomicAdd(p, v); }
__device__ __forceinline__ float atomic_add(float* p, float v) { return atomicAdd(p, v); }
__device__ __forceinline__ double atomic_add(double* p, double v) { return atomicAdd(p, v); }
template <class T> __device__ __forceinline__ T atomic_sub(T* p, T v) { return atomic_add(p, (T)(0 - v)); }
__device__ __forceinline__ float atomic_sub(float* p, float v) { return atomicAdd(p, -v); }
__device__ __forceinline__ double atomic_sub(double* p, double v) { return atomicAdd(p, -v); }
#define TL_ORDERED(name, function) \
__device__ __forceinline__ int name(int* p, int v) { return function(p, v); } \
__device__ __forceinline__ unsigned int name(unsigned int* p, unsigned int v) { return function(p, v); } \
__device__ __forceinline__ long long name(long long* p, long long v) { return function(p, v); } \
__device__ __forceinline__ u64 name(u64* p, u64 v) { return function(p, v); }
TL_ORDERED(atomic_max, atomicMax)
TL_ORDERED(atomic_min, atomicMin)
TL_ORDERED(atomic_nanmax, atomicMax)
TL_ORDERED(atomic_nanmin, atomicMin)
#undef TL_ORDERED
// A NaN in the array stays, a NaN value changes nothing; the nan forms replace a NaN in the array.
#define TL_FLOAT_ORDER(T) \
__device__ inline T atomic_max(T* p, T v) { return atomic_update(p, [v](T old) { return old < v ? v : old; }); } \
__device__ inline T atomic_min(T* p, T v) { return atomic_update(p, [v](T old) { return old > v ? v : old; }); } \
__device__ inline T atomic_nanmax(T* p, T v) { return atomic_update(p, [v](T old) { return (old != old && v == v) || old < v ? v : old; }); } \
__device__ inline T atomic_nanmin(T* p, T v) { return atomic_update(p, [v](T old) { return (old != old && v == v) || old > v ? v : old; }); }
TL_FLOAT_ORDER(float)
TL_FLOAT_ORDER(double)
#undef TL_FLOAT_ORDER
#define TL_BITS(name, function) \
__device__ __forceinline__ int name(int* p, int v) { return function(p, v); } \
__device__ __forceinline__ unsigned int name(unsigned int* p, unsigned int v) { return function(p, v); } \
__device__ __forceinline__ long long name(long long* p, long long v) { return (long long)function((u64*)p, (u64)v); } \
__device__ __forceinline__ u64 name(u64* p, u64 v) { return function(p, v); }
TL_BITS(atomic_and_, atomicAnd)
TL_BITS(atomic_or_, atomicOr)
TL_BITS(atomic_xor, atomicXor)
TL_BITS(atomic_exch, atomicExch)
#undef TL_BITS
__device__ __forceinline__ float atomic_exch(float* p, float v) { return atomicExch(p, v); }
__device__ __forceinline__ double atomic_exch(double* p, double v) { return __longlong_as_double((long long)atomicExch((u64*)p, (u64)__double_as_longlong(v))); }
template <class T> __device__ inline T atomic_inc(T* p, T v) { return atomic_update(p, [v](T old) { return old >= v ? (T)0 : (T)(old + 1); }); }
template <class T> __device__ inline T atomic_dec(T* p, T v) { return atomic_update(p, [v](T old) { return old == 0 || old > v ? v : (T)(old - 1); }); }
__device__ __forceinline__ unsigned int atomic_inc(unsigned int* p, unsigned int v) { return atomicInc(p, v); }
__device__ __forceinline__ unsigned int atomic_dec(unsigned int* p, unsigned int v) { return atomicDec(p, v); }
}  // namespace tl
)cuda";

constexpr const char* kRandom = R"cuda(
namespace tl {
// xoroshiro128+ of Blackman and Vigna (public domain): the older constants 55, 14, 36.
__device__ __forceinline__ unsigned long long rotated(unsigned long long x, int k) { return (x << k) | (x >> (64 - k)); }
__device__ inline unsigned long long xoroshiro128p_next(unsigned long long* s) {
    unsigned long long s0 = s[0], s1 = s[1], result = s0 + s1;
    s1 ^= s0;
    s[0] = rotated(s0, 55) ^ s1 ^ (s1 << 14);
    s[1] = rotated(s1, 36);
    return result;
}
__device__ inline void xoroshiro128p_jump(unsigned long long* s) {
    const unsigned long long jump[2] = {0xbeac0467eba5facbULL, 0xd86b048b86aa9922ULL};
    unsigned long long s0 = 0, s1 = 0;
    for (int i = 0; i < 2; ++i)
        for (int b = 0; b < 64; ++b) {
            if (jump[i] & (1ULL << b)) { s0 ^= s[0]; s1 ^= s[1]; }
            xoroshiro128p_next(s);
        }
    s[0] = s0;
    s[1] = s1;
}
__device__ inline double xoroshiro128p_uniform_float64(unsigned long long* s) { return (double)(xoroshiro128p_next(s) >> 11) * (1.0 / 9007199254740992.0); }
__device__ inline float xoroshiro128p_uniform_float32(unsigned long long* s) { return (float)xoroshiro128p_uniform_float64(s); }
__device__ inline float xoroshiro128p_normal_float32(unsigned long long* s) {
    float u1 = xoroshiro128p_uniform_float32(s), u2 = xoroshiro128p_uniform_float32(s);
    return sqrtf(-2.0f * logf(u1)) * cosf(6.2831855f * u2);
}
__device__ inline double xoroshiro128p_normal_float64(unsigned long long* s) {
    double u1 = xoroshiro128p_uniform_float64(s), u2 = xoroshiro128p_uniform_float64(s);
    return sqrt(-2.0 * log(u1)) * cos(6.283185307179586 * u2);
}
}  // namespace tl
)cuda";

}  // namespace

std::string support_text(const std::set<std::string>& features) {
    std::string text;
    bool complex = features.contains("complex") || features.contains("complex_math");
    if (features.contains("half")) text += "#include <cuda_fp16.h>\n";
    if (features.contains("complex_math"))
        text += "#include <trilane/complex_math.h>\n";
    else if (complex)
        text += "#include <trilane/complex.h>\n";
    if (features.contains("cooperative"))
        text +=
            "#include <cooperative_groups.h>\nnamespace tl { __device__ inline void grid_sync() { "
            "cooperative_groups::this_grid().sync(); } }\n";
    text += "#line 1 \"trilane/kernel_support.h\"";
    text += kBase;
    if (complex) text += kComplex;
    if (features.contains("records")) text += kRecords;
    if (features.contains("views")) text += kViews;
    if (features.contains("atomics")) text += kAtomics;
    if (features.contains("random")) text += kRandom;
    if (features.contains("dynamic_shared"))
        text +=
            "namespace tl { __device__ __forceinline__ unsigned char* dynamic_shared() { extern "
            "__shared__ __align__(16) unsigned char tl_dynamic_memory[]; return tl_dynamic_memory; "
            "} }\n";
    return text;
}

}  // namespace trilane::jit
