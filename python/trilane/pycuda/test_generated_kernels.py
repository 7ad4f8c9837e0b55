"""Elementwise and reduction kernels: bounds, all sizes, what users may pass, hooks."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.pycuda.driver as cuda
import trilane.pycuda.gpuarray as gpuarray
from trilane.pycuda import reduction
from trilane.pycuda.elementwise import (
    ElementwiseKernel,
    get_elwise_kernel,
    get_elwise_kernel_and_types,
    get_elwise_module,
)
from trilane.pycuda.reduction import ReductionKernel
from trilane.pycuda.tools import (
    DeviceMemoryPool,
    ScalarArg,
    VectorArg,
    get_or_register_dtype,
)


@pytest.mark.parametrize(
    "bounds",
    [
        slice(None),
        slice(3, 90),
        slice(0, 100, 7),
        slice(None, None, -1),
        slice(80, 10, -3),
        slice(50, 50),
        slice(-5, None),
    ],
)
def test_a_slice_chooses_the_indices_that_numpy_chooses(bounds):
    out, expected = gpuarray.zeros(100, np.int32), np.zeros(100, np.int32)
    ElementwiseKernel("int *z", "z[i] += i + 1")(out, slice=bounds)
    expected[bounds] = (np.arange(100) + 1)[bounds]
    np.testing.assert_array_equal(out.get(), expected)


@pytest.mark.parametrize(("bounds", "count"), [(slice(5, 60), 55), (slice(99, -1, -4), 25)])
def test_a_range_is_taken_as_it_is(bounds, count):
    out = gpuarray.zeros(100, np.int32)
    ElementwiseKernel("int *z", "z[i] = 1")(out, range=bounds, stream=cuda.Stream())
    assert out.get().sum() == count


def test_names_inside_a_kernel_are_pycudas():
    last = gpuarray.zeros(1, np.int64)
    seen = gpuarray.zeros(1000, np.int32)
    kernel = ElementwiseKernel(
        "int *seen, long long *last",
        "seen[i] = n == 1000 && total_threads == gridDim.x * blockDim.x && tid == threadIdx.x "
        "&& cta_start == blockDim.x * blockIdx.x; mine = i",
        loop_prep="size_t mine = 0",
        after_loop="if (mine == n - 1) last[0] = mine",
        preamble="// before",
    )
    kernel(seen, last)
    assert seen.get().all() and last.get()[0] == 999


def test_a_kernel_may_leave_its_loop_by_setting_i():
    out = gpuarray.zeros(3, np.int32)
    ElementwiseKernel("int *z", "z[i] = 1; i = n")(out)
    assert out.get().tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("float2 *x", np.complex64),
        ("unsigned *x", np.int32),
        ("char *x", np.bool_),
        ("double2 *x", np.complex128),
    ],
)
def test_dtypes_of_one_layout_stand_for_each_other(declared, given):
    x = gpuarray.zeros(4, given)
    ElementwiseKernel(f"{declared}, int *n_seen", "n_seen[i] = sizeof(x[i])")(
        x, seen := gpuarray.zeros(4, np.int32)
    )
    assert (seen.get() == x.dtype.itemsize).all()


@pytest.mark.parametrize(("declared", "given"), [("float *x", np.int32), ("int *x", np.int64)])
def test_dtypes_that_cannot_be_meant_are_refused(declared, given):
    with pytest.raises(TypeError, match="'x'.*expected"):
        ElementwiseKernel(declared, "x[i] = 0")(gpuarray.zeros(4, given))


def test_misuse_is_named():
    with pytest.raises(RuntimeError, match="array"):
        ElementwiseKernel("float a", "a = 1")
    with pytest.raises(TypeError, match="prelude"):
        ElementwiseKernel("float *a", "a[i] = 1", prelude="")
    kernel = ElementwiseKernel("float *a", "a[i] = 1")
    x = gpuarray.zeros(4, np.float32)
    for wrong in ({"range": slice(1), "slice": slice(1)}, {"axis": 1}):
        with pytest.raises(TypeError):
            kernel(x, **wrong)
    with pytest.raises(TypeError, match="2 arguments, expected 1"):
        kernel(x, x)
    with pytest.raises(ValueError, match="stop"):
        kernel(x, range=slice(1, None))


def test_functions_for_own_calls():
    x = gpuarray.to_gpu(np.arange(10, dtype=np.float32))
    arguments = [ScalarArg(np.float32, "a"), VectorArg(np.float32, "x")]
    get_elwise_kernel(arguments, "x[i] *= a").prepared_call(x._grid, x._block, 2.0, x.gpudata, 10)
    module, function, types = get_elwise_kernel_and_types(
        arguments, "x[i] += a", "add", use_range=True
    )
    assert [t.name for t in types] == ["a", "x", "start", "stop", "step"] and len(arguments) == 2
    function.prepared_call(x._grid, x._block, 1.0, x.gpudata, 0, 10, 2)
    plain = get_elwise_module("float *x, size_t n", "x[i] -= 3", "less").get_function("less")
    plain(x, np.uint64(10), grid=(1, 1), block=(32, 1, 1))
    expected = np.arange(10, dtype=np.float32) * 2 - 3
    expected[::2] += 1
    np.testing.assert_array_equal(x.get(), expected)
    assert module.get_function("add") is not None


SIZES = [0, 1, 15, 16, 17, 31, 255, 1023, 1024, 4095, 4096, 4097, 8192, 100_003, 5_000_001]


@pytest.mark.parametrize("size", SIZES)
def test_reductions_of_every_size(size):
    host = np.arange(size, dtype=np.int64) % 1000 - 300
    x = gpuarray.to_gpu(host)
    total = ReductionKernel(np.int64, "0", "a+b")
    largest = ReductionKernel(np.int64, "-1000", "a > b ? a : b", "x[i] * 2", "long long *x")
    assert total(x).get() == host.sum()
    assert largest(x).get() == (host * 2).max(initial=-1000)


def test_reductions_repeat_bit_for_bit():
    x = gpuarray.to_gpu(np.random.default_rng(5).random(300_000, np.float32))
    total = ReductionKernel(np.float32, "0", "a+b")
    first = total(x).get()
    assert all(total(x).get().tobytes() == first.tobytes() for _ in range(5))
    np.testing.assert_allclose(first, x.get().astype(np.float64).sum(), rtol=1e-6)


def test_reductions_of_records():
    pair = np.dtype([("low", np.float32), ("at", np.int32)])
    get_or_register_dtype("low_at", pair)
    host = np.random.default_rng(6).random(30_000, np.float32)
    lowest = ReductionKernel(
        pair,
        neutral="make(1e30f, -1)",
        reduce_expr="a.low < b.low || (a.low == b.low && a.at < b.at) ? a : b",
        map_expr="make(x[i], i)",
        arguments="float *x",
        preamble="struct low_at { float low; int at; };"
        "__device__ low_at make(float l, int a) { low_at r; r.low = l; r.at = a; return r; }",
    )
    found = lowest(gpuarray.to_gpu(host)).get()
    assert (found["low"], found["at"]) == (host.min(), host.argmin())


def test_records_need_no_constructor_without_arguments():
    get_or_register_dtype("odd_total", np.dtype([("total", np.int64)]))
    total = ReductionKernel(
        np.dtype([("total", np.int64)]),
        neutral="odd_total(0)",
        reduce_expr="odd_total(a.total + b.total)",
        map_expr="odd_total(x[i])",
        arguments="int *x",
        preamble="struct odd_total { long total; __device__ odd_total(long t) : total(t) {} };",
    )
    assert total(gpuarray.to_gpu(np.arange(9000, dtype=np.int32))).get()["total"] == 40495500


@pytest.mark.parametrize("size", [100, 50_000])
def test_a_reduction_writes_where_it_is_told(size):
    x = gpuarray.to_gpu(np.ones(size, np.float32))
    total = ReductionKernel(np.float32, "0", "a+b")
    out, pool, stream = gpuarray.zeros(3, np.float32), DeviceMemoryPool(), cuda.Stream()
    assert total(x, out=out[1], stream=stream) is not None
    np.testing.assert_array_equal(out.get(), [0, size, 0])
    result = total(x, allocator=pool.allocate)
    assert pool.active_blocks == 1 and result.get() == size
    for wrong in (gpuarray.zeros(2, np.float32), gpuarray.zeros((), np.float64)):
        with pytest.raises(TypeError, match="out"):
            total(x, out=wrong)


@pytest.mark.parametrize(("size", "stages"), [(100, 1), (50_000, 2)])
def test_a_wrapper_sees_every_launch(size, stages):
    launches = []

    def wrapper(launch):
        def call(grid, block, stream, *args):
            launches.append(grid)
            launch(grid, block, stream, *args)

        return call

    x = gpuarray.to_gpu(np.ones(size, np.float32))
    assert ReductionKernel(np.float32, "0", "a+b")(x, kernel_wrapper=wrapper).get() == size
    assert len(launches) == stages


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_ready_made_extremes(dtype):
    kind = np.dtype(dtype)
    ends = [np.finfo(kind).min, np.finfo(kind).max] if kind.kind == "f" else None
    ends = ends or [np.iinfo(kind).min, np.iinfo(kind).max]
    host = np.array([3, ends[0], 7, ends[1], 5], kind)
    x, subset = gpuarray.to_gpu(host), gpuarray.to_gpu(np.array([0, 2, 4], np.int32))
    for what, expected in (("min", np.min), ("max", np.max)):
        assert reduction.get_minmax_kernel(what, kind)(x).get() == expected(host)
        assert reduction.get_minmax_kernel(what, kind)(x[1:2]).get() == host[1]
        chosen = reduction.get_subset_minmax_kernel(what, kind, np.int32)(subset, x)
        assert chosen.get() == expected(host[[0, 2, 4]])


def test_ready_made_extremes_leave_nan_out_and_refuse_what_has_no_order():
    x = gpuarray.to_gpu(np.array([np.nan, 2, np.nan, 1], np.float32))
    assert reduction.get_minmax_kernel("max", np.float32)(x).get() == 2
    assert reduction.get_minmax_kernel("min", np.float32)(x).get() == 1
    with pytest.raises(ValueError, match="what"):
        reduction.get_minmax_neutral("mean", np.float32)
    with pytest.raises(TypeError, match="complex64"):
        reduction.get_minmax_kernel("min", np.complex64)


def test_ready_made_sums():
    a = np.arange(1, 9, dtype=np.float32)
    b = (a[::-1] + 1j).astype(np.complex64)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    subset = gpuarray.to_gpu(np.array([1, 6], np.int64))
    assert reduction.get_sum_kernel(None, np.float32)(x).get() == 36
    assert reduction.get_sum_kernel(np.float64, np.float32)(x).dtype == np.float64
    assert reduction.get_dot_kernel(np.complex64, np.float32, np.complex64)(x, y).get() == a @ b
    assert reduction.get_dot_kernel(np.float32)(x, x).get() == a @ a
    assert reduction.get_subset_sum_kernel(None, np.int64, np.float32)(subset, x).get() == 9
    chosen = reduction.get_subset_dot_kernel(None, np.int64, np.float32, np.complex64)
    assert chosen(subset, x, y).get() == a[[1, 6]] @ b[[1, 6]]
    zeros = gpuarray.zeros(5, np.int32)
    assert not reduction.get_any_kernel(np.bool_, np.int32)(zeros).get()
    assert not reduction.get_all_kernel(np.bool_, np.float32)(x - 1).get()
    assert reduction.get_all_kernel(np.bool_, np.float32)(x).get()
    assert reduction.get_sum_kernel(None, np.float32) is reduction.get_sum_kernel(
        np.float32, np.float32
    )
