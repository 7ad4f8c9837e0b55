"""The compilation target's description."""

from __future__ import annotations

from trilane.numba.absent import absent

__all__ = ["cuda_target"]

cuda_target = absent("numba.cuda.descriptor.cuda_target")
