"""Scan kernels: running results of an associative expression over a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilane import _core
from trilane._missing import missing_attributes as _missing_attributes

from ._dtypes import dtype_to_ctype
from ._gpuarray import GPUArray, _on
from .compiler import SourceModule

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]

_THREADS = 256
_MAX_RUNS = 64 * _THREADS
_MIN_RUN = 64

# Every thread owns a run of neighbouring elements: reduce the runs, scan their results, and walk
# the runs again from there. Nobody reads what another thread writes, so output may be input.
_SOURCE = """
#include <pycuda-complex.hpp>
{preamble}
typedef {type} trilane_scan_t;
#define TRILANE_SCAN(a, b) ({scan})
extern "C" __global__ void {name}_reduce(const trilane_scan_t *in, trilane_scan_t *runs,
                                         unsigned long n, unsigned long length)
{{
  unsigned long first = (blockIdx.x * (unsigned long) blockDim.x + threadIdx.x) * length;
  if (first >= n) return;
  unsigned long last = first + length < n ? first + length : n;
  trilane_scan_t acc = in[first];
  for (unsigned long i = first + 1; i < last; ++i) acc = TRILANE_SCAN(acc, in[i]);
  runs[first / length] = acc;
}}
extern "C" __global__ void {name}_runs(trilane_scan_t *runs, unsigned long count)
{{
  for (unsigned long i = 1; i < count; ++i) runs[i] = TRILANE_SCAN(runs[i - 1], runs[i]);
}}
extern "C" __global__ void {name}_walk(const trilane_scan_t *in, trilane_scan_t *out,
                                       const trilane_scan_t *runs, unsigned long n,
                                       unsigned long length)
{{
  unsigned long run = blockIdx.x * (unsigned long) blockDim.x + threadIdx.x;
  unsigned long first = run * length;
  if (first >= n) return;
  unsigned long last = first + length < n ? first + length : n;
{walk}
}}
"""

_INCLUSIVE = """
  trilane_scan_t acc = in[first];
  if (run) acc = TRILANE_SCAN(runs[run - 1], acc);
  out[first] = acc;
  for (unsigned long i = first + 1; i < last; ++i) out[i] = acc = TRILANE_SCAN(acc, in[i]);
"""

_EXCLUSIVE = """
  trilane_scan_t acc = {neutral};
  if (run) acc = TRILANE_SCAN(acc, runs[run - 1]);
  for (unsigned long i = first; i < last; ++i)
  {{
    trilane_scan_t next = TRILANE_SCAN(acc, in[i]);
    out[i] = acc;
    acc = next;
  }}
"""


class _ScanKernel:
    """A scan of one-dimensional arrays.

    Parameters
    ----------
    dtype : dtype
        Of input and output.
    scan_expr : str
        Of ``a`` and ``b``, associative: ``"a+b"``.
    neutral : str, optional
        C expression of the value that changes nothing; an exclusive scan starts with it.
    name_prefix : str
    options : list of str, optional
    preamble : str
    """

    _exclusive = False

    def __init__(
        self,
        dtype: Any,
        scan_expr: str,
        neutral: str | None = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        if self._exclusive and neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        self.dtype = np.dtype(dtype)
        self.neutral = neutral
        self.name_prefix = name_prefix
        self._options = options
        self._functions: dict[int, Any] = {}
        walk = _EXCLUSIVE.format(neutral=neutral) if self._exclusive else _INCLUSIVE
        self._source = _SOURCE.format(
            preamble=preamble,
            type=dtype_to_ctype(self.dtype),
            scan=scan_expr,
            name=name_prefix,
            walk=walk,
        )

    def _stages(self) -> Any:
        index = _core.current_device_index()
        if index not in self._functions:
            module = SourceModule(self._source, options=self._options, no_extern_c=True)
            self._functions[index] = tuple(
                module.get_function(f"{self.name_prefix}_{stage}")
                for stage in ("reduce", "runs", "walk")
            )
        return self._functions[index]

    def __call__(
        self, input_ary: GPUArray, output_ary: Any = None, allocator: Any = None, stream: Any = None
    ) -> GPUArray:
        """Scan `input_ary`; returns the output.

        Parameters
        ----------
        output_ary : GPUArray or "new", optional
            Where to; default: in place.

        Raises
        ------
        ValueError
            If the arrays are not one-dimensional, contiguous, of one size.
        TypeError
            If a dtype is not the kernel's.
        """
        with _on(stream):
            if isinstance(output_ary, str):
                if output_ary != "new":
                    raise ValueError(f"output_ary: got '{output_ary}', expected an array or 'new'")
                output_ary = GPUArray(input_ary.shape, input_ary.dtype, allocator)
            output = input_ary if output_ary is None else output_ary
            self._check(input_ary, output)
            count = input_ary.size
            if count:
                self._run(input_ary, output, count, stream)
        return output

    def _check(self, input_ary: GPUArray, output: GPUArray) -> None:
        for ary in (input_ary, output):
            if ary.ndim != 1 or not ary.c_contiguous:
                raise ValueError(f"{self.name_prefix}: expected contiguous arrays of one dimension")
            if ary.dtype != self.dtype:
                raise TypeError(
                    f"{self.name_prefix}: got an array of {ary.dtype}, expected {self.dtype}"
                )
        if input_ary.shape != output.shape:
            raise ValueError("input and output must have the same length")

    def _run(self, source: GPUArray, output: GPUArray, count: int, stream: Any) -> None:
        length = max(_MIN_RUN, -(-count // _MAX_RUNS))
        runs = -(-count // length)
        totals = GPUArray((runs,), self.dtype)
        grid, block = (-(-runs // _THREADS), 1), (_THREADS, 1, 1)
        reduce, scan_runs, walk = self._stages()
        if runs > 1:
            reduce._loose(grid, block, stream, (source, totals, count, length))
            scan_runs._loose((1, 1), (1, 1, 1), stream, (totals, runs))
        walk._loose(grid, block, stream, (source, output, totals, count, length))


class InclusiveScanKernel(_ScanKernel):
    __doc__ = (_ScanKernel.__doc__ or "") + "\n    Element i is the result over elements 0 to i.\n"


class ExclusiveScanKernel(_ScanKernel):
    __doc__ = (
        _ScanKernel.__doc__ or ""
    ) + "\n    Element i is the result over elements before i.\n"

    _exclusive = True


__getattr__ = _missing_attributes(__name__)
