"""Memory of every face, and what every face does with memory: the two sides of the exchange tests.

A source gives a Holding: the object that a user has, and how its values are read without the face
under test. A sink adds 1 to every element, and says at which address its kernel found the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import trilane.pycuda.autoinit  # noqa: F401
from trilane import _core
from trilane import cupy as cp
from trilane.numba import cuda
from trilane.pycuda import driver, gpuarray
from trilane.pycuda.compiler import SourceModule
from trilane.pycuda.tools import DeviceMemoryPool

N = 40
VALUES = np.arange(N, dtype=np.float32)


@dataclass
class Holding:
    """`typed`: the object knows dtype and shape; `address`: of its first element."""

    held: Any
    address: int
    typed: bool = True

    def read(self) -> np.ndarray:
        """The values in device memory, by the core alone."""
        out = np.empty(N, np.float32)
        _core.current_context().synchronize()
        _core.copy_to_host(out, self.address)
        return out


def _allocation(pooled: bool) -> Holding:
    made = DeviceMemoryPool().allocate(VALUES.nbytes) if pooled else driver.mem_alloc(VALUES.nbytes)
    driver.memcpy_htod(made, VALUES)
    return Holding(made, int(made), typed=False)


def _array(made: Any) -> Holding:
    return Holding(made, made.ptr)


def _filled(made: Any) -> Holding:
    made[:] = VALUES
    return Holding(made, _core.resolve_memory(made)[0])


def _managed_allocation() -> Holding:
    made = _filled(driver.managed_empty(N, np.float32))
    return Holding(made.held.base, made.address, typed=False)


def _pointer() -> Holding:
    made = cp.asarray(VALUES)
    return Holding(made.data, made.ptr, typed=False)


_LONGER = np.arange(-3, N, dtype=np.float32)

SOURCES: dict[str, Callable[[], Holding]] = {
    "pycuda allocation": lambda: _allocation(False),
    "pycuda pooled allocation": lambda: _allocation(True),
    "pycuda GPUArray": lambda: _array(gpuarray.to_gpu(VALUES)),
    "pycuda view": lambda: _array(gpuarray.to_gpu(_LONGER)[3:]),
    "pycuda managed": lambda: _filled(driver.managed_empty(N, np.float32)),
    "pycuda managed view": lambda: _filled(driver.managed_empty(N + 3, np.float32)[3:]),
    "pycuda managed allocation": _managed_allocation,
    "numba to_device": lambda: _array(cuda.to_device(VALUES)),
    "numba view": lambda: _array(cuda.to_device(_LONGER)[3:]),
    "numba device_array": lambda: _filled(cuda.device_array(N, np.float32)),
    "numba mapped": lambda: _filled(cuda.mapped_array(N, np.float32)),
    "numba managed": lambda: _filled(cuda.managed_array(N, np.float32)),
    "cupy ndarray": lambda: _array(cp.asarray(VALUES)),
    "cupy view": lambda: _array(cp.asarray(_LONGER)[3:]),
    "cupy pointer": _pointer,
}

_TEXT = """
extern "C" __global__ void mark(float *a, unsigned long long *where, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *where = (unsigned long long)a;
    if (i < n) a[i] += 1.0f;
}
"""
_raw = cp.RawKernel(_TEXT, "mark")
_element_wise = cp.ElementwiseKernel(
    "",
    "float32 a, raw uint64 where",
    "a += 1.0f; if (i == 0) where[0] = (unsigned long long)&a",
    "mark_elements",
    no_return=True,
)


@cache
def _function(device: int) -> Any:
    return SourceModule(_TEXT, no_extern_c=True).get_function("mark")


def _numba_kernel(a: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        a[i] += 1


_lazy = cuda.jit(_numba_kernel)


@cache
def _declared(device: int) -> Any:
    return cuda.jit("void(float32[:], int64)")(_numba_kernel)


def _where() -> Any:
    return cp.zeros(1, np.uint64)


def _pycuda_call(a: Any) -> int:
    where = _where()
    function = _function(_core.current_device_index())
    function(a, where, np.int32(N), block=(64, 1, 1), grid=(1, 1))
    return int(where[0])


def _prepared_call(a: Any) -> int:
    where = _where()
    function = _function(_core.current_device_index()).prepare("PPi")
    function.prepared_call((1, 1), (64, 1, 1), a, where, N)
    return int(where[0])


def _raw_kernel(a: Any) -> int:
    where = _where()
    _raw((1,), (64,), (a, where, np.int32(N)))
    return int(where[0])


def _elementwise_kernel(a: Any) -> int:
    where = _where()
    _element_wise(a, where, size=None)
    return int(where[0])


def _numba_lazy(a: Any) -> None:
    _lazy[1, 64](a, N)


def _numba_declared(a: Any) -> None:
    _declared(_core.current_device_index())[1, 64](a, N)


def _as_gpuarray(a: Any) -> int:
    array = gpuarray.GPUArray((N,), np.float32, gpudata=a)
    array += 1
    return array.ptr


def _as_cupy(a: Any) -> int:
    array = cp.asarray(a).view(np.float32)
    array += 1
    return array.ptr


def _as_numba(a: Any) -> int:
    array = cuda.as_cuda_array(a).view(np.float32)
    _lazy[1, 64](array, N)
    return array.ptr


def _numba_to_device(a: Any) -> int:
    array = cuda.to_device(a).view(np.float32)
    _lazy[1, 64](array, N)
    return array.ptr


# Sinks that need to know the type of the elements are second.
SINKS: dict[str, Callable[[Any], int | None]] = {
    "pycuda call": _pycuda_call,
    "pycuda prepared call": _prepared_call,
    "pycuda GPUArray(gpudata=)": _as_gpuarray,
    "cupy RawKernel": _raw_kernel,
    "cupy ElementwiseKernel": _elementwise_kernel,
    "cupy asarray": _as_cupy,
    "numba kernel with a signature": _numba_declared,
    "numba as_cuda_array": _as_numba,
    "numba to_device": _numba_to_device,
}
TYPED_SINKS: dict[str, Callable[[Any], int | None]] = {"numba kernel": _numba_lazy}
