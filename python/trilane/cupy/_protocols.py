"""How NumPy and other libraries reach device arrays: ufunc, function and exchange protocols."""

from __future__ import annotations

import numpy as np

from trilane._exchange import dlpack, dlpack_device, no_implicit_array
from trilane.cupy import _ufuncs
from trilane.cupy._convert import asnumpy
from trilane.cupy._creation import array
from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import SCALARS

__all__ = [
    "array_function",
    "array_namespace",
    "array_ufunc",
    "cuda_array_interface",
    "dlpack",
    "dlpack_device",
    "no_implicit_array",
    "reduce_ex",
    "restore",
    "to_device",
]


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """NumPy's ufuncs called with device arrays run on the device.

    Raises
    ------
    TypeError
        There is a NumPy array among the arguments: nothing is copied between host and device by
        itself.
    """
    import trilane.cupy as face

    outputs = kwargs.get("out", ())
    if not isinstance(outputs, tuple):
        outputs = (outputs,)
    # NumPy's numbers come as arrays without axes: `numpy.float64(2) < a`.
    inputs = tuple(x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in inputs)
    for x in (*inputs, *(o for o in outputs if o is not None)):
        if isinstance(x, (ndarray, *SCALARS)):
            continue
        if method == "at" or isinstance(x, (list, tuple, slice)) and method != "__call__":
            continue
        if isinstance(x, np.ndarray):
            raise TypeError(f"Unsupported type {type(x)}: copy it by cupy.asarray() first")
        return NotImplemented
    name = ufunc.__name__
    if ufunc.signature is not None:
        function = getattr(face, name, None)
        if function is None or method != "__call__":
            return NotImplemented
        if "out" in kwargs:
            kwargs["out"] = outputs[0]
        return function(*inputs, **kwargs)
    own = _ufuncs.table.get(name)
    if own is None:
        return NotImplemented
    if "out" in kwargs:
        kwargs["out"] = outputs[0] if len(outputs) == 1 else outputs
    if method == "__call__":
        return own(*inputs, **kwargs)
    if method in ("reduce", "accumulate", "reduceat", "outer", "at"):
        return getattr(own, method)(*inputs, **kwargs)
    return NotImplemented


def array_function(self, func, types, args, kwargs):
    """NumPy's functions called with device arrays run the function of the same name here."""
    import trilane.cupy as face

    for kind in types:
        if not issubclass(kind, (ndarray, np.ndarray)) and hasattr(kind, "__array_function__"):
            return NotImplemented
    place = face
    for part in func.__module__.split(".")[1:]:
        place = getattr(place, part, None)
        if place is None:
            return NotImplemented
    own = getattr(place, func.__name__, None)
    if own is None or own is func:
        return NotImplemented
    return own(*args, **kwargs)


def cuda_array_interface(self) -> dict:
    """The interface of CUDA arrays, version 3; only of memory on a CUDA device."""
    if self.buffer.context.properties.type != "cuda":
        raise AttributeError("__cuda_array_interface__ (the memory is not on a CUDA device)")
    from trilane.cupy.cuda.stream import get_current_stream

    stream = get_current_stream().ptr
    return {
        "shape": self.shape,
        "typestr": self.dtype.str,
        "descr": self.dtype.descr,
        "data": (self.ptr if self.size else 0, False),
        "version": 3,
        "strides": None if self.c_contiguous else self.strides,
        "stream": stream or 1,
    }


def array_namespace(self, /, *, api_version=None):
    """Return the module that follows the array API standard."""
    known = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
    if api_version is not None and api_version not in known:
        raise ValueError(f"array API version {api_version!r} is unknown: expected one of {known}")
    import trilane.cupy

    return trilane.cupy


def to_device(self, device, /, *, stream=None):
    """Return the array on a device: itself where it is there, else a copy."""
    from trilane.cupy.cuda import Device

    number = int(device)
    if number == self.device_id:
        return self
    host = asnumpy(self)
    with Device(number):
        return array(host)


def restore(host: np.ndarray):
    """What pickles call."""
    return array(host)


def reduce_ex(self, protocol=2):
    """Pickles carry the values as a NumPy array."""
    order = "F" if self.f_contiguous and not self.c_contiguous else "C"
    return restore, (self.get(order=order),)
