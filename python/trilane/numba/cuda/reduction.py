"""`cuda.reduce`: a reduction by any binary Python function."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane.numba.cuda import stubs
from trilane.numba.cuda.devicearray import as_cuda_array, auto_device, new_array
from trilane.numba.cuda.dispatcher import CUDADispatcher, jit

__all__ = ["Reduce"]

_THREADS = 256
_BLOCKS = 32


def _kernel(functor: Any, dtype: np.dtype) -> CUDADispatcher:
    """One partial result per block; each thread takes every so-many-th element, in order."""
    combine = functor if isinstance(functor, CUDADispatcher) else jit(functor, device=True)
    threads, element = _THREADS, dtype
    threadIdx, blockIdx, gridDim = stubs.threadIdx, stubs.blockIdx, stubs.gridDim  # noqa: N806
    shared, syncthreads = stubs.shared, stubs.syncthreads

    def partial_results(source, size, partial):  # noqa: ANN001
        held = shared.array(threads, element)
        t = threadIdx.x
        i = blockIdx.x * threads + t
        value = source[0]
        if i < size:
            value = source[i]
            i += gridDim.x * threads
            while i < size:
                value = combine(value, source[i])
                i += gridDim.x * threads
        held[t] = value
        syncthreads()
        live = min(threads, size - blockIdx.x * threads)
        step = threads // 2
        while step > 0:
            if t < step and t + step < live:
                held[t] = combine(held[t], held[t + step])
            syncthreads()
            step //= 2
        if t == 0:
            partial[blockIdx.x] = held[0]

    return jit(partial_results)


class Reduce:
    """A reduction by `functor`, a function of two values.

    ``total = cuda.reduce(lambda a, b: a + b)(array)``
    """

    def __init__(self, functor: Any) -> None:
        self._functor = functor
        self._kernels: dict[Any, CUDADispatcher] = {}

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """Reduce a one-dimensional array.

        Parameters
        ----------
        size : int
            How many elements, from the first; default all.
        res : DeviceNDArray
            Put the result into ``res[0]``, on the stream, and return None.
        init : scalar
            First value. 0 stands for none, as in Numba, unless the array is empty.
        """
        if getattr(arr, "ndim", 1) != 1:
            raise TypeError("only support 1D array")
        size = arr.size if size is None else min(size, arr.size)
        functor = (
            self._functor.py_func if isinstance(self._functor, CUDADispatcher) else self._functor
        )
        if size == 0:
            if res is None:
                return np.dtype(arr.dtype).type(init)
            res[0] = init
            return None
        source = (
            as_cuda_array(arr)
            if hasattr(arr, "__cuda_array_interface__")
            else auto_device(arr, stream)[0]
        )
        kernel = self._kernels.setdefault(source.dtype, _kernel(self._functor, source.dtype))
        blocks = min(_BLOCKS, (size + _THREADS - 1) // _THREADS)
        partial = new_array(blocks, source.dtype, stream=stream)
        kernel[blocks, _THREADS, stream](source, size, partial)
        if blocks > 1:
            total = new_array(1, source.dtype, stream=stream)
            kernel[1, _THREADS, stream](partial, blocks, total)
        else:
            total = partial
        value = total.copy_to_host(stream=stream)[0]
        if init != 0:
            value = source.dtype.type(functor(init, value))
        if res is None:
            return value
        res[0] = value
        return None
