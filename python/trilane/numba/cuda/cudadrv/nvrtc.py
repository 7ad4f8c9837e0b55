"""The CUDA C++ compiler's own interface: `cuda.jit` and `link=` are the way to it here."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__, "NVRTC compile get_lowest_supported_cc get_supported_ccs get_arch_option"
)
