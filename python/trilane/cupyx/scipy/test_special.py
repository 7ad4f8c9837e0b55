"""Special functions against mpmath at 40 digits, in float64 and float32, and at their corners."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupyx.scipy import special

inf, nan = np.inf, np.nan
REALS = [-7.3, -2.5, -1.0001, -0.4, 0.25, 0.5, 1.0, 1.4616, 3.0, 9.9, 10.0, 25.5]
POSITIVE = [1e-6, 0.01, 0.3, 0.5, 1.0, 2.2, 7.0, 19.5, 21.0, 60.0, 150.0]
PAIRS = [(a, x) for a in POSITIVE for x in (1e-3, 0.25, 1.0, 6.5, 20.0, 23.0, 58.0, 160.0)]
UNIT = [1e-9, 0.01, 0.25, 0.31, 0.5, 0.6, 0.66, 0.99, 0.999999]


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


# name: (reference, points)
CASES = {
    "gamma": (mp.gamma, REALS),
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))), REALS + [1e5]),
    "rgamma": (mp.rgamma, REALS + [0.0, -3.0]),
    "psi": (mp.digamma, REALS + [1e6]),
    "digamma": (mp.digamma, REALS),
    "zeta": (mp.zeta, [(x, q) for x in (1.01, 2, 3.5, 20, 60) for q in (0.1, 1, 2.5, 11, 300)]),
    "polygamma": (
        lambda n, x: mp.polygamma(int(n), x),
        [(n, x) for n in (0, 1, 2, 3, 5) for x in (0.2, 1.0, 4.5, 50.0)],
    ),
    "gammainc": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), PAIRS),
    "gammaincc": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), PAIRS),
    "beta": (mp.beta, [(a, b) for a in (0.1, 1, 4.5, 30, -2.5) for b in (0.2, 1, 7.25, 100)]),
    "betaln": (
        lambda a, b: mp.log(abs(mp.beta(a, b))),
        [(a, b) for a in (0.1, 1, 4.5, 300, -2.5) for b in (0.2, 2, 7.25, 1000)],
    ),
    "poch": (mp.rf, [(a, m) for a in (0.5, 2, 30.5) for m in (0, 1, 2.5, 6)]),
    "erf": (mp.erf, REALS),
    "erfc": (mp.erfc, REALS),
    "erfcx": (lambda x: mp.exp(mp.mpf(x) ** 2) * mp.erfc(x), REALS),
    "erfinv": (mp.erfinv, [-0.9, -0.1, 0.001, 0.5, 0.9999]),
    "erfcinv": (lambda y: mp.erfinv(1 - mp.mpf(y)), UNIT + [1.5, 1.99]),
    "ndtr": (ndtr, REALS),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1), UNIT[1:]),
    "log_ndtr": (lambda x: mp.log(ndtr(x)), REALS[:-1] + [-30.0]),
    "j0": (lambda x: mp.besselj(0, x), REALS),
    "j1": (lambda x: mp.besselj(1, x), REALS),
    "y0": (lambda x: mp.bessely(0, x), POSITIVE),
    "y1": (lambda x: mp.bessely(1, x), POSITIVE),
    "i0": (lambda x: mp.besseli(0, x), REALS),
    "i1": (lambda x: mp.besseli(1, x), REALS),
    "i0e": (lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), REALS + [39.9, 41.0, 1e4]),
    "i1e": (lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), REALS + [39.9, -41.0, 1e4]),
    "ellipk": (mp.ellipk, [-20.0, -0.5, 0.0, 0.3, 0.9, 0.999]),
    "ellipkm1": (lambda p: mp.ellipk(1 - mp.mpf(p)), [1e-20, 1e-3, 0.5, 1.0, 3.0]),
    "exp2": (lambda x: mp.mpf(2) ** x, REALS),
    "exp10": (lambda x: mp.mpf(10) ** x, REALS),
    "expm1": (mp.expm1, REALS),
    "log1p": (lambda x: mp.log(1 + mp.mpf(x)), POSITIVE),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), REALS),
    "cosm1": (lambda x: mp.cos(x) - 1, [-3.0, 1e-5, 0.1, 2.0]),
    "exprel": (lambda x: mp.expm1(x) / x, REALS + [1e-10]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), REALS),
    "log_expit": (lambda x: -mp.log(1 + mp.exp(-x)), REALS + [-80.0]),
    "logit": (lambda x: mp.log(x / (1 - mp.mpf(x))), UNIT[:4] + UNIT[5:]),
    "xlogy": (lambda x, y: x * mp.log(y), [(2, 0.5), (-3, 7), (0.5, 1e5)]),
    "xlog1py": (lambda x, y: x * mp.log(1 + mp.mpf(y)), [(2, 0.5), (-3, 7), (0.5, 1e-7)]),
    "entr": (lambda x: -x * mp.log(x), POSITIVE),
    "rel_entr": (lambda x, y: x * mp.log(mp.mpf(x) / y), [(2, 0.5), (3, 7), (0.5, 0.6)]),
    "kl_div": (lambda x, y: x * mp.log(mp.mpf(x) / y) - x + y, [(2, 0.5), (3, 7), (0.5, 4)]),
    "boxcox": (lambda x, k: (mp.mpf(x) ** k - 1) / k, [(2, 0.5), (3, -2), (0.5, 1e-3)]),
    "boxcox1p": (lambda x, k: ((1 + mp.mpf(x)) ** k - 1) / k, [(2, 0.5), (3, -2), (1e-5, 3)]),
    "inv_boxcox": (lambda x, k: (mp.mpf(x) * k + 1) ** (1 / mp.mpf(k)), [(2, 0.5), (0.2, -2)]),
    "inv_boxcox1p": (lambda x, k: (mp.mpf(x) * k + 1) ** (1 / mp.mpf(k)) - 1, [(2, 0.5), (1e-3, 2)]),
    "pseudo_huber": (
        lambda d, r: mp.mpf(d) ** 2 * (mp.sqrt(1 + (mp.mpf(r) / d) ** 2) - 1),
        [(1, 2), (0.5, -9), (7, 1e-3)],
    ),
    "chdtr": (lambda v, x: mp.gammainc(v / 2, 0, x / 2, regularized=True), PAIRS[8:]),
    "chdtrc": (lambda v, x: mp.gammainc(v / 2, x / 2, mp.inf, regularized=True), PAIRS[8:]),
    "gdtr": (lambda a, b, x: mp.gammainc(b, 0, a * x, regularized=True), [(2, 3, 0.5), (1, 9, 4)]),
    "gdtrc": (
        lambda a, b, x: mp.gammainc(b, a * x, mp.inf, regularized=True), [(2, 3, 0.5), (1, 9, 4)],
    ),
    "pdtr": (lambda k, m: mp.gammainc(k + 1, m, mp.inf, regularized=True), [(0, 1), (3, 2), (9, 20)]),
    "pdtrc": (lambda k, m: mp.gammainc(k + 1, 0, m, regularized=True), [(0, 1), (3, 2), (9, 20)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["d", "f"])
def test_values(name, dtype):
    reference, points = CASES[name]
    points = [p if isinstance(p, tuple) else (p,) for p in points]
    columns = [np.array(column, dtype) for column in zip(*points)]
    own = getattr(special, name)(*(cp.asarray(c) for c in columns))
    assert own.dtype == np.dtype(dtype)
    with mp.workdps(40):
        exact = [mp.re(reference(*(mp.mpf(float(v)) for v in row))) for row in zip(*columns)]
        expected = np.array([float(v) for v in exact])
    tolerance = 2e-11 if dtype == "d" else 2e-5
    with np.errstate(over="ignore", under="ignore"):
        expected = expected.astype(dtype)
    # Next to a root only the distance counts.
    np.testing.assert_allclose(own.get(), expected, rtol=tolerance, atol=tolerance * 1e-2)


CORNERS = [
    ("gamma", [0.0, -0.0, -2.0, inf, nan], [inf, -inf, nan, inf, nan]),
    ("gammaln", [0.0, -3.0, inf, nan], [inf, inf, inf, nan]),
    ("psi", [0.0, -0.0, -2.0, inf, nan], [-inf, inf, nan, inf, nan]),
    ("gammasgn", [2.5, -0.5, -1.5, nan], [1, -1, 1, nan]),
    ("erfinv", [-1.0, 0.0, 1.0, 1.5], [-inf, 0, inf, nan]),
    ("ndtri", [0.0, 0.5, 1.0, -1.0], [-inf, 0, inf, nan]),
    ("log_ndtr", [inf, -inf, nan], [0, -inf, nan]),
    ("expit", [-inf, inf, -800.0, nan], [0, 1, 0, nan]),
    ("log_expit", [-800.0, 800.0, inf], [-800, 0, 0]),
    ("logit", [0.0, 0.5, 1.0, 2.0], [-inf, 0, inf, nan]),
    ("exprel", [0.0, inf, -inf, nan], [1, inf, 0, nan]),
    ("entr", [0.0, -1.0, nan], [0, -inf, nan]),
    ("ellipk", [1.0, 2.0, -inf], [inf, nan, 0]),
    ("i0e", [inf, -inf], [0, 0]),
    ("y0", [0.0, -1.0], [-inf, nan]),
]
CORNERS_OF_TWO = [
    ("zeta", [(1.0, 1.0), (0.5, 1.0), (2.0, 0.0), (2.5, -0.5)], [inf, nan, inf, nan]),
    (
        "gammainc",
        [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (-1.0, 1.0), (1.0, inf)],
        [1, 0, nan, nan, 1],
    ),
    ("gammaincc", [(0.0, 1.0), (1.0, 0.0), (2.0, inf), (inf, 2.0)], [0, 1, 0, 1]),
    ("beta", [(0.0, 0.0), (0.0, 2.0)], [inf, inf]),
    ("xlogy", [(0.0, 0.0), (0.0, nan), (1.0, 0.0)], [0, nan, -inf]),
    ("xlog1py", [(0.0, -1.0), (0.0, nan)], [0, nan]),
    ("rel_entr", [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (nan, 1.0)], [0, inf, inf, nan]),
    ("kl_div", [(0.0, 1.5), (1.0, 0.0), (1.0, 1.0)], [1.5, inf, 0]),
    ("huber", [(-1.0, 1.0), (2.0, 1.0), (2.0, -3.0)], [inf, 0.5, 4]),
    ("pseudo_huber", [(-1.0, 1.0), (0.0, 3.0), (2.0, 0.0)], [inf, 0, 0]),
    ("boxcox", [(0.0, 0.0), (1.0, 0.0)], [-inf, 0]),
    ("pdtr", [(-1.0, 1.0), (2.0, 0.0)], [nan, 1]),
    ("chdtr", [(2.0, -1.0)], [0]),
]


@pytest.mark.parametrize("name,points,expected", CORNERS + CORNERS_OF_TWO)
def test_corners(name, points, expected):
    columns = [points] if not isinstance(points[0], tuple) else list(zip(*points))
    own = getattr(special, name)(*(cp.asarray(np.array(c)) for c in columns)).get()
    np.testing.assert_array_equal(own, np.array(expected, "d"))
    zeros = own[own == 0]
    assert not np.signbit(zeros).any() or name in ("log_expit", "log_ndtr")


def test_types_and_shapes():
    for given, result in {
        "?": "f",
        "b": "f",
        "H": "f",
        "e": "f",
        "f": "f",
        "i": "d",
        "q": "d",
    }.items():
        own = special.erf(cp.ones((2, 3), given))
        assert own.dtype == np.dtype(result) and own.shape == (2, 3)
    assert special.xlogy(cp.ones(3, "f"), 2.0).dtype == np.float32
    assert special.xlogy(cp.ones(3, "f"), np.float64(2)).dtype == np.float64
    assert special.xlogy(cp.ones((3, 1), "f"), cp.ones((1, 4), "d")).shape == (3, 4)
    assert special.gamma(4.0).shape == () and float(special.gamma(4.0)) == 6
    assert special.erf(cp.zeros((0, 3))).shape == (0, 3)
    strided = cp.arange(12.0).reshape(3, 4)[::2, ::-1]
    np.testing.assert_allclose(
        special.gammaln(strided).get(), special.gammaln(strided.copy()).get()
    )
    for bad in (cp.ones(2, "F"), 1j):
        with pytest.raises(TypeError, match="not supported for the input types"):
            special.erf(bad)
    with pytest.raises(TypeError, match="expected cupy.ndarray"):
        special.erf(np.ones(2))
    with pytest.raises(TypeError, match="expected 2"):
        special.beta(cp.ones(2))
    with pytest.raises(NotImplementedError, match="special.erf: where="):
        special.erf(cp.ones(2), where=True)


def test_outputs():
    x = cp.asarray([0.5, 2.0])
    out = cp.empty(2)
    assert special.erf(x, out) is out
    np.testing.assert_allclose(out.get(), special.erf(x).get())
    narrow = cp.empty(2, "f")
    assert special.erf(x, out=narrow) is narrow
    np.testing.assert_allclose(narrow.get(), special.erf(x).get(), rtol=1e-6)
    assert special.erf(x, dtype="f").dtype == np.float32
    with pytest.raises(TypeError, match="cannot cast"):
        special.erf(x, out=cp.empty(2, "i"))


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
def test_sums_of_exponentials(axis, dtype):
    host = (np.random.RandomState(0).rand(3, 5) * 20 + 700).astype(dtype)
    a, wide = cp.asarray(host), host.astype("longdouble")
    tolerance = 1e-5 if dtype == "f" else 1e-12
    total = np.exp(wide - 700).sum(axis=axis, keepdims=True)
    for keepdims in (False, True):
        expected = (np.log(total) + 700).astype(dtype)
        expected = expected if keepdims else expected.squeeze(axis)
        own = special.logsumexp(a, axis, keepdims=keepdims)
        assert own.dtype == np.dtype(dtype)
        np.testing.assert_allclose(own.get(), expected, tolerance)
    np.testing.assert_allclose(
        special.softmax(a, axis).get(), (np.exp(wide - 700) / total).astype("d"), tolerance * 50
    )
    np.testing.assert_allclose(
        special.log_softmax(a, axis).get(), (wide - 700 - np.log(total)).astype("d"),
        rtol=tolerance * 50, atol=tolerance * 50,
    )  # fmt: skip


def test_logsumexp_with_factors():
    a = np.array([[1.0, 2.0, 3.0], [-inf, 0.5, 800.0]])
    b = np.array([1.0, -2.0, 0.0])
    value, sign = special.logsumexp(cp.asarray(a), 1, cp.asarray(b), return_sign=True)
    expected = np.array([np.e - 2 * np.e**2, -2 * np.exp(0.5)])
    np.testing.assert_array_equal(sign.get(), [-1, -1])
    np.testing.assert_allclose(value.get(), np.log(-expected))
    assert np.isneginf(special.logsumexp(cp.full(3, -inf)).get())
    assert np.isposinf(special.logsumexp(cp.asarray([1.0, inf])).get())


def test_multigammaln():
    for d in (1, 2, 5):
        expected = d * (d - 1) / 4 * np.log(np.pi) + sum(
            float(mp.loggamma(6.5 - j / 2)) for j in range(d)
        )
        np.testing.assert_allclose(special.multigammaln(cp.asarray([6.5]), d).get(), [expected])
    with pytest.raises(ValueError, match="positive integer"):
        special.multigammaln(cp.ones(1), 0)
    with pytest.raises(ValueError, match="not met"):
        special.multigammaln(cp.ones(1), 3)
