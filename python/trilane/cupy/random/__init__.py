"""Random numbers: the functions of the module use one RandomState per device."""

from __future__ import annotations

from trilane.cupy.random import _generator_api as _bit_generator  # noqa: F401
from trilane.cupy.random._generator import (
    RandomState,
    get_random_state,
    reset_states,
    seed,
    set_random_state,
)
from trilane.cupy.random._generator_api import (
    XORWOW,
    BitGenerator,
    Generator,
    MRG32k3a,
    Philox4x3210,
    default_rng,
)

_FUNCTIONS = """beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel
hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal
negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power rand
randint randn random_integers random_sample rayleigh shuffle standard_cauchy standard_exponential
standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf""".split()


def _forward(name: str):
    method = getattr(RandomState, name)

    def function(*args, **kwargs):
        return getattr(get_random_state(), name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    function.__wrapped__ = method
    return function


for _name in _FUNCTIONS:
    globals()[_name] = _forward(_name)

random = ranf = sample = globals()["random_sample"]

__all__ = [
    "BitGenerator",
    "Generator",
    "MRG32k3a",
    "Philox4x3210",
    "RandomState",
    "XORWOW",
    "default_rng",
    "get_random_state",
    "random",
    "ranf",
    "reset_states",
    "sample",
    "seed",
    "set_random_state",
    *_FUNCTIONS,
]
