"""The module `trilane.numba.types` by its second name: its types are the same objects."""

from __future__ import annotations

import sys

from trilane.numba import types

sys.modules[__name__] = types
