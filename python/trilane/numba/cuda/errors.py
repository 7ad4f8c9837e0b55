"""The module `trilane.numba.core.errors` by its third name: what is caught by one is caught by both."""

from __future__ import annotations

import sys

from trilane.numba.core import errors

sys.modules[__name__] = errors
