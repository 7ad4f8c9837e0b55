"""Layout of types, structs by value, shared and constant memory, cuRAND's sequences."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import kernel
from tests.bitcompare.inputs import mixed

_VECTORS = [f"{t}{n}" for t in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                                "longlong", "ulonglong", "float", "double") for n in (1, 2, 3, 4)]  # fmt: skip
# The aligned forms of CUDA 13 stand beside these; what long4 and its like say of them is a warning.
_VECTORS = [
    v for v in _VECTORS if v not in ("long4", "ulong4", "longlong4", "ulonglong4", "double4")
]
_PLAIN = ["bool", "char", "short", "int", "long", "long long", "float", "double", "void*", "size_t",
          "wchar_t", "dim3", "uint3"]  # fmt: skip
kernel("layout_vectors", "i32", len(_VECTORS), "\n".join(
    f"out[{i}] = sizeof({v}); out[{i + len(_VECTORS)}] = alignof({v});"
    for i, v in enumerate(_VECTORS)), rows=("size", "alignment"))  # fmt: skip
kernel("layout_plain", "i32", len(_PLAIN), "\n".join(
    f"out[{i}] = sizeof({v}); out[{i + len(_PLAIN)}] = alignof({v});"
    for i, v in enumerate(_PLAIN)), rows=("size", "alignment"))  # fmt: skip
_STRUCTS = """struct A { char c; double d; short s; }; struct B { char c; float3 f; char e; };
struct C { bool b; long long l; A a; }; struct __align__(16) D { char c; int i; };
struct E { unsigned a : 3; unsigned b : 30; unsigned char c; }; union F { float f; char c[5]; };
struct G { virtual __device__ int f() { return 1; } char c; }; struct H {}; struct I : H { int i; };"""
kernel("layout_structs", "i32", 9, "\n".join(
    f"out[{i}] = sizeof({s}); out[{i + 9}] = alignof({s});" for i, s in enumerate("ABCDEFGHI")),
    head=_STRUCTS, rows=("size", "alignment"))  # fmt: skip
kernel("layout_offsets", "i32", 7, """A a; B b; C c; D d;
out[0] = (char*)&a.d - (char*)&a; out[1] = (char*)&a.s - (char*)&a; out[2] = (char*)&b.f - (char*)&b;
out[3] = (char*)&b.e - (char*)&b; out[4] = (char*)&c.l - (char*)&c; out[5] = (char*)&c.a - (char*)&c;
out[6] = (char*)&d.i - (char*)&d;""", head=_STRUCTS)  # fmt: skip
kernel("layout_bit_fields", "u32", 32, """const int t = threadIdx.x; E e; e.a = t; e.b = t * 0x1234567u;
e.c = t * 9; out[t] = e.a; out[32 + t] = e.b; out[64 + t] = e.c;""", head=_STRUCTS,
    rows=("three bits", "thirty", "byte"))  # fmt: skip
_P = {"p": ("u32", mixed(256, 9).astype(np.uint32))}
kernel("struct_by_value", "f64", 64, """const int t = threadIdx.x; Bag b; b.c = (char)t;
b.d = p[t] * 0.5; for (int i = 0; i < 5; ++i) b.k[i] = (short)(p[t] >> i);
Bag r = turned(b); out[t] = r.d; out[64 + t] = r.c; out[128 + t] = r.k[0] + 100.0 * r.k[4];""", _P,
    head="""struct Bag { char c; double d; short k[5]; };
__device__ __noinline__ Bag turned(Bag b) { Bag r = b; r.d = -b.d; r.c = b.c + 1;
    for (int i = 0; i < 5; ++i) r.k[i] = b.k[4 - i]; return r; }""", rows=("d", "c", "k"),
    block=(64,))  # fmt: skip
kernel("union_bytes", "u32", 64, """const int t = threadIdx.x; union { unsigned w; unsigned char b[4]; } u;
u.w = p[t]; out[t] = u.b[0] | u.b[3] << 8; out[64 + t] = *(const unsigned short*)((const char*)p + 2 * t);""",
    _P, rows=("bytes", "unsigned short"), block=(64,))  # fmt: skip
kernel("shared_transpose", "u32", 256, """__shared__ unsigned s[16][17];
const int x = threadIdx.x, y = threadIdx.y; s[y][x] = p[16 * y + x]; __syncthreads();
out[16 * y + x] = s[x][y];""", _P, block=(16, 16))  # fmt: skip
kernel("constant_and_global", "u32", 64, """const int t = threadIdx.x;
out[t] = table[p[t] & 7] + wide[t & 3].y; out[64 + t] = atomicAdd(&counter, 0u) + 1;""", _P,
    head="""__constant__ unsigned table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ uint2 wide[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}; __device__ unsigned counter = 41;""",
    rows=("table", "counter"), block=(64,))  # fmt: skip
kernel("vector_loads", "u32", 64, """const int t = threadIdx.x; const uint4 v = ((const uint4*)p)[t];
uint2 w = ((const uint2*)p)[t]; out[t] = v.x ^ v.y * 3 ^ v.z * 5 ^ v.w * 7; out[64 + t] = w.x - w.y;
out[128 + t] = __ldg(p + t); uchar4 b = ((const uchar4*)p)[t]; out[192 + t] = b.x + b.y * b.z - b.w;""",
    _P, rows=("uint4", "uint2", "ldg", "uchar4"), block=(64,))  # fmt: skip
kernel("local_arrays", "u32", 64, """const int t = threadIdx.x; unsigned a[16];
for (int i = 0; i < 16; ++i) a[i] = p[(t + i * 3) & 255];
for (int i = 0; i < 16; ++i) for (int j = 0; j + 1 < 16; ++j)
    if (a[j] > a[j + 1]) { unsigned v = a[j]; a[j] = a[j + 1]; a[j + 1] = v; }
unsigned h = 0; for (int i = 0; i < 16; ++i) h = h * 31 + a[i]; out[t] = h; out[64 + t] = a[t & 15];""",
    _P, rows=("hash", "element"), block=(64,))  # fmt: skip
kernel("grid_numbers", "u32", 96, """const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
out[b * 8 + t] = b * 1000 + t; out[96 + b * 8 + t] = blockDim.x * 100 + blockDim.y * 10 + gridDim.z;""",
    rows=("number", "shape"), grid=(3, 2, 2), block=(2, 2, 2))  # fmt: skip
kernel("recursion_and_pointers", "i32", 32, """const int t = threadIdx.x; int (*f)(int) = t & 1 ? odd : fib;
out[t] = f(t % 12);""", head="""__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ int odd(int n) { return 2 * n + 1; }""")  # fmt: skip

# --- cuRAND -----------------------------------------------------------------------------------------
_STARTS = np.array(
    [[0, 0, 0], [1, 0, 0], [1234, 0, 0], [1234, 1, 0], [1234, 5, 7], [2**40 + 3, 1003, 2**33 + 1],
     [42, 2**20, 13], [2**64 - 1, 2**50 + 9, 2**60 + 2]], np.uint64)  # fmt: skip
for _name, _state in (("xorwow", "curandStateXORWOW_t"), ("philox", "curandStatePhilox4_32_10_t")):
    _begin = f"""const int t = threadIdx.x; if (t >= 8) return; {_state} s;
curand_init(p[3 * t], p[3 * t + 1], p[3 * t + 2], &s);"""
    _starts = {"p": ("u64", _STARTS.ravel())}
    kernel(f"curand_words_{_name}", "u32", 160, f"{_begin} for (int i = 0; i < 20; ++i) out[20 * t + i] = curand(&s);",
           _starts, head="#include <curand_kernel.h>")  # fmt: skip
    kernel(f"curand_uniform_{_name}", "f32", 160, f"{_begin} for (int i = 0; i < 20; ++i) out[20 * t + i] = curand_uniform(&s);",
           _starts, head="#include <curand_kernel.h>")  # fmt: skip
    kernel(f"curand_uniform_double_{_name}", "f64", 80, f"{_begin} for (int i = 0; i < 10; ++i) out[10 * t + i] = curand_uniform_double(&s);",
           _starts, head="#include <curand_kernel.h>")  # fmt: skip
    # logarithms, sines and roots of each device: the words before them are exact above
    kernel(f"curand_normal_{_name}", "f32", 160, f"{_begin} for (int i = 0; i < 20; ++i) out[20 * t + i] = curand_normal(&s);",
           _starts, head="#include <curand_kernel.h>", ulp=64, absolute=2e-6)  # fmt: skip
    kernel(f"curand_normal_double_{_name}", "f64", 80, f"{_begin} for (int i = 0; i < 10; ++i) out[10 * t + i] = curand_normal_double(&s);",
           _starts, head="#include <curand_kernel.h>", ulp=64, absolute=1e-15)  # fmt: skip
    kernel(f"curand_skip_{_name}", "u32", 16, f"{_begin} skipahead(12345ull, &s); out[2 * t] = curand(&s); skipahead_sequence(3ull, &s); out[2 * t + 1] = curand(&s);",
           _starts, head="#include <curand_kernel.h>")  # fmt: skip
kernel("curand_four_words", "u32", 64, """const int t = threadIdx.x; curandStatePhilox4_32_10_t s;
curand_init(7, t, 0, &s); const uint4 w = curand4(&s); out[t] = w.x; out[16 + t] = w.y; out[32 + t] = w.z; out[48 + t] = w.w;""",
    head="#include <curand_kernel.h>", block=(16,))  # fmt: skip
