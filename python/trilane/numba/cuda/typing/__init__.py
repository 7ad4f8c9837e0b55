"""Signatures and types of values."""

from __future__ import annotations

from trilane.numba.cuda.typing import cffi_utils
from trilane.numba.types import Signature, signature

__all__ = ["Signature", "cffi_utils", "signature"]
