"""How NumPy and other libraries reach device arrays: ufunc, function and exchange protocols."""

from __future__ import annotations

import numpy as np

from trilane import _core
from trilane.cupy import _ufuncs
from trilane.cupy._convert import asnumpy
from trilane.cupy._creation import array
from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import SCALARS


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """NumPy's ufuncs called with device arrays run on the device.

    A NumPy array among the arguments is refused (NotImplemented, hence TypeError): nothing is
    copied between host and device by itself.
    """
    import trilane.cupy as face

    outputs = kwargs.get("out", ())
    if not isinstance(outputs, tuple):
        outputs = (outputs,)
    for x in (*inputs, *(o for o in outputs if o is not None)):
        if isinstance(x, (ndarray, *SCALARS)):
            continue
        if method == "at" or isinstance(x, (list, tuple, slice)) and method != "__call__":
            continue
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


def no_implicit_array(self, dtype=None, copy=None):
    """Always raises: nothing is copied to the host by itself."""
    raise TypeError(
        "Implicit conversion to a NumPy array is not allowed. "
        "Please use `.get()` to construct a NumPy array explicitly."
    )


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


def host_view(a) -> np.ndarray:
    """A NumPy view of an array of the cpu device, which keeps it alive."""

    class _Holder:
        __array_interface__ = {
            "shape": a.shape,
            "typestr": a.dtype.str,
            "descr": a.dtype.descr,
            "data": (a.ptr, False),
            "strides": a.strides,
            "version": 3,
        }

        def __init__(self) -> None:
            self.array = a

    return np.asarray(_Holder())


def dlpack_device(self) -> tuple[int, int]:
    """DLPack's device type and number: (1, 0) is the host, (2, n) a CUDA device."""
    kind = self.buffer.context.properties.type
    return (2, self.device_id) if kind == "cuda" else (1, 0)


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """Return a DLPack capsule of the memory, without a copy unless asked for.

    Raises
    ------
    NotImplementedError
        The memory is on a CUDA device.
    BufferError
        The dtype or the device asked for has no DLPack form.
    """
    if dlpack_device(self)[0] != 1:
        raise NotImplementedError("ndarray.__dlpack__ of CUDA memory")
    if dl_device is not None and tuple(int(x) for x in dl_device) != (1, 0):
        raise BufferError(f"cannot export to DLPack device {dl_device}")
    _core.current_stream().synchronize()
    source = self.copy() if copy else self
    if source.size == 0:
        host = np.empty(source.shape, source.dtype)
    else:
        host = host_view(source)
    kwargs = {} if max_version is None else {"max_version": max_version}
    return host.__dlpack__(**kwargs)


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
