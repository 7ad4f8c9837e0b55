"""Updates in place in which every index counts, however often it occurs."""

from __future__ import annotations

from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import require_array


def scatter_add(a, slices, value) -> None:
    """Add values in place at indices; repeated indices add up.

    Parameters
    ----------
    a : ndarray
    slices : index
        Anything that indexes `a`.
    value : ndarray or scalar
    """
    require_array(a, "scatter_add").scatter_add(slices, value)


def scatter_max(a, slices, value) -> None:
    """Take the maximum with values in place at indices; repeated indices all count."""
    require_array(a, "scatter_max").scatter_max(slices, value)


def scatter_min(a, slices, value) -> None:
    """Take the minimum with values in place at indices; repeated indices all count."""
    require_array(a, "scatter_min").scatter_min(slices, value)


def rsqrt(x, out=None) -> ndarray:
    """Return ``1 / sqrt(x)``."""
    return engine.ufuncs["rsqrt"](x, out=out)
