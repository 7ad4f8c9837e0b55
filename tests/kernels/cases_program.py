"""The language: calls, recursion, pointers to functions, templates, structs, globals, indices."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import kernel

N = 32
T = np.arange(N)
_T = "const int t = threadIdx.x;"
Z = np.zeros(N, "int32")

kernel(
    "recursion",
    f"{_T} p0[t] = fib(t % 12);",
    [Z],
    np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])[T % 12],
    head="__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }",
)
kernel(
    "mutual_recursion",
    f"{_T} p0[t] = even(t);",
    [Z],
    1 - T % 2,
    head="__device__ int odd(int n); __device__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }\n"
    "__device__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }",
)
kernel(
    "recursion_reads_thread_index",
    f"{_T} p0[t] = sum(3);",
    [Z],
    4 * T + 6,
    head="__device__ int sum(int n) { return n < 0 ? 0 : (int)threadIdx.x + n + sum(n - 1); }",
)
kernel(
    "ackermann",
    "p0[threadIdx.x] = a(2, 3);",
    [Z],
    np.full(N, 9),
    head="__device__ int a(int m, int n) { return m == 0 ? n + 1 : n == 0 ? a(m - 1, 1) : a(m - 1, a(m, n - 1)); }",
)
kernel(
    "function_pointer_table",
    f"{_T} p0[t] = table[t % 3](t, 2);",
    [Z],
    np.where(T % 3 == 0, T + 2, np.where(T % 3 == 1, T - 2, T * 2)),
    head="typedef int (*op)(int, int); __device__ int plus(int a, int b) { return a + b; }\n"
    "__device__ int minus(int a, int b) { return a - b; } __device__ int times(int a, int b) { return a * b; }\n"
    "__device__ op table[3] = {plus, minus, times};",
)
kernel(
    "function_pointer_argument",
    f"{_T} p0[t] = apply(t & 1 ? &twice : &square, t);",
    [Z],
    np.where(T & 1, 2 * T, T * T),
    head="__device__ int twice(int v) { return 2 * v; } __device__ int square(int v) { return v * v; }\n"
    "__device__ __noinline__ int apply(int (*f)(int), int v) { return f(v); }",
)
kernel(
    "virtual_call",
    f"{_T} Twice a; Plus b(5); Base* p = t & 1 ? (Base*)&a : (Base*)&b; p0[t] = p->f(t);",
    [Z],
    np.where(T & 1, 2 * T, T + 5),
    head="struct Base { __device__ virtual int f(int v) { return v; } }; struct Twice : Base { __device__ int f(int v) override { return 2 * v; } };\n"
    "struct Plus : Base { int k; __device__ Plus(int k_) : k(k_) {} __device__ int f(int v) override { return v + k; } };",
)
kernel(
    "templates",
    f"{_T} p0[t] = Sum<4>::of(t) + pick<float, double>(1.5f, 2.25) * 4;",
    [Z],
    T * 10 + 15,
    head="template <int n> struct Sum { static __device__ int of(int v) { return n * v + Sum<n - 1>::of(v); } };\n"
    "template <> struct Sum<0> { static __device__ int of(int) { return 0; } };\n"
    "template <class A, class B> __device__ auto pick(A a, B b) -> decltype(a + b) { return a + b; }",
)
kernel(
    "lambda",
    f"{_T} int k = 3; auto f = [=](int v) {{ return v * k; }}; auto g = [&](int v) {{ k += v; return k; }}; p0[t] = f(t) + g(1);",
    [Z],
    T * 3 + 4,
)
kernel(
    "variadic_template",
    f"{_T} p0[t] = total(t, 1, 2.0f, (short)3);",
    [Z],
    T + 6,
    head="__device__ int total() { return 0; } template <class H, class... R> __device__ int total(H h, R... r) { return (int)h + total(r...); }",
)
kernel(
    "struct_by_value",
    f"{_T} p0[t] = s.a + s.b[t % 3] + (int)s.c;",
    [Z],
    7 + np.array([1, 2, 3])[T % 3] + 9,
    head="struct S { int a; int b[3]; double c; };",
    parameters="S s",
    scalars=[
        np.array(
            (7, [1, 2, 3], 9.5),
            dtype=np.dtype([("a", "i4"), ("b", "i4", 3), ("c", "f8")], align=True),
        )[()]
    ],
)
kernel(
    "struct_through_pointer",
    f"{_T} S* s = (S*)p1; p0[t] = s[t & 1].x * 10 + s[t & 1].y;",
    [Z, np.array([1, 2, 3, 4], "int32")],
    np.where(T & 1, 34, 12),
    head="struct S { int x, y; };",
)
kernel(
    "vector_by_value",
    f"{_T} p0[t] = (int)(v.x + v.y * 10 + v.z * 100 + v.w * 1000);",
    [Z],
    np.full(N, 4321),
    parameters="float4 v",
    scalars=[
        np.array((1, 2, 3, 4), dtype=[("x", "f4"), ("y", "f4"), ("z", "f4"), ("w", "f4")])[()]
    ],
)
kernel(
    "vector_loads",
    f"{_T} float4 v = ((float4*)p1)[t]; v.x += v.w; ((float4*)p0)[t] = make_float4(v.w, v.z, v.y, v.x);",
    [np.zeros(4 * N, "float32"), np.arange(4 * N, dtype="float32")],
    np.stack([4 * T + 3, 4 * T + 2, 4 * T + 1, 8 * T + 3], 1).ravel(),
)
kernel(
    "sizes_and_alignments",
    "int o[] = {sizeof(float3), alignof(float3), sizeof(float4), alignof(float4), sizeof(double2), alignof(double2),"
    " sizeof(char3), alignof(short2), sizeof(long), sizeof(void*), sizeof(dim3), alignof(int2), alignof(uchar4), sizeof(longlong3)};\n"
    "if (threadIdx.x < 14) p0[threadIdx.x] = o[threadIdx.x];",
    [np.zeros(14, "int32")],
    np.array([12, 4, 16, 16, 16, 16, 3, 4, 8, 8, 12, 8, 4, 24]),
)
kernel(
    "constant_memory",
    f"{_T} p0[t] = c[t % 4] * scale;",
    [Z],
    np.array([1, 10, 100, 1000])[T % 4] * 3,
    head="__constant__ int c[4] = {1, 10, 100, 1000}; __constant__ int scale = 3;",
)
kernel(
    "device_global",
    f"{_T} atomicAdd(&counter, t); __syncthreads(); p0[t] = counter + table[t % 2];",
    [Z],
    np.where(T % 2, 506 + 7, 506 + 5),
    head="__device__ int counter = 10; __device__ int table[2] = {5, 7};",
)
kernel(
    "static_local_table",
    f"{_T} static const int primes[] = {{2, 3, 5, 7}}; p0[t] = primes[t & 3];",
    [Z],
    np.array([2, 3, 5, 7])[T & 3],
)
kernel(
    "indices_in_three_dimensions",
    """int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
       int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; int n = blockDim.x * blockDim.y * blockDim.z;
       p0[b * n + t] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z;""",
    [np.zeros(8 * 24, "int32")],
    np.array(
        [
            tx + 10 * ty + 100 * tz + 1000 * bx + 10000 * by + 100000 * bz
            for bz in range(2)
            for by in range(2)
            for bx in range(2)
            for tz in range(4)
            for ty in range(3)
            for tx in range(2)
        ]
    ),
    grid=(2, 2, 2),
    block=(2, 3, 4),
)
kernel(
    "dim_objects",
    f"{_T} dim3 b = blockDim; uint3 i = blockIdx; dim3 d(2, 3); p0[t] = b.x * 100 + i.x * 10 + d.y + d.z + warpSize;",
    [Z],
    np.full(N, 3200 + 3 + 1 + 32),
)
kernel(
    "index_beyond_32_bits",
    f"{_T} long long i = (long long)t * n; p0[t] = (int)(i >> 31) + (int)(((size_t)t << 33) >> 32);",
    [Z],
    (T.astype("int64") * 2**31 >> 31) + 2 * T,
    scalars=[np.int64(2**31)],
    parameters="long long n",
)
kernel(
    "thread_index_is_unsigned",
    "p0[threadIdx.x] = (int)(threadIdx.x - 1 > 5u) + (int)((long long)(threadIdx.x - 1) >> 31);",
    [Z],
    np.where(T == 0, 2, (T - 1 > 5).astype(int)),
)
kernel(
    "negative_pointer_offset",
    f"{_T} const int* end = p1 + 32; p0[t] = end[-1 - t];",
    [Z, (T * 2).astype("int32")],
    (31 - T) * 2,
)
kernel(
    "pointer_difference",
    f"{_T} p0[t] = (int)(&p1[t] - p1) + (int)((char*)&p1[t] - (char*)p1);",
    [Z, Z],
    T * 5,
)
kernel(
    "grid_stride",
    """for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) p0[i] = p1[i] * 2 + 1;""",
    [np.zeros(1000, "int32"), np.arange(1000, dtype="int32")],
    np.arange(1000) * 2 + 1,
    grid=(3,),
    block=(64,),
    scalars=[np.int32(1000)],
    parameters="int n",
)
kernel(
    "divergent_loops",
    f"{_T} int v = t * 7 + 1, n = 0; while (v != 1) {{ v = v & 1 ? 3 * v + 1 : v / 2; ++n; if (n > 300) break; }} p0[t] = n;",
    [Z],
    np.array(
        [
            __import__("functools").reduce(
                lambda s, _: (
                    s if s[0] == 1 else ((3 * s[0] + 1 if s[0] & 1 else s[0] // 2), s[1] + 1)
                ),
                range(300),
                (t * 7 + 1, 0),
            )[1]
            for t in range(32)
        ]
    ),
)
kernel(
    "goto_and_irreducible",
    f"""{_T} int n = 0, k = t; if (t & 1) goto inside; top: n += 10; inside: n += 1; if (--k > 0) goto top; p0[t] = n;""",
    [Z],
    np.where(T & 1, 1 + 11 * np.maximum(T - 1, 0), 11 * np.maximum(T, 1)),
)
kernel(
    "duffs_device",
    f"""{_T} int n = t % 8 + 1, s = 0, c = (n + 3) / 4; switch (n % 4) {{ case 0: do {{ s += 1; case 3: s += 1; case 2: s += 1;
       case 1: s += 1; }} while (--c > 0); }} p0[t] = s;""",
    [Z],
    T % 8 + 1,
)
kernel(
    "local_array_by_variable_index",
    f"{_T} int a[16]; for (int i = 0; i < 16; ++i) a[i] = i * i; p0[t] = a[(t * 5) & 15] + a[t & 7];",
    [Z],
    ((T * 5) & 15) ** 2 + (T & 7) ** 2,
)
kernel(
    "union_and_bitfield",
    f"{_T} union {{ float f; unsigned u; }} v; v.f = t; struct {{ unsigned a : 3, b : 5; }} b; b.a = t; b.b = t * 2; "
    "p0[t] = (v.u >> 23) + b.a * 1000 + b.b * 10000;",
    [Z],
    np.array(
        [
            (int(np.float32(t).view(np.uint32)) >> 23) + (t & 7) * 1000 + ((t * 2) & 31) * 10000
            for t in range(32)
        ]
    ),
)
kernel(
    "reference_parameters",
    f"{_T} int a = t, b = 2; swap_(a, b); p0[t] = a * 100 + b;",
    [Z],
    200 + T,
    head="template <class X> __device__ void swap_(X& a, X& b) { X c = a; a = b; b = c; }",
)
kernel(
    "constructors_and_destructors",
    f"{_T} p1[t] = 0; {{ Guard g(&p1[t], t); g.add(); }} p0[t] = p1[t];",
    [Z, Z],
    {0: 2 * T + 100},
    head="struct Guard { int* p; int v; __device__ Guard(int* q, int w) : p(q), v(w) { *p += v; } __device__ void add() { *p += v; }\n"
    "__device__ ~Guard() { *p += 100; } };",
)
kernel(
    "operator_overloads",
    f"{_T} float2 a = make_float2(t, 1), b = a + a * 2.0f; p0[t] = (int)(b.x + b.y);",
    [Z],
    3 * T + 3,
    head="__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }\n"
    "__device__ float2 operator*(float2 a, float s) { return make_float2(a.x * s, a.y * s); }",
)
kernel(
    "kernel_heap",
    f"""{_T} int* a = (int*)malloc(8 * sizeof(int)); for (int i = 0; i < 8; ++i) a[i] = t + i; int s = 0;
       for (int i = 0; i < 8; ++i) s += a[i]; free(a); int* b = new int[2]; b[0] = t; s += b[0]; delete[] b; p0[t] = s;""",
    [Z],
    9 * T + 28,
)
kernel(
    "byte_copies",
    f"{_T} char a[16], b[16]; memset(a, t, 16); memcpy(b, a, 16); b[3] = 1; memmove(b + 1, b, 8); "
    "p0[t] = b[0] + b[4] * 100 + memcmp(a, a, 16);",
    [Z],
    T + 100,
    head="#include <string.h>",
)
kernel(
    "ldg_and_friends",
    f"{_T} p0[t] = __ldg(p1 + t) + __ldcg(p1 + t) + __ldcs(p1); __stcg(p0 + t, p0[t] + 1);",
    [Z, T.astype("int32")],
    2 * T + 1,
)
kernel(
    "restrict_and_const",
    f"{_T} g(p0, p1, t);",
    [Z, (T + 5).astype("int32")],
    T + 5,
    head="__device__ __forceinline__ void g(int* __restrict__ o, const int* __restrict__ a, int i) { o[i] = a[i]; }",
)
kernel(
    "launch_bounds_and_unroll",
    f"{_T} int s = 0;\n#pragma unroll 4\nfor (int i = 0; i < t; ++i) s += i;\np0[t] = s;",
    [Z],
    T * (T - 1) // 2,
)
kernel(
    "ternary_chain_of_bool",
    f"{_T} bool a = t & 1, b = t & 2; p0[t] = a && b ? 3 : a || b ? (a != b) + a : 0;",
    [Z],
    np.where((T & 3) == 3, 3, np.where(T & 1, 2, np.where(T & 2, 1, 0))),
)
kernel(
    "clock_moves",
    f"{_T} long long a = clock64(); int s = 0; for (int i = 0; i < 100; ++i) s += p1[i & 31]; long long b = clock64();"
    "\np0[t] = (b >= a) + (s == 0) * 0;",
    [Z, T.astype("int32")],
    np.ones(N),
)
kernel(
    "macros",
    f"{_T} p0[t] = defined_all + (__CUDA_ARCH__ >= 700);",
    [Z],
    np.full(N, 2),
    head="#if defined(__CUDACC__) && defined(__CUDA_ARCH__)\n#define defined_all 1\n#else\n#define defined_all 0\n#endif",
)
kernel(
    "limits_without_include",
    f"{_T} p0[t] = INT_MAX - t;",
    [Z],
    2**31 - 1 - T,
    head="#include <limits.h>\n#include <float.h>\n#include <math.h>",
)
kernel("assert_that_holds", f"{_T} assert(t >= 0); p0[t] = t;", [Z], T, head="#include <assert.h>")
kernel(
    "volatile_accesses",
    f"{_T} volatile int* v = p0; v[t] = t; v[t] += 1; p0[t] = v[t] * 2;",
    [Z],
    2 * T + 2,
)
kernel(
    "char_arithmetic",
    f"{_T} unsigned char c = 250; c += t; signed char d = 127; d++; p0[t] = c * 1000 + d;",
    [Z],
    ((250 + T) % 256) * 1000 - 128,
)
kernel(
    "comma_and_precedence",
    f"{_T} int a = (t, t + 1); p0[t] = a << 1 | t & 1 ^ 1;",
    [Z],
    ((T + 1) << 1) | ((T & 1) ^ 1),
)
kernel(
    "block_of_1024",
    "p0[threadIdx.x] = threadIdx.x / 32;",
    [np.zeros(1024, "int32")],
    np.arange(1024) // 32,
    block=(1024,),
)
kernel(
    "lonely_thread",
    "p0[0] = blockDim.x + gridDim.x;",
    [np.zeros(1, "int32")],
    np.array([2]),
    block=(1,),
)
kernel(
    "many_blocks",
    "if (threadIdx.x == 0) p0[blockIdx.x] = blockIdx.x;",
    [np.zeros(5000, "int32")],
    np.arange(5000),
    grid=(5000,),
    block=(3,),
)
