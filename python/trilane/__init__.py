"""Trilane: CUDA from Python in three ways on one core, with a GPU or without."""

from __future__ import annotations

__version__ = "0.1.0"
