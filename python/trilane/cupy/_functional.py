"""Functions applied along axes and by conditions."""

from __future__ import annotations

import numpy as np

from trilane.cupy._creation import array, asarray, empty
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import SCALARS, normalize_axis_index, require_array


def apply_along_axis(func1d, axis, arr, *args, **kwargs) -> ndarray:
    """Call a function with each 1-D slice along an axis and put the results in its place.

    Parameters
    ----------
    func1d : callable
        ``func1d(slice, *args, **kwargs)`` returns an array or a scalar.
    axis : int
    arr : ndarray
    """
    arr = require_array(arr, "apply_along_axis")
    axis = normalize_axis_index(axis, arr.ndim)
    moved = engine.moveaxis(arr, axis, -1)
    lead = moved.shape[:-1]
    places = list(np.ndindex(*lead))
    if not places:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = asarray(func1d(moved[places[0]], *args, **kwargs))
    result = empty(lead + first.shape, first.dtype)
    result[places[0]] = first
    for place in places[1:]:
        result[place] = asarray(func1d(moved[place], *args, **kwargs))
    # The results' axes go where the slice's axis was.
    order = [*range(axis), *range(len(lead), result.ndim), *range(axis, len(lead))]
    return result.transpose(order)


def apply_over_axes(func, a, axes) -> ndarray:
    """Call ``func(a, axis)`` for each axis in turn; the number of axes is kept."""
    result = asarray(a)
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        axis = normalize_axis_index(int(axis), a.ndim)
        made = func(result, axis)
        if made.ndim != result.ndim:
            made = made.reshape(made.shape[:axis] + (1,) + made.shape[axis:])
            if made.ndim != result.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        result = made
    return result


def piecewise(x, condlist, funclist) -> ndarray:
    """Set values by conditions: the last condition that holds decides.

    Parameters
    ----------
    x : ndarray or scalar
    condlist : list of ndarray of bool, or one
    funclist : list of scalar or callable
        One per condition, and one more for the rest.
    """
    if any(callable(f) for f in funclist):
        raise NotImplementedError("Callable functions are not supported currently")
    x = asarray(x)
    if isinstance(condlist, SCALARS) or isinstance(condlist, ndarray) and condlist.ndim <= x.ndim:
        condlist = [condlist]
    conditions = [asarray(c).astype(bool, copy=False) for c in condlist]
    if len(funclist) == len(conditions):
        funclist = [*funclist, 0]
    elif len(funclist) != len(conditions) + 1:
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    result = engine.full(x.shape, 0, x.dtype)
    engine.copyto(result, funclist[-1], "unsafe")
    for condition, value in zip(conditions, funclist):
        engine.copyto(result, value, "unsafe", engine.broadcast_to(condition, x.shape))
    return result


class vectorize:
    """A function of scalars applied to arrays, element by element on the host.

    Parameters
    ----------
    pyfunc : callable
    otypes : str or list of dtype, optional
        Types of the results.
    doc : str, optional
    excluded, cache, signature
        Not supported.

    Notes
    -----
    Correct, not fast: each call copies to the host and back.
    """

    def __init__(
        self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ) -> None:
        if excluded or signature or cache:
            raise NotImplementedError("vectorize: excluded, cache and signature")
        self.pyfunc = pyfunc
        self.otypes = otypes
        self.__doc__ = pyfunc.__doc__ if doc is None else doc
        self._host = np.vectorize(self._call, otypes=otypes)

    def _call(self, *args):
        """The function for one element: its arrays of the device come to the host."""
        made = self.pyfunc(*args)
        if isinstance(made, tuple):
            return tuple(x.get()[()] if isinstance(x, ndarray) else x for x in made)
        return made.get()[()] if isinstance(made, ndarray) else made

    def __call__(self, *args):
        """Apply the function to the broadcast arguments."""
        made = self._host(*(a.get() if isinstance(a, ndarray) else a for a in args))
        return tuple(map(array, made)) if isinstance(made, tuple) else array(made)


def pad(array, pad_width, mode="constant", **kwargs) -> ndarray:
    """Return an array with borders.

    Parameters
    ----------
    array : ndarray
    pad_width : int, pair, or one pair per axis, or dict of axis to pair
    mode : str or callable
        NumPy's modes.
    **kwargs
        `constant_values`, `end_values`, `stat_length`, `reflect_type` of the mode.
    """
    from trilane.cupy._padding import pad_array

    return pad_array(require_array(array, "pad"), pad_width, mode, kwargs)
