"""SciPy's forms of the transforms of `trilane.cupy.fft`, plans, and lengths that are fast.

``overwrite_x`` is a permission that is not made use of: inputs stay as they are.
"""

from __future__ import annotations

import contextlib
import operator

from trilane.cupy import fft as _numpy_like
from trilane.cupy._helpers import normalize_axis_index, normalize_axis_tuple, require_array
from trilane.cupy.fft._fft import _OPPOSITE, _axes_and_lengths, _prepare, complex_dtype
from trilane.cupy.fft._plan import Plan

_LAST_TWO = (-2, -1)


def _in(plan):
    """The context in which a transform has to fit its plan."""
    return contextlib.nullcontext() if plan is None else plan


def _one_axis(name: str):
    transform = getattr(_numpy_like, name)

    def f(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None):
        with _in(plan):
            return transform(x, n, axis, norm)

    f.__doc__ = f"As `cupy.fft.{name}`; a `plan` has to fit."
    f.__name__ = f.__qualname__ = name
    return f


def _distinct(x, s, axes):
    """Axes as SciPy takes them, each at most once."""
    if axes is not None:
        normalize_axis_tuple(axes, require_array(x, "fft").ndim, "axes")
    return s, axes


def _several_axes(name: str, default_axes):
    transform = getattr(_numpy_like, name)

    def f(x, s=None, axes=default_axes, norm=None, overwrite_x=False, *, plan=None):
        with _in(plan):
            return transform(x, *_distinct(x, s, axes), norm)

    f.__doc__ = f"As `cupy.fft.{name}`; each axis at most once, and a `plan` has to fit."
    f.__name__ = f.__qualname__ = name
    return f


fft, ifft = _one_axis("fft"), _one_axis("ifft")
rfft, irfft = _one_axis("rfft"), _one_axis("irfft")
hfft, ihfft = _one_axis("hfft"), _one_axis("ihfft")
fft2, ifft2 = _several_axes("fft2", _LAST_TWO), _several_axes("ifft2", _LAST_TWO)
rfft2, irfft2 = _several_axes("rfft2", _LAST_TWO), _several_axes("irfft2", _LAST_TWO)
fftn, ifftn = _several_axes("fftn", None), _several_axes("ifftn", None)
rfftn, irfftn = _several_axes("rfftn", None), _several_axes("irfftn", None)


def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None):
    """Return the real transform over axes of the half of values with Hermitian symmetry."""
    x = _prepare(x, "hfftn", norm)
    x = x.astype(complex_dtype(x.dtype), copy=False).conj()
    return irfftn(x, s, axes, _OPPOSITE[norm], plan=plan)


def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None):
    """Return the inverse of `hfftn`."""
    x = _prepare(x, "ihfftn", norm)
    return rfftn(x, s, axes, _OPPOSITE[norm], plan=plan).conj()


def hfft2(x, s=None, axes=_LAST_TWO, norm=None, overwrite_x=False, *, plan=None):
    """Return `hfftn` over two axes."""
    return hfftn(x, s, axes, norm, overwrite_x, plan=plan)


def ihfft2(x, s=None, axes=_LAST_TWO, norm=None, overwrite_x=False, *, plan=None):
    """Return `ihfftn` over two axes."""
    return ihfftn(x, s, axes, norm, overwrite_x, plan=plan)


def get_fft_plan(x, shape=None, axes=None, *, value_type="C2C") -> Plan:
    """Return a plan: a context, or an argument, that transforms have to fit.

    Parameters
    ----------
    x : ndarray
    shape : int or sequence of int, optional
        Lengths of the transform.
    axes : int or sequence of int, optional
        One axis, or several; all by default.
    value_type : {'C2C', 'R2C', 'C2R'}

    Notes
    -----
    A plan saves no time: libraries here keep tables of their own.
    """
    x = require_array(x, "get_fft_plan")
    if value_type not in ("C2C", "R2C", "C2R"):
        raise ValueError(f"value_type: got {value_type!r}, expected 'C2C', 'R2C' or 'C2R'")
    if isinstance(shape, int):
        shape = (shape,)
    if isinstance(axes, int):
        axes = (normalize_axis_index(axes, x.ndim),)
    elif axes is not None:
        axes = normalize_axis_tuple(axes, x.ndim, "axes")
    axes, lengths = _axes_and_lengths(x, shape, axes, value_type == "C2R")
    planned = list(x.shape)
    for axis, n in zip(axes, lengths):
        planned[axis] = n
    return Plan(planned, axes, value_type)


def next_fast_len(target: int, real: bool = False) -> int:
    """Return the least length from `target` on that has no prime factor above 7."""
    n = operator.index(target)
    if n < 0:
        raise ValueError(f"next_fast_len: target: got {n}, expected no negative length")
    while n > 1:
        rest = n
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            break
        n += 1
    return n
