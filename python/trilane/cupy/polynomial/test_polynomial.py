"""Power series against NumPy's: value, dtype, shape and exception class."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp

DTYPES = "bHiqefdFD"


def series(xp, dtype):
    return xp.asarray(np.array([3, 5, -7 if dtype not in "H" else 7, 0, 2, 0, 0]).astype(dtype))


CALLS = {
    "polyvander": lambda xp, c: xp.polynomial.polynomial.polyvander(c, 4),
    "polyvander of a number": lambda xp, c: xp.polynomial.polynomial.polyvander(c[0], 2),
    "polyvander of two axes": lambda xp, c: xp.polynomial.polynomial.polyvander(
        c[:4].reshape(2, 2), 1
    ),
    "polycompanion": lambda xp, c: xp.polynomial.polynomial.polycompanion(c),
    "polyval": lambda xp, c: xp.polynomial.polynomial.polyval(xp.arange(3), c),
    "polyval of columns": lambda xp, c: xp.polynomial.polynomial.polyval(
        xp.arange(2.0), c[:6].reshape(3, 2)
    ),
    "polyval by column": lambda xp, c: xp.polynomial.polynomial.polyval(
        xp.arange(2.0), c[:6].reshape(3, 2), tensor=False
    ),
    "polyvalfromroots": lambda xp, c: xp.polynomial.polynomial.polyvalfromroots(xp.arange(3.0), c),
    "as_series": lambda xp, c: xp.polynomial.polyutils.as_series([c, xp.zeros(3, "f")])[0],
    "as_series untrimmed": lambda xp, c: xp.polynomial.polyutils.as_series([c], trim=False)[0],
    "trimseq": lambda xp, c: xp.polynomial.polyutils.trimseq(c),
    "trimseq of zeros": lambda xp, c: xp.polynomial.polyutils.trimseq(c * 0),
    "trimcoef": lambda xp, c: xp.polynomial.polyutils.trimcoef(c, 2),
    "trimcoef of all": lambda xp, c: xp.polynomial.polyutils.trimcoef(c, 20),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_power_series_agree_with_numpy(name, dtype):
    own, peer = CALLS[name](cp, series(cp, dtype)), CALLS[name](np, series(np, dtype))
    assert isinstance(own, cp.ndarray)
    assert (own.dtype, own.shape) == (peer.dtype, peer.shape)
    np.testing.assert_allclose(own.get(), peer, rtol=5e-3 if dtype == "e" else 1e-6)


REFUSALS = {
    "negative degree": lambda xp: xp.polynomial.polynomial.polyvander(xp.ones(3), -1),
    "degree of a float": lambda xp: xp.polynomial.polynomial.polyvander(xp.ones(3), 2.0),
    "no root": lambda xp: xp.polynomial.polynomial.polycompanion(xp.array([3.0, 0, 0])),
    "booleans": lambda xp: xp.polynomial.polyutils.as_series([xp.ones(3, bool)]),
    "empty": lambda xp: xp.polynomial.polyutils.as_series([xp.ones(0)]),
    "two axes": lambda xp: xp.polynomial.polyutils.trimcoef(xp.ones((2, 2))),
    "negative tolerance": lambda xp: xp.polynomial.polyutils.trimcoef(xp.ones(2), -1),
    "trimseq of a number": lambda xp: xp.polynomial.polyutils.trimseq(xp.ones(())),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_are_numpys(name, refused_as_by_numpy):
    refused_as_by_numpy(REFUSALS[name])
