"""The names that mean something inside kernels only: the translator knows them by
``__trilane_builtin__``. On the host they say so.
"""

from __future__ import annotations

from typing import Any


class Builtin:
    """A function or value of device code."""

    def __init__(self, name: str) -> None:
        self.__trilane_builtin__ = name
        self.__name__ = name.rpartition(".")[2]
        self.__qualname__ = name
        self.__module__ = "numba.cuda"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{self.__trilane_builtin__} can only be used in a kernel")

    def __getattr__(self, name: str) -> Any:
        if name in ("x", "y", "z"):
            raise NotImplementedError(
                f"{self.__trilane_builtin__}.{name} can only be used in a kernel"
            )
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<{self.__trilane_builtin__} of device code>"


class Namespace:
    """Names of device code below one name: ``cuda.atomic``."""

    __trilane_namespace__ = True

    def __init__(self, name: str, members: tuple[str, ...]) -> None:
        self.__name__ = name
        for member in members:
            setattr(self, member, Builtin(f"{name}.{member}"))

    def __repr__(self) -> str:
        return f"<{self.__name__} of device code>"


def _builtin(name: str) -> Builtin:
    return Builtin("cuda." + name)


threadIdx, blockIdx, blockDim, gridDim = map(
    _builtin, ("threadIdx", "blockIdx", "blockDim", "gridDim")
)
laneid, warpsize, grid, gridsize = map(_builtin, ("laneid", "warpsize", "grid", "gridsize"))
syncthreads, syncthreads_count, syncthreads_and, syncthreads_or, syncwarp = map(
    _builtin, ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp")
)
threadfence, threadfence_block, threadfence_system = map(
    _builtin, ("threadfence", "threadfence_block", "threadfence_system")
)
shfl_sync, shfl_up_sync, shfl_down_sync, shfl_xor_sync = map(
    _builtin, ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
)
all_sync, any_sync, eq_sync, ballot_sync = map(
    _builtin, ("all_sync", "any_sync", "eq_sync", "ballot_sync")
)
match_any_sync, match_all_sync, activemask, lanemask_lt = map(
    _builtin, ("match_any_sync", "match_all_sync", "activemask", "lanemask_lt")
)
popc, brev, clz, ffs, fma, cbrt, selp, nanosleep = map(
    _builtin, ("popc", "brev", "clz", "ffs", "fma", "cbrt", "selp", "nanosleep")
)
ldca, ldcg, ldcs, ldlu, ldcv = map(_builtin, ("ldca", "ldcg", "ldcs", "ldlu", "ldcv"))
stcg, stcs, stwb, stwt = map(_builtin, ("stcg", "stcs", "stwb", "stwt"))
shared = Namespace("cuda.shared", ("array",))
local = Namespace("cuda.local", ("array",))
const = Namespace("cuda.const", ("array_like",))
atomic = Namespace(
    "cuda.atomic",
    ("add", "sub", "and_", "or_", "xor", "inc", "dec", "exch", "max", "min", "nanmax", "nanmin",
     "cas", "compare_and_swap"),
)  # fmt: skip
