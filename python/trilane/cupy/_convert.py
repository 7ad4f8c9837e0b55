"""Between host and device: asnumpy, get_array_module."""

from __future__ import annotations

import numpy as np

from trilane.cupy._engine import ndarray


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True) -> np.ndarray:
    """Return the values as a NumPy array.

    Parameters
    ----------
    a : array_like
        A device array is copied; anything else goes through `numpy.asarray`.
    stream : Stream, optional
        Where the copy is ordered.
    order : {'C', 'F', 'A'}
    out : numpy.ndarray, optional
        Where the values go.
    blocking : bool
        False: the copy may still be under way on return.
    """
    from trilane.cupy._creation import as_device_array

    device_array = a if type(a) is ndarray else as_device_array(a)
    if device_array is not None:
        return device_array.get(stream=stream, order=order, out=out, blocking=blocking)
    result = np.asarray(a, order=order if order in ("C", "F", "A", "K") else None)
    if out is not None:
        out[...] = result
        return out
    return result


def get_array_module(*args):
    """Return this module if any argument is a device array, `numpy` if none is."""
    for x in args:
        if isinstance(x, ndarray) or hasattr(x, "__cupy_get_ndarray__"):
            import trilane.cupy

            return trilane.cupy
    return np
