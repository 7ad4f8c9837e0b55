"""What of NVIDIA's Python packages is used: none of them."""

from __future__ import annotations

__all__ = ["CUDA_CORE_GE_1_0"]

CUDA_CORE_GE_1_0 = True
