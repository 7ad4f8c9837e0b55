"""Python kernels by CuPy's names: not here; `trilane.numba.cuda` compiles Python kernels."""

from __future__ import annotations

from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute

_NAMES = frozenset(
    """rawkernel threadIdx blockDim blockIdx gridDim grid gridsize laneid warpsize range syncthreads
    syncwarp shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync shared_memory atomic_add atomic_sub
    atomic_exch atomic_min atomic_max atomic_inc atomic_dec atomic_cas atomic_and atomic_or
    atomic_xor cg cub thrust""".split()
)


def __getattr__(name: str):
    if name in _NAMES:
        raise missing(f"cupyx.jit.{name} (use @cuda.jit of trilane.numba)")
    raise _no_attribute(__name__, name)
