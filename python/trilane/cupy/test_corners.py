"""Corners of NumPy's functions: exception classes, odd axes, odd types."""

from __future__ import annotations

import inspect
import operator

import numpy as np
import pytest

import trilane.cupy as cp

REFUSALS = {
    "argsort of a number along axis 1": lambda xp: xp.argsort(xp.ones(()), axis=1),
    "method argsort of a number along axis 1": lambda xp: xp.ones(()).argsort(axis=1),
    "ravel_multi_index of extents of floats": lambda xp: xp.ravel_multi_index(
        xp.ones((2, 3), int), (2.0, 4)
    ),
    "flat[None]": lambda xp: xp.ones(3).flat[None],
    "flat[None] = 1": lambda xp: xp.ones(3).flat.__setitem__(None, 1),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_are_numpys(name):
    with pytest.raises(Exception) as expected:
        REFUSALS[name](np)
    with pytest.raises(type(expected.value)):
        REFUSALS[name](cp)


@pytest.mark.parametrize("name", ["base_repr", "binary_repr", "isscalar"])
def test_digits_are_numpys_with_a_text_of_their_own(name):
    own, peer = getattr(cp, name), getattr(np, name)
    assert inspect.signature(own) == inspect.signature(peer)
    assert own(-5) == peer(-5)
    assert own.__doc__ != peer.__doc__


@pytest.mark.parametrize("operation", ["lt", "le", "gt", "ge", "eq", "ne", "add", "pow", "xor"])
@pytest.mark.parametrize("number", [np.int16(3), np.float32(2), np.True_])
def test_numpys_numbers_stand_before_arrays(operation, number):
    if operation == "xor" and number.dtype.kind == "f":
        number = np.uint8(5)
    whole = np.arange(6, dtype="i2")
    operation = getattr(operator, operation)
    own, peer = operation(number, cp.asarray(whole)), operation(number, whole)
    assert isinstance(own, cp.ndarray)
    assert own.dtype == peer.dtype
    np.testing.assert_array_equal(own.get(), peer)


@pytest.mark.parametrize("dtype, number", [("f", 30), ("i", 2.7), ("F", 1j), ("?", 3)])
def test_putmask_takes_a_number_as_the_arrays_type(dtype, number):
    whole = np.arange(6).astype(dtype)
    own = cp.asarray(whole)
    cp.putmask(own, own != 0, number)
    np.putmask(whole, whole != 0, number)
    np.testing.assert_array_equal(own.get(), whole)
