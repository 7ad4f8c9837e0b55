"""The running Python's version."""

from __future__ import annotations

import sys

__all__ = ["PYVERSION"]

PYVERSION = sys.version_info[:2]
