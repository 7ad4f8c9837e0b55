"""Large products on the cpu device go to the BLAS library that NumPy brings."""

from __future__ import annotations

import ctypes
import os

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy._engine import engine
from trilane.cupy._library.host_blas import connect

pytestmark = pytest.mark.cpu_only(reason="on a GPU a product never leaves the device")
N = 310


def matrices(dtype, *shapes):
    rng = np.random.default_rng(7)
    result = []
    for shape in shapes:
        x = rng.standard_normal(shape)
        if np.dtype(dtype).kind == "c":
            x = x + 1j * rng.standard_normal(shape)
        result.append(x.astype(dtype))
    return result


@pytest.fixture
def calls():
    """Products go to a routine that counts itself and writes ones, until the test ends."""
    seen = []
    word, real = ctypes.c_int64, ctypes.c_float
    kinds = (None, ctypes.c_int, ctypes.c_int, ctypes.c_int, word, word, word, real)
    kinds += (ctypes.c_void_p, word, ctypes.c_void_p, word, real, ctypes.POINTER(real), word)

    def gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        seen.append((trans_a, m, n, k, lda, ldb, ldc))
        for i in range(m * n):
            c[i] = 1.0

    routine = ctypes.CFUNCTYPE(*kinds)(gemm)
    engine.set_host_blas(ctypes.cast(routine, ctypes.c_void_p).value, 0, 0, 0)
    yield seen
    cp.cuda.Device().synchronize()
    if connect() is None:
        engine.set_host_blas(0, 0, 0, 0)


def test_the_library_of_numpys_wheel_is_found():
    """Its wheels say that they were built with scipy-openblas; other builds have what they have."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    assert connect() is not None or blas != "scipy-openblas"


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_values(dtype):
    a, b = matrices(dtype, (N, N + 3), (N + 3, N - 5))
    da, db = cp.asarray(a), cp.asarray(b)
    tolerance = {"f": 2e-3, "d": 1e-11, "F": 5e-3, "D": 1e-11}[a.dtype.char]

    def same(got, want):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got.get(), want, rtol=tolerance, atol=tolerance)

    same(da @ db, a @ b)
    same(cp.dot(da, db), a @ b)
    same(db.T @ da.T, b.T @ a.T)
    same(da[::-1] @ db, a[::-1] @ b)
    same(da[:, 3:] @ db[3:], a[:, 3:] @ b[3:])
    same(cp.asarray(np.asfortranarray(a)) @ db[:, ::-1], a @ b[:, ::-1])
    out = cp.empty((N, N - 5), dtype)
    assert cp.matmul(da, db, out=out) is out
    same(out, a @ b)
    (batch,) = matrices(dtype, (2, 1, N, N))
    (other,) = matrices(dtype, (3, N, N))
    same(cp.asarray(batch) @ cp.asarray(other), batch @ other)
    same(cp.asarray(batch).swapaxes(2, 3) @ cp.asarray(other), batch.swapaxes(2, 3) @ other)
    same(cp.tensordot(da, db, 1), np.tensordot(a, b, 1))


def test_in_the_order_of_the_stream():
    a, b = matrices("f8", (N, N), (N, N))
    with cp.cuda.Stream(non_blocking=True) as stream:
        da = cp.asarray(a)
        for _ in range(20):
            da += 1
            product = da @ cp.asarray(b)
            da -= 1
            product *= 2
        stream.synchronize()
    np.testing.assert_allclose(product.get(), (a + 1) @ b * 2, rtol=1e-10, atol=1e-9)


def test_nothing_of_the_result_was_there_before():
    a = cp.zeros((N, N))
    np.testing.assert_array_equal((a @ a).get(), 0)
    junk = cp.full((N, N), np.nan)
    del junk
    np.testing.assert_array_equal((a @ a).get(), 0)


def test_only_large_products_in_a_layout_that_it_knows(calls):
    (a,) = (cp.asarray(x) for x in matrices("f4", (N, N)))
    if os.environ.get("TRILANE_CHECK"):  # it would see no access of a library
        np.testing.assert_allclose((a @ a).get(), a.get() @ a.get(), rtol=2e-3, atol=2e-3)
        assert not calls
        return
    np.testing.assert_array_equal((a @ a).get(), 1)
    assert calls.pop() == (111, N, N, N, N, N, N)
    np.testing.assert_array_equal((a.T @ a).get(), 1)
    assert calls.pop() == (112, N, N, N, N, N, N)
    np.testing.assert_array_equal((a[:, 5:305] @ a[5:305]).get(), 1)
    assert calls.pop() == (111, N, N, 300, N, N, N)
    small, strided = a[:100, :100] @ a[:100, :100], a[:, ::-1] @ a
    doubles = a.astype("f8") @ a
    integers = a.astype("i4") @ a.astype("i4")
    for product in (small, strided, doubles, integers):
        assert not (product == 1).all()
    assert not calls


def test_not_into_a_graph(calls):
    (a,) = (cp.asarray(x) for x in matrices("f4", (N, N)))
    expected = a.get() @ a.get()
    with cp.cuda.Stream(non_blocking=True) as stream:
        product = cp.empty_like(a)
        stream.begin_capture()
        cp.matmul(a, a, out=product)
        graph = stream.end_capture()
        graph.launch()
        stream.synchronize()
    assert not calls
    np.testing.assert_allclose(product.get(), expected, rtol=2e-3, atol=2e-3)
