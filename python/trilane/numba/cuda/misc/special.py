"""`literal_unroll`: a loop over a tuple whose items have different types."""

from __future__ import annotations

from typing import Any

from trilane._missing import missing_attributes

__all__ = ["literal_unroll"]


def literal_unroll(container: Any) -> Any:
    """`container`: kernels unroll loops over tuples of several types in any case."""
    return container


literal_unroll.__trilane_builtin__ = "literal_unroll"

__getattr__ = missing_attributes(__name__)
