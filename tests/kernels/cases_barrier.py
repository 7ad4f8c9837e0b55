"""Barriers in every control flow, early exits, dynamic shared memory, waits on other blocks."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import kernel

N = 64
T = np.arange(N)
_T = "const int t = threadIdx.x;"
_B = {"block": (N,)}
Z = np.zeros(N, "int32")

kernel(
    "reverse_through_shared",
    f"{_T} __shared__ int s[64]; s[t] = p1[t]; __syncthreads(); p0[t] = s[63 - t];",
    [Z, (T * 3).astype("int32")],
    (63 - T) * 3,
    **_B,
)
kernel(
    "tree_reduction",
    f"""{_T} __shared__ int s[64]; s[t] = p1[t]; __syncthreads();
       for (int k = 32; k > 0; k >>= 1) {{ if (t < k) s[t] += s[t + k]; __syncthreads(); }} if (t == 0) p0[0] = s[0];""",
    [np.zeros(1, "int32"), (T**2).astype("int32")],
    np.array([(T**2).sum()]),
    **_B,
)
kernel(
    "scan_in_loop",
    f"""{_T} __shared__ int s[2][64]; int in = 0; s[0][t] = p1[t]; __syncthreads();
       for (int k = 1; k < 64; k *= 2) {{ int out = 1 - in; s[out][t] = t >= k ? s[in][t] + s[in][t - k] : s[in][t];
       __syncthreads(); in = out; }} p0[t] = s[in][t];""",
    [Z, (T % 9).astype("int32")],
    np.cumsum(T % 9),
    **_B,
)
kernel(
    "barrier_in_uniform_branch",
    f"""{_T} __shared__ int s[64]; s[t] = t; if (p1[0] > 5) {{ __syncthreads(); p0[t] = s[t ^ 1]; }}
       else p0[t] = -1;""",
    [Z, np.array([9], "int32")],
    T ^ 1,
    **_B,
)
kernel(
    "barriers_in_both_branches",
    f"""{_T} __shared__ int s[64]; s[t] = t; if (t < 32) {{ __syncthreads(); p0[t] = s[t + 32]; }}
       else {{ __syncthreads(); p0[t] = s[t - 32]; }}""",
    [Z],
    T ^ 32,
    **_B,
)
kernel(
    "barrier_loop_of_data_trips",
    f"""{_T} __shared__ int n; __shared__ int s[64]; if (t == 0) n = p1[0]; s[t] = t; __syncthreads();
       int rounds = 0; while (n > 0) {{ int v = s[(t + 1) & 63]; __syncthreads(); s[t] = v; if (t == 0) n -= 1; __syncthreads(); ++rounds; }}
       p0[t] = s[t] * 10 + rounds;""",
    [Z, np.array([5], "int32")],
    ((T + 5) % 64) * 10 + 5,
    **_B,
)
kernel(
    "early_exit_before_barrier",
    f"""{_T} __shared__ int s[64]; s[t] = t; if (t >= 40) {{ p0[t] = -t; return; }} __syncthreads();
       p0[t] = s[39 - t];""",
    [Z],
    np.where(T >= 40, -T, 39 - T),
    **_B,
)
kernel(
    "exits_in_loop_of_barriers",
    f"""{_T} __shared__ int count; if (t == 0) count = 0; __syncthreads();
       for (int k = 0; k < 8; ++k) {{ if (t >= 64 - 8 * k) {{ p0[t] = k; return; }} atomicAdd(&count, 1); __syncthreads(); }}
       p0[t] = t == 0 ? count : 100;""",
    [Z],
    np.where(T >= 8, (63 - T) // 8 + 1, np.where(T == 0, sum(64 - 8 * k for k in range(8)), 100)),
    **_B,
)
kernel(
    "barrier_in_device_function",
    f"{_T} __shared__ int s[64]; exchange(s, t * 2); p0[t] = s[63 - t];",
    [Z],
    (63 - T) * 2,
    head="__device__ __noinline__ void exchange(int* s, int v) { s[threadIdx.x] = v; __syncthreads(); }",
    **_B,
)
kernel(
    "barrier_after_switch",
    f"""{_T} __shared__ int s[64]; switch (t & 3) {{ case 0: s[t] = 1; break; case 1: s[t] = 20; break;
       default: s[t] = 300; }} __syncthreads(); p0[t] = s[t ^ 3];""",
    [Z],
    np.array([1, 20, 300, 300])[(T ^ 3) & 3],
    **_B,
)
kernel(
    "syncthreads_count", f"{_T} p0[t] = __syncthreads_count(t % 3 == 0);", [Z], np.full(N, 22), **_B
)
kernel(
    "syncthreads_and_or",
    f"{_T} p0[t] = __syncthreads_and(t >= 0) * 8 + __syncthreads_and(t != 5) * 4 + "
    "__syncthreads_or(t == 63) * 2 + __syncthreads_or(t > 63);",
    [Z],
    np.full(N, 10),
    **_B,
)
kernel(
    "syncthreads_or_until_done",
    f"""{_T} int v = p1[t], rounds = 0; while (__syncthreads_or(v > 0)) {{ --v; ++rounds; }}
       p0[t] = rounds;""",
    [Z, (T % 11).astype("int32")],
    np.full(N, 10),
    **_B,
)
kernel(
    "count_with_exited_threads",
    f"{_T} if (t >= 48) {{ p0[t] = -1; return; }} p0[t] = __syncthreads_count(1);",
    [Z],
    np.where(T >= 48, -1, 48),
    **_B,
)
kernel(
    "barrier_many_sites",
    f"""{_T} __shared__ int s[64]; int v = t; s[t] = v; __syncthreads(); v = s[(t + 1) & 63]; __syncthreads();
       s[t] = v; __syncthreads(); v = s[(t + 1) & 63]; __syncthreads(); s[t] = v; __syncthreads(); p0[t] = s[(t + 1) & 63];""",
    [Z],
    (T + 3) % 64,
    **_B,
)
kernel(
    "local_array_across_barrier",
    f"""{_T} int a[8]; for (int i = 0; i < 8; ++i) a[i] = t * i; __shared__ int s[64]; s[t] = a[3];
       __syncthreads(); int sum = 0; for (int i = 0; i < 8; ++i) sum += a[i]; p0[t] = sum + s[t ^ 1];""",
    [Z],
    T * 28 + (T ^ 1) * 3,
    **_B,
)
kernel(
    "dynamic_shared",
    f"{_T} extern __shared__ int s[]; s[t] = t * t; __syncthreads(); p0[t] = s[63 - t];",
    [Z],
    (63 - T) ** 2,
    shared=4 * N,
    **_B,
)
kernel(
    "dynamic_shared_two_views",
    f"""{_T} extern __shared__ double d[]; int* s = (int*)(d + 64); d[t] = t * 0.5; s[t] = t; __syncthreads();
       p0[t] = (int)(d[63 - t] * 2) * 1000 + s[t ^ 1];""",
    [Z],
    (63 - T) * 1000 + (T ^ 1),
    shared=12 * N,
    **_B,
)
kernel(
    "static_beside_dynamic",
    f"""{_T} __shared__ int a[64]; extern __shared__ int s[]; a[t] = t; s[t] = 2 * t; __syncthreads();
       p0[t] = a[63 - t] * 1000 + s[63 - t];""",
    [Z],
    (63 - T) * 1002,
    shared=4 * N,
    **_B,
)
kernel(
    "shared_2d_transpose",
    """__shared__ int s[8][9]; int x = threadIdx.x, y = threadIdx.y; s[y][x] = p1[y * 8 + x]; __syncthreads();
       p0[y * 8 + x] = s[x][y];""",
    [Z, (T * 5).astype("int32")],
    (T * 5).reshape(8, 8).T.ravel(),
    block=(8, 8),
)
kernel(
    "tiled_matmul",
    """__shared__ float a[8][8], b[8][8]; int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * 8 + x, r = blockIdx.y * 8 + y;
       float sum = 0; for (int k = 0; k < n; k += 8) { a[y][x] = p1[r * n + k + x]; b[y][x] = p2[(k + y) * n + c]; __syncthreads();
       for (int i = 0; i < 8; ++i) sum += a[y][i] * b[i][x]; __syncthreads(); } p0[r * n + c] = sum;""",
    [
        np.zeros(32 * 32, "float32"),
        (np.arange(1024) % 13).astype("float32"),
        (np.arange(1024) % 7).astype("float32"),
    ],
    ((np.arange(1024) % 13).reshape(32, 32) @ (np.arange(1024) % 7).reshape(32, 32)).ravel(),
    grid=(4, 4),
    block=(8, 8),
    scalars=[np.int32(32)],
    parameters="int n",
)
kernel(
    "shared_struct",
    f"""{_T} __shared__ struct {{ int a; double b; }} s[64]; s[t].a = t; s[t].b = t * 0.25; __syncthreads();
       p0[t] = s[63 - t].a + (int)(s[t ^ 1].b * 4);""",
    [Z],
    63 - T + (T ^ 1),
    **_B,
)
kernel(
    "shared_pointer_chosen_at_run_time",
    f"""{_T} __shared__ int a[64], b[64]; int* s = p1[0] ? a : b; s[t] = t; __syncthreads();
       p0[t] = a[63 - t];""",
    [Z, np.array([1], "int32")],
    63 - T,
    **_B,
)
kernel(
    "generic_pointer_to_shared",
    f"{_T} __shared__ int s[64]; s[t] = t; __syncthreads(); p0[t] = at(s, 63 - t) + at(p1, t);",
    [Z, (T * 100).astype("int32")],
    63 - T + T * 100,
    head="__device__ __noinline__ int at(const int* p, int i) { return p[i]; }",
    **_B,
)
kernel(
    "is_shared_query",
    f"{_T} __shared__ int s[64]; s[t] = t; int l = t; p0[t] = __isShared(s) * 2 + __isGlobal(p0) + (__isShared(&l) ? 4 : 0);",
    [Z],
    np.full(N, 3),
    **_B,
)
kernel(
    "named_barrier",
    f"""{_T} __shared__ int s[64]; s[t] = t; if (t < 32) {{ asm volatile("bar.sync 1, 32;" ::: "memory"); p0[t] = s[31 - t]; }}
       else {{ asm volatile("bar.sync 2, 32;" ::: "memory"); p0[t] = s[95 - t]; }}""",
    [Z],
    np.where(T < 32, 31 - T, 95 - T),
    **_B,
)
kernel(
    "spin_on_another_thread_of_block",
    f"""{_T} __shared__ volatile int flag; if (t == 0) flag = 0; __syncthreads();
       if (t == 63) flag = 7; while (flag != 7) {{ }} p0[t] = flag + t;""",
    [Z],
    7 + T,
    **_B,
)
kernel(
    "spin_on_later_block",
    """volatile int* flag = p1; if (blockIdx.x == gridDim.x - 1) { if (threadIdx.x == 0) { __threadfence(); flag[0] = 5; } }
       else { while (flag[0] != 5) { } } if (threadIdx.x == 0) p0[blockIdx.x] = flag[0] + blockIdx.x;""",
    [np.zeros(4, "int32"), np.zeros(1, "int32")],
    {0: np.array([5, 6, 7, 8])},
    grid=(4,),
    block=(32,),
)
kernel(
    "decoupled_look_back",
    """__shared__ int before; int b = blockIdx.x; int v = p2[b * 32 + threadIdx.x];
       for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
       if (threadIdx.x == 0) { int sum = 0; if (b > 0) { while (atomicAdd(&p1[b - 1], 0) == 0) { } __threadfence(); sum = ((volatile int*)p0)[b - 1]; }
       before = sum; p0[b] = sum + v; __threadfence(); atomicExch(&p1[b], 1); } __syncthreads(); p2[b * 32 + threadIdx.x] = before;""",
    [np.zeros(6, "int32"), np.zeros(6, "int32"), (np.arange(192) % 5).astype("int32")],
    {
        0: np.cumsum((np.arange(192) % 5).reshape(6, 32).sum(1)),
        2: np.repeat(np.r_[0, np.cumsum((np.arange(192) % 5).reshape(6, 32).sum(1))[:-1]], 32),
    },
    grid=(6,),
    block=(32,),
)
kernel(
    "grid_sync",
    """cooperative_groups::grid_group g = cooperative_groups::this_grid(); int i = blockIdx.x * blockDim.x + threadIdx.x;
       p1[i] = i; g.sync(); int v = p1[127 - i]; g.sync(); p1[i] = v * 2; g.sync(); p0[i] = p1[127 - i];""",
    [np.zeros(128, "int32"), np.zeros(128, "int32")],
    {0: np.arange(128) * 2},
    grid=(4,),
    block=(32,),
    cooperative=True,
    head="#include <cooperative_groups.h>",
)
