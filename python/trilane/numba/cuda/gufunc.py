"""`guvectorize` for the CUDA target: one thread per item of the loop dimensions calls the function."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from trilane.numba import types
from trilane.numba.cuda import stubs
from trilane.numba.cuda.deviceufunc import GUFuncEngine
from trilane.numba.cuda.dispatcher import CUDADispatcher
from trilane.numba.cuda.vectorizers import (
    deliver,
    device_function,
    generated,
    nearest,
    on_device,
    options_left,
    parsed,
    prepared,
    result_array,
    shape_of,
)

__all__ = ["CUDAGUFunc", "decorator"]


class CUDAGUFunc:
    """A generalised ufunc whose loop runs on the device.

    Attributes
    ----------
    max_blocksize : int
        Threads of a block are no more than that.
    """

    def __init__(self, function: Any, signatures: list[Any], layout: str) -> None:
        self._core = device_function(function)
        functools.update_wrapper(self, self._core.py_func)
        self.engine = GUFuncEngine.from_signature(layout)
        self.nin, self.nout = self.engine.nin, self.engine.nout
        self.max_blocksize = 1024
        self._kernels: dict[Any, CUDADispatcher] = {}
        self._formals: dict[tuple[np.dtype, ...], tuple[Any, ...]] = {}
        for signature in signatures:
            result, args = parsed(signature)
            if result is not None and result != types.none:
                raise TypeError(
                    "guvectorized functions cannot return values: signature "
                    f"{signature} specifies {result} return type"
                )
            if len(args) != self.nin + self.nout:
                raise TypeError(f"{layout!r} has {self.nin + self.nout} arguments, not {signature}")
            self._formals[tuple(arg.dtype for arg in args[: self.nin])] = args

    def _arguments(self, args: Any, kws: dict[str, Any]) -> tuple[Any, list[Any], Any]:
        """Inputs, outputs (None where they are not given) and the stream of a call."""
        stream, out = kws.pop("stream", 0), kws.pop("out", None)
        if kws:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument {[*kws][0]!r}")
        everything = self.nin + self.nout
        if len(args) > self.nin and out is not None:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if len(args) not in (self.nin, everything):
            end = "" if len(args) == 1 else "s"
            raise TypeError(
                f"gufunc accepts {self.nin} positional arguments (when providing input only) or "
                f"{everything} positional arguments (when providing input and output). "
                f"Got {len(args)} positional argument{end}."
            )
        outs = list(args[self.nin :]) or list(out if isinstance(out, tuple) else [out])
        outs += [None] * (self.nout - len(outs))
        return args[: self.nin], outs, stream

    def _typed(self, arrays: Any, places: Any) -> tuple[tuple[Any, ...], tuple[np.dtype, ...]]:
        wanted = nearest(list(self._formals), tuple(array.dtype for array in arrays))
        for array, dtype, device in zip(arrays, wanted, places, strict=True):
            if device and array.dtype != dtype:
                raise TypeError(
                    f"{self.__name__}: an argument on the device has dtype {array.dtype}, expected "
                    f"{dtype}: device arrays are not converted, Numba's does not support .astype()"
                )
        return self._formals[wanted], wanted

    def _kernel(self, formals: tuple[Any, ...], pinned: tuple[bool, ...]) -> CUDADispatcher:
        """The loop: each thread gives the function its parts of the arrays.

        A part with no dimension of its own is a scalar, or an array of one element where the
        signature says an array, as for all outputs.
        """
        key = (formals, pinned)
        if key in self._kernels:
            return self._kernels[key]
        names = [f"a{i}" for i in range(len(formals))]
        cores = [*self.engine.sin, *self.engine.sout]
        parts = []
        for name, formal, core, still in zip(
            names, formals, cores, (*pinned, *[False] * self.nout), strict=True
        ):
            at = "0" if still else "i"
            scalar = not core and isinstance(formal, types.Array)
            parts.append(f"{name}[{at}:{at} + 1]" if scalar else f"{name}[{at}]")
        text = (
            f"def gufunc_loop({', '.join(names)}):\n"
            "    i = grid(1)\n"
            f"    if i < {names[-1]}.shape[0]:\n"
            f"        function({', '.join(parts)})\n"
        )
        scope = {"grid": stubs.grid, "function": self._core}
        self._kernels[key] = generated("gufunc_loop", text, scope)
        return self._kernels[key]

    def __call__(self, *args: Any, **kws: Any) -> Any:
        args, outs, stream = self._arguments(args, kws)
        arrays, places = zip(*(prepared(arg, stream) for arg in args), strict=True)
        formals, wanted = self._typed(arrays, places)
        plan = self.engine.schedule([array.shape for array in arrays])
        loopdims, count = plan.loopdims, plan.loopn
        if count == 1 and all(
            out is not None and shape_of(out) == core
            for out, core in zip(outs, plan.oshapes, strict=True)
        ):
            loopdims = ()  # dimensions of extent 1 that the outputs do not have
        inputs = []
        for array, dtype, core, still in zip(
            arrays, wanted, plan.ishapes, plan.pinned, strict=True
        ):
            shape = tuple(core) if still else (*loopdims, *core)
            whole = on_device(array, dtype, shape, stream)
            inputs.append(whole.reshape((1 if still else count, *core)))
        results, flat = [], []
        for out, core, formal in zip(outs, plan.oshapes, formals[self.nin :], strict=True):
            dtype = formal.dtype.dtype if isinstance(formal, types.Array) else formal.dtype
            results.append(result_array(out, (*loopdims, *core), dtype, stream))
            flat.append(results[-1].reshape((count, *core)))
        if count:
            kernel = self._kernel(formals, tuple(plan.pinned))
            threads = min(self.max_blocksize, 64, max(count, 1))
            kernel[(count + threads - 1) // threads, threads, stream](*inputs, *flat)
        scalar = not loopdims and not any(plan.oshapes)
        return deliver(results, outs, any(places), stream, scalar)

    def __repr__(self) -> str:
        return f"<generalised ufunc {self.__name__} of the CUDA target>"


def decorator(ftylist: Any, signature: str, kws: dict[str, Any]) -> Any:
    """What `numba.cuda.guvectorize` returns."""
    left = options_left(dict(kws))
    if left.pop("nopython", True) is not True:
        raise TypeError("nopython flag must be True")
    left.pop("writable_args", None)
    if left:
        names = ", ".join(repr(name) for name in sorted(left))
        raise TypeError(f"The following target options are not supported: {names}")
    signatures = ftylist if isinstance(ftylist, list) else [ftylist]
    return lambda function: CUDAGUFunc(function, signatures, signature)
