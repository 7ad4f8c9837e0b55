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
    "clip with one limit": lambda xp: xp.clip(xp.ones(3), 3),
    "gradient of booleans": lambda xp: xp.gradient(xp.ones(3, bool)),
    "copyto by a mask of numbers": lambda xp: xp.copyto(xp.ones(3), xp.ones(3), where=xp.ones(3)),
    "copyto of a number out of range": lambda xp: xp.copyto(xp.ones(3, "B"), -4),
    "squeeze of a number": lambda xp: xp.squeeze(xp.ones(()), 1),
    "reshape with copy by a text": lambda xp: xp.ones(4).reshape(2, 2, copy="False"),
    "reshape that must copy": lambda xp: xp.ones((2, 3)).T.reshape(6, copy=False),
    "reshape with an unknown keyword": lambda xp: xp.ones(4).reshape(2, 2, form="C"),
    "polyval of a number": lambda xp: xp.polyval(3, xp.ones(3)),
    "power of a float": lambda xp: xp.poly1d([1, 2]) ** 3.0,
    "poly of a wide matrix": lambda xp: xp.poly(xp.ones((2, 3))),
    "flat[None]": lambda xp: xp.ones(3).flat[None],
    "flat[None] = 1": lambda xp: xp.ones(3).flat.__setitem__(None, 1),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_are_numpys(name, refused_as_by_numpy):
    refused_as_by_numpy(REFUSALS[name])


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


@pytest.mark.parametrize("dtype", ["?", "b", "h", "i", "q", "e", "f", "d", "F", "D"])
@pytest.mark.parametrize("inplace", [False, True])
def test_byteswap_reverses_the_bytes_of_each_number(dtype, inplace):
    whole = np.arange(24).reshape(4, 6).astype(dtype)
    own = cp.asarray(whole)[1:, ::2]
    peer = whole[1:, ::2]
    swapped, expected = own.byteswap(inplace), peer.byteswap(inplace)
    assert swapped.get().tobytes() == expected.tobytes()
    assert own.get().tobytes() == peer.tobytes()
    assert (swapped is own) == inplace


@pytest.mark.parametrize("shapes", [((1, 1, 3, 4), (3, 4)), ((1, 2, 1, 4), (2, 3, 4))])
def test_copyto_drops_leading_axes_of_length_one(shapes):
    source, target = (np.arange(np.prod(shape)).reshape(shape) for shape in shapes)
    own = cp.asarray(target)
    cp.copyto(own, cp.asarray(source))
    np.copyto(target, source)
    np.testing.assert_array_equal(own.get(), target)
    with pytest.raises(ValueError):
        cp.copyto(cp.ones((3, 4)), cp.ones((2, 1, 3, 4)))


@pytest.mark.parametrize("order", ["C", "F"])
def test_gradient_keeps_the_layout(order):
    whole = np.asarray(np.arange(24.0).reshape(2, 3, 4) ** 2, order=order)
    for own, peer in zip(cp.gradient(cp.asarray(whole)), np.gradient(whole)):
        np.testing.assert_allclose(own.get(), peer)
        assert own.strides == peer.strides


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_nothing_but_nan_is_warned_of(name):
    whole = np.array([[np.nan, np.nan], [1, np.nan]])
    for xp in (np, cp):
        with pytest.warns(RuntimeWarning, match="All-NaN"):
            found = getattr(xp, name)(xp.asarray(whole), axis=1)
        np.testing.assert_array_equal(cp.asnumpy(found), [np.nan, 1])


def test_concatenating_complex_numbers_into_real_ones_warns():
    for xp in (np, cp):
        with pytest.warns(np.exceptions.ComplexWarning):
            xp.concatenate((xp.ones(2, "F"), xp.ones(2)), dtype="d", casting="unsafe")


def test_scatter_methods_convert_values():
    own = cp.zeros(3, "I")
    own.scatter_add(cp.asarray([1, 1]), cp.asarray([1, 2]))
    own.scatter_max(cp.asarray([2]), cp.asarray([2.7]))
    np.testing.assert_array_equal(own.get(), [0, 3, 2])
    with pytest.raises(TypeError):
        cp.add.at(own, cp.asarray([1]), cp.asarray([1.5]))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod", "trim_zeros"])
def test_numbers_as_arrays(name):
    own, peer = getattr(cp, name)(cp.asarray(3)), getattr(np, name)(np.asarray(3))
    assert (own.dtype, own.shape) == (peer.dtype, peer.shape)
    np.testing.assert_array_equal(own.get(), peer)


def test_vectorized_functions_may_give_arrays_of_the_device():
    function = cp.vectorize(lambda x, y: (cp.add(x, y), x))
    added, first = function(cp.arange(3), cp.arange(3.0))
    assert added.dtype == "d"
    np.testing.assert_array_equal(added.get(), [0, 2, 4])
    np.testing.assert_array_equal(first.get(), [0, 1, 2])


@pytest.mark.parametrize("copy", [None, True, False])
def test_reshape_copies_as_it_is_told(copy):
    for xp in (np, cp):
        a = xp.zeros((2, 3))
        b = a.reshape(3, 2, copy=copy)
        a[0] = 1
        assert float(b.sum()) == (0 if copy else 3)
        assert b.shape == (3, 2)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_ravel_of_what_is_strided_is_a_copy(order):
    for xp in (np, cp):
        line, spread = xp.zeros(10), xp.broadcast_to(xp.arange(3.0), (2, 3))
        for view in (line[::2], spread, xp.zeros((4, 6))[1:, ::2]):
            flat = view.ravel(order)
            assert flat.flags.c_contiguous
        line[::2].ravel(order)[...] = 1
        assert float(line.sum()) == 0
        line.ravel(order)[...] = 1
        assert float(line.sum()) == 10


def test_the_real_part_of_real_numbers_is_the_array():
    a, z = cp.ones(3), cp.ones(3, "F")
    assert a.real is a and cp.real(a) is a
    assert z.real is not z
    a.real = 2
    assert float(a.sum()) == 6


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_ravel_of_broadcast_axes_has_numpys_order(order):
    for shape, target in (((2, 1), (3, 2, 4)), ((3, 1, 4), (3, 5, 4)), ((1, 4), (3, 4))):
        whole = np.arange(np.prod(shape)).reshape(shape)
        own = cp.broadcast_to(cp.asarray(whole), target)
        peer = np.broadcast_to(whole, target)
        np.testing.assert_array_equal(own.ravel(order).get(), peer.ravel(order))
        moved = np.moveaxis(peer, 0, -1)
        np.testing.assert_array_equal(
            cp.moveaxis(own, 0, -1).ravel(order).get(), moved.ravel(order)
        )
