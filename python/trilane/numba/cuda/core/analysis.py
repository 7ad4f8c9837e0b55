"""Compiler internals of Numba that are named here and refused at use: analysis."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "dead_branch_prune rewrite_semantic_constants compute_cfg_from_blocks compute_use_defs",
)
