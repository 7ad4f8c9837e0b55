"""Threads together: shuffles, votes, matches, warp reductions, groups, atomics, block scans."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import C_TYPES, kernel
from tests.bitcompare.inputs import mixed, noise, single

WIDTHS = (32, 16, 8, 4, 2, 1)
DELTAS = (0, 1, 2, 3, 7, 8, 15, 16, 31)
MASK = "0xffffffffu"
for _kind in ("i32", "i64", "f32", "f64", "half"):
    _rows, _lines = [], ["const int t = threadIdx.x;"]
    for _name in ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"):
        for _width in WIDTHS:
            for _delta in DELTAS:
                _lines.append(
                    f"out[{32 * len(_rows)} + t] = {_name}({MASK}, p[t], {_delta}, {_width});"
                )
                _rows.append(f"{_name} by {_delta} width {_width}")
    kernel(f"shuffle_{_kind}", _kind, 32, "\n".join(_lines), {"p": (_kind, noise(_kind, 32))},
           rows=_rows, nan_bits=True)  # fmt: skip
_FAR = (32, 33, 40, 63, 64, -1, -5)
kernel("shuffle_out_of_range", "i32", 32, "const int t = threadIdx.x;\n" + "\n".join(
    f"out[{32 * i} + t] = __shfl_sync({MASK}, t * 3, {d}, {w});"
    for i, (d, w) in enumerate((d, w) for d in _FAR for w in (32, 8))),
    rows=[f"__shfl_sync {d} {w}" for d in _FAR for w in (32, 8)])  # fmt: skip
kernel("shuffle_lane_of_each", "i32", 32, """const int t = threadIdx.x;
out[t] = __shfl_sync(0xffffffffu, t * t, (t * 7 + 3) & 31);
out[32 + t] = __shfl_sync(0xffffffffu, t * t, t ^ 5, 16);
out[64 + t] = __shfl_down_sync(0xffffffffu, t * t, 4) + __shfl_up_sync(0xffffffffu, t, 4);""",
    rows=("any lane", "width 16", "sum"))  # fmt: skip
kernel("shuffle_half_of_the_warp", "i32", 32, """const int t = threadIdx.x;
if (t < 16) out[t] = __shfl_xor_sync(0x0000ffffu, t + 100, 5);
else out[t] = __shfl_sync(0xffff0000u, t + 200, 20);""")  # fmt: skip

_P = {"p": ("u32", mixed(256, 6).astype(np.uint32))}
kernel("vote", "u32", 256, """const int t = threadIdx.x; const unsigned m = 0xffffffffu;
out[t] = __ballot_sync(m, p[t] & 1); out[256 + t] = __any_sync(m, (p[t] & 31) == 0);
out[512 + t] = __all_sync(m, (p[t] & 31) != 0); out[768 + t] = __ballot_sync(m, p[t] > p[t ^ 1]);""", _P,
    rows=("ballot", "any", "all", "ballot of order"), block=(256,))  # fmt: skip
kernel("vote_in_branches", "u32", 64, """const int t = threadIdx.x;
if (t & 1) out[t] = __ballot_sync(0xaaaaaaaau, p[t] & 2);
else out[t] = __ballot_sync(0x55555555u, p[t] & 4);""", _P, block=(64,))  # fmt: skip
kernel("active_mask", "u32", 64, """const int t = threadIdx.x;
out[t] = __activemask();
out[64 + t] = 1;
if ((t & 31) < 10) out[64 + t] = __activemask();""", rows=("whole", "branch"), block=(64,))  # fmt: skip
kernel("syncthreads_votes", "i32", 96, """const int t = threadIdx.x;
out[t] = __syncthreads_count(p[t] & 1); out[96 + t] = __syncthreads_and(p[t] != 7);
out[192 + t] = __syncthreads_or((p[t] & 1023) == 5);""", _P, rows=("count", "and", "or"),
    block=(96,))  # fmt: skip
for _kind in ("i32", "u32", "i64", "u64", "f32"):
    kernel(f"match_{_kind}", "u32", 64, f"""const int t = threadIdx.x; int all;
const {C_TYPES[_kind]} v = ({C_TYPES[_kind]})(p[t] % 5);
out[t] = __match_any_sync(0xffffffffu, v);
out[64 + t] = __match_all_sync(0xffffffffu, v, &all); out[128 + t] = all;
out[192 + t] = __match_all_sync(0xffffffffu, ({C_TYPES[_kind]})3, &all) + all;""", _P,
        rows=("any", "all", "all's predicate", "all equal"), block=(64,))  # fmt: skip
for _kind in ("i32", "u32"):
    _names = ("add", "min", "max") + (("and", "or", "xor") if _kind == "u32" else ())
    kernel(f"warp_reduce_{_kind}", _kind, 64, "const int t = threadIdx.x;\n" + "\n".join(
        f"out[{64 * i} + t] = __reduce_{n}_sync(0xffffffffu, p[t]);" for i, n in enumerate(_names))
        + "\n" + "\n".join(f"out[{64 * (len(_names) + i)} + t] = 0; if ((t & 31) < 20) "
        f"out[{64 * (len(_names) + i)} + t] = __reduce_{n}_sync(0x000fffffu, p[t]);"
        for i, n in enumerate(_names)), {"p": (_kind, noise(_kind, 64))},
        rows=[*_names, *(f"{n} of 20" for n in _names)], block=(64,))  # fmt: skip
kernel("lane_numbers", "u32", 96, """unsigned a, b; const int t = threadIdx.x;
asm volatile("mov.u32 %0, %%laneid;" : "=r"(a)); asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(b));
out[t] = a; out[96 + t] = b; out[192 + t] = warpSize;""", rows=("lane", "below", "size"),
    block=(96,))  # fmt: skip

# --- groups -----------------------------------------------------------------------------------------
_CG = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"
_CGR = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;"
for _size in (2, 4, 8, 16, 32):
    kernel(f"group_tile_{_size}", "i32", 64, f"""const int t = threadIdx.x;
auto g = cg::tiled_partition<{_size}>(cg::this_thread_block());
out[t] = g.thread_rank(); out[64 + t] = g.meta_group_rank(); out[128 + t] = g.meta_group_size();
out[192 + t] = g.shfl(t * 5, {_size} - 1); out[256 + t] = g.shfl_up(t, 1);
out[320 + t] = g.shfl_down(t, 1); out[384 + t] = g.shfl_xor(t, {_size} / 2);
out[448 + t] = g.ballot(p[t] & 1); out[512 + t] = g.any((p[t] & 7) == 0);
out[576 + t] = g.all(p[t] & 3); out[640 + t] = g.match_any(p[t] & 3);""", _P, head=_CG, block=(64,),
        rows=("rank", "group", "groups", "shfl", "up", "down", "xor", "ballot", "any", "all",
              "match"))  # fmt: skip
    kernel(f"group_reduce_{_size}", "i32", 64, f"""const int t = threadIdx.x;
auto g = cg::tiled_partition<{_size}>(cg::this_thread_block()); const int v = (int)p[t] >> 8;
out[t] = cg::reduce(g, v, cg::plus<int>()); out[64 + t] = cg::reduce(g, v, cg::less<int>());
out[128 + t] = cg::reduce(g, v, cg::greater<int>()); out[192 + t] = cg::reduce(g, v, cg::bit_xor<int>());
out[256 + t] = cg::inclusive_scan(g, v); out[320 + t] = cg::exclusive_scan(g, v);""", _P, head=_CGR,
        block=(64,), rows=("plus", "less", "greater", "xor", "inclusive", "exclusive"))  # fmt: skip
kernel("group_coalesced", "i32", 64, """const int t = threadIdx.x;
out[t] = out[64 + t] = out[128 + t] = -1;
if (p[t] & 1) { auto g = cg::coalesced_threads();
    out[t] = g.thread_rank(); out[64 + t] = g.size(); out[128 + t] = g.shfl(t, 0); }""", _P, head=_CG,
    rows=("rank", "size", "first"), block=(64,))  # fmt: skip
kernel("group_block", "i32", 128, """auto g = cg::this_thread_block();
const int t = g.thread_rank() + 64 * blockIdx.x;
out[t] = g.thread_rank(); out[128 + t] = g.size(); out[256 + t] = g.group_index().x;
out[384 + t] = g.thread_index().x * 100 + g.thread_index().y; g.sync();""", head=_CG,
    rows=("rank", "size", "group", "index"), block=(16, 4), grid=(2,))  # fmt: skip

# --- atomics: results that no order changes ------------------------------------------------------------
for _kind in ("i32", "u32", "i64", "u64"):
    _t = C_TYPES[_kind]
    _names = ("Min", "Max", "And", "Or", "Xor") + (() if _kind == "i64" else ("Exch", "Add"))
    _lines = [f"if (threadIdx.x) return; for (int i = 1; i < 39; ++i) {{ {_t} cell = p[i], old;"]
    for _i, _n in enumerate(_names):
        _lines.append(f"cells[{_i}] = p[i]; old = atomic{_n}(&cells[{_i}], p[39 - i]); "
                      f"out[{80 * _i} + i] = old; out[{80 * _i} + 40 + i] = cells[{_i}];")  # fmt: skip
    kernel(f"atomic_{_kind}", _kind, 80, f"__shared__ {_t} cells[8];\n" + "\n".join(_lines).replace(
        "cell = p[i], old", "old") + "\n}", {"p": (_kind, single(_kind, 40))}, rows=_names)  # fmt: skip
    if _kind != "i64":
        kernel(f"atomic_cas_{_kind}", _kind, 40, f"""if (threadIdx.x) return; __shared__ {_t} cell;
for (int i = 1; i < 39; ++i) {{ cell = p[i]; const {_t} old = atomicCAS(&cell, i & 1 ? p[i] : p[0], p[39 - i]);
out[i] = old; out[40 + i] = cell; }}""", {"p": (_kind, single(_kind, 40))},
            rows=("old", "new"))  # fmt: skip
kernel("atomic_inc_dec", "u32", 64, """if (threadIdx.x) return; __shared__ unsigned cell;
for (int i = 0; i < 64; ++i) { const unsigned limit = p[i & 7];
cell = p[(i >> 3) + 8]; out[i] = atomicInc(&cell, limit); out[64 + i] = cell;
cell = p[(i >> 3) + 8]; out[128 + i] = atomicDec(&cell, limit); out[192 + i] = cell; }""",
    {"p": ("u32", np.array([0, 1, 5, 7, 100, 2**31, 2**32 - 1, 2**32 - 2] * 2, np.uint32))},
    rows=("inc old", "inc", "dec old", "dec"))  # fmt: skip
for _kind in ("f32", "f64"):
    kernel(f"atomic_add_{_kind}", _kind, 100, f"""if (threadIdx.x) return;
for (int i = 0; i < 100; ++i) {{ cells[0] = p[i]; const {C_TYPES[_kind]} old = atomicAdd(&cells[0], p[(i * 7) % 100]);
out[i] = old; out[100 + i] = cells[0]; }}""".replace("if (threadIdx.x) return;",
        f"__shared__ {C_TYPES[_kind]} cells[1]; if (threadIdx.x) return;"),
        {"p": (_kind, single(_kind, 100))}, rows=("old", "new"))  # fmt: skip
kernel("atomic_float_global_subnormals", "f32", 100, """if (threadIdx.x) return;
for (int i = 0; i < 100; ++i) { out[i] = p[i]; atomicAdd(out + i, p[(i * 3 + 1) % 100]); }""",
    {"p": ("f32", single("f32", 100))})  # fmt: skip
kernel("atomic_many_threads", "i32", 8, """const int v = (int)p[threadIdx.x] >> 10;
atomicAdd(out, v); atomicMax(out + 1, v); atomicMin(out + 2, v); atomicOr(out + 3, v);
atomicXor(out + 4, v); atomicSub(out + 5, v); atomicAnd(out + 6, v | 1);
atomicInc((unsigned*)out + 7, 100);""", _P, block=(256,), grid=(3,))  # fmt: skip
for _kind, _add in (("half", "__half"), ("bf16", "__nv_bfloat16")):
    kernel(f"atomic_add_{_kind}", _kind, 60, f"""__shared__ {_add} cell; if (threadIdx.x) return;
for (int i = 0; i < 60; ++i) {{ cell = p[i]; out[i] = atomicAdd(&cell, p[(i * 7) % 60]); out[60 + i] = cell; }}""",
        {"p": (_kind, single(_kind, 60))}, rows=("old", "new"))  # fmt: skip

# --- block scans ----------------------------------------------------------------------------------------
for _kind in ("i32", "u64", "f32", "f64"):
    kernel(f"block_scan_{_kind}", _kind, 512, f"""__shared__ {C_TYPES[_kind]} s[256];
const int t = threadIdx.x, at = blockIdx.x * 256 + t;
s[t] = p[at]; __syncthreads();
for (int d = 1; d < 256; d *= 2) {{ {C_TYPES[_kind]} v = t >= d ? s[t - d] : ({C_TYPES[_kind]})0;
    __syncthreads(); s[t] = s[t] + v; __syncthreads(); }}
out[at] = s[t];""", {"p": (_kind, (mixed(512, 8) >> np.uint64(44)).astype(
        {"i32": "i4", "u64": "u8", "f32": "f4", "f64": "f8"}[_kind]))}, grid=(2,), block=(256,))  # fmt: skip
