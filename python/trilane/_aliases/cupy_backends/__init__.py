"""Shim: `import cupy_backends` gives `trilane.cupy._backends` (see trilane/aliases.py)."""

from trilane.aliases import become_face

become_face(__name__)
