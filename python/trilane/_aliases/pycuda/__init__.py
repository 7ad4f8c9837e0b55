"""Shim: `import pycuda` gives `trilane.pycuda`, the same module object (see trilane/aliases.py)."""

from trilane.aliases import become_face

become_face(__name__)
