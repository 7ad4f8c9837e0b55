"""Names that a peer has and its face has not: one error, and the lists of what the peers have.

The lists are data files of names (``_peer_names/PEER.txt``), written by ``tools/peer_names.py`` from the
peers' releases and read only when a name is not found.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

__all__ = ["MissingFeatureError", "missing", "missing_attributes", "no_attribute", "peer_names"]


class MissingFeatureError(NotImplementedError, AttributeError):
    """A name of the peer that is not here yet.

    It is an AttributeError too, so that ``hasattr`` and ``getattr`` with a default can probe.
    """


def missing(name: str) -> MissingFeatureError:
    """The error for a missing name, such as ``'cupy.cuda.nccl'``."""
    face = "numba.cuda" if name.startswith("numba.") else name.split(".")[0]
    return MissingFeatureError(f"{name} is not implemented in trilane.{face}")


@cache
def peer_names(peer: str) -> tuple[str, dict[str, frozenset[str]]]:
    """Release and public names of a peer, by the dotted name of the module or class."""
    with open(os.path.join(os.path.dirname(__file__), "_peer_names", f"{peer}.txt")) as file:
        text = file.read()
    release, sections, names = "", {}, []
    for line in text.splitlines():
        if line.startswith("# "):
            release = line[2:]
        elif line.startswith("["):
            names = sections.setdefault(line[1:-1], [])
        else:
            names += line.split()
    return release, {name: frozenset(members) for name, members in sections.items()}


def no_attribute(module: str, name: str) -> AttributeError:
    """The error for an attribute that a face's module (``trilane.pycuda.driver``) has not."""
    public = module.removeprefix("trilane.")
    peer = public.split(".")[0]
    if not name.startswith("_"):
        _, sections = peer_names("cupy" if peer == "cupyx" else peer)
        if name in sections.get(public, ()):
            return missing(f"{public}.{name}")
    return AttributeError(f"module {public!r} has no attribute {name!r}")


def missing_attributes(module: str) -> Callable[[str], object]:
    """A module's ``__getattr__`` that tells the peer's names from names that nobody has."""

    def __getattr__(name: str) -> object:
        raise no_attribute(module, name)

    return __getattr__
