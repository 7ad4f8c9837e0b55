"""GPUArray: shapes over one memory, records, parts of complex arrays, allocators, `out`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import trilane.pycuda.driver as cuda
import trilane.pycuda.gpuarray as gpuarray
from trilane.pycuda.tools import DeviceMemoryPool


@pytest.fixture
def grid():
    return np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize("shape", [np.array(3), np.array([3]), np.int32(3), [3], (np.int64(3),)])
def test_shapes_of_every_form(shape):
    assert gpuarray.empty(shape, np.float32).shape == (3,)


def test_shapes_that_are_no_integers_are_refused():
    with pytest.raises(TypeError):
        gpuarray.empty(2.5, np.float32)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("made", ["C", "F"])
def test_reshape_keeps_the_memory_as_it_is(grid, made, order):
    x = gpuarray.to_gpu(np.asarray(grid, order=made))
    y = x.reshape((8, -1), order=order)
    assert y.ptr == x.ptr
    assert y.flags.f_contiguous == (order == "F")
    np.testing.assert_array_equal(y.get(), grid.ravel(made).reshape((8, 3), order=order))
    np.testing.assert_array_equal(x.ravel().get(), grid.ravel(made))
    np.testing.assert_array_equal(x.ravel().reshape(4, 6, order=made).get(), grid)


def test_reshape_of_a_slice_copies_in_c_order(grid):
    part = gpuarray.to_gpu(grid)[:, 1:3]
    np.testing.assert_array_equal(part.reshape(2, 4).get(), grid[:, 1:3].reshape(2, 4))


@pytest.mark.parametrize("shape", [(-1, -1), (5, 5), (-1, 7), (-4, -6), (0, -1)])
def test_reshape_refuses_other_sizes(grid, shape):
    with pytest.raises(ValueError, match="size|unknown"):
        gpuarray.to_gpu(grid).reshape(shape)


def test_reshape_refuses_another_order(grid):
    with pytest.raises(ValueError, match="order"):
        gpuarray.to_gpu(grid).reshape(24, order="K")


def test_empty_arrays_reshape():
    x = gpuarray.empty((0, 3), np.float32)
    assert x.reshape(3, 0).shape == (3, 0)
    assert x.ravel().shape == (0,)


def test_transpose_by_keyword(grid):
    cube = grid.reshape(2, 2, 6)
    x = gpuarray.to_gpu(cube)
    np.testing.assert_array_equal(x.transpose(axes=(1, 0, 2)).get(), cube.transpose(1, 0, 2))
    part = x[:, :, 2:4]
    np.testing.assert_array_equal(
        gpuarray.transpose(part, (2, 0, 1)).get(), cube[:, :, 2:4].transpose(2, 0, 1)
    )


def test_mul_add_writes_to_out_and_tells_its_time(grid):
    x, out, times = gpuarray.to_gpu(grid), gpuarray.empty(grid.shape, np.float32), []
    assert x.mul_add(2, x, 3, out=out) is out
    np.testing.assert_array_equal(out.get(), 5 * grid)
    np.testing.assert_array_equal(x.mul_add(1, x, 1, add_timer=times.append).get(), 2 * grid)
    assert len(times) == 1 and times[0] >= 0
    with pytest.raises(ValueError, match="shape"):
        x.mul_add(1, x, 1, out=gpuarray.empty(3, np.float32))


def test_where_asks_for_not_zero_and_if_positive_for_positive():
    criterion = gpuarray.to_gpu(np.array([1, 0, -1]))
    two, three = gpuarray.to_gpu(np.array([2, 2, 2])), gpuarray.to_gpu(np.array([3, 3, 3]))
    assert gpuarray.where(criterion, two, three).get().tolist() == [2, 3, 2]
    assert gpuarray.if_positive(criterion, two, three).get().tolist() == [2, 3, 3]
    out = gpuarray.empty_like(two)
    assert gpuarray.where(criterion, two, three, out=out) is out
    with pytest.raises(ValueError, match="shapes"):
        gpuarray.where(criterion, two[:2], three)


def test_records_fill_and_zero():
    x = gpuarray.zeros(5, gpuarray.vec.float3)
    assert (x.get() == np.zeros(5, gpuarray.vec.float3)).all()
    value = gpuarray.vec.make_float3(1, 2, 3)
    for given in (value, value[()], (1, 2, 3)):
        assert (x.fill(given).get() == value).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_complex_arrays_are_contiguous(grid, order):
    z = np.asarray(grid + 1j * grid[::-1], dtype=np.complex64, order=order)
    x = gpuarray.to_gpu(z)
    for part, expected in ((x.real, z.real), (x.imag, z.imag)):
        assert part.flags.forc and part.flags.c_contiguous == z.flags.c_contiguous
        np.testing.assert_array_equal(part.get(), expected)
    out = gpuarray.empty_like(x)
    assert x.conj(out=out) is out
    np.testing.assert_array_equal(out.get(), z.conj())
    real = gpuarray.to_gpu(grid)
    assert real.conj() is real and real.real is real
    assert not real.imag.get().any()


def test_results_lie_where_the_allocator_says(grid):
    pool, sizes = DeviceMemoryPool(), []

    def allocator(nbytes):
        sizes.append(nbytes)
        return pool.allocate(nbytes)

    x = gpuarray.to_gpu(grid.ravel())
    indices = gpuarray.to_gpu(np.array([1, 3, 5]))
    total = gpuarray.subset_sum(indices, x, allocator=allocator)
    assert (total.get(), sizes, total.allocator) == (9, [4], allocator)
    assert gpuarray.dot(x, x, allocator=allocator).get() == grid.ravel() @ grid.ravel()
    assert gpuarray.any(x, allocator=allocator).get()
    joined = gpuarray.concatenate([x, x], allocator=allocator)
    stacked = gpuarray.stack([x, x], axis=-1, allocator=allocator)
    np.testing.assert_array_equal(joined.get(), np.concatenate([grid.ravel()] * 2))
    np.testing.assert_array_equal(stacked.get(), np.stack([grid.ravel()] * 2, axis=-1))
    assert sizes == [4, 4, 1, 192, 192]
    assert gpuarray.sum(joined).allocator is allocator


def test_joining_nothing_or_unlike_shapes_is_refused(grid):
    x = gpuarray.to_gpu(grid)
    for join in (gpuarray.concatenate, gpuarray.stack):
        with pytest.raises(ValueError):
            join([])
        with pytest.raises(ValueError):
            join([x, x[:, :2].ravel()])
        with pytest.raises((ValueError, np.exceptions.AxisError)):
            join([x, x], axis=5)


def test_interface_names_the_strides(grid):
    interface = gpuarray.to_gpu(grid).__cuda_array_interface__
    assert interface["strides"] == grid.strides and interface["version"] == 3


def test_pickles_name_the_module_that_users_import(grid):
    text = pickle.dumps(gpuarray.to_gpu(grid))
    assert b"trilane.pycuda.gpuarray" in text and b"_gpuarray" not in text
    np.testing.assert_array_equal(pickle.loads(text).get(), grid)


def test_a_reversed_copy_owns_its_memory(grid):
    x = gpuarray.to_gpu(grid.ravel())
    y = x.reverse(stream=cuda.Stream())
    x.fill(0)
    np.testing.assert_array_equal(y.get(), grid.ravel()[::-1])


@pytest.mark.parametrize("left", [np.int32, np.int64])
@pytest.mark.parametrize("right", [np.int32, np.int64, np.uint8])
def test_integers_divide_as_in_numpy(left, right):
    a, b = np.arange(1, 101, dtype=left), np.arange(100, 0, -1, dtype=right)
    quotient = gpuarray.to_gpu(a) / gpuarray.to_gpu(b)
    assert quotient.dtype == (a / b).dtype
    np.testing.assert_array_equal(quotient.get(), a / b)


def test_results_keep_the_allocator_of_their_array_unless_told(grid):
    pool = DeviceMemoryPool()
    x = gpuarray.to_gpu(grid)
    assert gpuarray.sum(x).allocator == x.allocator == cuda.mem_alloc
    assert gpuarray.sum(x, allocator=pool.allocate).allocator == pool.allocate
    pooled = gpuarray.to_gpu(grid, allocator=pool.allocate)
    assert gpuarray.dot(pooled, x).allocator == pool.allocate


def test_registered_memory_is_copied_from_on_a_stream():
    host = cuda.aligned_empty((2**16,), np.float64)
    host[:] = np.arange(2**16)
    memory, stream = cuda.mem_alloc_like(host), cuda.Stream()
    cuda.memcpy_htod_async(memory, cuda.register_host_memory(host), stream)
    stream.synchronize()
    np.testing.assert_array_equal(cuda.from_device_like(memory, host), host)
    # The registration ended with the copy: pages that stay registered when the array is gone would
    # later take what is copied to new ones at their place.
    cuda.register_host_memory(host).base.unregister()
