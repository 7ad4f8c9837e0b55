"""Warp operations: shuffles with widths, masks and types, votes, match, reductions, active masks."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import kernel

LANES = np.arange(32)
_L = "const int l = threadIdx.x;"
FULL = "0xffffffffu"


def _shuffled(form: str, by: np.ndarray | int, width: int) -> np.ndarray:
    """The lane that each lane reads, by the definition of the four forms."""
    base, rank = LANES // width * width, LANES % width
    if form == "idx":
        return base + by % width
    if form == "up":
        return np.where(rank - by >= 0, LANES - by, LANES)
    if form == "down":
        return np.where(rank + by < width, LANES + by, LANES)
    # xor may look into lower segments, never into higher ones
    source = LANES ^ by
    return np.where(source < base + width, source, LANES)


_NAMES = {
    "idx": "__shfl_sync",
    "up": "__shfl_up_sync",
    "down": "__shfl_down_sync",
    "xor": "__shfl_xor_sync",
}
for _form, _name in _NAMES.items():
    for _by, _width in ((1, 32), (5, 32), (3, 16), (1, 8), (6, 8), (2, 4), (0, 2), (17, 32)):
        kernel(
            f"shfl_{_form}_{_by}_width_{_width}",
            f"{_L} p0[l] = {_name}({FULL}, p1[l], {_by}, {_width});",
            [np.zeros(32, "int32"), LANES.astype("int32") * 3 + 1],
            _shuffled(_form, _by, _width) * 3 + 1,
        )
for _t in ("int32", "uint32", "int64", "uint64", "float32", "float64"):
    _v = (LANES * 1.25 * (1 if _t[0] == "f" else 2**40 if _t.endswith("64") else 4)).astype(_t)
    kernel(
        f"shfl_xor_{_t}",
        f"{_L} p0[l] = __shfl_xor_sync({FULL}, p1[l], 16);",
        [np.zeros(32, _t), _v],
        _v[LANES ^ 16],
    )
kernel(
    "shfl_long_types",
    f"{_L} long a = p1[l]; unsigned long b = p1[l]; p0[l] = __shfl_sync({FULL}, a, 3) - "
    f"(long long)__shfl_sync({FULL}, b, 2);",
    [np.zeros(32, "int64"), LANES.astype("int64") << 33],
    np.full(32, 1 << 33),
)
kernel(
    "shfl_varying_lane",
    f"{_L} p0[l] = __shfl_sync({FULL}, p1[l], p2[l]);",
    [np.zeros(32, "int32"), (LANES * 7).astype("int32"), ((LANES * 11 + 5) % 40).astype("int32")],
    (((LANES * 11 + 5) % 40) % 32) * 7,
)
kernel(
    "shfl_lane_wraps",
    f"{_L} p0[l] = __shfl_sync({FULL}, l, 35) * 100 + __shfl_sync({FULL}, l, -1);",
    [np.zeros(32, "int32")],
    np.full(32, 331),
)
kernel(
    "shfl_half_warp_mask",
    f"{_L} if (l < 16) p0[l] = __shfl_down_sync(0xffffu, l, 4, 16); else p0[l] = "
    "__shfl_up_sync(0xffff0000u, l, 2, 16);",
    [np.zeros(32, "int32")],
    np.where(
        LANES < 16,
        np.where(LANES < 12, LANES + 4, LANES),
        np.where(LANES % 16 >= 2, LANES - 2, LANES),
    ),
)
kernel(
    "shfl_odd_lanes",
    f"{_L} p0[l] = -1; if (l & 1) p0[l] = __shfl_sync(0xaaaaaaaau, l * l, 9);",
    [np.zeros(32, "int32")],
    np.where(LANES & 1, 81, -1),
)
kernel(
    "shfl_in_loop_sum",
    f"{_L} int v = p1[l]; for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync({FULL}, v, k);\n"
    "p0[l] = l == 0 ? v : 0;",
    [np.zeros(32, "int32"), (LANES**2).astype("int32")],
    np.where(LANES == 0, (LANES**2).sum(), 0),
)
kernel(
    "shfl_scan",
    f"{_L} int v = p1[l]; for (int k = 1; k < 32; k *= 2) {{ int n = __shfl_up_sync({FULL}, v, k); "
    "if (l >= k) v += n; } p0[l] = v;",
    [np.zeros(32, "int32"), (LANES % 5).astype("int32")],
    np.cumsum(LANES % 5),
)
kernel(
    "shfl_two_warps",
    f"{_L} p0[l] = __shfl_sync({FULL}, l, 1);",
    [np.zeros(64, "int32")],
    np.repeat([1, 33], 32),
    block=(64,),
)
kernel(
    "shfl_block_of_3d",
    "int l = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
    f"p0[l] = __shfl_xor_sync({FULL}, l, 1);",
    [np.zeros(64, "int32")],
    np.arange(64) ^ 1,
    block=(4, 4, 4),
)
kernel(
    "shfl_partial_last_warp",
    f"{_L} p0[l] = __shfl_xor_sync(l < 32 ? {FULL} : 0xffu, l, 3);",
    [np.zeros(40, "int32")],
    np.arange(40) ^ 3,
    block=(40,),
)

kernel(
    "ballot",
    f"{_L} p0[l] = __ballot_sync({FULL}, p1[l] > 3);",
    [np.zeros(32, "uint32"), (LANES % 7).astype("int32")],
    np.full(32, sum(1 << i for i in range(32) if i % 7 > 3), "uint32"),
)
kernel(
    "ballot_of_part",
    f"{_L} p0[l] = 0; if (l >= 8) p0[l] = __ballot_sync(0xffffff00u, l & 1);",
    [np.zeros(32, "uint32")],
    np.where(LANES >= 8, 0xAAAAAA00, 0),
)
kernel(
    "all_any",
    f"{_L} p0[l] = __all_sync({FULL}, l >= 0) + 2 * __all_sync({FULL}, l > 0) + "
    f"4 * __any_sync({FULL}, l == 31) + 8 * __any_sync({FULL}, l > 31);",
    [np.zeros(32, "int32")],
    np.full(32, 5),
)
kernel(
    "all_any_of_nonzero",
    f"{_L} p0[l] = __all_sync({FULL}, l + 100) + 2 * __any_sync({FULL}, l * 256);",
    [np.zeros(32, "int32")],
    np.full(32, 3),
)
kernel(
    "votes_of_halves",
    f"{_L} unsigned m = l < 16 ? 0xffffu : 0xffff0000u; if (l < 16) p0[l] = __all_sync(m, l < 16); "
    "else p0[l] = 10 + __any_sync(m, l == 3);",
    [np.zeros(32, "int32")],
    np.where(LANES < 16, 1, 10),
)
kernel(
    "uni",
    f"{_L} p0[l] = __uni_sync({FULL}, 1) + 2 * __uni_sync({FULL}, 0) + 4 * __uni_sync({FULL}, l & 1);",
    [np.zeros(32, "int32")],
    np.full(32, 3),
)
for _t, _value in (
    ("int32", "v"),
    ("uint64", "((unsigned long long)v << 40)"),
    ("float32", "(v * 0.5f)"),
    ("float64", "(v * 0.1)"),
):
    kernel(
        f"match_any_{_t}",
        f"{_L} int v = l % 5; p0[l] = __match_any_sync({FULL}, {_value});",
        [np.zeros(32, "uint32")],
        np.array([sum(1 << i for i in range(32) if i % 5 == j % 5) for j in range(32)]),
    )
kernel(
    "match_any_of_part",
    f"{_L} p0[l] = 0; if (l < 10) p0[l] = __match_any_sync(0x3ffu, l & 2);",
    [np.zeros(32, "uint32")],
    np.array(
        [sum(1 << i for i in range(10) if i & 2 == j & 2) if j < 10 else 0 for j in range(32)]
    ),
)
kernel(
    "match_all",
    f"{_L} int a, b; unsigned x = __match_all_sync({FULL}, 7, &a), y = __match_all_sync({FULL}, l / 31, &b);\n"
    "p0[l] = x; p1[l] = y; p2[l] = a * 2 + b;",
    [np.zeros(32, "uint32"), np.ones(32, "uint32"), np.zeros(32, "int32")],
    {0: np.full(32, 2**32 - 1, "uint32"), 1: np.zeros(32), 2: np.full(32, 2)},
)
for _op, _f in (("add", np.sum), ("min", np.min), ("max", np.max)):
    for _t in ("int32", "uint32"):
        _v = ((LANES * 77) % 101 - (50 if _t == "int32" else 0)).astype(_t)
        kernel(
            f"reduce_{_op}_{_t}",
            f"{_L} p0[l] = __reduce_{_op}_sync({FULL}, p1[l]);",
            [np.zeros(32, _t), _v],
            np.full(32, _f(_v)),
        )
for _op, _f in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
    _v = (LANES.astype("uint64") * 0x01010101 % 2**32 | 0x100).astype("uint32")
    kernel(
        f"reduce_{_op}",
        f"{_L} p0[l] = __reduce_{_op}_sync({FULL}, p1[l]);",
        [np.zeros(32, "uint32"), _v],
        np.full(32, _f.reduce(_v)),
    )
kernel(
    "reduce_of_part",
    f"{_L} p0[l] = -1; if (l % 3 == 0) p0[l] = __reduce_add_sync(0x49249249u, l);",
    [np.zeros(32, "int32")],
    np.where(LANES % 3 == 0, sum(range(0, 32, 3)), -1),
)
kernel(
    "activemask_whole",
    f"{_L} p0[l] = __activemask();",
    [np.zeros(32, "uint32")],
    np.full(32, 2**32 - 1, "uint32"),
)
kernel(
    "activemask_in_branch",
    f"{_L} p0[l] = 0; if (l < 12) p0[l] = __activemask();",
    [np.zeros(32, "uint32")],
    np.where(LANES < 12, 0xFFF, 0),
)
kernel(
    "activemask_as_mask",
    f"{_L} p0[l] = -1; if (l & 1) {{ unsigned m = __activemask(); int v = l; "
    "for (int k = 16; k > 1; k /= 2) v += __shfl_xor_sync(m, v, k); p0[l] = v; }",
    [np.zeros(32, "int32")],
    np.where(LANES & 1, 256, -1),
)
kernel(
    "syncwarp_orders_shared",
    f"""{_L} __shared__ volatile int s[32]; s[l] = l; __syncwarp();
       for (int k = 16; k > 0; k /= 2) {{ int v = s[l] + s[l ^ k]; __syncwarp(); s[l] = v; __syncwarp(); }} p0[l] = s[l];""",
    [np.zeros(32, "int32")],
    np.full(32, 496),
)
kernel(
    "syncwarp_of_part",
    f"""{_L} __shared__ int s[32]; s[l] = 0; __syncwarp();
       if (l < 8) {{ s[l] = l; __syncwarp(0xff); p0[l] = s[7 - l]; }} else p0[l] = 100;""",
    [np.zeros(32, "int32")],
    np.where(LANES < 8, 7 - LANES, 100),
)
kernel(
    "lane_registers",
    f"""{_L} unsigned lane, lt; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
       p0[l] = lane * 100 + __popc(lt);""",
    [np.zeros(64, "int32")],
    (np.arange(64) % 32) * 101,
    block=(64,),
)
kernel(
    "warp_aggregated_atomic",
    f"""{_L} int odd = p1[l] & 1; unsigned m = __ballot_sync({FULL}, odd);
       int base = 0; int leader = __ffs(m) - 1; if (l == leader) base = atomicAdd(p0, __popc(m));
       base = __shfl_sync({FULL}, base, leader); if (odd) p2[base + __popc(m & ((1u << l) - 1))] = p1[l];""",
    [np.zeros(1, "int32"), ((LANES * 7) % 11).astype("int32"), np.zeros(32, "int32")],
    {
        0: np.array([int((((LANES * 7) % 11) & 1).sum())]),
        2: np.pad(
            [v for v in (LANES * 7) % 11 if v & 1], (0, 32 - int((((LANES * 7) % 11) & 1).sum()))
        ),
    },
)
kernel(
    "spin_within_warp",
    f"""{_L} volatile int* flag = p0; if (l == 0) {{ p1[0] = 42; __threadfence(); flag[0] = 1; }}
       else {{ while (flag[0] == 0) {{ }} __threadfence(); p1[l] = ((volatile int*)p1)[0] + l; }}""",
    [np.zeros(1, "int32"), np.zeros(32, "int32")],
    {1: 42 + LANES},
)
kernel(
    "spin_reversed_order",
    f"""{_L} volatile int* turn = p0; while (turn[0] != 31 - l) {{ }}
       p1[31 - l] = l; __threadfence(); turn[0] = 32 - l;""",
    [np.zeros(1, "int32"), np.zeros(32, "int32")],
    {1: 31 - LANES},
)
