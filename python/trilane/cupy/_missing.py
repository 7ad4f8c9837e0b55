"""The error of names that the peer has and this face has not."""

from __future__ import annotations


class MissingFeatureError(NotImplementedError, AttributeError):
    """A name of CuPy or NumPy that is not here yet.

    It is an AttributeError too, so that ``hasattr`` and ``getattr`` with a default can probe.
    """


def missing(name: str) -> MissingFeatureError:
    """The error for a missing name, such as ``'cupy.cuda.nccl'``."""
    return MissingFeatureError(f"{name} is not implemented in trilane.cupy")
