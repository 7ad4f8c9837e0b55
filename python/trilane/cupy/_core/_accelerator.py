"""CuPy's switch between implementations: accepted; there is one implementation here."""

from __future__ import annotations

ACCELERATOR_CUB = 1
ACCELERATOR_CUTENSOR = 2

_chosen: dict[str, list[int]] = {"routine": [], "reduction": []}
_NAMES = {"cub": ACCELERATOR_CUB, "cutensor": ACCELERATOR_CUTENSOR}


def _numbers(accelerators) -> list[int]:
    return [_NAMES[a] if isinstance(a, str) else int(a) for a in accelerators]


def set_routine_accelerators(accelerators) -> None:
    """Remember a choice."""
    _chosen["routine"] = _numbers(accelerators)


def get_routine_accelerators() -> list[int]:
    """Return the remembered choice."""
    return list(_chosen["routine"])


def set_reduction_accelerators(accelerators) -> None:
    """Remember a choice."""
    _chosen["reduction"] = _numbers(accelerators)


def get_reduction_accelerators() -> list[int]:
    """Return the remembered choice."""
    return list(_chosen["reduction"])
