"""Parameters of distributions: arrays and lists against sizes, what is refused, every function once."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp

PAIRS = {"beta": (3, 2), "f": (3, 40), "gamma": (3, 2), "laplace": (1, 2), "wald": (2, 3)}


@pytest.mark.parametrize("shape", [(), (2,), (3, 2)])
@pytest.mark.parametrize("name", PAIRS)
def test_parameters_broadcast_to_the_size(name, shape):
    first, second = PAIRS[name]
    parameters = (cp.full(shape, float(first)), cp.full((), float(second)))
    drawn = getattr(cp.random, name)(*parameters, size=(4000, 3, 2))
    assert drawn.shape == (4000, 3, 2)
    expected = getattr(np.random.RandomState(0), name)(first, second, 100000).mean()
    assert abs(float(drawn.mean()) / expected - 1) < 0.1
    assert getattr(cp.random, name)([first] * 3, second).shape == (3,)


def test_each_element_has_its_own_parameter():
    drawn = cp.random.normal(cp.asarray([0.0, 100.0]), 1.0, size=(5, 2)).get()
    drawn_beta = cp.random.beta(cp.asarray([1.0, 1e6]), 1.0, size=(5, 2)).get()
    assert (drawn[:, 0] < 50).all() and (drawn[:, 1] > 50).all()
    assert (drawn_beta[:, 1] > 0.999).all()


def test_dirichlet_of_a_size():
    points = cp.random.dirichlet(cp.asarray([1.0, 2.0, 3.0]), size=(5, 4))
    assert points.shape == (5, 4, 3)
    np.testing.assert_allclose(points.sum(axis=-1).get(), 1)


def test_standard_cauchy_has_half_of_its_numbers_within_one():
    drawn = cp.random.RandomState(3).standard_cauchy(20000).get()
    assert abs((np.abs(drawn) < 1).mean() - 0.5) < 0.02
    assert abs((drawn < 0).mean() - 0.5) < 0.02


def test_bounds_of_randint_are_cut_to_integers():
    assert set(cp.random.randint(-0.9, 1.1, size=20).get().tolist()) == {0}
    with pytest.raises(ValueError):
        cp.random.randint(-0.2, 0.3)


REFUSALS = {
    "negative scale": lambda r: r.exponential(cp.asarray([2.0, -1.0])),
    "empty sample": lambda r: r.hypergeometric(10, 10, 0),
    "choice of rows": lambda r: r.choice([[0, 1], [2, 3]], 1, p=[0.3, 0.7]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    with pytest.raises(ValueError):
        REFUSALS[name](cp.random.RandomState(0))


def test_a_generator_refuses_outputs_that_do_not_fit():
    generator = cp.random.default_rng(0)
    with pytest.raises(ValueError, match="contiguous"):
        generator.random(size=(3, 2), out=cp.zeros((4, 6))[:3, :2])
    with pytest.raises(ValueError, match="contiguous"):
        generator.standard_gamma(1.0, size=(4, 6), out=cp.zeros((4, 6), order="F"))
    for dtype in "eiF":
        with pytest.raises(TypeError):
            generator.standard_gamma(1.0, size=3, dtype=dtype)
