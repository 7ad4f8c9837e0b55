"""Lifetime, freeing, the one pool and stream order of memory that several faces use."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from tests.cross.faces import SINKS, TYPED_SINKS, VALUES, N
from trilane import _core
from trilane import cupy as cp
from trilane.numba import cuda
from trilane.pycuda import driver, gpuarray

MAKERS = {"pycuda": gpuarray.to_gpu, "numba": cuda.to_device, "cupy": cp.asarray}
BORROWERS = {
    "cupy.asarray": cp.asarray,
    "as_cuda_array": cuda.as_cuda_array,
    "GPUArray(gpudata=)": lambda a: gpuarray.GPUArray(a.shape, a.dtype, gpudata=a),
    "GPUArray(gpudata=pointer)": lambda a: gpuarray.GPUArray(
        a.shape, a.dtype, gpudata=cp.asarray(a).data
    ),
    "cupy.ndarray(memptr=)": lambda a: cp.ndarray(a.shape, a.dtype, cp.asarray(a).data),
    "UnownedMemory": lambda a: cp.ndarray(
        a.shape,
        a.dtype,
        cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(a.ptr, a.nbytes, a), 0),
    ),
    "a view of a loan": lambda a: cp.asarray(cuda.as_cuda_array(a)[0:])[::1],
}


@pytest.mark.parametrize("borrower", BORROWERS)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_loan_keeps_the_memory(maker, borrower):
    lent = MAKERS[maker](VALUES)
    taken = BORROWERS[borrower](lent)
    address = lent.ptr
    del lent
    gc.collect()
    # As many allocations of the same size as would surely get the memory if it were free.
    others = [MAKERS[maker](np.full(N, -1, np.float32)) for _ in range(8)]
    assert taken.ptr == address
    np.testing.assert_array_equal(cp.asnumpy(taken), VALUES)
    assert address not in [other.ptr for other in others]


def test_memory_goes_back_when_the_last_face_drops_it():
    pool = cp.get_default_memory_pool()
    gc.collect()
    before = pool.used_bytes()
    lent = cuda.to_device(np.zeros(1 << 16, np.uint8))
    taken = gpuarray.GPUArray(lent.shape, lent.dtype, gpudata=cp.asarray(lent).data)
    assert pool.used_bytes() >= before + (1 << 16)
    del lent
    gc.collect()
    assert pool.used_bytes() >= before + (1 << 16)
    del taken
    gc.collect()
    assert pool.used_bytes() == before


def test_the_owner_of_foreign_memory_lives_as_long_as_the_array():
    class Owner:
        pass

    holder = cp.asarray(VALUES)
    for borrow in (
        lambda owner: cp.ndarray(
            N, np.float32, cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(holder.ptr, 160, owner), 0)
        ),
        lambda owner: gpuarray.GPUArray(N, np.float32, base=owner, gpudata=int(holder.ptr)),
        lambda owner: cuda.from_cuda_array_interface(
            {"shape": (N,), "typestr": "<f4", "data": (holder.ptr, False), "version": 3}, owner
        ),
    ):
        owner = Owner()
        watch = weakref.ref(owner)
        taken = cp.asarray(borrow(owner))
        del owner
        gc.collect()
        assert watch() is not None
        np.testing.assert_array_equal(taken.get(), VALUES)
        del taken
        gc.collect()
        assert watch() is None


FREED = {
    "pycuda call": lambda a: SINKS["pycuda call"](a),
    "pycuda prepared call": lambda a: SINKS["pycuda prepared call"](a),
    "cupy RawKernel": lambda a: SINKS["cupy RawKernel"](a),
    "cupy ElementwiseKernel": lambda a: SINKS["cupy ElementwiseKernel"](a),
    "cupy asarray": lambda a: cp.asarray(a).view(np.float32),
    "numba as_cuda_array": cuda.as_cuda_array,
    "numba kernel with a signature": lambda a: SINKS["numba kernel with a signature"](a),
    "GPUArray(gpudata=)": lambda a: gpuarray.GPUArray((N,), np.float32, gpudata=a),
    "memcpy_dtoh": lambda a: driver.memcpy_dtoh(np.empty(N, np.float32), a),
    "memset": lambda a: driver.memset_d32(a, 0, N),
}


@pytest.mark.parametrize("use", FREED)
def test_a_freed_allocation_is_refused(use):
    memory = driver.to_device(VALUES)
    memory.free()
    with pytest.raises(
        (ValueError, RuntimeError, driver.Error, cuda.cudadrv.driver.CudaAPIError)
    ) as caught:
        FREED[use](memory)
    assert "freed" in str(caught.value)


USES_OF_ARRAYS = {
    "operator": lambda a: a + 1,
    "in place": lambda a: a.__iadd__(1),
    "cupy ufunc": lambda a: cp.sin(a),
    "reduction": lambda a: cp.sum(a),
    "read": cp.asnumpy,
    "numba kernel": lambda a: TYPED_SINKS["numba kernel"](a),
    "pycuda call": lambda a: SINKS["pycuda call"](a),
    "cupy RawKernel": lambda a: SINKS["cupy RawKernel"](a),
    "cupy ElementwiseKernel": lambda a: SINKS["cupy ElementwiseKernel"](a),
}


@pytest.mark.parametrize("use", USES_OF_ARRAYS)
def test_arrays_over_a_freed_allocation_are_refused(use):
    memory = driver.to_device(VALUES)
    arrays = [
        gpuarray.GPUArray((N,), np.float32, gpudata=memory),
        cp.ndarray((N,), np.float32, memory),
        cuda.as_cuda_array(memory).view(np.float32),
    ]
    memory.free()
    for array in arrays:
        with pytest.raises(Exception) as caught:
            USES_OF_ARRAYS[use](array)
        assert "freed" in str(caught.value)


def test_all_faces_count_the_same_memory():
    pool, context = cp.get_default_memory_pool(), cuda.current_context()

    faces = (
        context.get_memory_info, cp.cuda.runtime.memGetInfo, lambda: cp.cuda.Device().mem_info,
    )  # fmt: skip

    def agree():
        for _ in range(50):
            first = driver.mem_get_info()
            told = [tuple(face()) for face in faces]
            assert all(total == first[1] for _free, total in told)
            # Other processes use the GPU: free memory is compared when it stayed meanwhile.
            if driver.mem_get_info() == first:
                break
        else:
            pytest.fail("other processes change the free memory without a pause")
        assert told == [tuple(first)] * len(faces)
        return pool.used_bytes()

    gc.collect()
    used = agree()
    size = 1 << 20
    for allocate in (
        lambda: driver.mem_alloc(size),
        lambda: cuda.device_array(size, np.uint8),
        lambda: cp.empty(size, np.uint8),
        lambda: gpuarray.empty(size, np.uint8),
    ):
        memory = allocate()
        assert agree() == used + size
        assert pool.total_bytes() >= pool.used_bytes()
        del memory
        gc.collect()
        assert agree() == used
    pool.free_all_blocks()
    assert pool.free_bytes() == 0


def test_one_limit_for_all_faces():
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + (1 << 20))
    try:
        for allocate, error in (
            (lambda n: driver.mem_alloc(n), driver.MemoryError),
            (lambda n: cp.empty(n, np.uint8), cp.cuda.OutOfMemoryError),
            (lambda n: cuda.device_array(n, np.uint8), cuda.cudadrv.driver.CudaAPIError),
        ):
            with pytest.raises(error):
                allocate(1 << 24)
            assert allocate(1 << 10) is not None
    finally:
        pool.set_limit(size=before)


STREAMS = {"pycuda": driver.Stream, "numba": cuda.stream, "cupy": cp.cuda.Stream}
LAUNCHES = {
    "pycuda call": lambda a, s: SINKS["pycuda call"].__globals__["_function"](
        _core.current_device_index()
    )(a, cp.zeros(1, np.uint64), np.int32(N), block=(64, 1, 1), stream=s),
    "numba kernel": lambda a, s: SINKS["pycuda call"].__globals__["_lazy"][1, 64, s](a, N),
    "cupy RawKernel": lambda a, s: SINKS["pycuda call"].__globals__["_raw"](
        (1,), (64,), (a, cp.zeros(1, np.uint64), np.int32(N)), stream=s
    ),
    "cupy ElementwiseKernel": lambda a, s: SINKS["pycuda call"].__globals__["_element_wise"](
        a, cp.zeros(1, np.uint64), stream=s
    ),
    "cumath": lambda a, s: __import__("trilane.pycuda.cumath").pycuda.cumath.fabs(a, a, stream=s),
    "get": lambda a, s: a.get(stream=s),
    "memcpy_dtoh_async": lambda a, s: driver.memcpy_dtoh_async(np.empty(N, np.float32), a, s),
    "copy_to_host": lambda a, s: cuda.as_cuda_array(a).copy_to_host(stream=s),
}


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("face", STREAMS)
def test_streams_of_any_face_order_work_of_any_face(face, launch):
    stream = STREAMS[face]()
    array = cp.asarray(VALUES)
    cp.cuda.get_current_stream().synchronize()
    for _ in range(3):
        LAUNCHES[launch](array, stream)
    stream.synchronize()
    counts = launch in ("pycuda call", "numba kernel", "cupy RawKernel", "cupy ElementwiseKernel")
    np.testing.assert_array_equal(array.get(), VALUES + 3 * counts)


@pytest.mark.parametrize("face", STREAMS)
def test_a_handle_names_the_same_stream_in_every_face(face):
    stream = STREAMS[face]()
    core = getattr(stream, "__trilane_stream__", stream)
    handle = core.handle
    array = cp.asarray(VALUES)
    cp.cuda.get_current_stream().synchronize()
    with cp.cuda.ExternalStream(handle) as external:
        assert external.ptr == handle
        array += 1
        assert cp.cuda.get_current_stream().ptr == handle
    LAUNCHES["numba kernel"](array, cuda.external_stream(handle))
    stream.synchronize()
    np.testing.assert_array_equal(array.get(), VALUES + 2)


def test_the_current_stream_is_one_for_all_faces():
    before = _core.current_stream()
    with cp.cuda.Stream() as stream:
        assert _core.current_stream().handle == stream.ptr
        array = cuda.to_device(VALUES)
        LAUNCHES["pycuda call"](array, None)
        LAUNCHES["numba kernel"](array, 0)
        stream.synchronize()
        np.testing.assert_array_equal(array.copy_to_host(), VALUES + 2)
    assert _core.current_stream() == before
