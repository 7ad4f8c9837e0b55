"""The module `trilane.numba.np.numpy_support` by its second name."""

from __future__ import annotations

import sys

from trilane.numba.np import numpy_support

sys.modules[__name__] = numpy_support
