"""What the faces share to take each other's arrays, memory and streams, and NumPy's protocols.

An array of any face is the core's array type or a subclass of it, so it needs no conversion. What
is no such array says so by one of these:

- ``__trilane_array__()``: the same memory as an array of the core; None if it is on no device.
- ``__trilane_buffer__()``: memory without a type: a core buffer and bytes from its start.
- ``__trilane_stream__``: the core's stream behind a face's stream object.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trilane import _core

__all__ = [
    "MaskedArrayError",
    "ReachableArray", "as_array_of", "as_bytes", "core_stream", "device_array_of", "dlpack",
    "dlpack_device", "from_interface", "host_array_function", "host_array_ufunc", "host_view", "no_implicit_array", "own_attributes",
    "plain_array_function", "refuse_untyped", "shared_array",
]  # fmt: skip

_array = _core.array


# --- arrays and memory
def shared_array(obj: Any) -> Any:
    """The core's array that `obj` is or shows by ``__trilane_array__``; None if it is neither."""
    if isinstance(obj, _array.ndarray):
        return obj
    show = getattr(type(obj), "__trilane_array__", None)
    return None if show is None else show(obj)


def _memory(obj: Any) -> tuple[Any, int] | None:
    if isinstance(obj, _core.Buffer):
        return obj, 0
    show = getattr(type(obj), "__trilane_buffer__", None)
    return None if show is None else show(obj)


def as_bytes(obj: Any) -> Any:
    """Memory without a type as an array of bytes (uint8, one dimension); None if it is none."""
    return as_array_of(obj, np.dtype(np.uint8))


def as_array_of(obj: Any, dtype: np.dtype) -> Any:
    """Memory without a type as a one-dimensional array of `dtype`; None if `obj` is none.

    Raises
    ------
    InvalidArgumentError
        The memory was freed.
    """
    memory = _memory(obj)
    if memory is None:
        return None
    buffer, offset = memory
    _core.resolve_memory(buffer)
    count = max(buffer.nbytes - offset, 0) // dtype.itemsize
    return _array.from_buffer(buffer, offset, (count,), dtype)


def refuse_untyped(obj: Any, who: str, remedy: str) -> None:
    """Raise TypeError if `obj` is memory without a type, where a typed array is needed."""
    if _memory(obj) is not None:
        raise TypeError(
            f"{who}: memory without a type: got {type(obj).__name__}, expected an array: {remedy}"
        )


class MaskedArrayError(NotImplementedError, ValueError):
    """A masked array was given: Numba says the first of these classes, CuPy the second."""


def from_interface(interface: dict[str, Any], owner: Any = None, sync: bool = True) -> Any:
    """The memory that a ``__cuda_array_interface__`` describes, as an array of the core.

    Parameters
    ----------
    owner : object
        Kept alive as long as the array.
    sync : bool
        Wait for the stream that the interface names, which may still write the memory.

    Raises
    ------
    MaskedArrayError
        The array is masked.
    ValueError
        The interface names stream 0, which its version 3 forbids.
    """
    if interface.get("mask") is not None:
        raise MaskedArrayError("trilane does not support masked arrays (__cuda_array_interface__)")
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    descr = interface.get("descr")
    if dtype.kind == "V" and descr and len(descr[0]) > 1 and descr[0][0]:
        dtype = np.dtype(descr)
    stream = interface.get("stream") if interface["version"] >= 3 else None
    if stream == 0:
        raise ValueError(
            "the stream of a CUDA array interface must not be 0: 1 is the default stream"
        )
    if sync and stream not in (None, 1, 2):
        _core.Stream.wrap(stream).synchronize()
    strides = interface.get("strides")
    if 0 in shape:
        return _array.empty(shape, dtype, "C")
    return _adopt(interface["data"][0] or 0, shape, dtype, strides, owner)


def _adopt(address: int, shape: tuple, dtype: np.dtype, strides: Any, owner: Any) -> Any:
    """An array over memory of others, which `owner` keeps."""
    if strides is None:
        low, nbytes = 0, math.prod(shape) * dtype.itemsize
    else:
        reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
        low = sum(r for r in reach if r < 0)
        nbytes = sum(r for r in reach if r > 0) - low + dtype.itemsize
        strides = tuple(strides)
    buffer = _core.Buffer.adopt(address + low, nbytes, owner)
    return _array.from_buffer(buffer, -low, shape, dtype, strides)


def device_array_of(obj: Any) -> Any:
    """The array of the core that `obj` is or shows by one of the protocols; None if it is none."""
    shown = shared_array(obj)
    if shown is not None:
        return shown
    convert = getattr(obj, "__cupy_get_ndarray__", None)
    if convert is not None:
        return convert()
    interface = getattr(obj, "__cuda_array_interface__", None)
    return None if interface is None else from_interface(interface, obj)


_array.set_converter(device_array_of)


class ReachableArray(np.ndarray):
    """A NumPy array over memory that the device reaches: managed, or mapped and page-locked.

    Kernels of every face take it with no copy. Views keep this; copies and results of arithmetic
    are ordinary host arrays of this class.
    """

    _reach: tuple[Any, int] | None = None  # a core buffer, and the host's address of its start

    def __array_finalize__(self, source: Any) -> None:
        reach = getattr(source, "_reach", None)
        if reach is not None:
            inside = self.__array_interface__["data"][0] - reach[1]
            if not 0 <= inside < max(reach[0].nbytes, 1):
                reach = None
        self._reach = reach

    def __trilane_array__(self) -> Any:
        if self._reach is None:
            return None
        buffer, start = self._reach
        offset = self.__array_interface__["data"][0] - start
        return _array.from_buffer(buffer, offset, self.shape, self.dtype, self.strides)

    def __reduce__(self) -> Any:
        return np.array(self, subok=False).__reduce__()


# --- streams
def core_stream(stream: Any) -> _core.Stream | None:
    """The core's stream for a stream of any face or library, or a handle; None for None and 0."""
    if stream is None or isinstance(stream, _core.Stream):
        return stream
    inner = getattr(stream, "__trilane_stream__", None)
    if inner is not None:
        return inner
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        handle = (protocol() if callable(protocol) else protocol)[1]
    else:
        handle = int(getattr(stream, "handle", stream))
    return _core.Stream.wrap(handle) if handle else None


# --- DLPack
def host_view(a: Any) -> np.ndarray:
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


def dlpack_device(self: Any) -> tuple[int, int]:
    """DLPack's device type and number: (1, 0) is the host, (2, n) a CUDA device."""
    kind = self.buffer.context.properties.type
    return (2, self.device_id) if kind == "cuda" else (1, 0)


_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_DLPACK_BFLOAT16 = 4


def _dlpack_type(dtype: np.dtype) -> tuple[int, int]:
    """DLPack's type code and bits of a dtype."""
    if dtype.name == "bfloat16":
        return _DLPACK_BFLOAT16, 16
    if dtype.kind not in _DLPACK_CODES:
        raise BufferError(f"__dlpack__: {dtype} has no DLPack type")
    return _DLPACK_CODES[dtype.kind], dtype.itemsize * 8


def _dtype_of_dlpack(code: int, bits: int) -> np.dtype:
    if (code, bits) == (_DLPACK_BFLOAT16, 16):
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    for kind, known in _DLPACK_CODES.items():
        if known == code and bits in (8, 16, 32, 64, 128):
            return np.dtype("?" if kind == "b" else f"{kind}{bits // 8}")
    raise NotImplementedError(f"from_dlpack: elements of DLPack type {code} with {bits} bits")


def _let_consumer_wait(stream: Any) -> None:
    """Work that the consumer puts on `stream` runs after what is on the current stream now."""
    if stream == -1:
        return
    if stream == 0:
        raise ValueError("__dlpack__: stream: got 0, which is ambiguous: 1 is the default stream")
    source = _core.current_stream()
    # None, 1: the legacy default stream; 2: the thread's, which is one of the blocking ones too.
    consumer = int(stream) if stream not in (None, 1, 2) else 0
    if consumer == source.handle:
        return
    if stream == 2 or not consumer:
        source.synchronize()
        return
    event = _core.Event(None, False, False)
    event.record(source)
    _core.Stream.wrap(consumer).wait_for(event)


def dlpack(
    self: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
    copy: bool | None = None,
) -> Any:  # fmt: skip
    """Return a DLPack capsule of the memory, without a copy unless asked for.

    Parameters
    ----------
    stream : int, optional
        Of a CUDA device: the consumer's stream, which waits for the current one. 1 and None are
        the default stream, 2 is the thread's default stream, -1 asks for no wait.
    max_version : tuple of int, optional
        The consumer's version of the protocol: from (1, 0) on the capsule carries one.

    Raises
    ------
    BufferError
        The dtype or the device asked for has no DLPack form.
    ValueError
        The stream is 0.
    """
    own_device = dlpack_device(self)
    if dl_device is not None and tuple(int(x) for x in dl_device) != own_device:
        raise BufferError(f"cannot export to DLPack device {dl_device}")
    if own_device[0] == 1:
        _core.current_stream().synchronize()
        source = self.copy() if copy else self
        host = host_view(source) if source.size else np.empty(source.shape, source.dtype)
        return host.__dlpack__(**({} if max_version is None else {"max_version": max_version}))
    code, bits = _dlpack_type(self.dtype)
    source = self.copy() if copy else self
    _let_consumer_wait(stream)
    return _core.dlpack_export(
        source,
        source.ptr,
        tuple(source.shape),
        tuple(s // source.dtype.itemsize for s in source.strides),
        code,
        bits,
        *own_device,
        max_version is not None and tuple(max_version) >= (1, 0),
    )


def from_cuda_dlpack(obj: Any) -> Any:
    """An array of the core over the CUDA memory that `obj` shows by DLPack, without a copy.

    The producer makes the current stream wait for what it still does there.
    """
    device = obj.__dlpack_device__()
    context = _core.current_context()
    current = (2, context.properties.ordinal) if context.properties.type == "cuda" else (1, 0)
    if (int(device[0]), int(device[1])) != current:
        raise ValueError(
            f"from_dlpack: the memory is on DLPack device {tuple(map(int, device))}, "
            f"the current device is {current}: make its device current, or copy it to the host"
        )
    stream = _core.current_stream().handle or 1
    try:
        capsule = obj.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a producer of before version 1
        capsule = obj.__dlpack__(stream=stream)
    address, shape, strides, code, bits, _type, _id, _readonly, keeper = _core.dlpack_take(capsule)
    dtype = _dtype_of_dlpack(code, bits)
    if 0 in shape:
        return _array.empty(shape, dtype, "C")
    if strides is not None:
        strides = tuple(s * dtype.itemsize for s in strides)
    return _adopt(address, shape, dtype, strides, keeper)


# --- NumPy's protocols, for faces whose originals do not answer NumPy's functions on the device
def no_implicit_array(self: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
    """Always raises: nothing is copied to the host by itself."""
    raise TypeError(
        "Implicit conversion to a NumPy array is not allowed. "
        "Please use `.get()` to construct a NumPy array explicitly."
    )


def plain_array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's function as it is, on arrays that it does not know."""
    return func._implementation(*args, **kwargs)


# NumPy's functions that do no more than ask their argument.
_ASKING = frozenset("transpose reshape ravel shape ndim size".split())
# NumPy's functions that write into their first argument: a host copy of it would be lost.
_WRITERS = frozenset("copyto place put putmask put_along_axis fill_diagonal".split())


def _on_host(value: Any) -> Any:
    if isinstance(value, _array.ndarray):
        return np.asarray(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_on_host(x) for x in value)
    return value


def _is_other(kind: type, hook: str, own: Any) -> bool:
    """Whether `kind` is another face's array type, which answers NumPy itself."""
    return issubclass(kind, _array.ndarray) and getattr(kind, hook, None) is not own


def host_array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's function on host copies; the result is NumPy's, but for views by the own methods."""
    if func.__name__ in _ASKING:
        return func._implementation(*args, **kwargs)
    if any(_is_other(kind, "__array_function__", host_array_function) for kind in types):
        return NotImplemented
    writes = kwargs.get("out") is not None or func.__name__ in _WRITERS
    target = kwargs.get("out", args[0] if args else None)
    if writes and isinstance(target, _array.ndarray):
        raise TypeError(f"numpy.{func.__name__} cannot write into device memory")
    kwargs = {name: _on_host(value) for name, value in kwargs.items()}
    return func(*_on_host(args), **kwargs)


def host_array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy's ufunc on host copies; the result is NumPy's."""
    outputs = kwargs.get("out", ())
    if method == "at" or any(isinstance(x, _array.ndarray) for x in outputs):
        return NotImplemented
    if any(_is_other(type(x), "__array_ufunc__", host_array_ufunc) for x in inputs):
        return NotImplemented
    return getattr(ufunc, method)(*_on_host(inputs), **kwargs)


def own_attributes(cls: type) -> type:
    """Make `cls` a face's own array type: see ``register_face``, and leave it no name of another.

    Attributes that one face puts on the bound type (there, the bound type is its array) must not
    show through here, or a program would change by importing that face.
    """
    _array.register_face(cls)
    for name, value in (("__dlpack__", dlpack), ("__dlpack_device__", dlpack_device)):
        setattr(cls, name, value)
    cls.__array_namespace__ = _NotHere("__array_namespace__")
    return cls


class _NotHere:
    """An attribute of the base class that this class has not."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'")
