"""The PyCUDA way of working: CUDA C strings, explicit memory and launches, GPUArrays.

``import trilane.pycuda.driver as cuda``; under ``trilane run``, ``import pycuda.driver as cuda``.
"""

from __future__ import annotations

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(part) for part in VERSION) + VERSION_STATUS
__version__ = VERSION_TEXT
