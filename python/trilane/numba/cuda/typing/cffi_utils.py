"""Whether cffi is there. `ffi.from_buffer` works in kernels; functions of cffi modules do not."""

from __future__ import annotations

import importlib.util

__all__ = ["SUPPORTED"]

SUPPORTED = importlib.util.find_spec("cffi") is not None
