"""The class GPUArray: PyCUDA's array over the array type that all faces share."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from contextlib import contextmanager
from math import prod
from operator import index
from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import (
    core_stream,
    no_implicit_array,
    own_attributes,
    plain_array_function,
    shared_array,
)

from ._errors import TrilaneError, translate
from ._host import pagelocked_empty
from ._memory import DeviceAllocation, mem_alloc
from ._stream import Event

_array = _core.array


@contextmanager
def _on(stream: Any) -> Any:
    """Work of the body goes to `stream`, if there is one."""
    stream = core_stream(stream)
    if stream is None:
        yield
        return
    before = _core.current_stream(stream.context)
    _core.set_current_stream(stream)
    try:
        yield
    finally:
        _core.set_current_stream(before)


class _Flags:
    def __init__(self, ary: Any) -> None:
        self.c_contiguous = ary.c_contiguous
        self.f_contiguous = ary.f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}\n"
            f"  FORC : {self.forc}"
        )


class _MemoryPointer:
    """What the array type takes for existing memory: a buffer, and bytes from its start."""

    def __init__(self, buffer: Any, offset: int) -> None:
        self.buffer, self.offset = buffer, offset


def _memory_pointer(gpudata: Any, nbytes: int, base: Any) -> _MemoryPointer:
    try:
        address, buffer = _core.resolve_memory(gpudata)
    except TrilaneError as error:
        raise translate("GPUArray", error) from None
    if buffer is None:
        return _MemoryPointer(_core.Buffer.adopt(address, nbytes, owner=(base, gpudata)), 0)
    return _MemoryPointer(buffer, address - buffer.address)


@own_attributes
class GPUArray(_array.ndarray):
    """An n-dimensional array in device memory.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    allocator : callable, optional
        Called with a number of bytes; `pycuda.tools.DeviceMemoryPool.allocate` for instance.
    base : object, optional
        Kept alive as long as the array.
    gpudata : DeviceAllocation, int or device array, optional
        Existing memory to use.
    strides : tuple of int, optional
        In bytes.
    order : {'C', 'F'}

    Notes
    -----
    Differences from PyCUDA: operands broadcast and need not be contiguous, reductions know `axis`,
    ``/`` of integers gives float64 as in NumPy.
    """

    __array_priority__ = 100
    __array_ufunc__ = None
    __array_function__ = plain_array_function
    __array__ = no_implicit_array

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        allocator: Callable[[int], Any] | None = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> None:
        dtype = np.dtype(dtype)
        shape = _dims(shape)
        pointer = None
        if gpudata is None and allocator is not None and allocator is not mem_alloc:
            gpudata = allocator(builtins.max(prod(shape) * dtype.itemsize, 1))
        if gpudata is not None:
            pointer = _memory_pointer(gpudata, _extent(shape, strides, dtype.itemsize), base)
        super().__init__(shape, dtype, pointer, strides, order)
        self._allocator = allocator
        self._keep = (base, gpudata)

    # --- attributes

    @property
    def allocator(self) -> Callable[[int], Any]:
        """What makes memory for results: `mem_alloc` unless given."""
        return self.__dict__.get("_allocator") or mem_alloc

    @property
    def mem_size(self) -> int:
        """Elements that the memory holds."""
        return self.size

    @property
    def flags(self) -> _Flags:
        """`c_contiguous`, `f_contiguous`, `forc`."""
        return _Flags(self)

    @property
    def gpudata(self) -> Any:
        """The memory: an allocation, or an address for a view that starts inside one."""
        if self.offset:
            return self.ptr
        result = DeviceAllocation(self.buffer)
        return result

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def _grid_and_block(self) -> tuple[tuple[int, int], tuple[int, int, int]]:
        return splay(self.size)

    @property
    def _grid(self) -> tuple[int, int]:
        return splay(self.size)[0]

    @property
    def _block(self) -> tuple[int, int, int]:
        return splay(self.size)[1]

    # --- copies between host and device

    def set(self, ary: np.ndarray, async_: bool = False, stream: Any = None, **kwargs: Any) -> None:
        """Copy a host or device array of the same shape and dtype into this one.

        Raises
        ------
        ValueError
            If shape or dtype differ.
        """
        async_ = bool(kwargs.pop("async", async_))
        _no_more(kwargs)
        shown = shared_array(ary)
        ary = np.asarray(ary) if shown is None else shown
        if ary.shape != self.shape:
            if ary.size != self.size:
                raise ValueError("ary and self must be the same size")
            ary = ary.reshape(self.shape)
        if ary.dtype != self.dtype:
            raise ValueError("ary and self must have the same dtype")
        if shown is None:
            super().set(ary, stream)
            return
        with _on(stream):
            _array.copyto(self, ary)

    def set_async(self, ary: np.ndarray, stream: Any = None) -> None:
        """As `set`, ordered on `stream`."""
        self.set(ary, async_=True, stream=stream)

    def get(
        self,
        ary: np.ndarray | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: Any = None,
        **kwargs: Any,
    ) -> np.ndarray:
        """Copy to the host.

        Parameters
        ----------
        ary : numpy.ndarray, optional
            Where to; default: a new array, page-locked if `pagelocked`.
        async_ : bool
            Do not wait: synchronise `stream` before the result is read.
        """
        async_ = bool(kwargs.pop("async", async_))
        _no_more(kwargs)
        if ary is None and pagelocked:
            ary = pagelocked_empty(self.shape, self.dtype, _order_of(self))
        elif ary is not None:
            if ary.size != self.size:
                raise TypeError("'ary' has non-matching size")
            if ary.dtype != self.dtype:
                raise TypeError("'ary' has non-matching type")
            if ary.shape != self.shape:
                raise ValueError("'ary' has non-matching shape")
        return super().get(stream=stream, order="A", out=ary, blocking=not async_)

    def get_async(self, stream: Any = None, ary: np.ndarray | None = None) -> np.ndarray:
        """As `get`, without waiting."""
        return self.get(ary, async_=True, stream=stream)

    # --- arithmetic that is not an operator

    def copy(self, stream: Any = None) -> GPUArray:
        """A copy with its own memory."""
        with _on(stream):
            return super().copy("K")

    def mul_add(
        self,
        selffac: Any,
        other: GPUArray,
        otherfac: Any,
        add_timer: Any = None,
        stream: Any = None,
        out: GPUArray | None = None,
    ) -> GPUArray:
        """``selffac * self + otherfac * other``, in `out` if that is given.

        Parameters
        ----------
        add_timer : callable, optional
            Called with the seconds that the work took; the call then waits for it.
        """
        if add_timer is not None:
            return self._timed_mul_add(selffac, other, otherfac, add_timer, stream, out)
        with _on(stream):
            result = self * selffac + other * otherfac
            return result if out is None else _into(out, result)

    def _timed_mul_add(
        self, selffac: Any, other: Any, otherfac: Any, add_timer: Any, stream: Any, out: Any
    ) -> GPUArray:
        start, end = Event(), Event()
        start.record(stream)
        result = self.mul_add(selffac, other, otherfac, None, stream, out)
        end.record(stream)
        add_timer(end.synchronize().time_since(start) * 1e-3)
        return result

    def fill(self, value: Any, stream: Any = None) -> GPUArray:
        """Set every element to `value`, a number or a record; returns the array."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        with _on(stream):
            if self.dtype.kind == "V":
                self[...] = np.asarray(value, self.dtype)
            else:
                super().fill(value)
        return self

    def reverse(self, stream: Any = None) -> GPUArray:
        """A one-dimensional copy in the opposite order."""
        with _on(stream):
            return self.ravel()[::-1].copy_in_order("C")

    def astype(self, dtype: Any, stream: Any = None) -> GPUArray:
        """A copy with elements converted to `dtype`."""
        with _on(stream):
            return super().astype(dtype)

    def any(self, stream: Any = None, allocator: Any = None) -> GPUArray:  # type: ignore[override]
        """Whether any element is not zero, as a 0-d array."""
        return self._reduced("any", np.bool_, stream, allocator)

    def all(self, stream: Any = None, allocator: Any = None) -> GPUArray:  # type: ignore[override]
        """Whether all elements are not zero, as a 0-d array."""
        return self._reduced("all", np.bool_, stream, allocator)

    def _reduced(self, name: str, dtype: Any, stream: Any, allocator: Any) -> GPUArray:
        """All elements reduced to a 0-d array from `allocator`, default: this array's own."""
        allocator = self.allocator if allocator is None else allocator
        out = None if allocator is mem_alloc else GPUArray((), dtype, allocator)
        told = None if name in ("any", "all", "min", "max") else np.dtype(dtype)
        with _on(stream):
            return _as_gpu(_array.reduce(name, self, dtype=told, out=out))

    # --- shape

    def reshape(self, *shape: Any, **kwargs: Any) -> GPUArray:
        """The array's memory under another shape.

        Parameters
        ----------
        *shape : int or tuple of int
            One may be -1: as many as are left.
        order : {'C', 'F'}
            How the result runs through the memory.

        Returns
        -------
        GPUArray
            A view; only an array that is not contiguous is copied, in C order.

        Notes
        -----
        Where the order of the array and `order` differ, elements come in another sequence than
        NumPy's: the memory stays as it is, as in PyCUDA.
        """
        order = kwargs.pop("order", "C")
        _no_more(kwargs)
        if order not in ("C", "F"):
            raise ValueError(f"reshape: order: got {order!r}, expected 'C' or 'F'")
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        if not (self.c_contiguous or self.f_contiguous):
            return self.copy_in_order("C").reshape(shape, order=order)
        dims = _known_shape(shape, self.size)
        return _array.as_strided(self, dims, _packed_strides(dims, self.dtype.itemsize, order))

    def copy_in_order(self, order: str) -> GPUArray:
        """A contiguous copy in C or Fortran order."""
        return super().copy(order)

    def ravel(self) -> GPUArray:
        """The array's memory as one dimension; only an array that is not contiguous is copied."""
        return self.reshape(self.size)

    def transpose(self, axes: Any = None) -> GPUArray:
        """A view with the axes in another order; default: reversed."""
        return super().transpose() if axes is None else super().transpose(*axes)

    def squeeze(self) -> GPUArray:
        """A view without the axes of length 1."""
        return super().squeeze()

    def conj(self, out: GPUArray | None = None) -> GPUArray:
        """Complex conjugates, in `out` if that is given; a real array is its own conjugate."""
        if out is not None:
            return _array.ufunc("conjugate", (self,), out=out, casting="unsafe")
        return super().conj() if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def real(self) -> GPUArray:
        """Real parts, contiguous: a copy of those of a complex array, else the array itself."""
        return super().real.copy_in_order(_order_of(self)) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> GPUArray:
        """Imaginary parts, a contiguous copy; zeros for a real array."""
        if self.dtype.kind == "c":
            return super().imag.copy_in_order(_order_of(self))
        return GPUArray(self.shape, self.dtype, self.allocator, order=_order_of(self)).fill(0)

    def view(self, dtype: Any = None) -> GPUArray:
        """The same memory as elements of `dtype`."""
        return super().view(dtype)

    def bind_to_texref(self, *args: Any, **kwargs: Any) -> None:
        """Gone: CUDA 12 dropped texture references."""
        raise NotImplementedError(
            "GPUArray.bind_to_texref: CUDA 12 dropped texture references: use TextureObject"
        )

    bind_to_texref_ext = bind_to_texref

    # --- Python protocol

    def __hash__(self) -> int:
        raise TypeError("GPUArrays are not hashable.")

    def __reduce__(self) -> tuple[Any, ...]:
        from .gpuarray import to_gpu

        return to_gpu, (self.get(),)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # The array type's own, where the CuPy face is loaded, would give an array of that face.
        return self.__reduce__()

    def __copy__(self) -> GPUArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> GPUArray:
        return self.copy()


def _no_more(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise TypeError(f"extra keyword arguments specified: {', '.join(kwargs)}")


def _dims(shape: Any) -> tuple[int, ...]:
    """A shape given as a number, as a tuple or list, or as a host array of either form."""
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    return tuple(index(n) for n in shape) if hasattr(shape, "__iter__") else (index(shape),)


def _extent(shape: tuple[int, ...], strides: Any, itemsize: int) -> int:
    """Bytes from the start that an array of this layout touches."""
    if strides is None or not prod(shape):
        return prod(shape) * itemsize
    steps = zip(shape, strides, strict=True)
    return builtins.sum((n - 1) * abs(int(s)) for n, s in steps) + itemsize


def _known_shape(shape: tuple[Any, ...], size: int) -> tuple[int, ...]:
    """The shape with its -1, if there is one, worked out."""
    dims = tuple(index(n) for n in shape)
    if dims.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in dims:
        rest = -prod(dims)
        if rest <= 0 or size % rest:
            raise ValueError(f"total size of new array must be unchanged: {size} into {dims}")
        dims = tuple(size // rest if n == -1 else n for n in dims)
    if prod(dims) != size or builtins.min(dims, default=0) < 0:
        raise ValueError(f"total size of new array must be unchanged: got {dims} for {size}")
    return dims


def _packed_strides(shape: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    """Bytes between neighbours of a contiguous array."""
    steps = []
    for n in shape if order == "F" else reversed(shape):
        steps.append(itemsize)
        itemsize *= builtins.max(n, 1)
    return tuple(steps if order == "F" else reversed(steps))


def _into(out: GPUArray, result: Any) -> GPUArray:
    """`result` written to `out`, which must have its shape."""
    if out.shape != result.shape:
        raise ValueError(f"out: got shape {out.shape}, expected {result.shape}")
    out[...] = result
    return out


def _order_of(ary: Any) -> str:
    return "F" if ary.f_contiguous and not ary.c_contiguous else "C"


def _as_gpu(result: Any) -> GPUArray:
    return result if isinstance(result, GPUArray) else result.as_type(GPUArray)


def splay(n: int, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """A grid and a block for `n` elements of a grid-stride loop."""
    threads = builtins.min(256, builtins.max(32, -(-int(n) // 32) * 32))
    blocks = builtins.max(1, builtins.min(4096, -(-int(n) // threads)))
    return (blocks, 1), (threads, 1, 1)
