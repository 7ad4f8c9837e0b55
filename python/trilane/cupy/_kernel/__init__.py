"""Kernels that users write: the parameter language, element-wise, reduction and raw kernels."""

from __future__ import annotations

from trilane.cupy._kernel.elementwise import ElementwiseKernel
from trilane.cupy._kernel.raw import RawKernel, RawModule
from trilane.cupy._kernel.reduction import ReductionKernel

__all__ = ["ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel"]
