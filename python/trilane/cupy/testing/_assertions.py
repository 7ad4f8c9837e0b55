"""NumPy's assertions, taking device arrays as well."""

from __future__ import annotations

import numpy as np

from trilane.cupy._convert import asnumpy


def assert_allclose(actual, desired, rtol=1e-7, atol=0, err_msg="", verbose=True) -> None:
    """Raise AssertionError unless all values agree within tolerances."""
    np.testing.assert_allclose(
        asnumpy(actual), asnumpy(desired), rtol=rtol, atol=atol, err_msg=err_msg, verbose=verbose
    )


def assert_array_almost_equal(x, y, decimal=6, err_msg="", verbose=True) -> None:
    """Raise AssertionError unless all values agree to a number of decimals."""
    np.testing.assert_array_almost_equal(
        asnumpy(x), asnumpy(y), decimal=decimal, err_msg=err_msg, verbose=verbose
    )


def assert_array_almost_equal_nulp(x, y, nulp=1) -> None:
    """Raise AssertionError unless all values agree within a number of units of spacing."""
    np.testing.assert_array_almost_equal_nulp(asnumpy(x), asnumpy(y), nulp=nulp)


def assert_array_max_ulp(a, b, maxulp=1, dtype=None) -> None:
    """Raise AssertionError unless all values agree within units in the last place."""
    np.testing.assert_array_max_ulp(asnumpy(a), asnumpy(b), maxulp=maxulp, dtype=dtype)


def assert_array_equal(x, y, err_msg="", verbose=True, strides_check=False, **kwargs) -> None:
    """Raise AssertionError unless all values are equal, and the strides if asked for."""
    np.testing.assert_array_equal(
        asnumpy(x), asnumpy(y), err_msg=err_msg, verbose=verbose, **kwargs
    )
    if strides_check and x.strides != y.strides:
        raise AssertionError(f"strides are not equal: {x.strides} and {y.strides}\n{err_msg}")


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True) -> None:
    """Raise AssertionError unless two lists of arrays are equal, pair by pair."""
    if type(xlist) is not type(ylist):
        raise AssertionError(f"list types differ: {type(xlist)} and {type(ylist)}\n{err_msg}")
    if len(xlist) != len(ylist):
        raise AssertionError(f"list lengths differ: {len(xlist)} and {len(ylist)}\n{err_msg}")
    for x, y in zip(xlist, ylist):
        assert_array_equal(x, y, err_msg, verbose)


def assert_array_less(x, y, err_msg="", verbose=True) -> None:
    """Raise AssertionError unless all values of `x` are less than those of `y`."""
    np.testing.assert_array_less(asnumpy(x), asnumpy(y), err_msg=err_msg, verbose=verbose)
