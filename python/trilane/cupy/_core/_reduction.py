"""`create_reduction_func` of CuPy's private `_core`: a reduction with one text for several types."""

from __future__ import annotations

import numpy as np

from trilane.cupy._creation import asarray
from trilane.cupy._engine import ndarray
from trilane.cupy._kernel import ReductionKernel

__all__ = ["create_reduction_func"]


class _Operation:
    """One loop: input and output types, and the texts of map, combination, end and `a`'s type."""

    def __init__(self, types: str, routine: tuple) -> None:
        sources, arrow, target = types.partition("->")
        if not arrow or len(sources) != 1 or len(target) != 1:
            raise NotImplementedError(
                f"create_reduction_func: types {types!r}: expected one input and one output"
            )
        self.in_dtype = np.dtype(sources)
        self.out_dtype = np.dtype(target)
        self.routine = routine


class ReductionFunction:
    """A reduction that chooses its loop by the type of its argument, made by `create_reduction_func`."""

    def __init__(self, name: str, operations: list[_Operation], identity, preamble: str) -> None:
        self.name = self.__name__ = name
        self.identity = identity
        self.preamble = preamble
        self._operations = operations
        self._kernels: dict[_Operation, ReductionKernel] = {}

    @property
    def _cached_codes(self) -> dict:
        return {k: v for kernel in self._kernels.values() for k, v in kernel.cached_codes.items()}

    def __call__(self, a, axis=None, dtype=None, out=None, keepdims: bool = False) -> ndarray:
        """Reduce along axes; all by default.

        Raises
        ------
        TypeError
            `a` is no array of the device, or no loop takes its type.
        """
        if not isinstance(a, ndarray):
            if not hasattr(a, "__cupy_get_ndarray__") and not hasattr(
                a, "__cuda_array_interface__"
            ):
                raise TypeError(
                    f"Argument 'a' has incorrect type: got {type(a).__name__}, expected ndarray"
                )
            a = asarray(a)
        operation = self._choose(a.dtype, dtype)
        kernel = self._kernels.get(operation)
        if kernel is None:
            kernel = self._kernels[operation] = self._make(operation)
        if a.dtype != operation.in_dtype:
            a = a.astype(operation.in_dtype)
        result = None
        if out is not None and out.dtype == operation.out_dtype:
            result = out
        reduced = kernel(a, axis=axis, out=result, keepdims=keepdims)
        if out is None or result is not None:
            return reduced
        if reduced.shape != out.shape:
            raise ValueError(f"{self.name}: out has shape {out.shape}, expected {reduced.shape}")
        out[...] = reduced
        return out

    def _choose(self, given: np.dtype, dtype) -> _Operation:
        for operation in self._operations:
            if dtype is not None and operation.out_dtype == np.dtype(dtype):
                return operation
            if dtype is None and np.can_cast(given, operation.in_dtype):
                return operation
        raise TypeError(f"{self.name}: no loop for {given} (dtype={dtype})")

    def _make(self, operation: _Operation) -> ReductionKernel:
        map_expr, reduce_expr, post_map_expr, reduce_type = operation.routine
        return ReductionKernel(
            f"{operation.in_dtype.name} in0",
            f"{operation.out_dtype.name} out0",
            map_expr,
            reduce_expr,
            post_map_expr,
            None if self.identity in (None, "") else str(self.identity),
            self.name,
            reduce_type,
            preamble=self.preamble,
        )


def create_reduction_func(
    name: str, ops, routine=None, identity=None, preamble: str = "", sort_reduce_axis: bool = True
) -> ReductionFunction:
    """Make a reduction with loops for several types.

    Parameters
    ----------
    name : str
        Name of the kernel function.
    ops : sequence
        Loops, tried in this order: ``'f->f'``, or ``('f->f', routine)``.
    routine : tuple of str
        Texts of map (of ``in0``), combination (of ``a`` and ``b``), end (sets ``out0``), and the C
        type of ``a``, or None for the output's.
    identity : int, str or None
        The neutral value.
    preamble : str
        Text ahead of the kernel.
    sort_reduce_axis : bool
        Kept for compatibility: reduced axes are always in order.
    """
    operations = []
    for op in ops:
        types, own = (op, routine) if isinstance(op, str) else op
        if own is not None and len(own) == 3:
            own = (*own, None)
        operations.append(_Operation(types, tuple(r or d for r, d in zip(own, _defaults(routine)))))
    return ReductionFunction(name, operations, identity, preamble)


def _defaults(routine) -> tuple:
    return (*routine, None)[:4] if routine else (None,) * 4
