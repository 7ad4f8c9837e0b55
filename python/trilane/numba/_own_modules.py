"""A finder of the face's own modules that is asked before all others.

numba-cuda's wheel installs a finder that takes every name with "numba.cuda" in it for a module of
its own, `trilane.numba.cuda` too, and calls itself without end.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from typing import Any

_PREFIX = __name__.rpartition(".")[0] + "."


class _OwnModules(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if not fullname.startswith(_PREFIX):
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if found is None:  # nor may that finder look for what does not exist
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return found


sys.meta_path.insert(0, _OwnModules())
