"""Mathematical functions of GPUArrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trilane import _core

from ._gpuarray import GPUArray, _as_gpu, _on

_array = _core.array


def _out_and_stream(out_or_stream: Any, out: Any, stream: Any) -> tuple[Any, Any]:
    if out_or_stream is None:
        return out, stream
    if isinstance(out_or_stream, _array.ndarray):
        if out is not None:
            raise TypeError("'out' was given twice")
        return out_or_stream, stream
    if stream is not None:
        raise TypeError("'stream' was given twice")
    return out, out_or_stream


def _unary(name: str, ufunc: str) -> Callable[..., GPUArray]:
    def function(
        array: GPUArray, out_or_stream: Any = None, *, out: Any = None, stream: Any = None
    ) -> GPUArray:
        out, stream = _out_and_stream(out_or_stream, out, stream)
        chosen = "absolute" if ufunc == "fabs" and array.dtype.kind != "f" else ufunc
        with _on(stream):
            return _as_gpu(_array.ufunc(chosen, (array,), out=out))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"`{name}` of each element; the second argument may be an output array or a stream."
    )
    return function


fabs = _unary("fabs", "fabs")
ceil = _unary("ceil", "ceil")
floor = _unary("floor", "floor")
exp = _unary("exp", "exp")
log = _unary("log", "log")
log10 = _unary("log10", "log10")
sqrt = _unary("sqrt", "sqrt")
sin = _unary("sin", "sin")
cos = _unary("cos", "cos")
tan = _unary("tan", "tan")
asin = _unary("asin", "arcsin")
acos = _unary("acos", "arccos")
atan = _unary("atan", "arctan")
sinh = _unary("sinh", "sinh")
cosh = _unary("cosh", "cosh")
tanh = _unary("tanh", "tanh")


def fmod(arg: GPUArray, mod: Any, stream: Any = None) -> GPUArray:
    """The remainder of ``arg / mod`` with the sign of `arg`."""
    with _on(stream):
        return _as_gpu(_array.ufunc("fmod", (arg, mod)))


def frexp(arg: GPUArray, stream: Any = None) -> tuple[GPUArray, GPUArray]:
    """Mantissas and exponents, both in the dtype of `arg`."""
    with _on(stream):
        mantissa, exponent = _array.ufunc("frexp", (arg,))
        return _as_gpu(mantissa), _as_gpu(exponent).astype(arg.dtype)


def ldexp(significand: GPUArray, exponent: GPUArray, stream: Any = None) -> GPUArray:
    """``significand * 2**exponent``; exponents are taken as integers."""
    with _on(stream):
        whole = exponent if exponent.dtype.kind in "iu" else exponent.astype(np.int32)
        return _as_gpu(_array.ufunc("ldexp", (significand, whole)))


def modf(arg: GPUArray, stream: Any = None) -> tuple[GPUArray, GPUArray]:
    """Fractional and whole parts."""
    with _on(stream):
        fraction, whole = _array.ufunc("modf", (arg,))
        return _as_gpu(fraction), _as_gpu(whole)
