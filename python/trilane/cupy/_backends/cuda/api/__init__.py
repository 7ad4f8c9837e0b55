"""`cupy_backends.cuda.api`: its `runtime` and `driver` are the modules of `cupy.cuda`."""

from __future__ import annotations

import sys

from trilane.cupy.cuda import driver, runtime

sys.modules[__name__ + ".driver"] = driver
sys.modules[__name__ + ".runtime"] = runtime

__all__ = ["driver", "runtime"]
