"""Indexing, views and shape changes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from trilane import _core
from trilane._core import array as ta


def pair(shape=(4, 5, 6), dtype="i4"):
    x = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    return x, ta.from_host(x)


def same(got, want):
    want = np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.get(), want)


BASIC = [
    0, -1, slice(None), slice(1, 3), slice(None, None, -1), slice(10, 0, -2), slice(3, 1), Ellipsis, None,
    (0, 1), (0, 1, 2), (slice(None), 2), (Ellipsis, -1), (None, 0), (slice(1, None), None, Ellipsis, slice(None, None, 2)),
    (slice(-3, -1), slice(None, None, -2)), (), (0, Ellipsis, 1), np.int64(2), (slice(0, 0),),
]  # fmt: skip


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_basic(key):
    x, d = pair()
    same(d[key], x[key])
    view = d[key]
    if view.size:
        view[...] = -1
        x[key] = -1
        same(d, x)


@pytest.mark.parametrize(
    "key", [4, -5, (0, 9), (0, 0, 0, 0), (Ellipsis, Ellipsis), 1.5, "a", slice(1.5)], ids=str
)
def test_bad_keys(key):
    x, d = pair()
    with pytest.raises((IndexError, TypeError)) as want:
        x[key]
    with pytest.raises(IndexError if want.type is IndexError else TypeError):
        d[key]


M = np.arange(120).reshape(4, 5, 6) % 3 == 0
ADVANCED = [
    np.array([0, 2, 3]), np.array([[0, 1], [-1, 2]]), [1, 2], (np.array([0, 1]), np.array([2, 3])),
    (slice(None), np.array([0, 4])), (np.array([0, 1]), slice(1, 3)), (0, slice(None), np.array([0, 5])),
    (np.array([0, 1])[:, None], np.array([2, 3, 4])), (Ellipsis, np.array([1, 1])), (np.array([1]), None, 2),
    (slice(None), np.array([0, 1]), np.array([1, 2])), (np.array([], dtype=int),), M, M[:, 0, 0], (slice(None), M[0, :, 0]),
    (M[:, 0, 0], Ellipsis, np.array([0])), (M[..., 0], 1), True, False, (np.array([True, False, True, True]), 0),
    (np.array([0, 1]), slice(None), np.array([2, 3])), np.array(2), np.array([0, 1], np.uint8),
]  # fmt: skip


def to_device(key):
    if isinstance(key, tuple):
        return tuple(to_device(k) for k in key)
    return ta.from_host(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("number", range(len(ADVANCED)))
@pytest.mark.parametrize("dtype", ["i4", "f8", "u1", "c16"])
def test_advanced(number, dtype):
    key = ADVANCED[number]
    repeats = number == 8
    x, d = pair(dtype=dtype)
    same(d[to_device(key)], x[key])
    same(d.transpose(2, 0, 1)[:4][to_device(ADVANCED[0])], x.transpose(2, 0, 1)[:4][ADVANCED[0]])
    x[key] = 7
    d[to_device(key)] = 7
    same(d, x)
    value = np.arange(x[key].size).reshape(x[key].shape).astype(dtype)
    d[to_device(key)] = ta.from_host(value)
    if repeats and _core.current_context().properties.type == "cuda":
        # An element assigned twice keeps either value on a GPU, as CuPy's.
        last, first = x.copy(), x.copy()
        last[key] = value
        first[..., 1] = value[..., 0]
        got = d.get()
        assert ((got == last) | (got == first)).all()
        return
    x[key] = value
    same(d, x)


def test_advanced_errors():
    x, d = pair()
    for key in (np.array([4]), (np.array([0]), np.array([-6])), np.zeros((2, 2), bool), np.array([1.5]),
                (np.array([0, 1]), np.array([0, 1, 2]))):  # fmt: skip
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            d[to_device(key)]
    with pytest.raises(ValueError):
        d[ta.from_host(np.array([0, 1]))] = ta.from_host(np.zeros(7, "i4"))
    with pytest.raises(ValueError):
        d[0] = ta.from_host(np.zeros(7, "i4"))


def test_masked_assignment():
    x, d = pair((50, 40), "f4")
    x[x > 100] = -1.5
    d[d > 100] = -1.5
    same(d, x)
    x[x < 0] = np.arange((x < 0).sum(), dtype="f4")
    d[d < 0] = ta.from_host(np.arange((d < 0).get().sum(), dtype="f4"))
    same(d, x)


def test_large_mask():
    rng = np.random.default_rng(3)
    x = rng.random(100_003).astype("f4")
    d = ta.from_host(x)
    same(d[d > 0.5], x[x > 0.5])
    for got, want in zip((d > 0.9).nonzero(), np.nonzero(x > 0.9)):
        same(got, want)
    y = x[:99_000].reshape(30, 3300)
    for got, want in zip(ta.from_host(y > 0.9).nonzero(), np.nonzero(y > 0.9)):
        same(got, want)


def test_take_put():
    x, d = pair()
    index = np.array([[0, 2], [1, 3]])
    for axis in (None, 0, 1, -1):
        same(d.take(ta.from_host(index), axis=axis), x.take(index, axis=axis))
    far = np.array([-9, 7, 100])
    for mode in ("wrap", "clip"):
        same(d.take(ta.from_host(far), axis=1, mode=mode), x.take(far, axis=1, mode=mode))
    with pytest.raises(IndexError):
        # The method is the face's where that is loaded, and wraps.
        ta.take(d, ta.from_host(far), axis=1)
    d.put(ta.from_host(np.array([0, 50, -1])), ta.from_host(np.array([7, 8])))
    x.put([0, 50, -1], [7, 8])
    same(d, x)
    order = np.argsort(-x, axis=1)
    same(ta.take_along_axis(d, ta.from_host(order), 1), np.take_along_axis(x, order, 1))
    ta.put_along_axis(d, ta.from_host(order[:, :1]), -5, 1)
    np.put_along_axis(x, order[:, :1], -5, 1)
    same(d, x)


SHAPES = [(120,), (-1,), (20, 6), (4, 30), (2, 2, 5, 6), (4, -1, 3), (1, 120, 1)]


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reshape(shape, order):
    x, d = pair()
    for hx, dx in (
        (x, d),
        (x.T, d.T),
        (x[::2], d[::2]),
        (x[:, ::-1], d[:, ::-1]),
        (np.asfortranarray(x), ta.from_host(x, "F")),
    ):
        if hx.size != 120:
            want_shape = (-1,)
        else:
            want_shape = shape
        same(dx.reshape(want_shape, order=order), hx.reshape(want_shape, order=order))
        same(dx.ravel(order), hx.ravel(order))
        same(dx.flatten(order), hx.flatten(order))
    with pytest.raises(ValueError):
        d.reshape(7, -1)


def test_views():
    x, d = pair()
    same(d.T, x.T)
    same(d.transpose(1, 0, 2), x.transpose(1, 0, 2))
    same(d.swapaxes(0, -1), x.swapaxes(0, -1))
    same(d[None].squeeze(0), x)
    same(d.mT, x.mT)
    same(ta.flip(d, 1), np.flip(x, 1))
    same(ta.flip(d), np.flip(x))
    same(ta.moveaxis(d, 0, 2), np.moveaxis(x, 0, 2))
    same(ta.broadcast_to(d[:, :1], (4, 5, 6)), np.broadcast_to(x[:, :1], (4, 5, 6)))
    same(d.diagonal(1, 0, 2), x.diagonal(1, 0, 2))
    same(d.view("u1"), x.view("u1"))
    same(d.view("f4"), x.view("f4"))
    c = ta.from_host(np.arange(6).reshape(2, 3) * (1 + 2j))
    h = np.arange(6).reshape(2, 3) * (1 + 2j)
    same(c.real, h.real)
    same(c.imag, h.imag)
    c.imag = 0
    same(c, h.real.astype(complex))
    d.shape = (20, 6)
    assert d.shape == (20, 6)
    assert d[1:].strides == (24, 4) and d.flatten().owndata and not d.T.owndata


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_concatenate_stack_repeat(axis):
    x, d = pair((3, 4), "i4")
    y = np.arange(12.0).reshape(3, 4)
    same(ta.concatenate([d, ta.from_host(y)], axis), np.concatenate([x, y], axis))
    if axis is not None:
        same(ta.stack([d, d], axis), np.stack([x, x], axis))
    same(d.repeat(3, axis), x.repeat(3, axis))
    counts = list(range(12 if axis is None else x.shape[axis]))
    same(d.repeat(counts, axis), x.repeat(counts, axis))
    with pytest.raises(ValueError):
        ta.concatenate([d, d[:, 1:]], 0)
    with pytest.raises(ValueError):
        ta.concatenate([])


def test_conversions():
    d = ta.from_host(np.array([3.5]))
    assert float(d) == 3.5 and int(d) == 3 and bool(d) and complex(d) == 3.5 and d.item() == 3.5
    assert ta.from_host(np.array(5)).__index__() == 5
    assert len(ta.from_host(np.zeros((3, 2)))) == 3
    assert [float(v) for v in ta.from_host(np.arange(3.0))] == [0, 1, 2]
    assert repr(ta.from_host(np.arange(3))) == "array([0, 1, 2])"
    with pytest.raises(TypeError):
        len(d[0])
    with pytest.raises(ValueError):
        bool(ta.from_host(np.zeros(2)))
    with pytest.raises(TypeError):
        hash(d)
    assert ta.from_host(np.arange(6).reshape(2, 3)).item(1, 2) == 5
    assert ta.from_host(np.arange(6).reshape(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_structured():
    dtype = np.dtype([("a", "i4"), ("b", "f8", (2,))])
    x = np.zeros(5, dtype)
    x["a"] = np.arange(5)
    x["b"] = np.arange(10).reshape(5, 2)
    d = ta.from_host(x)
    assert d.dtype == dtype
    np.testing.assert_array_equal(d.get(), x)
    np.testing.assert_array_equal(d[::2].copy().get(), x[::2])
    np.testing.assert_array_equal(d["a"].copy().get(), x["a"])
    np.testing.assert_array_equal(d[ta.from_host(np.array([4, 1]))].get(), x[[4, 1]])
    with pytest.raises(TypeError):
        d + d


def test_subclass_and_attributes():
    class Mine(ta.ndarray):
        pass

    m = ta.from_host(np.arange(4.0)).as_type(Mine)
    for result in (
        m + 1,
        1 + m,
        m[1:],
        m.T,
        m.sum(),
        -m,
        m.astype("f4"),
        m == 2,
        ta.ufuncs["exp"](m),
    ):
        assert type(result) is Mine
    m.note = 5
    assert m.note == 5
    import weakref

    ref = weakref.ref(m)
    assert ref() is m
    made = Mine((2, 3), "f4")
    assert made.shape == (2, 3) and type(made) is Mine


def test_host_round_trip():
    for dtype in ["?", "i1", "u8", "f2", "f4", "c16"]:
        x = np.arange(24).reshape(2, 3, 4).astype(dtype)
        for h in (x, np.asfortranarray(x), x[:, ::2], x.astype(x.dtype.newbyteorder(">"))):
            got = ta.from_host(h)
            assert got.shape == h.shape and got.dtype == x.dtype
            np.testing.assert_array_equal(got.get(), h)
    out = np.empty((2, 3), "f4")
    assert ta.full((2, 3), 4, "f4").get(out=out) is out and (out == 4).all()
    with pytest.raises(ValueError):
        ta.from_host(np.array(["a"]))
    with pytest.raises(ValueError):
        ta.from_host(np.array([object()]))


def test_arange_full():
    for start, stop, step, dtype in (
        (0, 10, 1, "i8"),
        (5, -5, -2, "i4"),
        (0.5, 3, 0.25, "f4"),
        (0, 1, 0.1, "f8"),
    ):
        np.testing.assert_allclose(
            ta.arange(start, stop, step, dtype).get(),
            np.arange(start, stop, step, dtype),
            rtol=1e-6,
        )
    assert ta.full((2, 2), 3).dtype == np.int64 and ta.full((), 1.5).item() == 1.5
