"""Functions of the face against NumPy's: value, dtype and shape, over calls and dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp

DTYPES = ["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "F", "D"]


def data(xp, shape, dtype="d", seed=0):
    """The same values for both modules; small whole numbers, so that results are exact."""
    values = np.random.RandomState(seed).randint(-4, 5, shape)
    dtype = np.dtype(dtype)
    if dtype.kind in "bu":
        values = np.abs(values)
    host = np.asarray(values).astype(dtype)
    if dtype.kind == "c":
        host = host + 1j * np.asarray(values[..., ::-1] if host.ndim else values)
        host = host.astype(dtype)
    return xp.asarray(host)


def compare(call, rtol=1e-6):
    """Run with both modules; results must agree in structure, dtype, shape and value."""
    own, peer = call(cp), call(np)
    for mine, theirs in _pairs(own, peer):
        assert isinstance(mine, cp.ndarray), type(mine)
        theirs = np.asarray(theirs)
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine.get(), theirs, rtol=rtol, atol=1e-9)


def _pairs(own, peer):
    if isinstance(peer, (tuple, list)):
        assert len(own) == len(peer)
        return [pair for o, p in zip(own, peer) for pair in _pairs(o, p)]
    return [(own, peer)]


CALLS = {
    "interp at infinities": lambda xp: xp.interp(
        xp.asarray([0.0, 1, 2, 2.5, 3, 4]),
        xp.asarray([1.0, 2, 3, 4]),
        xp.asarray([1.0, 2, np.inf, 4]),
    ),
    "interp of complex infinities": lambda xp: xp.interp(
        xp.asarray([0.0, 2, 2.5, 4]), xp.asarray([1.0, 3, 5]), xp.asarray([1j, np.inf + 2j, 3])
    ),
    "nan_to_num by arrays": lambda xp: xp.nan_to_num(
        xp.asarray([[np.nan, 1], [np.inf, np.nan]]), nan=xp.asarray([[5.0], [7]]), posinf=xp.ones(2)
    ),
    "gradient of e along coordinates": lambda xp: xp.gradient(
        data(xp, (6,), "e"), xp.asarray([0.1, 0.2, 0.7, 1.3, 1.7, 3.1])
    ),
    "squeeze of a number": lambda xp: xp.squeeze(xp.ones(()), 0),
    "clip by keywords": lambda xp: xp.clip(data(xp, (6,)), min=-1),
    # polynomials
    **{
        f"poly1d {name} of {dtype}": lambda xp, dtype=dtype, call=call: call(
            xp, xp.asarray(np.array([0, 1, 3, 2], dtype))
        )
        for dtype in "bqefdF"
        for name, call in {
            "power": lambda xp, c: (xp.poly1d(c) ** 3).coeffs,
            "power 0": lambda xp, c: (xp.poly1d(c) ** 0).coeffs,
            "of itself": lambda xp, c: xp.polyval(c, xp.poly1d(c)).coeffs,
            "value": lambda xp, c: xp.polyval(c, xp.arange(3)),
            "product": lambda xp, c: xp.polymul(c, c[:2]),
            "product of nothing": lambda xp, c: xp.polymul(c, c[:0]),
            "roots": lambda xp, c: xp.poly(c),
        }.items()
    },
    "poly of a matrix": lambda xp: xp.poly(xp.asarray([[2.0, 1], [1, 3]])),
    # types of results
    "method round of booleans": lambda xp: data(xp, (4,), "?").round(),
    "round of booleans": lambda xp: xp.round(data(xp, (4,), "?")),
    **{
        f"angle of {dtype}": lambda xp, dtype=dtype: xp.angle(data(xp, (4,), dtype))
        for dtype in "?bBhHiqef"
    },
    # statistics
    **{
        f"digitize {'down' if step < 0 else 'up'} {right}": (
            lambda xp, step=step, right=right: xp.digitize(
                xp.arange(10), xp.arange(1, 9, 2)[::step], right
            )
        )
        for step in (1, -1)
        for right in (False, True)
    },
    "digitize of NaN": lambda xp: xp.digitize(
        xp.asarray([1.0, np.nan, 9.0]), xp.asarray([np.nan, 8.0, 8.0, 3.0])
    ),
    "digitize by NaN": lambda xp: xp.digitize(xp.arange(3.0), xp.asarray([np.nan] * 3)),
    "histogramdd of f in a range": lambda xp: xp.histogramdd(
        data(xp, (20, 2), "f"), 5, ((-3, 4), (np.float32(0.1), 3))
    ),
    "histogram of e in a range": lambda xp: xp.histogram(
        data(xp, (20,), "e"), 5, (np.float32(0.1), 3)
    ),
    "cov of one row as columns": lambda xp: xp.cov(data(xp, (3, 1)).T, None, False, True),
    "cov of rows and a row": lambda xp: xp.cov(data(xp, (1,)), data(xp, (1, 1)), False, True),
    "cov of a line": lambda xp: xp.cov(data(xp, (5,)), data(xp, (5,), seed=1), False),
    "bincount of nothing": lambda xp: xp.bincount(data(xp, 0, "q"), data(xp, 0, "d"), 3),
    # creation
    "arange": lambda xp: xp.arange(2, 17, 3),
    "arange down": lambda xp: xp.arange(5, 0, -2, dtype="f"),
    "linspace": lambda xp: xp.linspace(-1, 4, 7),
    "linspace open int": lambda xp: xp.linspace(0, 9, 4, endpoint=False, dtype="i"),
    "linspace of f": lambda xp: xp.linspace(np.float32(0), 120, 50),
    "linspace of arrays of f": lambda xp: xp.linspace(data(xp, (2,), "f"), 120, 50, axis=1),
    "linspace of e and int": lambda xp: xp.linspace(data(xp, (2,), "e"), data(xp, (2,), "b"), 9),
    "linspace of F": lambda xp: xp.linspace(data(xp, (2,), "F"), 1j, 9),
    "linspace of i": lambda xp: xp.linspace(data(xp, (2,), "i"), 7, 9),
    "mgrid of arrays": lambda xp: xp.mgrid[xp.zeros((10, 1)) : xp.ones((10, 1)) : 10j],
    "mgrid of two arrays": lambda xp: xp.mgrid[xp.zeros((5, 1)) : xp.ones((5, 1)) : 5j, 0:5],
    "ogrid of two arrays": lambda xp: xp.ogrid[0:3, xp.zeros((5, 1)) : xp.ones((5, 1)) : 5j],
    "logspace of f": lambda xp: xp.logspace(np.float32(0), 2, 5),
    "logspace": lambda xp: xp.logspace(0, 2, 5),
    "geomspace": lambda xp: xp.geomspace(1, 1000, 4),
    "eye": lambda xp: xp.eye(3, 4, 1, "f"),
    "tri": lambda xp: xp.tri(3, 4, -1),
    "tril": lambda xp: xp.tril(data(xp, (2, 3, 3)), 1),
    "triu": lambda xp: xp.triu(data(xp, (3, 4)), -1),
    "diag 1d": lambda xp: xp.diag(data(xp, (3,)), -2),
    "diag 2d": lambda xp: xp.diag(data(xp, (3, 5)), 1),
    "diagflat": lambda xp: xp.diagflat(data(xp, (2, 2)), 1),
    "vander": lambda xp: xp.vander(data(xp, (4,)), 3),
    "meshgrid": lambda xp: xp.meshgrid(data(xp, (2,)), data(xp, (3,)), indexing="ij"),
    "meshgrid sparse": lambda xp: xp.meshgrid(data(xp, (2,)), data(xp, (3,)), sparse=True),
    "indices": lambda xp: xp.indices((2, 3)),
    "mgrid": lambda xp: xp.mgrid[0:3, 1:2:3j],
    "full": lambda xp: xp.full((2, 0, 3), 7),
    "fromfunction": lambda xp: xp.fromfunction(lambda i, j: i + j, (2, 3)),
    # shapes
    "moveaxis": lambda xp: xp.moveaxis(data(xp, (2, 3, 4)), (0, 1), (2, 0)),
    "rollaxis": lambda xp: xp.rollaxis(data(xp, (2, 3, 4)), 2, 1),
    "expand_dims": lambda xp: xp.expand_dims(data(xp, (2, 3)), (0, -1)),
    "squeeze": lambda xp: xp.squeeze(data(xp, (1, 3, 1)), 0),
    "broadcast_to": lambda xp: xp.broadcast_to(data(xp, (3, 1)), (2, 3, 4)),
    "broadcast_arrays": lambda xp: xp.broadcast_arrays(data(xp, (3, 1)), data(xp, (4,))),
    "atleast": lambda xp: xp.atleast_3d(data(xp, (2, 3))),
    "concatenate": lambda xp: xp.concatenate((data(xp, (2, 3), "f"), data(xp, (1, 3), "q"))),
    "concatenate flat": lambda xp: xp.concatenate((data(xp, (2, 3)), data(xp, (2,))), None),
    "stack": lambda xp: xp.stack((data(xp, (2, 3)), data(xp, (2, 3), seed=1)), -1),
    "hstack": lambda xp: xp.hstack((data(xp, (2,)), data(xp, (3,)))),
    "vstack": lambda xp: xp.vstack((data(xp, (3,)), data(xp, (2, 3)))),
    "dstack": lambda xp: xp.dstack((data(xp, (3,)), data(xp, (3,)))),
    "column_stack": lambda xp: xp.column_stack((data(xp, (3,)), data(xp, (3, 2)))),
    "block": lambda xp: xp.block([[data(xp, (2, 2)), data(xp, (2, 1))], [data(xp, (1, 3))]]),
    "array_split": lambda xp: xp.array_split(data(xp, (7,)), 3),
    "split at": lambda xp: xp.split(data(xp, (2, 6)), [1, 4], 1),
    "tile": lambda xp: xp.tile(data(xp, (2, 3)), (2, 1, 2)),
    "repeat": lambda xp: xp.repeat(data(xp, (2, 3)), [1, 0, 2], 1),
    "delete": lambda xp: xp.delete(data(xp, (4, 3)), [0, 2], 0),
    "insert": lambda xp: xp.insert(data(xp, (5,)), [1, 3], [10, 20]),
    "insert rows": lambda xp: xp.insert(data(xp, (2, 3)), 1, 9, axis=0),
    "append": lambda xp: xp.append(data(xp, (2, 2)), data(xp, (1, 2)), 0),
    "resize": lambda xp: xp.resize(data(xp, (3,)), (2, 4)),
    "trim_zeros": lambda xp: xp.trim_zeros(xp.asarray([0, 0, 3, 0, 1, 0])),
    "flip": lambda xp: xp.flip(data(xp, (2, 3)), 1),
    "roll": lambda xp: xp.roll(data(xp, (3, 4)), (1, -2), (0, 1)),
    "roll flat": lambda xp: xp.roll(data(xp, (3, 4)), 5),
    "rot90": lambda xp: xp.rot90(data(xp, (2, 3)), 3),
    "unstack": lambda xp: xp.unstack(data(xp, (2, 3)), axis=1),
    "pad": lambda xp: xp.pad(data(xp, (2, 3)), ((1, 2), (0, 1)), constant_values=7),
    "pad reflect": lambda xp: xp.pad(data(xp, (3, 4)), 2, "reflect"),
    "pad mean": lambda xp: xp.pad(data(xp, (3, 4)), 1, "mean"),
    "pad ramp": lambda xp: xp.pad(data(xp, (3,)), (2, 1), "linear_ramp", end_values=(5, -4)),
    "pad odd": lambda xp: xp.pad(data(xp, (4,)), 6, "symmetric", reflect_type="odd"),
    # indexing
    "take": lambda xp: xp.take(data(xp, (3, 4)), xp.asarray([[0, 2]]), 1),
    "take_along_axis": lambda xp: xp.take_along_axis(
        data(xp, (3, 4)), xp.argsort(data(xp, (3, 4)), 1), 1
    ),
    "choose": lambda xp: xp.choose(xp.asarray([0, 1, 0]), [data(xp, (3,)), data(xp, (3,), seed=2)]),
    "compress": lambda xp: xp.compress(xp.asarray([True, False, True]), data(xp, (3, 2)), 0),
    "extract": lambda xp: xp.extract(data(xp, (3, 3)) > 0, data(xp, (3, 3))),
    "select": lambda xp: xp.select(
        [data(xp, (5,)) > 1, data(xp, (5,)) < 0], [data(xp, (5,)), -data(xp, (5,))], 9
    ),
    "where": lambda xp: xp.where(data(xp, (3, 1)) > 0, data(xp, (4,), "f"), 2),
    "nonzero": lambda xp: xp.nonzero(data(xp, (3, 4))),
    "argwhere": lambda xp: xp.argwhere(data(xp, (3, 4))),
    "unravel_index": lambda xp: xp.unravel_index(xp.asarray([5, 11]), (3, 4)),
    "ravel_multi_index": lambda xp: xp.ravel_multi_index(
        (xp.asarray([1, 2]), xp.asarray([3, 0])), (3, 4)
    ),
    "r_": lambda xp: xp.r_[xp.asarray([1, 2]), 0, 3:6],
    "c_": lambda xp: xp.c_[xp.asarray([1, 2]), xp.asarray([3, 4])],
    "ix_": lambda xp: data(xp, (4, 5))[xp.ix_(xp.asarray([0, 2]), xp.asarray([1, 3, 4]))],
    "tril_indices": lambda xp: xp.tril_indices(3, 1),
    "diag_indices": lambda xp: xp.diag_indices(3),
    # logic
    "isclose": lambda xp: xp.isclose(data(xp, (5,)), data(xp, (5,)) + 1e-9),
    "isin": lambda xp: xp.isin(data(xp, (3, 4)), xp.asarray([1.0, -2.0])),
    "isposinf": lambda xp: xp.isposinf(xp.asarray([1.0, np.inf, -np.inf])),
    "isreal": lambda xp: xp.isreal(xp.asarray([1 + 0j, 1j])),
    # math
    "sum where": lambda xp: xp.sum(data(xp, (3, 4)), 0, initial=5, where=data(xp, (3, 4)) > 0),
    "nansum": lambda xp: xp.nansum(xp.asarray([[1.0, np.nan], [2.0, 3.0]]), 0),
    "cumsum": lambda xp: xp.cumsum(data(xp, (3, 4), "b"), 1),
    "cumulative_sum": lambda xp: xp.cumulative_sum(data(xp, (4,)), include_initial=True),
    "nancumprod": lambda xp: xp.nancumprod(xp.asarray([2.0, np.nan, 3.0])),
    "diff": lambda xp: xp.diff(data(xp, (3, 5)), 2, prepend=0),
    "ediff1d": lambda xp: xp.ediff1d(data(xp, (4,)), 9.0, xp.asarray([1.0, 2.0])),
    "gradient": lambda xp: xp.gradient(data(xp, (4, 5)), 0.5, 2, edge_order=2),
    "gradient uneven": lambda xp: xp.gradient(data(xp, (4,)), xp.asarray([0.0, 1.0, 3.0, 4.0])),
    "cross": lambda xp: xp.cross(data(xp, (4, 3)), data(xp, (4, 3), seed=3)),
    "trapezoid": lambda xp: xp.trapezoid(data(xp, (3, 4)), dx=0.5),
    "around": lambda xp: xp.around(data(xp, (4,)) / 3, 2),
    "clip": lambda xp: xp.clip(data(xp, (6,)), -1, 2),
    "angle": lambda xp: xp.angle(data(xp, (4,), "D"), deg=True),
    "nan_to_num": lambda xp: xp.nan_to_num(xp.asarray([np.nan, np.inf, -np.inf, 1.0])),
    "convolve": lambda xp: xp.convolve(data(xp, (5,)), data(xp, (3,)), "same"),
    "correlate": lambda xp: xp.correlate(data(xp, (3,)), data(xp, (5,)), "full"),
    "interp": lambda xp: xp.interp(
        xp.asarray([-1.0, 0.5, 2.5, 9.0]), xp.asarray([0.0, 1.0, 3.0]), xp.asarray([5.0, 7.0, 1.0])
    ),
    "sinc": lambda xp: xp.sinc(data(xp, (5,)) / 3),
    "i0": lambda xp: xp.i0(xp.asarray([0.0, 1.0, 7.9, 8.1, 50.0, 400.0])),
    "unwrap": lambda xp: xp.unwrap(xp.asarray([0.0, 3.0, 7.0, -2.0])),
    "packbits": lambda xp: xp.packbits(data(xp, (3, 11)) > 0, axis=1),
    "unpackbits": lambda xp: xp.unpackbits(
        xp.asarray([[3], [129]], "B"), axis=1, bitorder="little"
    ),
    "kaiser": lambda xp: xp.kaiser(7, 3.0),
    "hamming": lambda xp: xp.hamming(6),
    # statistics
    "max initial": lambda xp: xp.max(data(xp, (3, 4)), 1, initial=3),
    "average": lambda xp: xp.average(
        data(xp, (3, 4)), 1, xp.asarray([1.0, 2, 3, 4]), returned=True
    ),
    "median": lambda xp: xp.median(data(xp, (3, 4)), 1),
    "nanmedian": lambda xp: xp.nanmedian(xp.asarray([[1, np.nan, 3], [np.nan] * 3]), 1),
    "percentile": lambda xp: xp.percentile(data(xp, (3, 5)), [10, 55.5, 90], 1),
    "quantile nearest": lambda xp: xp.quantile(data(xp, (7,)), 0.3, method="nearest"),
    "nanvar": lambda xp: xp.nanvar(xp.asarray([[1.0, np.nan, 3.0], [2.0, 4.0, 9.0]]), 1, ddof=1),
    "bincount": lambda xp: xp.bincount(xp.asarray([0, 3, 3, 1]), minlength=6),
    "digitize": lambda xp: xp.digitize(data(xp, (6,)), xp.asarray([-2.0, 0.0, 3.0])),
    "histogram": lambda xp: xp.histogram(data(xp, (40,)), 5),
    "histogram2d": lambda xp: xp.histogram2d(data(xp, (40,)), data(xp, (40,), seed=5), 4),
    "cov": lambda xp: xp.cov(data(xp, (3, 8))),
    "corrcoef": lambda xp: xp.corrcoef(data(xp, (3, 8))),
    # sorting and sets
    "sort": lambda xp: xp.sort(data(xp, (3, 7)), 0),
    "argmax": lambda xp: xp.argmax(data(xp, (3, 7)), 1),
    "searchsorted": lambda xp: xp.searchsorted(xp.sort(data(xp, (9,))), data(xp, (4,)), "right"),
    "lexsort": lambda xp: xp.lexsort(data(xp, (2, 9))),
    "count_nonzero": lambda xp: xp.count_nonzero(data(xp, (3, 7)), 1),
    "unique": lambda xp: xp.unique(data(xp, (20,)), True, True, True),
    "unique axis": lambda xp: xp.unique(data(xp, (9, 2)) > 0, axis=0),
    "intersect1d": lambda xp: xp.intersect1d(
        data(xp, (9,)), data(xp, (9,), seed=4), return_indices=True
    ),
    "setdiff1d": lambda xp: xp.setdiff1d(data(xp, (9,)), xp.asarray([1.0, 2.0])),
    "setxor1d": lambda xp: xp.setxor1d(data(xp, (9,)), xp.asarray([1.0, 7.0])),
    "union1d": lambda xp: xp.union1d(data(xp, (9,)), xp.asarray([1.0, 7.0])),
    # products
    "dot": lambda xp: xp.dot(data(xp, (2, 3)), data(xp, (3, 4))),
    "matmul": lambda xp: xp.matmul(data(xp, (5, 2, 3)), data(xp, (3, 4))),
    "vdot": lambda xp: xp.vdot(data(xp, (4,), "D"), data(xp, (4,), "D", seed=1)),
    "outer": lambda xp: xp.outer(data(xp, (2,)), data(xp, (3,))),
    "tensordot": lambda xp: xp.tensordot(
        data(xp, (2, 3, 4)), data(xp, (4, 3, 5)), ([2, 1], [0, 1])
    ),
    "kron": lambda xp: xp.kron(data(xp, (2, 3)), data(xp, (3, 2))),
    "trace": lambda xp: xp.trace(data(xp, (3, 4)), 1),
    "einsum diagonal": lambda xp: xp.einsum("ii->i", data(xp, (3, 3))),
    "einsum three": lambda xp: xp.einsum(
        "ij,jk,kl->il", data(xp, (2, 3)), data(xp, (3, 4)), data(xp, (4, 5)), optimize=True
    ),
    "einsum ellipsis": lambda xp: xp.einsum("...ij,...jk", data(xp, (2, 3, 4)), data(xp, (4, 5))),
    "norm": lambda xp: xp.linalg.norm(data(xp, (3, 4)), axis=1),
    "norm inf": lambda xp: xp.linalg.norm(data(xp, (3, 4)), np.inf),
    "matrix_power": lambda xp: xp.linalg.matrix_power(data(xp, (3, 3)), 5),
    "apply_along_axis": lambda xp: xp.apply_along_axis(lambda v: v[:2] * 2, 1, data(xp, (3, 4))),
    "polyval": lambda xp: xp.polyval(data(xp, (4,)), data(xp, (5,))),
    "polymul": lambda xp: xp.polymul(data(xp, (3,)), data(xp, (4,))),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_agrees(name):
    compare(CALLS[name])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "max",
        "min",
        "argmax",
        "any",
        "all",
        "mean",
        "var",
        "std",
        "cumsum",
        "sort",
        "nonzero",
    ],
)
def test_method_agrees_over_dtypes(name, dtype):
    if np.dtype(dtype).kind == "c" and name == "prod":
        rtol = 1e-4
    else:
        rtol = 1e-2 if dtype == "e" else 1e-5
    if name == "sort":
        compare(lambda xp: xp.sort(data(xp, (3, 5), dtype)))
        return
    compare(lambda xp: getattr(data(xp, (3, 5), dtype), name)(), rtol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_non_contiguous_and_zero_size(dtype):
    compare(
        lambda xp: xp.concatenate((data(xp, (4, 6), dtype)[::2, ::-1], data(xp, (0, 6), dtype)))
    )
    compare(lambda xp: data(xp, (0, 3), dtype).sum(0))
    compare(lambda xp: data(xp, (4, 6), dtype).T[1:, ::3].copy())


@pytest.mark.parametrize(
    "call",
    [
        lambda xp: xp.concatenate((xp.ones((2, 3)), xp.ones((2, 2)))),
        lambda xp: xp.ones((2, 3)).reshape(4),
        lambda xp: xp.ones((2, 2)).sum(axis=2),
        lambda xp: xp.stack([]),
        lambda xp: xp.arange(3).max(axis=(0, 0)),
        lambda xp: xp.broadcast_to(xp.ones(3), (2, 4)),
        lambda xp: xp.percentile(xp.ones(3), 101),
        lambda xp: xp.bincount(xp.asarray([-1])),
        lambda xp: xp.einsum("ij,jk", xp.ones((2, 3)), xp.ones((2, 3))),
        lambda xp: xp.linalg.norm(xp.ones((2, 2)), 3),
        lambda xp: xp.zeros((2, -1)),
        lambda xp: xp.zeros(0).max(),
    ],
)
def test_errors_are_of_numpys_class(call):
    with pytest.raises(Exception) as peer:
        call(np)
    with pytest.raises(peer.type):
        call(cp)
