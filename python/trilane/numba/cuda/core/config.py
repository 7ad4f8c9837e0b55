"""The module `trilane.numba.core.config` by its second name: settings made in one hold in both."""

from __future__ import annotations

import sys

from trilane.numba.core import config

sys.modules[__name__] = config
