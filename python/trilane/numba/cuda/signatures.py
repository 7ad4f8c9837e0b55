"""Signatures as users write them, and which of several a call's argument types choose."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane.numba import types
from trilane.numba.genuine import own

__all__ = ["best_signature", "signature_args"]


def signature_args(given: Any) -> tuple[Any, ...]:
    """Argument types of a signature: a string, a Signature, or a tuple of types."""
    if isinstance(given, str):
        given = types.parse_signature(given)
    given = own(given)
    if isinstance(given, types.Signature):
        return given.args
    if isinstance(given, types.Type):
        return (given,)
    if isinstance(given, (tuple, list)):
        return tuple(types.from_dtype(t) for t in given)
    raise TypeError(f"invalid signature: {given!r} ({type(given).__name__})")


def conversion_cost(given: Any, wanted: Any) -> int | None:
    """0: the same, 1: promotes, 2: safe, 3: unsafe; None: cannot."""
    if given == wanted:
        return 0
    if isinstance(given, types.Array) and isinstance(wanted, types.Array):
        same = (given.dtype, given.ndim) == (wanted.dtype, wanted.ndim)
        if not same or (not given.mutable and wanted.mutable):
            return None
        return 0 if given.layout == wanted.layout else 1 if wanted.layout == "A" else None
    if isinstance(given, types.Number) and isinstance(wanted, types.Number):
        if isinstance(given, types.Complex) and not isinstance(wanted, types.Complex):
            return None
        safe = np.can_cast(given.dtype, wanted.dtype)
        return 1 if safe and given.dtype.kind == wanted.dtype.kind else 2 if safe else 3
    if isinstance(given, types.Integer) and isinstance(wanted, types.CPointer):
        return 1
    return None


def best_signature(function: Any, signatures: list[Any], given: list[Any]) -> Any:
    """The signature with the fewest unsafe, then safe, then promoting conversions.

    Raises
    ------
    TypeError
        No signature takes the types, or two do equally well.
    """
    ranked: list[tuple[tuple[int, ...], Any]] = []
    for signature in signatures:
        if len(signature.args) != len(given):
            continue
        costs = [conversion_cost(a, b) for a, b in zip(given, signature.args, strict=True)]
        if None not in costs:
            ranked.append((tuple(costs.count(kind) for kind in (3, 2, 1)), signature))
    if not ranked:
        known = ", ".join(map(str, signatures))
        raise TypeError(
            f"No matching definition for argument type(s) {', '.join(map(str, given))}: "
            f"{function.__name__} was compiled for {known}"
        )
    least = min(cost for cost, _ in ranked)
    best = [signature for cost, signature in ranked if cost == least]
    if len(best) > 1:
        raise TypeError(
            f"Ambiguous overloading for {function} {_listed(given)}:\n"
            + "\n".join(f"{_listed(signature.args)} -> none" for signature in best)
        )
    return best[0]


def _listed(args: Any) -> str:
    return f"({', '.join(map(repr, args))})"
