"""Arguments of user kernels: counting, types, broadcasting, conversion."""

from __future__ import annotations

import numpy as np

from trilane import _core
from trilane._exchange import as_array_of, core_stream, refuse_untyped
from trilane.cupy._dtypes import SURFACE, TEXTURE, HandleType
from trilane.cupy._engine import empty, ndarray, plain

__all__ = [
    "as_argument",
    "broadcast_strides",
    "convert_scalars",
    "core_stream",
    "dtype_of",
    "is_array",
    "is_c_contiguous",
    "is_linear",
    "new_output",
    "split",
    "weak_dtype_of",
]

_SCALARS = (bool, int, float, complex)
_HANDLES = (_core.Texture, _core.Surface)
_WEAK = {bool: np.dtype("?"), int: np.dtype("q"), float: np.dtype("d"), complex: np.dtype("D")}


def is_array(x) -> bool:
    """Whether the argument lives on the device."""
    return isinstance(x, ndarray)


def split(name: str, args: tuple, nin: int, nout: int, parameters) -> tuple[list, list]:
    """Check the number and kinds of the arguments; return inputs and (given) outputs.

    Memory without a type, such as an allocation of PyCUDA, counts as a one-dimensional array of
    its parameter's type.

    Raises
    ------
    TypeError
        Wrong number, or an argument that is no device array and no scalar.
    """
    if len(args) not in (nin, nin + nout):
        expected = f"either {nin} or {nin + nout} (with outputs)" if nout else f"{nin}"
        raise TypeError(
            f"Wrong number of arguments for {name!r}. It must be {expected}, but given {len(args)}."
        )
    values = [as_argument(x, parameter) for x, parameter in zip(args, parameters)]
    for x in values[nin:]:
        if not is_array(x):
            raise TypeError(f"{name}: an output must be an ndarray: got {type(x).__name__}")
    return values[:nin], values[nin:]


def as_argument(x, parameter):
    """A device array, a scalar, a texture or a surface, or TypeError."""
    if isinstance(x, _HANDLES):
        return x
    if isinstance(x, (ndarray, np.generic, *_SCALARS)):
        return plain(x)
    if parameter.dtype is not None:
        typed = as_array_of(x, parameter.dtype)
        if typed is not None:
            return typed
    refuse_untyped(
        x,
        f"parameter {parameter.name!r}",
        "declare the parameter's type, or view the memory: cupy.asarray(memory).view(dtype)",
    )
    from trilane.cupy._creation import as_device_array

    shown = as_device_array(x)
    if shown is not None:
        return shown
    raise TypeError(f"Unsupported type {type(x)}")


def dtype_of(x) -> np.dtype | HandleType | None:
    """The dtype, or None for a Python scalar."""
    if isinstance(x, _HANDLES):
        return TEXTURE if isinstance(x, _core.Texture) else SURFACE
    return None if type(x) in _WEAK else x.dtype


def weak_dtype_of(x) -> np.dtype | None:
    """What a Python scalar counts as where nothing else says the type; None for others."""
    return _WEAK.get(type(x))


def new_output(shape, dtype, parameter, name: str):
    """Make the array of an output that was not given."""
    if parameter.raw and not shape:
        raise ValueError(f"{name}: the shape of raw output {parameter.name!r} is undecided")
    return empty(shape, dtype)


def convert_scalars(values: list, dtypes: list[np.dtype]) -> list:
    """Give every scalar the dtype of its parameter; small floats pass as their bytes."""
    return [
        x.tobytes()
        if isinstance(x, np.generic) and x.dtype.itemsize == 2 and x.dtype.kind in "fV"
        else x
        for x in _converted(values, dtypes)
    ]


def _converted(values: list, dtypes: list[np.dtype]) -> list:
    return [
        x if is_array(x) or isinstance(x, _HANDLES) else dtype.type(x)
        for x, dtype in zip(values, dtypes)
    ]


def broadcast_strides(x, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of `x` seen as an array of `shape`."""
    if x.shape == shape:
        return x.strides
    missing = len(shape) - x.ndim
    own = tuple(0 if e == 1 else s for e, s in zip(x.shape, x.strides))
    return (0,) * missing + own


def is_linear(shape, strides, itemsize: int) -> bool:
    """Whether the position in C order is the position in memory."""
    expected = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def is_c_contiguous(x) -> bool:
    """Whether a device array is C-contiguous."""
    return is_linear(x.shape, x.strides, x.itemsize)
