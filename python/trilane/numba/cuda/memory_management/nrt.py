"""Numba's run-time memory system inside kernels, which kernels here never need."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__all__ = ["rtsys"]


class _Runtime:
    """Refuses every request: kernels allocate nothing."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(
            f"numba.cuda.memory_management.rtsys.{name}: kernels allocate no memory here, so "
            "there is nothing to count"
        )


rtsys = _Runtime()

__getattr__ = absent_attributes(__name__, "get_include")
