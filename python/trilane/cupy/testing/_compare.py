"""Decorators that run a test once with NumPy and once with device arrays and compare the results."""

from __future__ import annotations

import functools
import inspect

import numpy as np

from trilane.cupy._convert import asnumpy
from trilane.cupy._engine import ndarray
from trilane.cupy.testing import _assertions


def _without(function, names):
    """The signature that pytest sees: without the parameters that a decorator fills."""
    signature = inspect.signature(function)
    kept = [p for key, p in signature.parameters.items() if key not in names]
    return signature.replace(parameters=kept)


def partial_wraps(function, *names):
    """`functools.wraps` for a wrapper that fills the named parameters itself."""

    def decorate(wrapper):
        wrapper = functools.wraps(function)(wrapper)
        wrapper.__signature__ = _without(function, names)
        return wrapper

    return decorate


def _run(function, args, kwargs, accept_error):
    try:
        return function(*args, **kwargs), None
    except accept_error as error:
        return None, error


def _both(function, name, scipy_name, accept_error, args, kwargs):
    """Results of the test with this face and with NumPy, or None where both raised alike."""
    import trilane.cupy as face

    modules = {"xp": (face, np)}
    if accept_error is True:
        accept_error = Exception
    elif not accept_error:
        accept_error = ()
    own, own_error = _run(function, args, {**kwargs, name: modules["xp"][0]}, accept_error)
    peer, peer_error = _run(function, args, {**kwargs, name: modules["xp"][1]}, accept_error)
    if own_error is None and peer_error is None:
        return own, peer
    if own_error is None or peer_error is None:
        raise AssertionError(
            f"only one of the two raised: this face: {own_error!r}, NumPy: {peer_error!r}"
        ) from (own_error or peer_error)
    if not issubclass(type(own_error), type(peer_error)) and not issubclass(
        type(peer_error), type(own_error)
    ):
        raise AssertionError(
            f"different errors: this face: {own_error!r}, NumPy: {peer_error!r}"
        ) from own_error
    return None


def _pairs(own, peer):
    if isinstance(own, (tuple, list)) or isinstance(peer, (tuple, list)):
        if len(own) != len(peer):
            raise AssertionError(f"lengths differ: {len(own)} and {len(peer)}")
        return list(zip(own, peer))
    return [(own, peer)]


def _check_type(own, peer, type_check) -> None:
    if not isinstance(own, ndarray) and isinstance(peer, (np.ndarray, np.generic)):
        raise AssertionError(f"the result is no device array: {type(own)}")
    if type_check and isinstance(own, ndarray) and own.dtype != np.asarray(peer).dtype:
        raise AssertionError(f"dtypes differ: {own.dtype} and {np.asarray(peer).dtype}")
    if isinstance(own, ndarray) and own.shape != np.shape(peer):
        raise AssertionError(f"shapes differ: {own.shape} and {np.shape(peer)}")


def _decorator(check, name, type_check, accept_error, contiguous_check=False):
    def decorate(function):
        @partial_wraps(function, name)
        def wrapper(*args, **kwargs):
            results = _both(function, name, None, accept_error, args, kwargs)
            if results is None:
                return
            for own, peer in _pairs(*results):
                _check_type(own, peer, type_check)
                if contiguous_check and isinstance(peer, np.ndarray) and peer.size:
                    _check_contiguous(own, peer)
                check(asnumpy(own), np.asarray(peer))

        return wrapper

    return decorate


def _check_contiguous(own, peer) -> None:
    for flag in ("c_contiguous", "f_contiguous"):
        if getattr(peer.flags, flag) and not getattr(own.flags, flag):
            raise AssertionError(f"the state of {flag} is not equal to that of NumPy")


def numpy_cupy_allclose(
    rtol=1e-7,
    atol=0,
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
    contiguous_check=True,
    *,
    _check_sparse_format=True,
):
    """Make a decorator: the test's results must agree within tolerances.

    Parameters
    ----------
    rtol, atol : float or dict
        A dict gives one per dtype, with ``'default'``.
    name : str
        The parameter that receives the module.
    type_check : bool
        Dtypes must be equal too.
    accept_error : bool, exception class or tuple
        Errors of these classes must be raised by both or by none.
    contiguous_check : bool
        The result must be contiguous where NumPy's is.
    """

    def tolerance(value, dtype):
        if isinstance(value, dict):
            return value.get(dtype.type, value.get(dtype.name, value.get("default", 1e-7)))
        return value

    def check(own, peer):
        dtype = own.dtype
        np.testing.assert_allclose(
            own,
            peer,
            tolerance(rtol, dtype),
            tolerance(atol, dtype),
            err_msg=err_msg,
            verbose=verbose,
        )

    return _decorator(check, name, type_check, accept_error, contiguous_check)


def numpy_cupy_array_almost_equal(
    decimal=6,
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
):
    """Make a decorator: the test's results must agree to a number of decimals."""

    def check(own, peer):
        _assertions.assert_array_almost_equal(own, peer, decimal, err_msg, verbose)

    return _decorator(check, name, type_check, accept_error)


def numpy_cupy_array_equal(
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
    strides_check=False,
):
    """Make a decorator: the test's results must be equal."""

    def check(own, peer):
        _assertions.assert_array_equal(own, peer, err_msg, verbose)

    return _decorator(check, name, type_check, accept_error)


numpy_cupy_array_list_equal = numpy_cupy_array_equal


def numpy_cupy_array_less(
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
):
    """Make a decorator: the results here must be less than NumPy's."""

    def check(own, peer):
        _assertions.assert_array_less(own, peer, err_msg, verbose)

    return _decorator(check, name, type_check, accept_error)


def numpy_cupy_equal(name="xp", sp_name=None, scipy_name=None):
    """Make a decorator: the test must return equal objects."""

    def decorate(function):
        @partial_wraps(function, name)
        def wrapper(*args, **kwargs):
            own, peer = _both(function, name, None, False, args, kwargs)
            if own != peer:
                raise AssertionError(f"results are not equal: {own!r} and {peer!r}")

        return wrapper

    return decorate


def numpy_cupy_raises(name="xp", sp_name=None, scipy_name=None, accept_error=Exception):
    """Make a decorator: the test must raise alike with both."""

    def decorate(function):
        @partial_wraps(function, name)
        def wrapper(*args, **kwargs):
            if _both(function, name, None, accept_error, args, kwargs) is not None:
                raise AssertionError("neither of the two raised")

        return wrapper

    return decorate
