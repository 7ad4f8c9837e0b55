"""Decorators that run a test for several dtypes or orders."""

from __future__ import annotations

import itertools

import numpy as np

from trilane.cupy.testing._compare import partial_wraps

_COMPLEX = (np.complex64, np.complex128)
_REGULAR_FLOAT = (np.float64, np.float32)
_FLOAT = (*_REGULAR_FLOAT, np.float16)
_SIGNED = tuple(np.dtype(c).type for c in "bhilq")
_UNSIGNED = tuple(np.dtype(c).type for c in "BHILQ")
_INT = (*_SIGNED, *_UNSIGNED)


def for_dtypes(dtypes, name="dtype"):
    """Make a decorator: run the test once per dtype, passed by keyword."""

    def decorate(function):
        @partial_wraps(function, name)
        def wrapper(*args, **kwargs):
            for dtype in dtypes:
                try:
                    kwargs[name] = np.dtype(dtype).type
                    function(*args, **kwargs)
                except Exception:
                    print(name, "is", dtype)
                    raise

        return wrapper

    return decorate


def _all(no_float16, no_bool, no_complex):
    dtypes = (_REGULAR_FLOAT if no_float16 else _FLOAT) + _INT
    dtypes += () if no_bool else (np.bool_,)
    return dtypes + (() if no_complex else _COMPLEX)


def for_all_dtypes(name="dtype", no_float16=False, no_bool=False, no_complex=False):
    """Make a decorator: run the test for all dtypes of the device."""
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name="dtype", no_float16=False):
    """Make a decorator: run the test for the floating dtypes."""
    return for_dtypes(_REGULAR_FLOAT if no_float16 else _FLOAT, name)


def for_complex_dtypes(name="dtype"):
    """Make a decorator: run the test for the complex dtypes."""
    return for_dtypes(_COMPLEX, name)


def for_signed_dtypes(name="dtype"):
    """Make a decorator: run the test for the signed integer dtypes."""
    return for_dtypes(_SIGNED, name)


def for_unsigned_dtypes(name="dtype"):
    """Make a decorator: run the test for the unsigned integer dtypes."""
    return for_dtypes(_UNSIGNED, name)


def for_int_dtypes(name="dtype", no_bool=False):
    """Make a decorator: run the test for the integer dtypes (and bool)."""
    return for_dtypes(_INT if no_bool else (*_INT, np.bool_), name)


def for_dtypes_combination(types, names=("dtype",), full=None):
    """Make a decorator: run the test for combinations of dtypes; all of them if `full`."""
    types = list(types)
    if full or len(types) ** len(names) <= 64:
        combinations = list(itertools.product(types, repeat=len(names)))
    else:
        # Each dtype meets others at several distances: a fixed sample.
        count = len(types)
        combinations = [
            tuple(types[(i + shift * k) % count] for k in range(len(names)))
            for shift in (0, 1, 3, 7)
            for i in range(count)
        ]

    def decorate(function):
        @partial_wraps(function, *names)
        def wrapper(*args, **kwargs):
            for combination in combinations:
                chosen = dict(zip(names, (np.dtype(t).type for t in combination)))
                try:
                    function(*args, **kwargs, **chosen)
                except Exception:
                    print(chosen)
                    raise

        return wrapper

    return decorate


def for_all_dtypes_combination(
    names=("dtype",), no_float16=False, no_bool=False, full=None, no_complex=False
):
    """Make a decorator: run the test for combinations of all dtypes."""
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(names=("dtype",), full=None):
    """Make a decorator: run the test for combinations of signed integer dtypes."""
    return for_dtypes_combination(_SIGNED, names, full)


def for_unsigned_dtypes_combination(names=("dtype",), full=None):
    """Make a decorator: run the test for combinations of unsigned integer dtypes."""
    return for_dtypes_combination(_UNSIGNED, names, full)


def for_int_dtypes_combination(names=("dtype",), no_bool=False, full=None):
    """Make a decorator: run the test for combinations of integer dtypes."""
    return for_dtypes_combination(_INT if no_bool else (*_INT, np.bool_), names, full)


def for_orders(orders, name="order"):
    """Make a decorator: run the test once per memory order."""

    def decorate(function):
        @partial_wraps(function, name)
        def wrapper(*args, **kwargs):
            for order in orders:
                try:
                    function(*args, **{**kwargs, name: order})
                except Exception:
                    print(name, "is", order)
                    raise

        return wrapper

    return decorate


def for_CF_orders(name="order"):
    """Make a decorator: run the test for 'C', 'F' and their lower-case forms."""
    return for_orders([None, "C", "F", "c", "f"], name)
