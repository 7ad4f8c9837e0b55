"""What the array type has beyond the engine: CuPy's attributes, methods and protocols."""

from __future__ import annotations

import numpy as np

from trilane._exchange import core_stream
from trilane.cupy import _protocols, _sorting
from trilane.cupy._engine import (
    UFunc,
    engine,
    engine_astype,
    engine_fill,
    engine_get,
    engine_round,
    engine_set,
    ndarray,
)
from trilane.cupy._flags import Flags
from trilane.cupy._helpers import normalize_axis_index
from trilane.cupy._indexing import flatiter
from trilane.cupy._math import ptp
from trilane.cupy._scatter import at
from trilane.cupy._scatter import scatter as _scatter_into
from trilane.cupy.linalg._products import trace


def _data(self):
    """A `MemoryPointer` to the first element."""
    from trilane.cupy.cuda.memory import BaseMemory, MemoryPointer

    buffer = self.buffer
    return MemoryPointer(BaseMemory(buffer, buffer.nbytes), self.offset)


def _device(self):
    """The device that the memory is on."""
    from trilane.cupy.cuda.device import Device

    return Device(self.device_id)


def _flags(self) -> Flags:
    """Memory layout."""
    return Flags(self.c_contiguous, self.f_contiguous, self.owndata)


def _get(self, stream=None, order="C", out=None, blocking=True) -> np.ndarray:
    """Return the values as a NumPy array.

    Parameters
    ----------
    stream : Stream, optional
        Where the copy is ordered; the current stream by default.
    order : {'C', 'F', 'A'}
    out : numpy.ndarray, optional
        Where the values go, of the same shape and dtype.
    blocking : bool
        False: the copy may still be under way on return.
    """
    core = core_stream(stream)
    if out is not None and not (out.flags.c_contiguous or out.flags.f_contiguous):
        if out.shape != self.shape or out.dtype != self.dtype:
            raise ValueError(
                f"get: out is {out.dtype}{out.shape}, expected {self.dtype}{self.shape}"
            )
        out[...] = engine_get(self, core, order, None, True)
        return out
    return engine_get(self, core, order, out, blocking)


def _set(self, arr, stream=None) -> None:
    """Copy the values of a NumPy array of the same shape and dtype into this one."""
    engine_set(self, arr, core_stream(stream))


def _astype(self, dtype, order="K", casting=None, subok=None, copy=True) -> ndarray:
    """Return the values as another dtype; the array itself if nothing changes and not `copy`."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    return engine_astype(self, dtype, order or "K", casting, None, copy)


def _fill(self, value) -> None:
    """Set every element to one value."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    elif hasattr(value, "__cupy_get_ndarray__") or hasattr(value, "__cuda_array_interface__"):
        from trilane.cupy._creation import asarray

        value = asarray(value)
    engine_fill(self, value)


def _reduceat(self, a, indices, axis=0, dtype=None, out=None):
    """Not there yet."""
    raise NotImplementedError(f"ufunc.reduceat ({self.name})")


_reduceat.available = False


def _sort(self, axis=-1, kind=None) -> None:
    """Sort in place along an axis; stable."""
    _sorting._check_kind(kind)
    if self.ndim == 0:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    axis = normalize_axis_index(axis, self.ndim)
    self[...] = engine.sort(self, axis)


def _argsort(self, axis=-1, kind=None) -> ndarray:
    """Return the indices that would sort along an axis; stable."""
    return _sorting.argsort(self, axis, kind)


def _partition(self, kth, axis=-1) -> None:
    """Put the kth element in its sorted place, in place."""
    self[...] = _sorting.partition(self, kth, axis)


def _argpartition(self, kth, axis=-1) -> ndarray:
    """Return the indices of `partition`."""
    return _sorting.argpartition(self, kth, axis)


def _searchsorted(self, v, side="left", sorter=None) -> ndarray:
    """Return where values have to be inserted to keep the array sorted."""
    return _sorting.searchsorted(self, v, side, sorter)


def _take(self, indices, axis=None, out=None, mode="wrap") -> ndarray:
    """Take elements along an axis; out-of-range indices wrap by default."""
    from trilane.cupy._indexing import take

    return take(self, indices, axis, out, mode)


def _put(self, indices, values, mode="wrap") -> None:
    """Put values at positions in C order; out-of-range positions wrap by default."""
    from trilane.cupy._indexing import put

    put(self, indices, values, mode)


def _compress(self, condition, axis=None, out=None) -> ndarray:
    """Return the slices along an axis where a 1-D condition holds."""
    from trilane.cupy._indexing import compress

    return compress(condition, self, axis, out)


def _choose(self, choices, out=None, mode="raise") -> ndarray:
    """Make an array by choosing for each place the array that the index names."""
    from trilane.cupy._indexing import choose

    return choose(self, choices, out, mode)


def _ptp(self, axis=None, out=None, keepdims=False) -> ndarray:
    """Return the range of values along axes."""
    return ptp(self, axis, out, keepdims)


def _trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None) -> ndarray:
    """Return the sum along the diagonal of two axes."""
    return trace(self, offset, axis1, axis2, dtype, out)


def _tobytes(self, order="C") -> bytes:
    """Return the values' bytes."""
    return self.get().tobytes(order)


def _tofile(self, fid, sep="", format="%s") -> None:
    """Write the values to a file."""
    self.get().tofile(fid, sep, format)


def _round(self, decimals=0, out=None) -> ndarray:
    """Round to a number of decimals, halves to even; booleans become float16, as NumPy's."""
    return engine_round(self.astype(np.float16) if self.dtype.kind == "b" else self, decimals, out)


def _byteswap(self, inplace=False) -> ndarray:
    """Return the array with the bytes of every number in reverse order.

    Raises
    ------
    NotImplementedError
        The array is structured.
    """
    if self.dtype.kind == "V":
        raise NotImplementedError("ndarray.byteswap of structured dtypes")
    width = self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)
    flat = self.flatten().view(np.uint8).reshape(-1, width)[:, ::-1].copy()
    swapped = flat.reshape(-1).view(self.dtype).reshape(self.shape)
    if not inplace:
        return swapped
    self[...] = swapped
    return self


def _dump(self, file) -> None:
    """Pickle to a file."""
    self.get().dump(file)


def _dumps(self) -> bytes:
    """Return a pickle."""
    return self.get().dumps()


def _scatter(name: str, op: str):
    def scatter(self, slices, value) -> None:
        # As CuPy's: values become the array's type, whatever theirs is.
        _scatter_into(self, slices, value, op, "unsafe")

    scatter.__name__ = f"scatter_{name}"
    scatter.__doc__ = (
        f"Apply {op!r} in place at indices, each index counting as often as it occurs."
    )
    return scatter


def _reduced_view(self, dtype=None) -> ndarray:
    """Return a view with as few axes as possible."""
    if self.c_contiguous:
        return self.reshape(-1)
    return self


def _format(self, spec: str) -> str:
    """Format as NumPy does: a 0-d array as its value."""
    return format(self.get()[()] if self.ndim == 0 else self.get(), spec)


def _index_32_bits(self) -> bool:
    """Whether sizes and byte offsets fit 32 bits."""
    from trilane.cupy._misc import byte_bounds

    low, high = byte_bounds(self)
    return self.size <= 2**31 - 1 and high - low <= 2**31 - 1


def _flat(self) -> flatiter:
    """The elements in C order."""
    return flatiter(self)


def _set_flat(self, value) -> None:
    flatiter(self)[...] = value


_PROPERTIES = {
    "data": property(_data),
    "device": property(_device),
    "flags": property(_flags),
    "flat": property(_flat, _set_flat),
    "_index_32_bits": property(_index_32_bits),
    "__cuda_array_interface__": property(_protocols.cuda_array_interface),
}
_METHODS = {
    "get": _get,
    "set": _set,
    "astype": _astype,
    "fill": _fill,
    "sort": _sort,
    "argsort": _argsort,
    "partition": _partition,
    "argpartition": _argpartition,
    "searchsorted": _searchsorted,
    "take": _take,
    "put": _put,
    "compress": _compress,
    "choose": _choose,
    "ptp": _ptp,
    "trace": _trace,
    "tobytes": _tobytes,
    "tofile": _tofile,
    "byteswap": _byteswap,
    "round": _round,
    "dump": _dump,
    "dumps": _dumps,
    "scatter_add": _scatter("add", "add"),
    "scatter_max": _scatter("max", "maximum"),
    "scatter_min": _scatter("min", "minimum"),
    "reduced_view": _reduced_view,
    "toDlpack": _protocols.dlpack,
    "to_device": _protocols.to_device,
    "__format__": _format,
    "__array__": _protocols.no_implicit_array,
    "__array_ufunc__": _protocols.array_ufunc,
    "__array_function__": _protocols.array_function,
    "__array_namespace__": _protocols.array_namespace,
    "__dlpack__": _protocols.dlpack,
    "__dlpack_device__": _protocols.dlpack_device,
    "__reduce_ex__": _protocols.reduce_ex,
}


def _warn_of_peer(memory_device: int, current_device: int) -> None:
    import warnings

    from trilane.cupy._util import PerformanceWarning

    warnings.warn(
        f"The device where the array resides ({memory_device}) is different from the current "
        f"device ({current_device}). Peer access has been activated automatically.",
        PerformanceWarning,
        stacklevel=2,
    )


def attach() -> None:
    """Complete the engine's array type; runs once, when the face is imported."""
    for name, member in {**_PROPERTIES, **_METHODS}.items():
        setattr(ndarray, name, member)
    ndarray.__array_priority__ = 100
    UFunc.at = at
    UFunc.reduceat = _reduceat
    ndarray.__module__ = "trilane.cupy"
    engine.set_peer_notice(_warn_of_peer)


attach()
