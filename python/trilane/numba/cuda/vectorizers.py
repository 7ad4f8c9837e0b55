"""`vectorize` for the CUDA target: a scalar Python function becomes a ufunc of device arrays.

The scalar function is a device function, called by a generated kernel with one thread per element.
Inputs that are not of the common shape are repeated by the array level before; scalars are read
from one place.
"""

from __future__ import annotations

import functools
import math
import warnings
from types import FunctionType
from typing import Any

import numpy as np

from trilane import _core
from trilane.numba import types
from trilane.numba.cuda import stubs
from trilane.numba.cuda.cudadrv.error import translated
from trilane.numba.cuda.devicearray import (
    _on,
    as_cuda_array,
    auto_device,
    from_core,
    is_cuda_array,
    new_array,
)
from trilane.numba.cuda.dispatcher import CUDADispatcher, jit
from trilane.numba.cuda.reduction import Reduce
from trilane.numba.genuine import own

__all__ = ["CUDAUFunc", "guvectorize", "vectorize"]

_THREADS = 128


def generated(name: str, text: str, names: dict[str, Any]) -> CUDADispatcher:
    """A kernel of a text that defines `name`."""
    scope = dict(names)
    exec(compile(text, f"<generated {name}>", "exec"), scope)  # noqa: S102  our own text
    function = scope[name]
    function.__trilane_source__ = text
    return jit(function)


def device_function(function: Any) -> CUDADispatcher:
    """`function`, a plain one or made by `cuda.jit`, as a device function."""
    if isinstance(function, CUDADispatcher):
        return function
    if not isinstance(function, FunctionType):
        raise TypeError(f"a Python function is expected, got {type(function).__name__}")
    return jit(function, device=True)


def parsed(signature: Any) -> tuple[Any, tuple[Any, ...]]:
    """Result type, None if it is not said, and argument types of a signature in any form."""
    if isinstance(signature, str):
        signature = types.parse_signature(signature)
    signature = own(signature)
    if isinstance(signature, types.Signature):
        return signature.return_type, signature.args
    if isinstance(signature, (tuple, list)):
        return None, tuple(own(arg) for arg in signature)
    raise TypeError(f"invalid signature: {signature!r} ({type(signature).__name__})")


def prepared(value: Any, stream: Any) -> tuple[Any, bool]:
    """An argument as a device array or a NumPy scalar or array, and whether it lies on the device."""
    if is_cuda_array(value):
        return as_cuda_array(value), True
    if isinstance(value, tuple) and any(is_cuda_array(item) for item in value):
        raise TypeError("a tuple of device arrays is no argument: stack them first")
    return np.asarray(value), False


def nearest(options: list[Any], given: tuple[np.dtype, ...]) -> Any:
    """The first of the argument types that `given` are, or can be cast to: safely, then in kind.

    Raises
    ------
    TypeError
        None fits.
    """
    for rule in ("no", "safe", "same_kind"):
        for option in options:
            if all(np.can_cast(a, b, rule) for a, b in zip(given, option, strict=True)):
                return option
    found = ", ".join(map(str, given))
    raise TypeError(f"No matching version for arguments of dtypes {found}; there are {options}")


def on_device(value: Any, dtype: np.dtype, shape: tuple[int, ...], stream: Any) -> Any:
    """`value` as a C-contiguous device array of a dtype and a shape that it can be repeated to."""
    with _on(stream), translated():
        if isinstance(value, np.ndarray):
            value = auto_device(np.asarray(value, dtype=dtype, order="C"), stream)[0]
        elif value.dtype != dtype:
            value = value.astype(dtype)
        if value.size != math.prod(shape):
            value = _core.array.broadcast_to(value, shape)
        if not value.c_contiguous:
            value = value.copy()
        return from_core(value.reshape(shape))


def deliver(results: list[Any], outs: list[Any], device: bool, stream: Any, scalar: bool) -> Any:
    """The results where the caller wants them: in `outs`, on the device, or as NumPy's."""
    given = []
    for result, out in zip(results, outs, strict=True):
        if out is None:
            host = result if device else result.copy_to_host(stream=stream)
            given.append(host[()] if scalar and not device else host)
        elif not is_cuda_array(out):
            out[...] = result.copy_to_host(stream=stream)
            given.append(out)
        else:
            target = as_cuda_array(out)
            if result is not target and result.ptr != target.ptr:
                with _on(stream), translated():
                    _core.array.copyto(target, result, casting="same_kind")
            given.append(out)
    return given[0] if len(given) == 1 else tuple(given)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array of any library."""
    return tuple((as_cuda_array(value) if is_cuda_array(value) else value).shape)


def result_array(out: Any, shape: tuple[int, ...], dtype: np.dtype, stream: Any) -> Any:
    """`out` if a kernel can write it as it is, else new memory."""
    if out is not None:
        device = is_cuda_array(out)
        array = as_cuda_array(out) if device else out
        if tuple(array.shape) != shape:
            raise ValueError(f"output has shape {tuple(array.shape)}, expected {shape}")
        if device and array.dtype == dtype and array.c_contiguous:
            return array
    return new_array(shape, dtype, stream=stream)


class CUDAUFunc:
    """A ufunc whose loop runs on the device.

    NumPy arrays travel there and the result back; where an argument lies on the device, so does the
    result.
    """

    def __init__(self, function: Any, signatures: list[Any]) -> None:
        self._core = device_function(function)
        functools.update_wrapper(self, self._core.py_func)
        self.nin = self._core.py_func.__code__.co_argcount
        self.nout = 1
        self.nargs = self.nin + 1
        self._results: dict[tuple[np.dtype, ...], np.dtype] = {}
        self._kernels: dict[tuple[bool, ...], CUDADispatcher] = {}
        self._declared = bool(signatures)
        for signature in signatures:
            result, args = parsed(signature)
            if len(args) != self.nin:
                raise TypeError(f"{self.__name__} has {self.nin} arguments, not {signature}")
            if any(isinstance(arg, types.Array) for arg in args):
                raise TypeError(f"vectorize takes scalar types only, got {signature}")
            self._results[tuple(arg.dtype for arg in args)] = (
                self._inferred(args) if result is None else result.dtype
            )

    def _inferred(self, args: Any) -> np.dtype:
        codes = tuple(arg.code for arg in args)
        return types.from_code(self._core.translate(codes)[0].result).dtype

    def _kernel(self, single: tuple[bool, ...]) -> CUDADispatcher:
        """The kernel for inputs of which those marked in `single` are read from one place."""
        if single not in self._kernels:
            names = [f"a{i}" for i in range(self.nin)]
            reads = ", ".join(f"{n}[{'0' if s else 'i'}]" for n, s in zip(names, single))
            text = (
                f"def ufunc_loop({', '.join([*names, 'out'])}):\n"
                "    i = grid(1)\n"
                "    if i < out.shape[0]:\n"
                f"        out[i] = function({reads})\n"
            )
            scope = {"grid": stubs.grid, "function": self._core}
            self._kernels[single] = generated("ufunc_loop", text, scope)
        return self._kernels[single]

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        if len(args) == self.nargs and out is None:
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} arguments, got {len(args)}")
        if isinstance(out, tuple):
            (out,) = out
        arrays, places = zip(*(prepared(arg, stream) for arg in args), strict=True)
        given = tuple(array.dtype for array in arrays)
        if given not in self._results and not self._declared:
            self._results[given] = self._inferred([types.from_dtype(t) for t in given])
        wanted = nearest(list(self._results), given)
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        single = tuple(array.size == 1 for array in arrays)
        inputs = [
            on_device(array, dtype, array.shape if one else shape, stream).reshape(-1)
            for array, dtype, one in zip(arrays, wanted, single, strict=True)
        ]
        result = result_array(out, shape, self._results[wanted], stream)
        if result.size:
            blocks = (result.size + _THREADS - 1) // _THREADS
            self._kernel(single)[blocks, _THREADS, stream](*inputs, result.reshape(-1))
        device = any(places)
        return deliver([result], [out], device, stream, shape == ())

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """The one-dimensional `arg` reduced by the function, which must have two arguments."""
        if self.nin != 2:
            raise TypeError("reduce needs a function of two arguments")
        if arg.ndim != 1:
            raise ValueError(f"reduce takes an array of one dimension, got {arg.ndim}")
        if not hasattr(self, "_reduce"):
            self._reduce = Reduce(self._core)
        return self._reduce(arg, stream=stream)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__} of the CUDA target>"


def options_left(kws: dict[str, Any]) -> dict[str, Any]:
    """`kws` without what either target takes."""
    target = kws.pop("target", "cuda")
    if target != "cuda":
        raise ValueError(f"numba.cuda makes ufuncs for target 'cuda', not {target!r}")
    return {name: value for name, value in kws.items() if name not in ("cache", "identity")}


def vectorize(ftylist_or_function: Any = (), **kws: Any) -> Any:
    """Make a ufunc of a function of scalars.

    Parameters
    ----------
    ftylist_or_function : list of signatures, signature or function
        ``["float32(float32, float32)"]``. Without signatures the first call with arguments of new
        types compiles for them.
    target : {"cuda"}

    Raises
    ------
    KeyError
        An option that is not known.
    """
    if isinstance(ftylist_or_function, (FunctionType, CUDADispatcher)):
        return CUDAUFunc(ftylist_or_function, [])
    left = options_left(dict(kws))
    if "nopython" in left:
        warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=2)
        left.pop("nopython")
    if left:
        names = ", ".join(sorted(left))
        raise KeyError(f"Unrecognized options. Options left over: {names}")
    given = ftylist_or_function
    signatures = list(given) if isinstance(given, (list, tuple)) else [given]
    return lambda function: CUDAUFunc(function, signatures)


def guvectorize(ftylist: Any, signature: str, **kws: Any) -> Any:
    """Make a generalised ufunc of a function of arrays; see `trilane.numba.cuda.gufunc`."""
    from trilane.numba.cuda.gufunc import decorator

    return decorator(ftylist, signature, kws)
