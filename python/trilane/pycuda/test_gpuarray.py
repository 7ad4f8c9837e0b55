"""GPUArray, cumath, elementwise and reduction kernels against NumPy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import trilane.pycuda.cumath as cumath
import trilane.pycuda.driver as cuda
import trilane.pycuda.gpuarray as gpuarray
from trilane.pycuda.compiler import SourceModule
from trilane.pycuda.elementwise import ElementwiseKernel
from trilane.pycuda.reduction import ReductionKernel
from trilane.pycuda.tools import DeviceMemoryPool


@pytest.fixture
def host():
    rng = np.random.default_rng(1)
    return rng.random(400, dtype=np.float32), rng.random(400, dtype=np.float32)


def test_arithmetic_keeps_class_and_dtype(host):
    a, b = host
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    total = x + 2 * y
    assert type(total) is gpuarray.GPUArray
    assert total.dtype == np.float32
    np.testing.assert_array_equal(total.get(), a + 2 * b)


def test_reductions_are_0d_arrays(host):
    a, b = host
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert gpuarray.sum(x).shape == ()
    np.testing.assert_allclose(gpuarray.sum(x).get(), a.sum(), rtol=1e-5)
    np.testing.assert_allclose(gpuarray.dot(x, y).get(), a @ b, rtol=1e-5)
    assert gpuarray.max(x).get() == a.max()
    assert gpuarray.min(x).get() == a.min()


def test_sum_keeps_the_dtype_of_integers():
    assert gpuarray.sum(gpuarray.to_gpu(np.arange(5, dtype=np.int32))).dtype == np.int32


def test_slices_reverse_and_take(host):
    x = gpuarray.to_gpu(host[0])
    np.testing.assert_array_equal(x[3:20:2].get(), host[0][3:20:2])
    np.testing.assert_array_equal(x.reverse().get(), host[0][::-1])
    indices = gpuarray.to_gpu(np.array([1, 3]))
    np.testing.assert_array_equal(gpuarray.take(x, indices).get(), host[0][[1, 3]])


def test_set_refuses_another_dtype_and_size(host):
    x = gpuarray.to_gpu(host[0])
    with pytest.raises(ValueError, match="dtype"):
        x.set(host[0].astype(np.float64))
    with pytest.raises(ValueError, match="size"):
        x.set(host[0][:10])


def test_pickle_and_hash(host):
    x = gpuarray.to_gpu(host[0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).get(), host[0])
    with pytest.raises(TypeError):
        hash(x)


def test_cumath(host):
    a = host[0]
    x = gpuarray.to_gpu(a)
    np.testing.assert_allclose(cumath.sin(x).get(), np.sin(a), atol=1e-7)
    mantissa, exponent = cumath.frexp(x)
    np.testing.assert_array_equal(np.ldexp(mantissa.get(), exponent.get().astype(int)), a)
    out = gpuarray.empty_like(x)
    assert cumath.exp(x, out) is out or np.array_equal(cumath.exp(x).get(), out.get())


def test_elementwise_kernel_ranges_and_errors(host):
    x = gpuarray.to_gpu(host[0])
    out = gpuarray.zeros_like(x)
    scale = ElementwiseKernel("float a, float *x, float *z", "z[i] = a * x[i]", "scale")
    scale(3, x, out)
    np.testing.assert_array_equal(out.get(), 3 * host[0])
    out.fill(0)
    scale(2.0, x, out, slice=slice(0, None, 2))
    expected = np.zeros_like(host[0])
    expected[::2] = 2 * host[0][::2]
    np.testing.assert_array_equal(out.get(), expected)
    with pytest.raises(TypeError, match="float64"):
        scale(3, x.astype(np.float64), out)
    with pytest.raises(RuntimeError, match="non-contiguous"):
        scale(3, x[::2], out)


def test_reduction_kernel(host):
    x, y = (gpuarray.to_gpu(a) for a in host)
    dot = ReductionKernel(
        np.float32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="x[i]*y[i]",
        arguments="float *x, float *y",
    )
    np.testing.assert_allclose(dot(x, y).get(), host[0] @ host[1], rtol=1e-5)
    largest = ReductionKernel(np.float32, neutral="-1.0f", reduce_expr="a > b ? a : b")
    assert largest(x).get() == host[0].max()


def test_arrays_and_their_memory_reach_kernels(host):
    double = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }").get_function(
        "twice"
    )
    x = gpuarray.to_gpu(host[0])
    for argument in (x, x.gpudata, x.ptr):
        double(argument, block=(400, 1, 1))
    np.testing.assert_array_equal(x.get(), 8 * host[0])


def test_pool_counts_its_allocations():
    pool = DeviceMemoryPool()
    x = gpuarray.GPUArray((10,), np.float32, pool.allocate).fill(3)
    assert (x.get() == 3).all()
    assert (pool.active_blocks, pool.active_bytes) == (1, 40)
    del x
    assert pool.active_blocks == 0


def test_bins_hold_what_they_count():
    for size in [1, 2, 17, 1000, 4097, 123456789]:
        number = DeviceMemoryPool.bin_number(size)
        assert DeviceMemoryPool.alloc_size(number) >= size
        assert DeviceMemoryPool.bin_number(DeviceMemoryPool.alloc_size(number)) == number


def test_vector_type_by_value():
    out = np.zeros(3, np.float32)
    kernel = SourceModule(
        "__global__ void v(float *a, char c, float3 x) { a[0] = x.x; a[1] = x.y; a[2] = x.z; }"
    ).get_function("v")
    kernel(cuda.Out(out), np.int8(1), gpuarray.vec.make_float3(1, 2, 3), block=(1, 1, 1))
    np.testing.assert_array_equal(out, [1, 2, 3])


def test_strided_array_over_existing_memory(host):
    memory = cuda.to_device(host[0])
    every_other = gpuarray.GPUArray((200,), np.float32, gpudata=memory, strides=(8,))
    np.testing.assert_array_equal(every_other.get(), host[0][::2])
