"""Shim: `import cupyx` gives `trilane.cupyx`, the same module object (see trilane/aliases.py)."""

from trilane.aliases import become_face

become_face(__name__)
