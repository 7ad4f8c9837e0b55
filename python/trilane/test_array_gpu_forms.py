"""The kernels' forms for GPUs (wide loads, teams of threads), run on whatever device there is."""

from __future__ import annotations

import numpy as np
import pytest

from trilane import _core
from trilane._core import array as ta


@pytest.fixture(autouse=True)
def gpu_forms():
    _core.testing.force_gpu_forms(True)
    yield
    _core.testing.force_gpu_forms(None)


def make(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(shape) * 100 - 30
    if np.dtype(dtype).kind == "c":
        return (x + 1j * rng.random(shape)).astype(dtype)
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "c8", "c16"])
@pytest.mark.parametrize("n", [1, 3, 4, 31, 400, 2047, 2048, 2049, 20003])
def test_flat_loops_of_any_length(n, dtype):
    a, b = make(n, dtype), make(n, dtype, 1)
    x, y = ta.from_host(a), ta.from_host(b)
    np.testing.assert_array_equal((x + y).get(), a + b)
    np.testing.assert_array_equal((x == y).get(), a == b)
    np.testing.assert_array_equal(x.astype("c16").get(), a.astype("c16"))
    out = ta.from_host(a)
    out += y
    np.testing.assert_array_equal(out.get(), a + b)


def test_what_is_not_aligned_takes_the_plain_form():
    a = make(1001, "f4")
    x = ta.from_host(a)
    np.testing.assert_array_equal((x[1:] + x[:-1]).get(), a[1:] + a[:-1])
    np.testing.assert_array_equal((x[::2] + x[::2]).get(), a[::2] + a[::2])
    # Memory around the output stays as it is.
    out = ta.from_host(np.zeros(1001, "f4"))
    out[4:995] = x[4:995]
    want = np.zeros(1001, "f4")
    want[4:995] = a[4:995]
    np.testing.assert_array_equal(out.get(), want)


@pytest.mark.parametrize("shape", [(7, 64), (300, 260), (5, 6, 128), (4, 37), (3, 2100)])
def test_rows(shape):
    a, row = make(shape, "f4"), make(shape[-1], "f4", 1)
    column = make((*shape[:-1], 1), "f8", 2)
    x, r, c = ta.from_host(a), ta.from_host(row), ta.from_host(column)
    np.testing.assert_array_equal((x + r).get(), a + row)
    np.testing.assert_array_equal((x * c).get(), a * column)
    np.testing.assert_array_equal((x[::2] + r).get(), a[::2] + row)


def test_positions_in_the_body():
    np.testing.assert_array_equal(ta.arange(0, 100001, 1, "i8").get(), np.arange(100001))


VIEWS = {
    "whole": lambda a: a,
    "from 1": lambda a: a[..., 1:],
    "every other": lambda a: a[..., ::2],
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1],
}


@pytest.mark.parametrize("view", list(VIEWS))
@pytest.mark.parametrize(
    "shape", [(5,), (400,), (4097,), (70003,), (7, 64), (64, 7), (300, 260), (12, 30, 17)]
)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1", "c8"])
def test_reductions(dtype, shape, view):
    host = make(shape, dtype)
    a, x = VIEWS[view](host), VIEWS[view](ta.from_host(host))
    wide = {"f2": "f8", "f4": "f8", "c8": "c16"}.get(dtype)
    tolerance = {"f2": 2e-3, "f4": 1e-6, "c8": 1e-6}.get(dtype, 1e-13)
    for axis in [None, *range(a.ndim), *([(0, 2), (1, 2)] if a.ndim > 2 else [])]:
        with np.errstate(over="ignore"):
            want = a.sum(axis=axis, dtype=wide).astype(a.sum(axis=axis).dtype)
        scale = np.abs(a.astype(wide or dtype)).sum(axis=axis, keepdims=False).max()
        got = x.sum(axis=axis).get()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * float(scale) / 50)
        np.testing.assert_allclose(
            x.var(axis=axis).get(),
            a.var(axis=axis, dtype=wide),
            rtol=max(tolerance, 1e-6),
            atol=1e-6,
        )
        assert got.tobytes() == x.sum(axis=axis).get().tobytes()
        np.testing.assert_array_equal(x.max(axis=axis).get(), a.max(axis=axis))
        if not isinstance(axis, tuple):
            np.testing.assert_array_equal(x.argmax(axis=axis).get(), a.argmax(axis=axis))


def test_sums_are_as_good_as_pairwise():
    rng = np.random.default_rng(3)
    a = rng.random(1 << 21).astype("f4")
    exact = a.astype("f8").sum()
    assert abs(float(ta.from_host(a).sum().get()) - exact) <= 2e-7 * exact
    square = a.reshape(2048, -1)
    for axis in (0, 1):
        exact = square.astype("f8").sum(axis=axis)
        got = ta.from_host(square).sum(axis=axis).get()
        np.testing.assert_allclose(got, exact, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1", "c16"])
@pytest.mark.parametrize(
    "shape", [(5,), (400,), (4096,), (70003,), (3, 1000), (300, 260), (40, 5, 200)]
)
def test_scans(dtype, shape):
    host = make(shape, dtype)
    x = ta.from_host(host)
    tolerance = {"f2": 2e-2, "f4": 2e-5}.get(dtype, 1e-12)
    for axis in range(host.ndim):
        if dtype == "f2" and shape[axis] > 1000:
            continue  # sums leave the type's range
        wide = {"f2": "f8", "f4": "f8"}.get(dtype)
        want = host.cumsum(axis=axis, dtype=wide).astype(host.cumsum(axis=axis).dtype)
        got = x.cumsum(axis=axis).get()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 100)
        if dtype[0] != "c":
            np.testing.assert_array_equal(
                ta.accumulate("maximum", x, axis).get(), np.maximum.accumulate(host, axis)
            )


def test_scan_of_many_segments():
    rng = np.random.default_rng(5)
    host = rng.integers(-9, 9, 4096 * 2 * 5000 // 4 + 77).astype("i8")
    np.testing.assert_array_equal(ta.from_host(host).cumsum().get(), host.cumsum())
    pair = host[: len(host) // 2 * 2].reshape(2, -1)
    np.testing.assert_array_equal(ta.from_host(pair).cumsum(axis=1).get(), pair.cumsum(axis=1))


@pytest.mark.parametrize("n", [1, 15, 16, 4096, 4097, 70003, 4096 * 4100 + 5])
def test_true_positions(n):
    rng = np.random.default_rng(n)
    mask = rng.random(n) > 0.7
    x = ta.from_host(mask)
    np.testing.assert_array_equal(ta.flatnonzero(x).get(), np.flatnonzero(mask))
    np.testing.assert_array_equal(ta.flatnonzero(x[1:]).get(), np.flatnonzero(mask[1:]))
    np.testing.assert_array_equal(ta.from_host(np.arange(n))[x].get(), np.flatnonzero(mask))


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(16, 16), (100, 65), (3, 70, 41), (20, 3, 90), (17, 4, 5, 33)])
def test_transposed_copies(shape, dtype):
    host = make(shape, dtype)
    x = ta.from_host(host)
    np.testing.assert_array_equal(x.T.copy().get(), host.T.copy())
    np.testing.assert_array_equal(x.swapaxes(-1, -2).copy().get(), host.swapaxes(-1, -2))
    np.testing.assert_array_equal(x.T[::-1, ::2].copy().get(), host.T[::-1, ::2])
    np.testing.assert_array_equal(x.T.astype("c16", "C").get(), host.T.astype("c16"))
    out = ta.from_host(np.zeros((3, *shape[::-1]), dtype))
    out[...] = x.T
    np.testing.assert_array_equal(out.get(), np.broadcast_to(host.T, (3, *shape[::-1])))
    # Memory that overlaps is copied first.
    square = ta.from_host(make((40, 40), dtype))
    want = square.get().T.copy()
    square[...] = square.T
    np.testing.assert_array_equal(square.get(), want)


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(1,), (70003,), (30, 40, 50)])
def test_elements_where_a_mask_is_true(shape, dtype):
    host = make(shape, dtype)
    mask = np.random.default_rng(1).random(shape) > 0.4
    x, m = ta.from_host(host), ta.from_host(mask)
    for h, d in ((mask, m), (np.zeros_like(mask), m ^ m), (np.ones_like(mask), m | ~m)):
        np.testing.assert_array_equal(x[d].get(), host[h])
    np.testing.assert_array_equal(x.T[m.T].get(), host.T[mask.T])
