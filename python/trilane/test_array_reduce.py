"""Reductions, scans, sorting, products and random numbers against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from trilane._core import array as ta

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def make(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        return rng.integers(0 if kind == "u" else -20, 20, shape).astype(dtype)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape)).astype(dtype) if kind == "c" else x.astype(dtype)


def same(got, want, dtype):
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    tol = {"e": 1e-2, "f": 1e-5, "F": 1e-5}.get(np.dtype(dtype).char, 1e-12)
    np.testing.assert_allclose(got.get(), want, rtol=tol, atol=tol * 10)


AXES = [None, 0, 1, -1, (0, 2), (0, 1), ()]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "mean"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(name, dtype):
    x = make((3, 7, 5), dtype)
    if name == "prod":
        x = np.clip(x, 0, 2) if np.dtype(dtype).kind in "iuf" else x
    for h, d in (
        (x, ta.from_host(x)),
        (x[::-1, :, ::2], ta.from_host(x)[::-1, :, ::2]),
        (x.T, ta.from_host(x).T),
    ):
        for axis in AXES:
            same(getattr(d, name)(axis=axis), getattr(h, name)(axis=axis), dtype)
            same(
                ta.reduce(name, d, axis, keepdims=True),
                getattr(h, name)(axis=axis, keepdims=True),
                dtype,
            )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arg_reductions(name, dtype):
    x = make((6, 40), dtype)
    d = ta.from_host(x)
    for axis in (None, 0, 1):
        same(getattr(d, name)(axis=axis), getattr(x, name)(axis=axis), dtype)
        same(getattr(d.T, name)(axis=axis), getattr(x.T, name)(axis=axis), dtype)
    if np.dtype(dtype).kind == "f":
        x[2, 3] = x[4, 1] = np.nan
        d = ta.from_host(x)
        for axis in (None, 0, 1):
            same(getattr(d, name)(axis=axis), getattr(x, name)(axis=axis), dtype)


@pytest.mark.parametrize(
    "shape",
    [(100_000,), (3, 50_000), (50_000, 3), (700, 300), (2, 300, 200), (1, 1), (17,), (1025,)],
)
def test_large(shape):
    x = make(shape, "f4")
    d = ta.from_host(x)
    for axis in (None, *range(len(shape))):
        np.testing.assert_allclose(
            d.sum(axis=axis).get(), x.sum(axis=axis, dtype="f8"), rtol=1e-4, atol=2e-3
        )
        np.testing.assert_array_equal(d.max(axis=axis).get(), x.max(axis=axis))
        np.testing.assert_array_equal(d.argmin(axis=axis).get(), x.argmin(axis=axis))
        np.testing.assert_allclose(d.var(axis=axis).get(), x.var(axis=axis, dtype="f8"), rtol=1e-4)
    n = make(shape, "i4")
    assert ta.from_host(n).sum().item() == n.sum()


def test_sum_is_accurate():
    x = np.full(1 << 20, 0.1, "f4")
    assert abs(ta.from_host(x).sum().item() - x.sum(dtype="f8")) < 0.05


@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmax", "nanmin", "nanargmax", "nanargmin", "count_nonzero"]
)
def test_nan(name):
    x = make((5, 8), "f8")
    x[1, 2] = x[3, 3] = x[0, 0] = np.nan
    for axis in (None, 0, 1):
        same(ta.reduce(name, ta.from_host(x), axis), getattr(np, name)(x, axis=axis), "f8")
    same(ta.nanvar(ta.from_host(x), 1), np.nanvar(x, axis=1), "f8")
    assert np.isnan(ta.from_host(x).max().item()) and np.isnan(ta.from_host(x).min().item())


def test_var_std():
    for dtype in DTYPES:
        x = make((4, 9), dtype)
        d = ta.from_host(x)
        for axis in (None, 0, 1):
            same(d.var(axis=axis), x.var(axis=axis), dtype)
            same(
                d.std(axis=axis, ddof=1, keepdims=True),
                x.std(axis=axis, ddof=1, keepdims=True),
                dtype,
            )


def test_initial_where_out_dtype_empty():
    x = make((4, 6), "f8")
    d = ta.from_host(x)
    mask = x > 0
    same(ta.reduce("sum", d, 1, where=ta.from_host(mask)), x.sum(1, where=mask), "f8")
    same(ta.reduce("prod", d, 0, where=ta.from_host(mask)), x.prod(0, where=mask), "f8")
    same(
        ta.reduce("max", d, 0, where=ta.from_host(mask), initial=-1),
        x.max(0, where=mask, initial=-1),
        "f8",
    )
    same(ta.reduce("sum", d, None, initial=10), x.sum(initial=10), "f8")
    same(ta.reduce("sum", d, 1, dtype="f4"), x.sum(1, dtype="f4"), "f4")
    out = ta.empty((6,), "f8")
    assert d.sum(axis=0, out=out) is out
    same(out, x.sum(0), "f8")
    for name in ("sum", "prod", "all", "any"):
        same(ta.reduce(name, ta.empty((0, 3), "f8"), 0), getattr(np.empty((0, 3)), name)(0), "f8")
    for name in ("max", "min", "argmax"):
        with pytest.raises(ValueError):
            ta.reduce(name, ta.empty((0, 3), "f8"), 0)
    assert ta.reduce("max", ta.empty((3, 0), "f8"), 0).shape == (0,)
    with pytest.raises(IndexError):
        d.sum(axis=2)
    with pytest.raises(ValueError):
        d.sum(axis=(0, 0))
    same(ta.ufuncs["add"].reduce(d), np.add.reduce(x), "f8")
    same(ta.ufuncs["maximum"].reduce(d, axis=1), np.maximum.reduce(x, axis=1), "f8")
    same(ta.ufuncs["multiply"].outer(d[0], d[1]), np.multiply.outer(x[0], x[1]), "f8")
    i = ta.from_host(np.array([7, 3, 15]))
    assert ta.ufuncs["bitwise_and"].reduce(i).item() == 3


@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(dtype):
    x = make((5, 6, 4), dtype)
    d = ta.from_host(x)
    for axis in (None, 0, 1, 2):
        same(d.cumsum(axis=axis), x.cumsum(axis=axis), dtype)
        same(d.T.cumsum(axis=axis), x.T.cumsum(axis=axis), dtype)
    y = make((3, 5), dtype)
    same(ta.from_host(y).cumprod(axis=1), y.cumprod(axis=1), dtype)
    if np.dtype(dtype).kind != "c":
        same(ta.accumulate("maximum", d, 1), np.maximum.accumulate(x, 1), dtype)


def test_long_scan():
    x = make((100_001,), "i4")
    same(ta.from_host(x).cumsum(), x.cumsum(), "i4")
    y = make((2, 30_000), "f8")
    same(ta.from_host(y).cumsum(axis=1), y.cumsum(axis=1), "f8")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 31, 33, 100, 1000, 5001])
def test_sort(dtype, n):
    x = make((n,), dtype)
    if np.dtype(dtype).kind in "fc" and n > 40:
        x[::17] = np.nan
    d = ta.from_host(x)
    np.testing.assert_array_equal(ta.sort(d).get(), np.sort(x))
    np.testing.assert_array_equal(ta.argsort(d).get(), np.argsort(x, kind="stable"))


def test_sort_axes():
    x = make((13, 70), "i4")
    d = ta.from_host(x)
    for axis in (0, 1):
        np.testing.assert_array_equal(ta.sort(d, axis).get(), np.sort(x, axis))
        np.testing.assert_array_equal(
            ta.argsort(d.T, axis).get(), np.argsort(x.T, axis, kind="stable")
        )
    d.sort()
    np.testing.assert_array_equal(d.get(), np.sort(x))
    s = np.sort(make((50,), "f8"))
    v = make((30,), "f8", 1)
    for side in ("left", "right"):
        np.testing.assert_array_equal(
            ta.searchsorted(ta.from_host(s), ta.from_host(v), side).get(),
            np.searchsorted(s, v, side),
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_matmul(dtype):
    for m, k, n in ((1, 1, 1), (3, 4, 5), (17, 20, 33), (64, 16, 48)):
        a, b = make((m, k), dtype), make((k, n), dtype, 1)
        same(ta.from_host(a) @ ta.from_host(b), a @ b, dtype)
        same(ta.from_host(a.T.copy()).T @ ta.from_host(b.T.copy()).T, a @ b, dtype)
    a, b = make((2, 1, 3, 4), dtype), make((5, 4, 6), dtype, 1)
    same(ta.from_host(a) @ ta.from_host(b), a @ b, dtype)
    v = make((4,), dtype)
    same(ta.from_host(a) @ ta.from_host(v), a @ v, dtype)
    same(ta.from_host(v) @ ta.from_host(v), v @ v, dtype)
    same(ta.from_host(v) @ ta.from_host(b), v @ b, dtype)


def test_dot_errors():
    a = ta.empty((2, 3), "f8")
    with pytest.raises(ValueError):
        a @ a
    with pytest.raises(ValueError):
        a @ 2
    x, y = make((2, 3, 4), "f8"), make((5, 4, 2), "f8")
    same(ta.dot(ta.from_host(x), ta.from_host(y)), np.dot(x, y), "f8")


def test_clip_round_where():
    x = make((40,), "f8") * 10
    d = ta.from_host(x)
    same(d.clip(-2, 3), x.clip(-2, 3), "f8")
    same(d.clip(None, 3), x.clip(None, 3), "f8")
    same(d.round(1), x.round(1), "f8")
    same(d.round(), x.round(), "f8")
    i = (x * 10).astype("i4")
    same(ta.from_host(i).round(-1), i.round(-1), "i4")
    same(ta.where(d > 0, d, 0), np.where(x > 0, x, 0), "f8")
    same(ta.where(d > 0, 1, ta.from_host(i)), np.where(x > 0, np.int32(1), i), "i4")
    out = ta.full((40,), 0, "f4")
    ta.copyto(out, d, where=d > 0)
    want = np.zeros(40, "f4")
    np.copyto(want, x, where=x > 0)
    same(out, want, "f4")


def test_random():
    u, blocks = ta.random_uniform((100_001,), "f4", -1.0, 2.0, 7, 0)
    h = u.get()
    assert blocks == 25_001 and h.min() >= -1 and h.max() < 2 and abs(h.mean() - 0.5) < 0.01
    again, _ = ta.random_uniform((100_001,), "f4", -1.0, 2.0, 7, 0)
    np.testing.assert_array_equal(h, again.get())
    other, _ = ta.random_uniform((100_001,), "f4", -1.0, 2.0, 8, 0)
    assert (other.get() != h).mean() > 0.99
    for dtype in ("f4", "f8", "f2"):
        n, _ = ta.random_normal((100_000,), dtype, 3.0, 2.0, 1, 5)
        g = n.get().astype("f8")
        assert abs(g.mean() - 3) < 0.03 and abs(g.std() - 2) < 0.03
    i, _ = ta.random_integers((100_000,), "i4", -3, 4, 1, 0)
    assert set(np.unique(i.get())) == set(range(-3, 4))
    assert abs(np.bincount(i.get() + 3) / 100_000 - 1 / 7).max() < 0.01
    e, _ = ta.random_exponential((100_000,), "f8", 2.0, 1, 0)
    assert abs(e.get().mean() - 2) < 0.05
    p, _ = ta.random_permutation(1000, 3, 0)
    assert sorted(p.get()) == list(range(1000))
    b, _ = ta.random_bits((10_000,), "u4", 3, 0)
    assert abs(np.unpackbits(b.get().view("u1")).mean() - 0.5) < 0.01
    with pytest.raises(ValueError):
        ta.random_integers((3,), "i4", 4, 4, 1, 0)
