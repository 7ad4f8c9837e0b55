"""Polynomials by coefficients, highest power first."""

from __future__ import annotations

import numpy as np

from trilane._missing import missing
from trilane.cupy._creation import array, asarray
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._math import convolve


def _coefficients(p) -> ndarray:
    if isinstance(p, poly1d):
        return p.coeffs
    p = asarray(p)
    if p.ndim > 1:
        raise ValueError("Polynomial must be 1d only")
    return p.reshape(-1)


def _pad(a, length: int) -> ndarray:
    if a.size == length:
        return a
    return engine.concatenate([engine.full((length - a.size,), 0, a.dtype), a], 0)


def _result(a1, a2, values):
    return poly1d(values) if isinstance(a1, poly1d) or isinstance(a2, poly1d) else values


def polyadd(a1, a2):
    """Return the sum of two polynomials."""
    x, y = _coefficients(a1), _coefficients(a2)
    n = max(x.size, y.size)
    return _result(a1, a2, _pad(x, n) + _pad(y, n))


def polysub(a1, a2):
    """Return the difference of two polynomials."""
    x, y = _coefficients(a1), _coefficients(a2)
    n = max(x.size, y.size)
    return _result(a1, a2, _pad(x, n) - _pad(y, n))


def polymul(a1, a2):
    """Return the product of two polynomials."""
    left, right = (a if isinstance(a, poly1d) else poly1d(a) for a in (a1, a2))
    return _result(a1, a2, convolve(left.coeffs, right.coeffs))


def polyval(p, x):
    """Return the values of a polynomial at points, by Horner's rule."""
    if not isinstance(p, poly1d) and np.ndim(p) == 0:
        raise TypeError("polyval: got a number, expected coefficients")
    coefficients = _coefficients(p)
    if isinstance(x, poly1d):
        result = x * 0
        for c in coefficients:
            result = polyadd(polymul(result, x), poly1d(c.reshape(1)))
        return result
    x = asarray(x)
    dtype = np.result_type(coefficients.dtype, x.dtype)
    result = engine.full(x.shape, 0, dtype)
    for c in coefficients:
        result = result * x + c
    return result


def poly(seq_of_zeros) -> ndarray:
    """Return the coefficients of the polynomial with the given roots."""
    roots_ = asarray(seq_of_zeros)
    if roots_.ndim == 2:
        if roots_.shape[0] != roots_.shape[1] or roots_.size == 0:
            raise ValueError("input must be 1d or non-empty square 2d array.")
        from trilane.cupy import linalg

        hermitian = bool((roots_ == roots_.conj().T).all())
        return poly(linalg.eigvalsh(roots_) if hermitian else linalg.eigvals(roots_))
    if roots_.ndim > 1:
        raise ValueError("input must be 1d or square 2d array")
    roots_ = roots_.reshape(1) if roots_.ndim == 0 else roots_
    dtype = np.dtype(np.mintypecode(roots_.dtype.char))
    result = engine.full((1,), 1, dtype)
    for root in roots_:
        factor = engine.concatenate(
            [engine.full((1,), 1, dtype), -root.reshape(1).astype(dtype)], 0
        )
        result = convolve(result, factor)
    if dtype.kind == "c" and bool((engine.sort(roots_, 0) == engine.sort(roots_.conj(), 0)).all()):
        return result.real.copy()  # the roots are real or in conjugate pairs
    return result


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Return the coefficients of the least-squares polynomial, found on the host.

    Returns
    -------
    ndarray, or with `full` also residuals, rank, singular values and `rcond`, or with `cov` also
    the covariance matrix
    """
    x, y = asarray(x), asarray(y)
    if x.dtype.char == "e" and y.dtype.char == "e":
        raise TypeError("float16 unsupported")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.size != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    host_w = None if w is None else asarray(w).get()
    dtype = np.result_type(x.dtype, y.dtype, np.float64)
    made = np.polyfit(
        x.get().astype(dtype), y.get().astype(dtype), deg, rcond, full=full, w=host_w, cov=cov
    )
    if isinstance(made, tuple):
        return tuple(array(part) if isinstance(part, np.ndarray) else part for part in made)
    return array(made)


def roots(p) -> ndarray:
    """Return the roots of a polynomial, found on the host."""
    return array(np.roots(_coefficients(p).get()))


class poly1d:
    """A polynomial of one variable.

    Parameters
    ----------
    c_or_r : array_like or poly1d
        Coefficients, highest power first, or roots if `r`.
    r : bool
    variable : str, optional
        The letter in printed forms.
    """

    __hash__ = None
    __array_ufunc__ = None

    def __init__(self, c_or_r, r=False, variable=None) -> None:
        if isinstance(c_or_r, poly1d):
            self._variable = c_or_r._variable if variable is None else variable
            self._coeffs = c_or_r._coeffs
            return
        if isinstance(c_or_r, np.poly1d):
            variable = c_or_r.variable if variable is None else variable
            c_or_r = c_or_r.coeffs
        values = poly(c_or_r) if r else asarray(c_or_r)
        if values.ndim > 1:
            raise ValueError("Polynomial must be 1d only")
        values = values.reshape(-1)
        places = engine.flatnonzero(values)
        first = int(places[0]) if places.size else max(values.size - 1, 0)
        values = values[first:]
        if values.size == 0:
            values = engine.full((1,), 0, values.dtype)
        self._coeffs = values
        self._variable = "x" if variable is None else variable

    @property
    def coeffs(self) -> ndarray:
        """Coefficients, highest power first."""
        return self._coeffs

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        """Degree."""
        return self._coeffs.size - 1

    o = order

    @property
    def variable(self) -> str:
        """The letter in printed forms."""
        return self._variable

    @property
    def roots(self) -> ndarray:
        """Roots."""
        return roots(self._coeffs)

    r = roots

    def get(self, stream=None, out=None) -> np.poly1d:
        """Return a NumPy polynomial."""
        values = self._coeffs.get(stream=stream)
        result = np.poly1d(values, variable=self._variable)
        if out is not None:
            out.coeffs = values
            return out
        return result

    def set(self, polyin, stream=None) -> None:
        """Take the coefficients of a NumPy polynomial."""
        if not isinstance(polyin, np.poly1d):
            raise TypeError("Only numpy.poly1d can be set to cupy.poly1d")
        self._variable = polyin.variable
        self._coeffs = array(polyin.coeffs)

    def __call__(self, val):
        return polyval(self, val)

    def __len__(self) -> int:
        return self.order

    def __iter__(self):
        return iter(self._coeffs)

    def __getitem__(self, power: int):
        if 0 <= power <= self.order:
            return self._coeffs[self.order - power]
        return engine.full((), 0, self._coeffs.dtype)

    def __setitem__(self, power: int, value) -> None:
        if power < 0:
            raise ValueError("Negative powers are not supported.")
        if power > self.order:
            self._coeffs = _pad(self._coeffs, power + 1)
        else:
            self._coeffs = self._coeffs.copy()
        self._coeffs[self.order - power] = value

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
        )

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __neg__(self):
        return poly1d(-self._coeffs)

    def __pos__(self):
        return self

    def _binary(self, other, function, swap: bool = False):
        if isinstance(other, (poly1d, ndarray, int, float, complex, np.generic)):
            other = other if isinstance(other, poly1d) else poly1d(other)
            return function(other, self) if swap else function(self, other)
        return NotImplemented

    def __add__(self, other):
        return self._binary(other, polyadd)

    def __radd__(self, other):
        return self._binary(other, polyadd, True)

    def __sub__(self, other):
        return self._binary(other, polysub)

    def __rsub__(self, other):
        return self._binary(other, polysub, True)

    def __mul__(self, other):
        if np.isscalar(other):
            return poly1d(self._coeffs * other)
        return self._binary(other, polymul)

    def __rmul__(self, other):
        if np.isscalar(other):
            return poly1d(other * self._coeffs)
        return self._binary(other, polymul, True)

    def __truediv__(self, other):
        if np.isscalar(other):
            return poly1d(self._coeffs / other)
        raise missing("cupy.polydiv")

    def __pow__(self, exponent):
        if not np.isscalar(exponent) or int(exponent) != exponent or exponent < 0:
            raise ValueError("Power to non-negative integers only.")
        result = poly1d(engine.full((1,), 1, np.dtype(np.int64)))
        for _ in range(exponent):  # TypeError for a float, as NumPy's
            result = polymul(self, result)
        return result

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            raise NotImplementedError("poly1d compares with poly1d only")
        if self._coeffs.shape != other._coeffs.shape:
            return False
        return bool((self._coeffs == other._coeffs).all())

    def __ne__(self, other):
        return not self == other

    def deriv(self, m=1) -> poly1d:
        """Return the m-th derivative."""
        return poly1d(array(np.polyder(self._coeffs.get(), m)), variable=self._variable)

    def integ(self, m=1, k=0) -> poly1d:
        """Return the m-th antiderivative."""
        return poly1d(array(np.polyint(self._coeffs.get(), m, k)), variable=self._variable)
