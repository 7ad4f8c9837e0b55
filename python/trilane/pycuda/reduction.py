"""ReductionKernel: a map and a reduction in two lines of C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilane import _core

from ._dtypes import dtype_to_ctype
from .elementwise import _declarations
from .gpuarray import _as_gpu
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
            map_expr = "in[i]" if map_expr is None else map_expr
        self.arguments = arguments
        self.name = name
        self._kernel = _core.array.pycuda_reduction(
            self.dtype_out,
            neutral,
            reduce_expr,
            map_expr,
            _declarations(arguments),
            name,
            preamble,
            list(options or ()),
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result as a 0-d array.

        Parameters
        ----------
        stream : Stream, optional
        out : GPUArray, optional
            A 0-d array for the result.
        range, slice : slice, optional
            Which indices.
        """
        kwargs.pop("allocator", None)
        kwargs.pop("kernel_wrapper", None)
        return _as_gpu(self._kernel(*args, **kwargs))
