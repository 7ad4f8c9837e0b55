"""Every distribution once: what RandomState and Generator draw, and how their arguments are checked."""

from __future__ import annotations

import functools

import numpy as np

from trilane._missing import no_attribute as _no_attribute
from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import array, asarray, empty
from trilane.cupy._engine import engine, engine_take, ndarray
from trilane.cupy._helpers import SCALARS, normalize_shape, product

# name -> (number of parameters, expression of a, b, c and the element's stream s, kind of result)
_TEXTS = {
    "gamma": (2, "draw_gamma(s, a) * b", "float"),
    "beta": (2, "draw_beta(s, a, b)", "float"),
    "chisquare": (1, "2.0 * draw_gamma(s, a / 2.0)", "float"),
    "f": (2, "(draw_gamma(s, a / 2.0) * b) / (draw_gamma(s, b / 2.0) * a)", "float"),
    "standard_t": (1, "s.normal() * sqrt(a / 2.0 / draw_gamma(s, a / 2.0))", "float"),
    "laplace": (2, "a + (s.uniform() < 0.5 ? -b : b) * s.exponential()", "float"),
    "logistic": (2, "draw_logistic(s, a, b)", "float"),
    "gumbel": (2, "a - b * log(s.exponential())", "float"),
    "lognormal": (2, "exp(a + b * s.normal())", "float"),
    "pareto": (1, "expm1(s.exponential() / a)", "float"),
    "power": (1, "pow(-expm1(-s.exponential()), 1.0 / a)", "float"),
    "rayleigh": (1, "a * sqrt(2.0 * s.exponential())", "float"),
    "standard_cauchy": (0, "tan(3.14159265358979323846 * (s.uniform() - 0.5))", "float"),
    "triangular": (3, "draw_triangular(s, a, b, c)", "float"),
    "vonmises": (2, "draw_vonmises(s, a, b)", "float"),
    "wald": (2, "draw_wald(s, a, b)", "float"),
    "weibull": (1, "pow(s.exponential(), 1.0 / a)", "float"),
    "noncentral_chisquare": (2, "draw_noncentral_chisquare(s, a, b)", "float"),
    "noncentral_f": (
        3,
        "(draw_noncentral_chisquare(s, a, c) * b) / (2.0 * draw_gamma(s, b / 2.0) * a)",
        "float",
    ),
    "poisson": (1, "draw_poisson(s, a)", "int"),
    "binomial": (2, "draw_binomial(s, a, b)", "int"),
    "geometric": (1, "draw_geometric(s, a)", "int"),
    "hypergeometric": (3, "draw_hypergeometric(s, a, b, c)", "int"),
    "logseries": (1, "draw_logseries(s, a)", "int"),
    "negative_binomial": (2, "draw_poisson(s, draw_gamma(s, a) * (1.0 - b) / b)", "int"),
    "zipf": (1, "draw_zipf(s, a)", "int"),
}

_PREAMBLE = """
#include <trilane/distributions.h>
__device__ inline double draw_logistic(PhiloxStream& s, double a, double b) {
    const double u = s.uniform();
    return a + b * log(u / (1.0 - u));
}
__device__ inline double draw_triangular(PhiloxStream& s, double a, double b, double c) {
    const double u = s.uniform(), width = c - a, rise = (b - a) / width;
    return u <= rise ? a + sqrt(u * width * (b - a)) : c - sqrt((1.0 - u) * width * (c - b));
}
"""


@functools.cache
def _kernel(name: str):
    from trilane.cupy._kernel import ElementwiseKernel

    count, text, _ = _TEXTS[name]
    declared = "".join(f"float64 {letter}, " for letter in "abc"[:count])
    return ElementwiseKernel(
        f"{declared}uint64 seed, uint64 call",
        "T value",
        f"PhiloxStream s(seed, call, i); value = static_cast<T>({text})",
        f"random_{name}",
        preamble=_PREAMBLE,
        reduce_dims=True,
    )


def check_floating(dtype) -> np.dtype:
    """A dtype that draws can have: float32 or float64."""
    dtype = np.dtype(dtype)
    if dtype.char not in "fd":
        raise TypeError(
            f"Unsupported dtype {dtype.name} for random numbers: expected float32 or float64"
        )
    return dtype


class Distributions:
    """Draws. Subclasses hold the seed and the counter.

    Attributes
    ----------
    _seed : int
        Key of the counter-based generator, 64 bits.
    _offset : int
        How many blocks of it are used up.
    """

    _seed = 0
    _offset = 0

    # --- plumbing

    def _engine_draw(self, function, *args) -> ndarray:
        result, used = function(*args, self._seed, self._offset)
        self._offset += used
        return result

    def _draw(self, name: str, size, dtype, *params, check: bool = True) -> ndarray:
        params = [p if isinstance(p, SCALARS) else asarray(p) for p in params]
        shape = np.broadcast_shapes(*(() if isinstance(p, SCALARS) else p.shape for p in params))
        if size is not None:
            size = normalize_shape(size)
            if np.broadcast_shapes(shape, size) != size:
                raise ValueError(
                    f"{name}: parameters of shape {shape} do not broadcast to size {size}"
                )
            shape = size
        result = empty(shape, dtype)
        if result.size == 0:
            return result
        values = [
            np.float64(p)
            if isinstance(p, SCALARS)
            else engine.broadcast_to(p.astype(np.float64, copy=False), shape)
            for p in params
        ]
        _kernel(name)(*values, np.uint64(self._seed), np.uint64(self._offset), result)
        self._offset += 1
        return result

    def _uniform(self, low, high, size, dtype) -> ndarray:
        dtype = check_floating(dtype)
        if isinstance(low, SCALARS) and isinstance(high, SCALARS):
            shape = () if size is None else normalize_shape(size)
            return self._engine_draw(engine.random_uniform, shape, dtype, float(low), float(high))
        low, high = asarray(low), asarray(high)
        shape = (
            np.broadcast_shapes(low.shape, high.shape) if size is None else normalize_shape(size)
        )
        unit = self._engine_draw(engine.random_uniform, shape, dtype, 0.0, 1.0)
        return (low + (high - low) * unit).astype(dtype, copy=False)

    def _normal(self, loc, scale, size, dtype) -> ndarray:
        dtype = check_floating(dtype)
        if isinstance(loc, SCALARS) and isinstance(scale, SCALARS):
            shape = () if size is None else normalize_shape(size)
            return self._engine_draw(engine.random_normal, shape, dtype, float(loc), float(scale))
        loc, scale = asarray(loc), asarray(scale)
        shape = (
            np.broadcast_shapes(loc.shape, scale.shape) if size is None else normalize_shape(size)
        )
        unit = self._engine_draw(engine.random_normal, shape, dtype, 0.0, 1.0)
        return (loc + scale * unit).astype(dtype, copy=False)

    def _exponential(self, scale, size, dtype) -> ndarray:
        dtype = check_floating(dtype)
        if isinstance(scale, SCALARS):
            if scale < 0:
                raise ValueError("scale < 0")
            shape = () if size is None else normalize_shape(size)
            return self._engine_draw(engine.random_exponential, shape, dtype, float(scale))
        scale = asarray(scale)
        shape = scale.shape if size is None else normalize_shape(size)
        unit = self._engine_draw(engine.random_exponential, shape, dtype, 1.0)
        return (scale * unit).astype(dtype, copy=False)

    def _integers(self, low: int, high: int, size, dtype) -> ndarray:
        """Integers of low <= x < high."""
        dtype = np.dtype(dtype)
        shape = () if size is None else normalize_shape(size)
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if low < limits[0]:
            raise ValueError(f"low is out of bounds for {dtype.name}")
        if high > limits[1] + 1:
            raise ValueError(f"high is out of bounds for {dtype.name}")
        if low >= high:
            raise ValueError("low >= high")
        return self._engine_draw(engine.random_integers, shape, dtype, int(low), int(high))

    def _permutation(self, n: int) -> ndarray:
        return self._engine_draw(engine.random_permutation, int(n))

    def _permuted(self, a, axis: int = 0) -> ndarray:
        if isinstance(a, (int, np.integer)):
            return self._permutation(int(a))
        a = array(a) if not isinstance(a, ndarray) else a
        if a.ndim == 0:
            raise TypeError("An array whose ndim is 0 is not supported")
        return a.take(self._permutation(a.shape[axis]), axis)

    def _choice(self, a, size, replace: bool, p, axis: int = 0, shuffle: bool = True) -> ndarray:
        if isinstance(a, (int, np.integer)):
            count, source = int(a), None
            if count < 0 or (count == 0 and (size is None or product(normalize_shape(size)))):
                raise ValueError("a must be greater than or equal to 0")
        else:
            source = array(a) if not isinstance(a, ndarray) else a
            if source.ndim == 0:
                raise ValueError("a must be 1-dimensional or an integer")
            count = source.shape[axis]
        shape = () if size is None else normalize_shape(size)
        wanted = product(shape)
        if count == 0 and wanted:
            raise ValueError("a cannot be empty unless no samples are taken")
        weights = None if p is None else self._weights(p, count)
        if not replace and wanted > count:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        if wanted == 0:
            index = empty(shape, np.int64)
        elif not replace:
            if weights is None:
                index = self._permutation(count)[:wanted].reshape(shape)
            else:
                # Gumbel's trick: the largest keys are a weighted sample without replacement.
                keys = uf.log(weights) + self._draw("gumbel", count, np.float64, 0.0, 1.0)
                index = engine.argsort(-keys, -1)[:wanted].reshape(shape)
        elif weights is None:
            index = self._integers(0, count, shape, np.int64)
        else:
            total = weights.cumsum()
            total = total / total[-1]
            unit = self._engine_draw(engine.random_uniform, shape, np.dtype(np.float64), 0.0, 1.0)
            index = engine.searchsorted(total, unit, "right", None)
        return index if source is None else engine_take(source, index, axis, None, "raise")

    @staticmethod
    def _weights(p, count: int) -> ndarray:
        weights = asarray(p)
        if weights.ndim != 1:
            raise ValueError("p must be 1-dimensional")
        if weights.size != count:
            raise ValueError("a and p must have same size")
        if bool((weights < 0).any()):
            raise ValueError("probabilities are not non-negative")
        if abs(float(weights.sum()) - 1) > 1e-4:
            raise ValueError("probabilities do not sum to 1")
        return weights.astype(np.float64)

    def _dirichlet(self, alpha, size, dtype) -> ndarray:
        alpha = asarray(alpha)
        if bool((alpha <= 0).any()):
            raise ValueError("alpha <= 0")
        shape = alpha.shape if size is None else normalize_shape(size) + alpha.shape
        y = self._draw("gamma", shape, dtype, alpha, 1.0)
        return y / y.sum(axis=-1, keepdims=True)

    def _multinomial(self, n: int, pvals, size) -> ndarray:
        pvals = array(pvals, np.float64)
        if float(pvals[:-1].sum()) > 1.0 + 1e-12:
            raise ValueError("sum(pvals[:-1]) > 1.0")
        shape = () if size is None else normalize_shape(size)
        result = empty((*shape, pvals.size), np.int64)
        left = engine.full(shape, int(n), np.int64)
        rest = 1.0
        for i, p in enumerate(pvals.tolist()[:-1]):
            share = min(1.0, p / rest) if rest > 0 else 0.0
            result[..., i] = drawn = self._draw("binomial", shape, np.int64, left, share)
            left = left - drawn
            rest -= p
        result[..., -1] = left
        return result

    def _multivariate_normal(self, mean, cov, size, check_valid, tol, method, dtype) -> ndarray:
        mean, cov = asarray(mean), asarray(cov)
        if mean.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        if mean.shape[0] != cov.shape[0]:
            raise ValueError("mean and cov must have same length")
        if method != "cholesky":
            raise NotImplementedError(
                f"multivariate_normal(method={method!r}): the device's LAPACK interface; use 'cholesky'"
            )
        from trilane.cupy.linalg import cholesky

        shape = () if size is None else normalize_shape(size)
        z = self._normal(0.0, 1.0, (*shape, mean.size), np.float64)
        result = mean + engine.matmul(z, cholesky(cov.astype(np.float64)).T)
        return result.astype(dtype, copy=False)


def require_positive(name: str, value, allow_zero: bool = False) -> None:
    """Refuse a parameter out of its range (scalars and arrays alike)."""
    value = value if isinstance(value, ndarray) else np.asarray(value)
    bad = value < 0 if allow_zero else value <= 0
    if bool(bad.any()):
        raise ValueError(f"{name} {'<' if allow_zero else '<='} 0")


def __getattr__(name: str):
    """The functions of the namespace, where CuPy keeps them."""
    import trilane.cupy.random as namespace

    if name in namespace._FUNCTIONS:
        return getattr(namespace, name)
    raise _no_attribute(__name__, name)
