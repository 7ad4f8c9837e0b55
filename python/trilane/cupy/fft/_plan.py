"""Plans: what a transform is for, checked where one is used. Libraries here keep none of their own."""

from __future__ import annotations

import threading

_thread = threading.local()
_KINDS = {"fftn": "C2C", "ifftn": "C2C", "rfftn": "R2C", "irfftn": "C2R"}


class Plan:
    """The transforms of one shape, over axes; a context in which transforms have to fit.

    Parameters
    ----------
    shape : tuple of int
        Of the input, with transformed axes at the lengths of the transform.
    axes : tuple of int
    value_type : {'C2C', 'R2C', 'C2R'}
    """

    def __init__(self, shape, axes, value_type: str) -> None:
        self.shape, self.axes, self.value_type = tuple(shape), tuple(axes), value_type

    def check(self, kind: str, a, axes, lengths) -> None:
        """Refuse another transform.

        Raises
        ------
        ValueError
        """
        shape = list(a.shape)
        for axis, n in zip(axes, lengths):
            shape[axis] = n
        found = tuple(shape), tuple(sorted(axes)), _KINDS[kind]
        wanted = self.shape, tuple(sorted(self.axes)), self.value_type
        if found != wanted:
            raise ValueError(
                f"The cuFFT plan and a transform do not match: got {found}, the plan is for {wanted}"
            )

    def __enter__(self) -> Plan:
        _plans().append(self)
        return self

    def __exit__(self, *args) -> None:
        _plans().pop()


def _plans() -> list[Plan]:
    if not hasattr(_thread, "plans"):
        _thread.plans = []
    return _thread.plans


def current_plan() -> Plan | None:
    """The plan of the innermost ``with`` block of this thread."""
    plans = _plans()
    return plans[-1] if plans else None
