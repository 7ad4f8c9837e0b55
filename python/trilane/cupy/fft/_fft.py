"""Discrete Fourier transforms. The device's library computes them."""

from __future__ import annotations

import operator

import numpy as np

from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import normalize_axis_index, require_array
from trilane.cupy._library import library_of
from trilane.cupy.fft._plan import current_plan

_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def complex_dtype(dtype) -> np.dtype:
    """The complex dtype to compute in: complex64 for float16 and float32."""
    if dtype.char in "FD":
        return dtype
    return np.dtype("F" if dtype.char in "ef" else "D")


def real_dtype(dtype) -> np.dtype:
    """The real dtype to compute in; of a complex one its real part's."""
    return np.dtype("f" if dtype.char in "efF" else "d")


def _length(n) -> int:
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def _axes_and_lengths(a, s, axes, halved: bool) -> tuple[tuple[int, ...], list[int]]:
    """The axes, and what length each has in its transform; `halved`: the last is stored by half."""
    if s is not None and not isinstance(s, (tuple, list)):
        s = tuple(s)
    if axes is None:
        axes = tuple(range(a.ndim)) if s is None else tuple(range(-len(s), 0))
    elif not isinstance(axes, (tuple, list)):
        axes = (axes,) if isinstance(axes, (int, np.integer)) else tuple(axes)
    if s is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    axes = tuple(normalize_axis_index(axis, a.ndim) for axis in axes)
    lengths = []
    for i, axis in enumerate(axes):
        n = None if s is None else s[i]
        if n is None or n == -1 and len(axes) > 1:
            n = a.shape[axis]
            if halved and i == len(axes) - 1:
                n = 2 * (n - 1)
        lengths.append(_length(n))
    return axes, lengths


def _prepare(a, who: str, norm) -> ndarray:
    if norm not in _OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}, should be "backward", "ortho", or "forward".')
    return require_array(a, who)


def _transform(kind, a, s, axes, norm, who, plan=None) -> ndarray:
    """One of the library's four transforms over several axes."""
    a = _prepare(a, who, norm)
    axes, lengths = _axes_and_lengths(a, s, axes, kind == "irfftn")
    dtype = real_dtype(a.dtype) if kind == "rfftn" else complex_dtype(a.dtype)
    plan = current_plan() if plan is None else plan
    if plan is not None:
        plan.check(kind, a, axes, lengths)
    if not axes:
        return a
    return library_of(a).fft(kind, a.astype(dtype, copy=False), lengths, axes, norm or "backward")


def _pair(n, axis) -> tuple:
    """Length and axis of one dimension as sequences of one."""
    return None if n is None else (n,), (operator.index(axis),)


def fft(a, n=None, axis=-1, norm=None) -> ndarray:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : ndarray
        float16 and float32 are computed as complex64, other real values as complex128.
    n : int, optional
        Length of the transform: `a` is cut, or filled up with zeros.
    axis : int
    norm : {None, 'backward', 'ortho', 'forward'}
        Which direction is divided by n: None and 'backward' the inverse one, 'ortho' both by its root.

    Raises
    ------
    ValueError
        The length is below 1, or the norm is unknown.
    NotImplementedError
        The device's library has no transforms.
    """
    return _transform("fftn", a, *_pair(n, axis), norm, "fft")


def ifft(a, n=None, axis=-1, norm=None) -> ndarray:
    """Return the inverse transform along an axis; see `fft`."""
    return _transform("ifftn", a, *_pair(n, axis), norm, "ifft")


def fft2(a, s=None, axes=(-2, -1), norm=None) -> ndarray:
    """Return the transform over two axes; see `fftn`."""
    return _transform("fftn", a, s, axes, norm, "fft2")


def ifft2(a, s=None, axes=(-2, -1), norm=None) -> ndarray:
    """Return the inverse transform over two axes; see `fftn`."""
    return _transform("ifftn", a, s, axes, norm, "ifft2")


def fftn(a, s=None, axes=None, norm=None) -> ndarray:
    """Return the transform over several axes.

    Parameters
    ----------
    a : ndarray
    s : sequence of int, optional
        Lengths of the transform per axis; None and -1 are the axis as it is.
    axes : sequence of int, optional
        All axes by default, or the last ``len(s)``. None at all: `a` itself is returned.
    norm : {None, 'backward', 'ortho', 'forward'}
    """
    return _transform("fftn", a, s, axes, norm, "fftn")


def ifftn(a, s=None, axes=None, norm=None) -> ndarray:
    """Return the inverse transform over several axes; see `fftn`."""
    return _transform("ifftn", a, s, axes, norm, "ifftn")


def rfft(a, n=None, axis=-1, norm=None) -> ndarray:
    """Return the transform of real values: the n // 2 + 1 terms that the others follow from."""
    return _transform("rfftn", a, *_pair(n, axis), norm, "rfft")


def irfft(a, n=None, axis=-1, norm=None) -> ndarray:
    """Return the real values whose `rfft` is given; n is 2 * (m - 1) by default."""
    return _transform("irfftn", a, *_pair(n, axis), norm, "irfft")


def rfft2(a, s=None, axes=(-2, -1), norm=None) -> ndarray:
    """Return the transform of real values over two axes; see `rfftn`."""
    return rfftn(a, s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None) -> ndarray:
    """Return the real values whose `rfft2` is given."""
    return irfftn(a, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None) -> ndarray:
    """Return the transform of real values over axes, the last of them stored by half.

    Raises
    ------
    IndexError
        There are no axes.
    """
    _some_axes(axes)
    return _transform("rfftn", a, s, axes, norm, "rfftn")


def irfftn(a, s=None, axes=None, norm=None) -> ndarray:
    """Return the real values whose `rfftn` is given."""
    _some_axes(axes)
    return _transform("irfftn", a, s, axes, norm, "irfftn")


def _some_axes(axes) -> None:
    if axes is not None and not isinstance(axes, (int, np.integer)) and len(axes) == 0:
        raise IndexError("a transform of real values needs an axis to be stored by half")


def hfft(a, n=None, axis=-1, norm=None) -> ndarray:
    """Return the transform, which is real, of the first half of values with Hermitian symmetry."""
    a = _prepare(a, "hfft", norm)
    a = a.astype(complex_dtype(a.dtype), copy=False).conj()
    return irfft(a, n, axis, _OPPOSITE[norm])


def ihfft(a, n=None, axis=-1, norm=None) -> ndarray:
    """Return the inverse of `hfft`."""
    a = _prepare(a, "ihfft", norm)
    return rfft(a, n, axis, _OPPOSITE[norm]).conj()


def zero_padded(a, n: int, axis: int) -> ndarray:
    """Values along an axis cut or filled up with zeros to n."""
    if a.shape[axis] == n:
        return a
    place = [slice(None)] * a.ndim
    place[axis] = slice(0, min(n, a.shape[axis]))
    shape = a.shape[:axis] + (n,) + a.shape[axis + 1 :]
    result = engine.full(shape, 0, a.dtype)
    result[tuple(place)] = a[tuple(place)]
    return result
