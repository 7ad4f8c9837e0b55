"""Arrays and memory of each face in the kernels and functions of the others, with no copy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.cross.faces import SINKS, SOURCES, TYPED_SINKS, VALUES, N
from trilane import _core
from trilane import cupy as cp
from trilane.numba import cuda
from trilane.pycuda import cumath, driver, elementwise, gpuarray, reduction, scan


@pytest.mark.parametrize("sink", [*SINKS, *TYPED_SINKS])
@pytest.mark.parametrize("source", SOURCES)
def test_kernels_find_the_memory_itself(source, sink):
    holding = SOURCES[source]()
    if sink in TYPED_SINKS and not holding.typed:
        with pytest.raises(TypeError, match="memory without a type.*signature.*view"):
            TYPED_SINKS[sink](holding.held)
        return
    seen = {**SINKS, **TYPED_SINKS}[sink](holding.held)
    assert seen in (None, holding.address)
    np.testing.assert_array_equal(holding.read(), VALUES + 1)


def test_memory_without_a_type_needs_one_where_the_kernel_says_none():
    memory = driver.to_device(VALUES)
    any_type = cp.ElementwiseKernel("T x", "T y", "y = x", "copy_any")
    with pytest.raises(TypeError, match=r"parameter 'x'.*DeviceAllocation.*view\(dtype\)"):
        any_type(memory)
    np.testing.assert_array_equal(cp.asarray(memory).get(), VALUES.view(np.uint8))
    assert cuda.as_cuda_array(memory).dtype == np.uint8
    two_axes = cuda.jit("void(float32[:,:])")(lambda a: None)
    with pytest.raises(TypeError, match="one dimension.*reshape"):
        two_axes[1, 1](memory)


def test_an_allocation_is_an_array_of_the_declared_type():
    memory = driver.to_device(VALUES)
    total = cp.ReductionKernel("raw float32 x, int32 k", "float64 y", "x[k]", "a + b", "y = a", "0")
    assert float(total(memory, cp.arange(N, dtype=np.int32))) == VALUES.sum()
    doubled = cp.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x", "double_it")(memory)
    np.testing.assert_array_equal(doubled.get(), 2 * VALUES)


LAYOUTS = {
    "strided": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "rows of a column-major array": lambda a: a.reshape(4, 10).T,
    "three dimensions": lambda a: a.reshape(2, 5, 4)[:, 1:, ::2],
    "0-d": lambda a: a[7:8].reshape(()),
    "empty": lambda a: a[:0],
}


def _plus_one_everywhere(a):
    for index in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        rest = index
        if a.ndim == 1:
            a[rest] += 1
        elif a.ndim == 2:
            a[rest // a.shape[1], rest % a.shape[1]] += 1
        else:
            inner = a.shape[1] * a.shape[2]
            a[rest // inner, rest % inner // a.shape[2], rest % a.shape[2]] += 1


@pytest.mark.parametrize("face", ["pycuda", "numba"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_survive(layout, face):
    base = cp.asarray(VALUES)
    view = LAYOUTS[layout](base)
    expected = VALUES.copy()
    LAYOUTS[layout](expected)[...] += 1
    if face == "numba":
        borrowed = cuda.as_cuda_array(view)
        if view.ndim and view.size:
            cuda.jit(_plus_one_everywhere)[2, 16](borrowed)
        else:
            view += 1
    else:
        borrowed = gpuarray.GPUArray(
            view.shape, view.dtype, gpudata=view, strides=view.strides, base=view
        )
        borrowed += 1
    assert (borrowed.shape, borrowed.strides, borrowed.dtype) == (
        view.shape, view.strides, view.dtype,
    )  # fmt: skip
    assert view.size == 0 or borrowed.ptr == view.ptr
    np.testing.assert_array_equal(base.get(), expected)
    np.testing.assert_array_equal(cp.asarray(borrowed).get(), LAYOUTS[layout](expected))


DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_survive(dtype):
    host = (np.arange(12) % 3).astype(dtype).reshape(3, 4, order="F")
    for made in (gpuarray.to_gpu(host), cuda.to_device(host), cp.asarray(host, order="F")):
        for taken in (cp.asarray(made), cuda.as_cuda_array(made), gpuarray.to_gpu(made)):
            assert (taken.dtype, taken.shape) == (host.dtype, host.shape)
            assert taken.strides == host.strides
            np.testing.assert_array_equal(cp.asnumpy(taken), host)


def test_structured_arrays_survive():
    host = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    lent = cuda.to_device(host)
    taken = cp.asarray(lent)
    assert taken.dtype == host.dtype and taken.ptr == lent.ptr
    np.testing.assert_array_equal(taken.get(), host)


ARRAYS = {"pycuda": gpuarray.to_gpu, "numba": cuda.to_device, "cupy": cp.asarray}
FUNCTIONS = {
    "gpuarray.sum": lambda a: gpuarray.sum(a).get(),
    "gpuarray.dot": lambda a: gpuarray.dot(a, a).get(),
    "gpuarray.max": lambda a: gpuarray.max(a).get(),
    "cumath.sqrt": lambda a: cumath.sqrt(a).get(),
    "gpuarray.to_gpu": lambda a: gpuarray.to_gpu(a).get(),
    "GPUArray.set": lambda a: _set(a).get(),
    "ElementwiseKernel of pycuda": lambda a: _pycuda_elementwise(a),
    "ReductionKernel of pycuda": lambda a: reduction.ReductionKernel(
        np.float32, neutral="0", reduce_expr="a + b", arguments="float *x", name="sum_all"
    )(a).get(),
    "scan of pycuda": lambda a: cp.asnumpy(
        scan.InclusiveScanKernel(np.float32, "a + b")(a, gpuarray.empty(N, np.float32))
    ),
    "numba reduce": lambda a: cuda.reduce(lambda x, y: x + y)(a),
    "numba copy_to_device": lambda a: _copied(a).copy_to_host(),
    "numba slice assignment": lambda a: _assigned(a).copy_to_host(),
    "numba device_array_like": lambda a: np.zeros(cuda.device_array_like(a).shape),
    "cupy.sum": lambda a: cp.sum(a).get(),
    "cupy.sin": lambda a: cp.sin(a).get(),
    "cupy.sort": lambda a: cp.sort(a).get(),
    "cupy.concatenate": lambda a: cp.concatenate([a, a]).get(),
    "cupy.where": lambda a: cp.where(cp.asarray(a) > 3, a, 0).get(),
    "cupy.array": lambda a: cp.array(a).get(),
    "cupy.array of arrays": lambda a: cp.array([a, a]).get(),
    "cupy.asnumpy": cp.asnumpy,
    "cupy slice assignment": lambda a: _cupy_assigned(a).get(),
    "ReductionKernel of cupy": lambda a: cp.ReductionKernel(
        "T x", "T y", "x * x", "a + b", "y = a", "0"
    )(a).get(),
    "memcpy_dtoh": lambda a: driver.from_device(a, N, np.float32),
}


def _set(a):
    made = gpuarray.empty(N, np.float32)
    made.set(a)
    return made


def _pycuda_elementwise(a):
    made = gpuarray.empty(N, np.float32)
    kernel = elementwise.ElementwiseKernel("float *x, float *y", "y[i] = x[i] + 1", "plus_one")
    kernel(a, made)
    return made.get()


def _copied(a):
    made = cuda.device_array(N, np.float32)
    made.copy_to_device(a)
    return made


def _assigned(a):
    made = cuda.device_array(N, np.float32)
    made[:] = a
    return made


def _cupy_assigned(a):
    made = cp.empty(N, np.float32)
    made[:] = a
    return made


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_take_arrays_of_all_faces(function):
    results = [FUNCTIONS[function](make(VALUES)) for make in ARRAYS.values()]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_foreign_object_is_known_by_its_interface():
    class Foreign:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = {
                "shape": (N // 2,), "typestr": "<f4", "strides": (8,), "version": 3,
                "data": (array.ptr + 4, False), "stream": None,
            }  # fmt: skip

    array = cp.asarray(VALUES)
    foreign = Foreign(array)
    odd = VALUES[1::2]
    np.testing.assert_array_equal(cp.asarray(foreign).get(), odd)
    np.testing.assert_array_equal(cp.add(foreign, 1).get(), odd + 1)
    np.testing.assert_array_equal(cuda.as_cuda_array(foreign).copy_to_host(), odd)
    cuda.jit(_plus_one_everywhere)[1, 32](foreign)
    np.testing.assert_array_equal(array.get()[1::2], odd + 1)
    np.testing.assert_array_equal(array.get()[::2], VALUES[::2])


def test_numpy_arrays_reach_kernels_as_each_original_takes_them():
    host = VALUES.copy()
    wrapped = driver.InOut(host)
    SINKS["pycuda call"](wrapped)
    np.testing.assert_array_equal(host, VALUES + 1)
    TYPED_SINKS["numba kernel"](host)
    np.testing.assert_array_equal(host, VALUES + 2)
    for refused in ("pycuda call", "cupy RawKernel", "cupy ElementwiseKernel"):
        with pytest.raises((TypeError, driver.LogicError)):
            SINKS[refused](host)
    pinned = cuda.pinned_array(N, np.float32)
    pinned[:] = VALUES
    SINKS["pycuda call"](driver.InOut(pinned))
    TYPED_SINKS["numba kernel"](pinned)
    np.testing.assert_array_equal(pinned, VALUES + 2)


def test_copies_of_reachable_arrays_are_ordinary_host_arrays():
    managed = driver.managed_empty(N, np.float32)
    managed[:] = VALUES
    for host in (managed + 1, managed.copy(), managed.astype(np.float64)):
        before = np.array(host)
        with pytest.raises((TypeError, driver.LogicError)):
            SINKS["pycuda call"](host)
        TYPED_SINKS["numba kernel"](host)
        np.testing.assert_array_equal(host, before + 1)
        assert cp.asarray(host).dtype == host.dtype
    np.testing.assert_array_equal(managed, VALUES)


def test_mapped_arrays_show_the_interface():
    mapped = cuda.mapped_array(N, np.float32)
    interface = mapped[4:].__cuda_array_interface__
    assert interface["data"][0] == _core.resolve_memory(mapped)[0] + 16
    assert interface["shape"] == (N - 4,)
    assert not hasattr(mapped + 1, "__cuda_array_interface__")


def test_an_address_is_the_same_for_all_faces():
    array = cp.asarray(VALUES)
    assert array.data.ptr == cuda.as_cuda_array(array).device_ctypes_pointer.value
    assert array.data.ptr == int(gpuarray.GPUArray(N, np.float32, gpudata=array.data).gpudata)
    assert ctypes.c_void_p(array.data.ptr).value == _core.resolve_memory(array)[0]
