"""Reference-counted memory inside kernels: there is none."""

from __future__ import annotations

from trilane.numba.cuda.memory_management.nrt import rtsys

__all__ = ["rtsys"]
