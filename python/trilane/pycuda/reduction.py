"""ReductionKernel: a map and a reduction in two lines of C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilane import _core
from trilane._missing import missing_attributes as _missing_attributes

from ._dtypes import dtype_to_ctype
from ._gpuarray import GPUArray, _on
from ._reduction_makers import (
    get_all_kernel,
    get_any_kernel,
    get_dot_kernel,
    get_minmax_kernel,
    get_minmax_neutral,
    get_subset_dot_kernel,
    get_subset_minmax_kernel,
    get_subset_sum_kernel,
    get_sum_kernel,
)
from .compiler import SourceModule
from .elementwise import _declarations, _parsed, _vector_size
from .tools import Argument

__all__ = [
    "ReductionKernel",
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]


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
        self._texts = {
            "preamble": preamble,
            "name": name,
            "declarations": _declarations(arguments),
            "type": dtype_to_ctype(self.dtype_out),
            "neutral": neutral,
            "reduce": reduce_expr,
            "map": map_expr,
            "threads": _THREADS,
        }

    def _stages(self) -> Any:
        index = _core.current_device_index()
        if index not in self._functions:
            on_cpu = _core.current_context().properties.type == "cpu"
            source = _HEAD.format(**self._texts) + (_RUNS if on_cpu else _BLOCKS).format(
                **self._texts
            )
            module = SourceModule(source, options=self._options, keep=self._keep, no_extern_c=True)
            plan = _plan_of_runs if on_cpu else _plan_of_blocks
            stages = (module.get_function(f"{self.name}_stage{k}") for k in (1, 2))
            self._functions[index] = (plan, *stages)
        return self._functions[index]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result as a 0-d array.

        Parameters
        ----------
        stream : Stream, optional
        out : GPUArray, optional
            One element for the result.
        allocator : callable, optional
            Makes the memory of the result.
        kernel_wrapper : callable, optional
            Called with what launches a stage, ``launch(grid, block, stream, *args)``; its result
            is called in its place.
        """
        allocator, wrap = kwargs.pop("allocator", None), kwargs.pop("kernel_wrapper", None)
        stream, out = kwargs.pop("stream", None), kwargs.pop("out", None)
        if kwargs:
            raise TypeError(f"{self.name}: unexpected arguments: {', '.join(kwargs)}")
        if out is not None and (out.dtype != self.dtype_out or out.size != 1):
            raise TypeError(
                f"{self.name}: out: got {out.size} elements of {out.dtype}, expected one of "
                f"{self.dtype_out}"
            )
        size = _vector_size(self.arguments, args, self.name)
        plan, *stages = self._stages()
        parts, length, grid, block = plan(size)
        first, second = (_launcher(stage, wrap) for stage in stages)
        with _on(stream):
            result = GPUArray((), self.dtype_out, allocator) if out is None else out
            partial = result if parts == 1 else GPUArray((parts,), self.dtype_out)
        first(grid, block, stream, partial, *args, size, length)
        if parts > 1:
            second((1, 1), block if length == 0 else (1, 1, 1), stream, result, partial, parts)
        return result


def _launcher(function: Any, wrap: Any) -> Any:
    def launch(grid: Any, block: Any, stream: Any, *args: Any) -> None:
        function._loose(grid, block, stream, args)

    return launch if wrap is None else wrap(launch)


# A plan: number of partial results, elements of one (0: interleaved), grid, block. It depends on
# the size alone, so that results do too.


def _plan_of_blocks(size: int) -> tuple[int, int, tuple[int, int], tuple[int, int, int]]:
    blocks = max(1, min(_MAX_BLOCKS, -(-size // (4 * _THREADS))))
    return blocks, 0, (blocks, 1), (_THREADS, 1, 1)


def _plan_of_runs(size: int) -> tuple[int, int, tuple[int, int], tuple[int, int, int]]:
    length = max(_MIN_RUN, -(-size // _MAX_RUNS))
    runs = max(1, -(-size // length))
    return runs, length, (runs, 1), (1, 1, 1)


_THREADS = 256
_MAX_BLOCKS = 1024
_MIN_RUN, _MAX_RUNS = 4096, 1024

# `trilane_out` is first, so that users' names cannot clash with it silently.
_HEAD = """
#include <pycuda-complex.hpp>
{preamble}
typedef {type} trilane_reduced_t;
#define TRILANE_REDUCE(a, b) ({reduce})
"""

# Each thread reduces every so many elements in order, then the block halves the number of values:
# the result does not depend on timing.
_BLOCKS = """
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
                                         unsigned long n, unsigned long trilane_length)
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

# Each thread reduces neighbouring elements, sixteen partial results at a time: memory is read in
# order, and independent chains keep the arithmetic units of a CPU busy.
_RUNS = """
extern "C" __global__ void {name}_stage1(trilane_reduced_t *trilane_out, {declarations},
                                         unsigned long n, unsigned long trilane_length)
{{
  unsigned long trilane_first = blockIdx.x * trilane_length;
  unsigned long trilane_last = trilane_first + trilane_length < n
                                   ? trilane_first + trilane_length : n;
  trilane_reduced_t acc = {neutral};
  if (trilane_first + 16 <= trilane_last)
  {{
    __align__(16) char trilane_raw[16 * sizeof(trilane_reduced_t)];
    trilane_reduced_t *trilane_part = (trilane_reduced_t *) trilane_raw;
    #pragma unroll
    for (int trilane_lane = 0; trilane_lane < 16; ++trilane_lane)
      trilane_part[trilane_lane] = {neutral};
    for (; trilane_first + 16 <= trilane_last; trilane_first += 16)
    {{
      #pragma unroll
      for (int trilane_lane = 0; trilane_lane < 16; ++trilane_lane)
      {{
        unsigned long i = trilane_first + trilane_lane;
        trilane_part[trilane_lane] = TRILANE_REDUCE(trilane_part[trilane_lane], ({map}));
      }}
    }}
    #pragma unroll
    for (int trilane_half = 8; trilane_half > 0; trilane_half /= 2)
      #pragma unroll
      for (int trilane_lane = 0; trilane_lane < trilane_half; ++trilane_lane)
        trilane_part[trilane_lane] = TRILANE_REDUCE(trilane_part[trilane_lane],
                                                    trilane_part[trilane_lane + trilane_half]);
    acc = TRILANE_REDUCE(acc, trilane_part[0]);
  }}
  for (unsigned long i = trilane_first; i < trilane_last; ++i)
    acc = TRILANE_REDUCE(acc, ({map}));
  trilane_out[blockIdx.x] = acc;
}}
extern "C" __global__ void {name}_stage2(trilane_reduced_t *trilane_out,
                                         trilane_reduced_t *trilane_in, unsigned long n)
{{
  trilane_reduced_t acc = {neutral};
  for (unsigned long i = 0; i < n; ++i)
    acc = TRILANE_REDUCE(acc, trilane_in[i]);
  *trilane_out = acc;
}}
"""

__getattr__ = _missing_attributes(__name__)
