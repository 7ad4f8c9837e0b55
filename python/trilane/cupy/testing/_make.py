"""Arrays to test with, and fixed seeds."""

from __future__ import annotations

import contextlib
import functools
import random as _random

import numpy as np


def _order(xp, a, order):
    return xp.asfortranarray(a) if order in ("F", "f") and a.ndim else xp.asarray(a, order=order)


def shaped_arange(shape, xp=None, dtype=np.float32, order="C"):
    """Return 1, 2, 3 ... in a shape; alternating values for bool, multiples of 1 + 1j for complex."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    values = np.arange(1, count + 1)
    if dtype.kind == "b":
        values = values % 2 == 0
    elif dtype.kind == "c":
        values = values + values * 1j
    return _order(_module(xp), _module(xp).array(values.astype(dtype).reshape(shape)), order)


def shaped_reverse_arange(shape, xp=None, dtype=np.float32):
    """Return n, n - 1, ... 1 in a shape."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    values = np.arange(count, 0, -1)
    if dtype.kind == "b":
        values = values % 2 == 0
    elif dtype.kind == "c":
        values = values + values * 1j
    return _module(xp).array(values.astype(dtype).reshape(shape))


def shaped_linspace(start, stop, shape, xp=None, dtype=np.float32):
    """Return evenly spaced values in a shape."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    values = np.linspace(start, stop, count)
    return _module(xp).array(values.astype(dtype).reshape(shape))


def shaped_random(shape, xp=None, dtype=np.float32, scale=10, seed=0, order="C"):
    """Return random values in a shape: the same ones for the same seed, with every module."""
    xp = _module(xp)
    generator = np.random.RandomState(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        values = generator.randint(2, size=shape)
    elif dtype.kind == "c":
        values = generator.rand(*shape) + 1j * generator.rand(*shape)
        values = np.asarray(values) * scale
    else:
        values = np.asarray(generator.rand(*shape)) * scale
    return _order(xp, xp.asarray(np.asarray(values).astype(dtype)), order)


def generate_matrix(shape, xp=None, dtype=np.float32, *, singular_values=None):
    """Return random matrices with the given singular values (ones by default)."""
    xp = _module(xp)
    if len(shape) <= 1:
        raise ValueError(f"shape {shape} must have at least 2 axes")
    dtype = np.dtype(dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"dtype {dtype} is not supported")
    *lead, rows, columns = shape
    rank = min(rows, columns)
    values = (
        np.ones(rank)
        if singular_values is None
        else np.broadcast_to(singular_values, (*lead, rank))
    )
    raw = np.random.randn(*shape)
    if dtype.kind == "c":
        raw = raw + 1j * np.random.randn(*shape)
    u, _, vh = np.linalg.svd(raw, full_matrices=False)
    return xp.asarray((u * values[..., None, :] @ vh).astype(dtype))


def generate_seed() -> int:
    """Return a seed drawn from NumPy's generator."""
    return int(np.random.randint(0x7FFFFFFF))


def _module(xp):
    if xp is None:
        import trilane.cupy

        return trilane.cupy
    return xp


@contextlib.contextmanager
def _fixed_seeds(seed: int):
    from trilane.cupy.random import _generator

    numpy_state, python_state = np.random.get_state(), _random.getstate()
    states = _generator._random_states
    _generator.reset_states()
    np.random.seed(seed)
    _random.seed(seed)
    _generator.get_random_state().seed(seed)
    try:
        yield
    finally:
        np.random.set_state(numpy_state)
        _random.setstate(python_state)
        _generator._random_states = states


def fix_random(seed: int = 0):
    """Make a decorator for a test function or class: all random generators start from a seed."""

    def wrap(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with _fixed_seeds(seed):
                return function(*args, **kwargs)

        return wrapper

    def decorate(target):
        if isinstance(target, type):
            for name in list(vars(target)):
                if name.startswith("test") and callable(vars(target)[name]):
                    setattr(target, name, wrap(vars(target)[name]))
            return target
        return wrap(target)

    return decorate
