"""Generator, bit generators and default_rng."""

from __future__ import annotations

import numpy as np

from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import normalize_axis_index, normalize_shape
from trilane.cupy.random._distributions import Distributions, require_positive
from trilane.cupy.random._generator import _host, _probability, seed_to_key


class BitGenerator:
    """A source of random bits: Philox-4x32-10 under each of the names.

    Parameters
    ----------
    seed : int, array of int or SeedSequence, optional
    size : int
        Accepted; there is no state per thread.
    """

    def __init__(self, seed=None, *, size: int = -1) -> None:
        if isinstance(seed, np.random.SeedSequence):
            self._key = int(seed.generate_state(1, np.uint64)[0])
        else:
            self._key = seed_to_key(seed)
        self._offset = 0

    def random_raw(self, size=None, output=True):
        """Return raw 32-bit words."""
        shape = () if size is None else normalize_shape(size)
        result, used = engine.random_bits(shape, np.dtype(np.uint32), self._key, self._offset)
        self._offset += used
        return result if output else None

    @property
    def state_size(self) -> int:
        """Bytes of state: key and counter."""
        return 16


class XORWOW(BitGenerator):
    """The name of a generator of cuRAND; the bits are Philox's."""


class MRG32k3a(BitGenerator):
    """The name of a generator of cuRAND; the bits are Philox's."""


class Philox4x3210(BitGenerator):
    """Philox-4x32-10."""


class Generator(Distributions):
    """Random numbers by NumPy's newer interface.

    Parameters
    ----------
    bit_generator : BitGenerator
    """

    def __init__(self, bit_generator: BitGenerator) -> None:
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError(
                f"Generator: expected a BitGenerator: got {type(bit_generator).__name__}"
            )
        self.bit_generator = bit_generator

    @property
    def _seed(self) -> int:
        return self.bit_generator._key

    @property
    def _offset(self) -> int:
        return self.bit_generator._offset

    @_offset.setter
    def _offset(self, value: int) -> None:
        self.bit_generator._offset = value

    def _into(self, result: ndarray, out) -> ndarray:
        if out is None:
            return result
        if out.shape != result.shape:
            raise ValueError(f"size and out.shape do not match: got {result.shape} and {out.shape}")
        if not (out.c_contiguous or out.f_contiguous):
            raise ValueError("Supplied output array must be contiguous")
        engine.copyto(out, result, "no")
        return out

    def random(self, size=None, dtype=np.float64, out=None) -> ndarray:
        """Return uniform numbers of [0, 1)."""
        size = out.shape if size is None and out is not None else size
        return self._into(self._uniform(0.0, 1.0, size, dtype), out)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False) -> ndarray:
        """Return integers of [low, high), or [low, high] with `endpoint`."""
        if high is None:
            low, high = 0, low
        return self._integers(int(low), int(high) + bool(endpoint), size, dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=np.float64) -> ndarray:
        """Return uniform numbers of [low, high)."""
        return self._uniform(low, high, size, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None) -> ndarray:
        """Return normal numbers."""
        return self._normal(loc, scale, size, np.float64)

    def standard_normal(self, size=None, dtype=np.float64, out=None) -> ndarray:
        """Return standard normal numbers."""
        size = out.shape if size is None and out is not None else size
        return self._into(self._normal(0.0, 1.0, size, dtype), out)

    def exponential(self, scale=1.0, size=None) -> ndarray:
        """Return exponential numbers of a mean."""
        return self._exponential(scale, size, np.float64)

    def standard_exponential(self, size=None, dtype=np.float64, method="inv", out=None) -> ndarray:
        """Return exponential numbers of mean one."""
        size = out.shape if size is None and out is not None else size
        return self._into(self._exponential(1.0, size, dtype), out)

    def gamma(self, shape, scale=1.0, size=None) -> ndarray:
        """Return gamma numbers."""
        require_positive("shape", shape, True)
        require_positive("scale", scale, True)
        return self._draw("gamma", size, np.float64, shape, scale)

    def standard_gamma(self, shape, size=None, dtype=np.float64, out=None) -> ndarray:
        """Return gamma numbers of scale one."""
        require_positive("shape", shape, True)
        if np.dtype(dtype).char not in "fd":
            raise TypeError(f"Unsupported dtype {np.dtype(dtype)} for standard_gamma")
        if out is not None and not out.c_contiguous:
            raise ValueError("Supplied output array must be C-contiguous")
        size = out.shape if size is None and out is not None else size
        return self._into(self._draw("gamma", size, dtype, shape, 1.0), out)

    def beta(self, a, b, size=None, dtype=np.float64) -> ndarray:
        """Return beta numbers."""
        require_positive("a", a)
        require_positive("b", b)
        return self._draw("beta", size, dtype, a, b)

    def chisquare(self, df, size=None) -> ndarray:
        """Return chi-square numbers."""
        require_positive("df", df)
        return self._draw("chisquare", size, np.float64, df)

    def dirichlet(self, alpha, size=None) -> ndarray:
        """Return points of the simplex."""
        return self._dirichlet(alpha, size, np.float64)

    def f(self, dfnum, dfden, size=None) -> ndarray:
        """Return F numbers."""
        require_positive("dfnum", dfnum)
        require_positive("dfden", dfden)
        return self._draw("f", size, np.float64, dfnum, dfden)

    def binomial(self, n, p, size=None) -> ndarray:
        """Return numbers of successes in `n` trials."""
        require_positive("n", n, True)
        _probability("p", p)
        return self._draw("binomial", size, np.int64, n, p)

    def geometric(self, p, size=None) -> ndarray:
        """Return numbers of trials up to the first success."""
        _probability("p", p)
        require_positive("p", p)
        return self._draw("geometric", size, np.int64, p)

    def hypergeometric(self, ngood, nbad, nsample, size=None) -> ndarray:
        """Return numbers of good ones in a sample without replacement."""
        for name, value in (("ngood", ngood), ("nbad", nbad), ("nsample", nsample)):
            require_positive(name, value, True)
        if np.any(np.asarray(_host(ngood)) + _host(nbad) < _host(nsample)):
            raise ValueError("ngood + nbad < nsample")
        return self._draw("hypergeometric", size, np.int64, ngood, nbad, nsample)

    def logseries(self, p, size=None) -> ndarray:
        """Return numbers of the logarithmic series distribution."""
        if np.any(np.asarray(_host(p)) <= 0) or np.any(np.asarray(_host(p)) >= 1):
            raise ValueError("p must be greater than 0 and less than 1")
        return self._draw("logseries", size, np.int64, p)

    def negative_binomial(self, n, p, size=None) -> ndarray:
        """Return numbers of failures before the n-th success."""
        require_positive("n", n)
        _probability("p", p)
        return self._draw("negative_binomial", size, np.int64, n, p)

    def poisson(self, lam=1.0, size=None) -> ndarray:
        """Return Poisson numbers."""
        require_positive("lam", lam, True)
        return self._draw("poisson", size, np.int64, lam)

    def power(self, a, size=None) -> ndarray:
        """Return numbers of the power distribution on [0, 1]."""
        require_positive("a", a)
        return self._draw("power", size, np.float64, a)

    def weibull(self, a, size=None) -> ndarray:
        """Return Weibull numbers."""
        require_positive("a", a, True)
        return self._draw("weibull", size, np.float64, a)

    def laplace(self, loc=0.0, scale=1.0, size=None) -> ndarray:
        """Return Laplace numbers."""
        return self._draw("laplace", size, np.float64, loc, scale)

    def logistic(self, loc=0.0, scale=1.0, size=None) -> ndarray:
        """Return logistic numbers."""
        return self._draw("logistic", size, np.float64, loc, scale)

    def lognormal(self, mean=0.0, sigma=1.0, size=None) -> ndarray:
        """Return numbers whose logarithm is normal."""
        require_positive("sigma", sigma, True)
        return self._draw("lognormal", size, np.float64, mean, sigma)

    def gumbel(self, loc=0.0, scale=1.0, size=None) -> ndarray:
        """Return Gumbel numbers."""
        return self._draw("gumbel", size, np.float64, loc, scale)

    def rayleigh(self, scale=1.0, size=None) -> ndarray:
        """Return Rayleigh numbers."""
        require_positive("scale", scale, True)
        return self._draw("rayleigh", size, np.float64, scale)

    def multinomial(self, n, pvals, size=None) -> ndarray:
        """Return numbers of each outcome in `n` trials."""
        return self._multinomial(n, pvals, size)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True) -> ndarray:
        """Return a sample of an array or of ``range(a)``."""
        return self._choice(a, size, replace, p, axis, shuffle)

    def permutation(self, x, axis=0) -> ndarray:
        """Return a shuffled copy along an axis, or a permutation of ``range(x)``."""
        return self._permuted(x, axis)

    def permuted(self, x, *, axis=None, out=None) -> ndarray:
        """Return a copy in which each slice along an axis is shuffled on its own."""
        if axis is None:
            result = x.ravel().take(self._permutation(x.size)).reshape(x.shape)
        else:
            axis = normalize_axis_index(axis, x.ndim)
            keys = self._uniform(0.0, 1.0, x.shape, np.float64)
            result = engine.take_along_axis(x, engine.argsort(keys, axis), axis)
        return self._into(result, out)

    def shuffle(self, x, axis=0) -> None:
        """Shuffle along an axis in place."""
        x[...] = self._permuted(x, axis)


def default_rng(seed=None) -> Generator:
    """Make a generator from a seed, a bit generator or a generator (returned as it is)."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, BitGenerator):
        return Generator(seed)
    return Generator(XORWOW(seed))
