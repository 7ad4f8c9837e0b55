"""NumPy arrays in pinned host memory."""

from __future__ import annotations

import numpy as np

from trilane import _core


def _pinned(shape, dtype, order) -> np.ndarray:
    dtype = np.dtype(dtype)
    extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    count = int(np.prod(extents, dtype=np.int64))
    buffer = np.asarray(_core.HostBuffer.allocate(max(1, count * dtype.itemsize)))
    return buffer[: count * dtype.itemsize].view(dtype).reshape(extents, order=order)


def empty_pinned(shape, dtype=float, order="C") -> np.ndarray:
    """Return a NumPy array in pinned memory, not initialised."""
    return _pinned(shape, dtype, "F" if order in ("F", "f") else "C")


def zeros_pinned(shape, dtype=float, order="C") -> np.ndarray:
    """Return a NumPy array in pinned memory, filled with zeros."""
    result = empty_pinned(shape, dtype, order)
    result.fill(0)
    return result


def _like(a, dtype, order, shape):
    dtype = a.dtype if dtype is None else dtype
    shape = a.shape if shape is None else shape
    if order in (None, "K", "A", "k", "a"):
        flags = a.flags
        order = "F" if flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"
    return shape, dtype, order


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None) -> np.ndarray:
    """Return a NumPy array in pinned memory of the shape and type of another."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    return empty_pinned(*_like(a, dtype, order, shape))


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None) -> np.ndarray:
    """Return zeros in pinned memory of the shape and type of another array."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    return zeros_pinned(*_like(a, dtype, order, shape))
