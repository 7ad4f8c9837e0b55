"""`numba.vectorize` and `guvectorize` with ``target="cuda"``: not there yet."""

from __future__ import annotations

from typing import Any

__all__ = ["guvectorize", "vectorize"]


def vectorize(*args: Any, **kwargs: Any) -> Any:
    """Make a universal function of a scalar one."""
    raise NotImplementedError(
        "numba.cuda.vectorize: ufuncs made of Python functions are not there yet"
    )


def guvectorize(*args: Any, **kwargs: Any) -> Any:
    """Make a generalised universal function."""
    raise NotImplementedError("numba.cuda.guvectorize: generalised ufuncs are not there yet")
