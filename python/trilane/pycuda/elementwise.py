"""ElementwiseKernel: a line of C applied to every element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trilane import _core

from .tools import Argument, ScalarArg, VectorArg, parse_c_arg

__all__ = ["ElementwiseKernel", "ScalarArg", "VectorArg", "get_elwise_kernel", "parse_c_arg"]


def _declarations(arguments: str | Sequence[Argument]) -> str:
    if isinstance(arguments, str):
        return arguments
    return ", ".join(argument.declarator() for argument in arguments)  # type: ignore[attr-defined]


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
        self.arguments = arguments
        self.name = name
        text: dict[str, str] = {
            key: kwargs.pop(key) for key in ("loop_prep", "after_loop") if kwargs.get(key)
        }
        kwargs.pop("loop_prep", None)
        kwargs.pop("after_loop", None)
        preamble = kwargs.pop("preamble", "")
        if kwargs:
            raise TypeError(f"ElementwiseKernel: unexpected arguments: {', '.join(kwargs)}")
        self._kernel = _core.array.pycuda_elementwise(
            _declarations(arguments), operation, name, preamble, list(options or ()), **text
        )

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run; keywords `range` or `slice` (both slices) choose indices, `stream` a stream."""
        self._kernel(*args, **kwargs)

    def get_texref(self, name: str) -> Any:
        """Gone: CUDA 12 dropped texture references."""
        raise NotImplementedError("ElementwiseKernel.get_texref: texture references are gone")


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
    from .compiler import SourceModule

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
    parsed = (
        [parse_c_arg(part) for part in arguments.split(",")]
        if isinstance(arguments, str)
        else list(arguments)
    )
    function = module.get_function(name)
    return function.prepare([arg.struct_char for arg in parsed] + ["L"])  # type: ignore[attr-defined]
