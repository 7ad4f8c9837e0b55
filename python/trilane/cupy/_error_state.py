"""Error state: how linear algebra and transforms answer failures."""

from __future__ import annotations

import threading

_DEFAULTS = {
    "divide": None,
    "over": None,
    "under": None,
    "invalid": None,
    "linalg": "ignore",
    "fallback_mode": "ignore",
}
_thread = threading.local()


def _current() -> dict:
    if not hasattr(_thread, "state"):
        _thread.state = dict(_DEFAULTS)
    return _thread.state


def geterr() -> dict:
    """Return the calling thread's state."""
    return dict(_current())


def seterr(
    *, divide=None, over=None, under=None, invalid=None, linalg=None, fallback_mode=None
) -> dict:
    """Set the calling thread's state and return the former one.

    Parameters
    ----------
    divide, over, under, invalid
        Not supported: device arithmetic raises nothing.
    linalg, fallback_mode : {'ignore', 'raise'}, optional
    """
    if any(x is not None for x in (divide, over, under, invalid)):
        raise NotImplementedError("seterr: errors of arithmetic (divide, over, under, invalid)")
    former = geterr()
    for name, value in (("linalg", linalg), ("fallback_mode", fallback_mode)):
        if value is None:
            continue
        if value not in ("ignore", "raise", "warn"):
            raise NotImplementedError(f"seterr: {name}={value!r}")
        _current()[name] = value
    return former


class errstate:
    """Set the state inside a ``with`` block; arguments as of `seterr`."""

    def __init__(self, **kwargs) -> None:
        self._kwargs = kwargs

    def __enter__(self) -> None:
        self._former = seterr(**self._kwargs)

    def __exit__(self, *args) -> None:
        _current().update(self._former)
