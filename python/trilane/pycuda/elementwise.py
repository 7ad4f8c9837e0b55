"""ElementwiseKernel: a line of C applied to every element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trilane import _core

from ._gpuarray import splay
from .compiler import SourceModule
from .tools import Argument, ScalarArg, VectorArg, parse_c_arg

__all__ = ["ElementwiseKernel", "ScalarArg", "VectorArg", "get_elwise_kernel", "parse_c_arg"]


def _declarations(arguments: str | Sequence[Argument]) -> str:
    if isinstance(arguments, str):
        return arguments
    return ", ".join(argument.declarator() for argument in arguments)  # type: ignore[attr-defined]


def _parsed(arguments: str | Sequence[Argument]) -> list[Argument]:
    if isinstance(arguments, str):
        return [parse_c_arg(part) for part in arguments.split(",")]
    return list(arguments)


class ElementwiseKernel:
    """A kernel that runs `operation` for every index ``i`` below ``n``.

    Parameters
    ----------
    arguments : str or list of VectorArg and ScalarArg
        C declarations, ``"float a, float *x, float *z"``; vectors must be contiguous.
    operation : str
        C statements, ``"z[i] = a * x[i]"``.
    name : str
    options : list of str, optional
        For the compiler.
    preamble, loop_prep, after_loop : str
        C text before the kernel, before and after its loop.
    """

    def __init__(
        self,
        arguments: str | Sequence[Argument],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.arguments = _parsed(arguments)
        self.name = name
        preamble = kwargs.pop("preamble", "")
        loop_prep = kwargs.pop("loop_prep", "")
        after_loop = kwargs.pop("after_loop", "")
        if kwargs:
            raise TypeError(f"ElementwiseKernel: unexpected arguments: {', '.join(kwargs)}")
        self._source = f"""
#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({_declarations(arguments)}, long start, long stop, long step,
                                  unsigned long n)
{{
  unsigned tid = threadIdx.x;
  long total_threads = (long)gridDim.x * blockDim.x;
  long cta_start = (long)blockDim.x * blockIdx.x;
  {loop_prep};
  for (long i = start + (cta_start + tid) * step; step < 0 ? i > stop : i < stop;
       i += total_threads * step)
  {{
    {operation};
  }}
  {after_loop};
}}
"""
        self._options, self._keep = options, keep
        self._functions: dict[int, Any] = {}

    def _function(self) -> Any:
        index = _core.current_device_index()
        if index not in self._functions:
            module = SourceModule(
                self._source, options=self._options, keep=self._keep, no_extern_c=True
            )
            self._functions[index] = module.get_function(self.name)
        return self._functions[index]

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run; keywords `range` or `slice` (both slices) choose indices, `stream` a stream."""
        chosen = kwargs.pop("range", None)
        sliced = kwargs.pop("slice", None)
        stream = kwargs.pop("stream", None)
        if kwargs:
            raise TypeError(f"invalid keyword arguments specified: {', '.join(kwargs)}")
        if chosen is not None and sliced is not None:
            raise TypeError("may not specify both range and slice keyword arguments")
        size = _vector_size(self.arguments, args, self.name)
        if chosen is not None:
            if chosen.stop is None:
                raise ValueError(f"{self.name}: range: stop is missing")
            start, stop = chosen.start or 0, chosen.stop
            step = 1 if chosen.step is None else chosen.step
        else:
            start, stop, step = (sliced or slice(None)).indices(size)
        count = len(range(start, stop, step))
        if count == 0:
            return
        grid, block = splay(count)
        self._function()._loose(grid, block, stream, (*args, start, stop, step, size))

    def get_texref(self, name: str) -> Any:
        """Gone: CUDA 12 dropped texture references."""
        raise NotImplementedError("ElementwiseKernel.get_texref: texture references are gone")


def _vector_size(arguments: Sequence[Argument], args: Sequence[Any], name: str) -> int:
    """Elements of the first vector; vectors must be contiguous and of one dtype with the C text."""
    if len(args) != len(arguments):
        raise TypeError(f"{name}: got {len(args)} arguments, expected {len(arguments)}")
    size = None
    for argument, given in zip(arguments, args, strict=True):
        if not isinstance(argument, VectorArg) or not hasattr(given, "dtype"):
            continue
        if given.dtype != argument.dtype:
            raise TypeError(
                f"{name}: '{argument.name}': got an array of {given.dtype}, expected "
                f"{argument.dtype}"
            )
        if not (given.c_contiguous or given.f_contiguous):
            raise RuntimeError(
                "elementwise kernel cannot deal with non-contiguous arrays: copy them first"
            )
        size = given.size if size is None else size
    if size is None:
        raise RuntimeError(f"{name}: ElementwiseKernel needs at least one array argument")
    return size


def get_elwise_kernel(
    arguments: str | Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **kwargs: Any,
) -> Any:
    """The `pycuda.driver.Function` of an elementwise kernel; its last parameter is the count.

    The parameters are those of `arguments` and an ``unsigned long n``.
    """
    preamble = kwargs.pop("preamble", "")
    loop_prep = kwargs.pop("loop_prep", "")
    after_loop = kwargs.pop("after_loop", "")
    if kwargs:
        raise TypeError(f"get_elwise_kernel: unexpected arguments: {', '.join(kwargs)}")
    source = f"""
#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({_declarations(arguments)}, unsigned long n)
{{
  unsigned tid = threadIdx.x;
  unsigned total_threads = gridDim.x * blockDim.x;
  unsigned cta_start = blockDim.x * blockIdx.x;
  {loop_prep};
  for (unsigned long i = cta_start + tid; i < n; i += total_threads)
  {{
    {operation};
  }}
  {after_loop};
}}
"""
    module = SourceModule(source, options=options, keep=keep, no_extern_c=True)
    parsed = _parsed(arguments)
    function = module.get_function(name)
    return function.prepare([arg.struct_char for arg in parsed] + ["L"])  # type: ignore[attr-defined]
