"""RandomState, and the one that the functions of the module use."""

from __future__ import annotations

import os

import numpy as np

from trilane import _core
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import normalize_shape
from trilane.cupy.random._distributions import Distributions, require_positive

# Device number -> RandomState; reset_states() makes it anew.
_random_states: dict[int, RandomState] = {}


def seed_to_key(seed) -> int:
    """Turn what users give as a seed into 64 bits.

    Raises
    ------
    ValueError
        A negative or too large integer.
    TypeError
        Nothing that can be a seed.
    """
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    if isinstance(seed, ndarray):
        seed = seed.get()
    if isinstance(seed, np.ndarray) and seed.ndim > 0 or isinstance(seed, (list, tuple)):
        values = np.atleast_1d(np.asarray(seed)).ravel()
        if values.dtype.kind not in "iub":
            raise TypeError("Seed must be an integer or a sequence of integers")
        words = np.random.SeedSequence([int(v) & 0xFFFFFFFFFFFFFFFF for v in values])
        return int(words.generate_state(1, np.uint64)[0])
    try:
        value = (
            int(np.asarray(seed).astype(np.int64, casting="safe"))
            if not isinstance(seed, (int, np.integer))
            else int(seed)
        )
    except (TypeError, ValueError):
        raise TypeError(f"Seed must be an integer: got {type(seed).__name__}") from None
    if not 0 <= value <= 0xFFFFFFFFFFFFFFFF:
        raise ValueError(f"Seed must be an integer between 0 and 2**64 - 1: got {value}")
    # Close seeds must not give close keys.
    words = np.random.SeedSequence(value)
    return int(words.generate_state(1, np.uint64)[0])


class RandomState(Distributions):
    """A source of random numbers.

    Parameters
    ----------
    seed : int or array of int, optional
        Unpredictable by default.
    method : object
        Accepted; numbers come from Philox in every case.

    Notes
    -----
    Numbers are counter-based: the same on every device and in every version.
    """

    def __init__(self, seed=None, method=None) -> None:
        self._method = method
        self.seed(seed)

    def seed(self, seed=None) -> None:
        """Start again from a seed."""
        self._seed = seed_to_key(seed)
        self._offset = 0

    # --- uniform numbers and integers

    def rand(self, *size, dtype=float) -> ndarray:
        """Return uniform numbers of [0, 1) in the given shape."""
        return self._uniform(0.0, 1.0, size, dtype)

    def randn(self, *size, dtype=float) -> ndarray:
        """Return standard normal numbers in the given shape."""
        return self._normal(0.0, 1.0, size, dtype)

    def random_sample(self, size=None, dtype=float) -> ndarray:
        """Return uniform numbers of [0, 1)."""
        return self._uniform(0.0, 1.0, size, dtype)

    random = random_sample

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float) -> ndarray:
        """Return uniform numbers of [low, high)."""
        return self._uniform(low, high, size, dtype)

    def randint(self, low, high=None, size=None, dtype=int) -> ndarray:
        """Return integers of [low, high), or [0, low) without `high`."""
        if high is None:
            low, high = 0, low
        if isinstance(low, ndarray) or isinstance(high, ndarray) or np.ndim(low) or np.ndim(high):
            return self._integers_between(low, high, size, dtype)
        return self._integers(int(low), int(high), size, dtype)

    def _integers_between(self, low, high, size, dtype) -> ndarray:
        from trilane.cupy._creation import asarray

        low, high = asarray(low).astype(np.int64), asarray(high).astype(np.int64)
        if bool((low >= high).any()):
            raise ValueError("low >= high")
        shape = (
            np.broadcast_shapes(low.shape, high.shape) if size is None else normalize_shape(size)
        )
        unit = self._uniform(0.0, 1.0, shape, np.float64)
        drawn = engine.ufuncs["floor"](unit * (high - low)).astype(np.int64) + low
        return drawn.astype(dtype, copy=False)

    def random_integers(self, low, high=None, size=None) -> ndarray:
        """Return integers of [low, high], or [1, low] without `high`."""
        if high is None:
            low, high = 1, low
        return self.randint(low, high + 1, size)

    def bytes(self, length: int) -> bytes:
        """Return random bytes."""
        return self._integers(0, 256, (int(length),), np.uint8).get().tobytes()

    def tomaxint(self, size=None) -> ndarray:
        """Return integers from 0 to the largest of `int`."""
        return self._integers(0, np.iinfo(np.int64).max, size, np.int64)

    # --- order

    def permutation(self, a) -> ndarray:
        """Return a shuffled copy along the first axis, or a permutation of ``range(a)``."""
        return self._permuted(a)

    def shuffle(self, a) -> None:
        """Shuffle along the first axis in place."""
        if not isinstance(a, ndarray):
            raise TypeError("The array must be cupy.ndarray")
        if a.ndim == 0:
            raise TypeError("An array whose ndim is 0 is not supported")
        a[...] = self._permuted(a)

    def choice(self, a, size=None, replace=True, p=None) -> ndarray:
        """Return a sample of an array or of ``range(a)``.

        Parameters
        ----------
        a : int or ndarray
        size : int or tuple of int, optional
        replace : bool
            Whether an element may be drawn more than once.
        p : ndarray, optional
            Probabilities.
        """
        if not isinstance(a, (int, np.integer)) and np.ndim(a) != 1:
            raise ValueError("a must be 1-dimensional or an integer")
        return self._choice(a, size, replace, p)

    # --- distributions

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return normal numbers."""
        return self._normal(loc, scale, size, dtype)

    def standard_normal(self, size=None, dtype=float) -> ndarray:
        """Return standard normal numbers."""
        return self._normal(0.0, 1.0, size, dtype)

    def exponential(self, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return exponential numbers of a mean."""
        require_positive("scale", scale, True)
        return self._exponential(scale, size, dtype)

    def standard_exponential(self, size=None, dtype=float) -> ndarray:
        """Return exponential numbers of mean one."""
        return self._exponential(1.0, size, dtype)

    def gamma(self, shape, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return gamma numbers."""
        require_positive("shape", shape, True)
        require_positive("scale", scale, True)
        return self._draw("gamma", size, dtype, shape, scale)

    def standard_gamma(self, shape, size=None, dtype=float) -> ndarray:
        """Return gamma numbers of scale one."""
        return self.gamma(shape, 1.0, size, dtype)

    def beta(self, a, b, size=None, dtype=float) -> ndarray:
        """Return beta numbers."""
        require_positive("a", a)
        require_positive("b", b)
        return self._draw("beta", size, dtype, a, b)

    def binomial(self, n, p, size=None, dtype=int) -> ndarray:
        """Return numbers of successes in `n` trials."""
        require_positive("n", n, True)
        _probability("p", p)
        return self._draw("binomial", size, dtype, n, p)

    def chisquare(self, df, size=None, dtype=float) -> ndarray:
        """Return chi-square numbers."""
        require_positive("df", df)
        return self._draw("chisquare", size, dtype, df)

    def dirichlet(self, alpha, size=None, dtype=float) -> ndarray:
        """Return points of the simplex."""
        return self._dirichlet(alpha, size, dtype)

    def f(self, dfnum, dfden, size=None, dtype=float) -> ndarray:
        """Return F numbers."""
        require_positive("dfnum", dfnum)
        require_positive("dfden", dfden)
        return self._draw("f", size, dtype, dfnum, dfden)

    def geometric(self, p, size=None, dtype=int) -> ndarray:
        """Return numbers of trials up to the first success."""
        _probability("p", p)
        require_positive("p", p)
        return self._draw("geometric", size, dtype, p)

    def gumbel(self, loc=0.0, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return Gumbel numbers."""
        return self._draw("gumbel", size, dtype, loc, scale)

    def hypergeometric(self, ngood, nbad, nsample, size=None, dtype=int) -> ndarray:
        """Return numbers of good ones in a sample without replacement."""
        require_positive("ngood", ngood, True)
        require_positive("nbad", nbad, True)
        require_positive("nsample", nsample)
        if np.all(np.asarray(_host(ngood)) + _host(nbad) < _host(nsample)):
            raise ValueError("ngood + nbad < nsample")
        return self._draw("hypergeometric", size, dtype, ngood, nbad, nsample)

    def laplace(self, loc=0.0, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return Laplace numbers."""
        return self._draw("laplace", size, dtype, loc, scale)

    def logistic(self, loc=0.0, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return logistic numbers."""
        return self._draw("logistic", size, dtype, loc, scale)

    def lognormal(self, mean=0.0, sigma=1.0, size=None, dtype=float) -> ndarray:
        """Return numbers whose logarithm is normal."""
        require_positive("sigma", sigma, True)
        return self._draw("lognormal", size, dtype, mean, sigma)

    def logseries(self, p, size=None, dtype=int) -> ndarray:
        """Return numbers of the logarithmic series distribution."""
        if np.any(np.asarray(_host(p)) <= 0):
            raise ValueError("p <= 0.0")
        if np.any(np.asarray(_host(p)) >= 1):
            raise ValueError("p >= 1.0")
        return self._draw("logseries", size, dtype, p)

    def multinomial(self, n, pvals, size=None) -> ndarray:
        """Return numbers of each outcome in `n` trials."""
        return self._multinomial(n, pvals, size)

    def multivariate_normal(
        self, mean, cov, size=None, check_valid="ignore", tol=1e-08, method="cholesky", dtype=float
    ) -> ndarray:
        """Return normal vectors of a covariance."""
        return self._multivariate_normal(mean, cov, size, check_valid, tol, method, dtype)

    def negative_binomial(self, n, p, size=None, dtype=int) -> ndarray:
        """Return numbers of failures before the n-th success."""
        require_positive("n", n)
        _probability("p", p)
        return self._draw("negative_binomial", size, dtype, n, p)

    def noncentral_chisquare(self, df, nonc, size=None, dtype=float) -> ndarray:
        """Return noncentral chi-square numbers."""
        require_positive("df", df)
        require_positive("nonc", nonc, True)
        return self._draw("noncentral_chisquare", size, dtype, df, nonc)

    def noncentral_f(self, dfnum, dfden, nonc, size=None, dtype=float) -> ndarray:
        """Return noncentral F numbers."""
        require_positive("dfnum", dfnum)
        require_positive("dfden", dfden)
        require_positive("nonc", nonc, True)
        return self._draw("noncentral_f", size, dtype, dfnum, dfden, nonc)

    def pareto(self, a, size=None, dtype=float) -> ndarray:
        """Return Pareto II numbers."""
        require_positive("a", a)
        return self._draw("pareto", size, dtype, a)

    def poisson(self, lam=1.0, size=None, dtype=int) -> ndarray:
        """Return Poisson numbers."""
        require_positive("lam", lam, True)
        return self._draw("poisson", size, dtype, lam)

    def power(self, a, size=None, dtype=float) -> ndarray:
        """Return numbers of the power distribution on [0, 1]."""
        require_positive("a", a)
        return self._draw("power", size, dtype, a)

    def rayleigh(self, scale=1.0, size=None, dtype=float) -> ndarray:
        """Return Rayleigh numbers."""
        require_positive("scale", scale, True)
        return self._draw("rayleigh", size, dtype, scale)

    def standard_cauchy(self, size=None, dtype=float) -> ndarray:
        """Return Cauchy numbers."""
        return self._draw("standard_cauchy", () if size is None else size, dtype)

    def standard_t(self, df, size=None, dtype=float) -> ndarray:
        """Return Student's t numbers."""
        require_positive("df", df)
        return self._draw("standard_t", size, dtype, df)

    def triangular(self, left, mode, right, size=None, dtype=float) -> ndarray:
        """Return numbers of the triangular distribution."""
        left_, mode_, right_ = (np.asarray(_host(x)) for x in (left, mode, right))
        if np.any(left_ > mode_):
            raise ValueError("left > mode")
        if np.any(mode_ > right_):
            raise ValueError("mode > right")
        if np.any(left_ == right_):
            raise ValueError("left == right")
        return self._draw("triangular", size, dtype, left, mode, right)

    def vonmises(self, mu, kappa, size=None, dtype=float) -> ndarray:
        """Return angles of the von Mises distribution."""
        require_positive("kappa", kappa, True)
        return self._draw("vonmises", size, dtype, mu, kappa)

    def wald(self, mean, scale, size=None, dtype=float) -> ndarray:
        """Return inverse Gaussian numbers."""
        require_positive("mean", mean)
        require_positive("scale", scale)
        return self._draw("wald", size, dtype, mean, scale)

    def weibull(self, a, size=None, dtype=float) -> ndarray:
        """Return Weibull numbers."""
        require_positive("a", a, True)
        return self._draw("weibull", size, dtype, a)

    def zipf(self, a, size=None, dtype=int) -> ndarray:
        """Return Zipf numbers."""
        if np.any(np.asarray(_host(a)) <= 1.0):
            raise ValueError("'a' must be a valid float > 1.0")
        return self._draw("zipf", size, dtype, a)


def _host(x):
    return x.get() if isinstance(x, ndarray) else x


def _probability(name: str, value) -> None:
    value = np.asarray(_host(value))
    if np.any(value < 0):
        raise ValueError(f"{name} < 0")
    if np.any(value > 1):
        raise ValueError(f"{name} > 1")
    if np.any(np.isnan(value)):
        raise ValueError(f"{name} is nan")


def get_random_state() -> RandomState:
    """Return the state that the functions use on the current device."""
    device = _core.current_device_index()
    state = _random_states.get(device)
    if state is None:
        chosen = os.environ.get("CUPY_SEED")
        state = RandomState(None if chosen is None else int(chosen))
        _random_states[device] = state
    return state


def set_random_state(rs: RandomState) -> None:
    """Choose the state that the functions use on the current device."""
    if not isinstance(rs, RandomState):
        raise TypeError("Random state must be an instance of RandomState.")
    _random_states[_core.current_device_index()] = rs


def reset_states() -> None:
    """Forget the states of all devices."""
    global _random_states
    _random_states = {}


def seed(seed=None) -> None:
    """Start the current device's state again from a seed."""
    get_random_state().seed(seed)
