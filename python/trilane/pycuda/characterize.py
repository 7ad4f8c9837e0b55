"""Questions about the platform and the compiler."""

from __future__ import annotations

import sys

import numpy as np

from .compiler import SourceModule
from .driver import Context, Out
from .tools import context_dependent_memoize


def platform_bits() -> int:
    """The width of a pointer in bits."""
    return 64 if sys.maxsize > 2**32 else 32


def has_stack() -> bool:
    """Whether kernels may recurse."""
    return Context.get_device().compute_capability() >= (2, 0)


def has_double_support() -> bool:
    """Whether kernels may use double."""
    return Context.get_device().compute_capability() >= (1, 3)


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Bytes of a C++ type on the current device.

    Parameters
    ----------
    type_name : str
    preamble : str
        Text that declares it.
    """
    module = SourceModule(
        f"""
        {preamble}
        extern "C" __global__ void trilane_sizeof(unsigned long long *out)
        {{ *out = sizeof({type_name}); }}
        """,
        no_extern_c=True,
    )
    result = np.zeros(1, np.uint64)
    module.get_function("trilane_sizeof")(Out(result), block=(1, 1, 1))
    return int(result[0])
