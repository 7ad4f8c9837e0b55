"""ReductionKernel: a map and a reduction in two lines of C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilane import _core

from ._dtypes import dtype_to_ctype
from ._gpuarray import GPUArray, _on
from .compiler import SourceModule
from .elementwise import _declarations, _parsed, _vector_size
from .tools import Argument

__all__ = ["ReductionKernel"]


class ReductionKernel:
    """Maps elements and reduces the results to one.

    Parameters
    ----------
    dtype_out : dtype
        Of the result and of all values that are reduced.
    neutral : str
        C expression of the value that changes nothing.
    reduce_expr : str
        Of ``a`` and ``b``, associative: ``"a+b"``.
    map_expr : str, optional
        Of the arguments and ``i``: ``"x[i]*y[i]"``; default: the first argument's element.
    arguments : str or list of VectorArg and ScalarArg
    name : str
    options : list of str, optional
    preamble : str
    """

    def __init__(
        self,
        dtype_out: Any,
        neutral: str,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Argument] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        allocator: Any = None,
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        if arguments is None:
            arguments = f"{dtype_to_ctype(self.dtype_out)} *in"
        self.arguments = _parsed(arguments)
        if map_expr is None:
            map_expr = f"{self.arguments[0].name}[i]"
        self.name = name
        self._options, self._keep = options, keep
        self._functions: dict[int, Any] = {}
        self._source = _SOURCE.format(
            preamble=preamble,
            name=name,
            declarations=_declarations(arguments),
            type=dtype_to_ctype(self.dtype_out),
            neutral=neutral,
            reduce=reduce_expr,
            map=map_expr,
            threads=_THREADS,
        )

    def _stages(self) -> Any:
        index = _core.current_device_index()
        if index not in self._functions:
            module = SourceModule(
                self._source, options=self._options, keep=self._keep, no_extern_c=True
            )
            self._functions[index] = (
                module.get_function(f"{self.name}_stage1"),
                module.get_function(f"{self.name}_stage2"),
            )
        return self._functions[index]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result as a 0-d array.

        Parameters
        ----------
        stream : Stream, optional
        out : GPUArray, optional
            A 0-d array for the result.
        """
        kwargs.pop("allocator", None)
        kwargs.pop("kernel_wrapper", None)
        stream, out = kwargs.pop("stream", None), kwargs.pop("out", None)
        if kwargs:
            raise TypeError(f"{self.name}: unexpected arguments: {', '.join(kwargs)}")
        size = _vector_size(self.arguments, args, self.name)
        blocks = max(1, min(64, -(-size // (4 * _THREADS))))
        first, second = self._stages()
        with _on(stream):
            partial = GPUArray((blocks,), self.dtype_out)
            result = GPUArray((), self.dtype_out) if out is None else out
        first._loose((blocks, 1), (_THREADS, 1, 1), stream, (partial, *args, size))
        second._loose((1, 1), (_THREADS, 1, 1), stream, (result, partial, blocks))
        return result


_THREADS = 256

# Each thread reduces its elements in order, then the block halves the number of values: the result
# does not depend on timing. `out` is first, so that users' names cannot clash with it silently.
_SOURCE = """
#include <pycuda-complex.hpp>
{preamble}
typedef {type} trilane_reduced_t;
#define TRILANE_REDUCE(a, b) ({reduce})
__device__ static void trilane_block_reduce(trilane_reduced_t *trilane_out,
                                            trilane_reduced_t acc)
{{
  __shared__ __align__(16) char trilane_raw[{threads} * sizeof(trilane_reduced_t)];
  trilane_reduced_t *trilane_values = (trilane_reduced_t *) trilane_raw;
  unsigned tid = threadIdx.x;
  trilane_values[tid] = acc;
  for (unsigned half_count = {threads} / 2; half_count > 0; half_count /= 2)
  {{
    __syncthreads();
    if (tid < half_count)
      trilane_values[tid] = TRILANE_REDUCE(trilane_values[tid], trilane_values[tid + half_count]);
  }}
  if (tid == 0) *trilane_out = trilane_values[0];
}}
extern "C" __global__ void {name}_stage1(trilane_reduced_t *trilane_out, {declarations},
                                         unsigned long n)
{{
  trilane_reduced_t acc = {neutral};
  for (unsigned long i = blockIdx.x * (unsigned long) blockDim.x + threadIdx.x; i < n;
       i += (unsigned long) gridDim.x * blockDim.x)
    acc = TRILANE_REDUCE(acc, ({map}));
  trilane_block_reduce(trilane_out + blockIdx.x, acc);
}}
extern "C" __global__ void {name}_stage2(trilane_reduced_t *trilane_out,
                                         trilane_reduced_t *trilane_in, unsigned long n)
{{
  trilane_reduced_t acc = {neutral};
  for (unsigned long i = threadIdx.x; i < n; i += blockDim.x)
    acc = TRILANE_REDUCE(acc, trilane_in[i]);
  trilane_block_reduce(trilane_out, acc);
}}
"""
