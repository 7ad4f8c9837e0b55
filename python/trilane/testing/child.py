"""The environment of a test's child processes."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["child_environment"]

_PACKAGE_ROOT = str(Path(__file__).resolve().parent.parent.parent)


def child_environment(*first: str, **settings: str) -> dict[str, str]:
    """This process's environment for a child that imports the same Trilane.

    Parameters
    ----------
    *first : str
        Folders that the child's Python looks into before all others.
    **settings : str
        Variables set for the child, such as ``TRILANE_DEVICE="cpu"``. The device is otherwise the
        one that this process was told to use.

    Returns
    -------
    dict of str
        What ``subprocess`` takes as ``env``.
    """
    inherited = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    path = [*first, _PACKAGE_ROOT, *(p for p in inherited if p != _PACKAGE_ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **settings}
