"""Shim: `import cupy` gives `trilane.cupy`, the same module object (see trilane/aliases.py)."""

from trilane.aliases import become_face

become_face(__name__)

# Libraries recognise the array type by the module that its class names.
import trilane.cupy as _face  # noqa: E402

_face.ndarray.__module__ = _face.ufunc.__module__ = "cupy"
