"""A finder of the face's own modules that is asked before all others.

numba-cuda's wheel installs a finder that takes every name with "numba.cuda" in it for a module of
its own, `trilane.numba.cuda` too, and calls itself without end. So where that finder is, a module
that we do not have ends the search here: asking on would never come back.
"""

from __future__ import annotations

import importlib.machinery
import sys
from typing import Any

_PREFIX = __name__.rpartition(".")[0] + "."


class _OwnModules:
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if not fullname.startswith(_PREFIX):
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if found is None:
            end_search(fullname)
        return found


def end_search(fullname: str) -> None:
    """Raise ModuleNotFoundError for `fullname` if numba-cuda's finder would be asked for it next."""
    if "numba.cuda" in fullname and any(
        type(finder).__name__ == "NumbaCudaFinder" for finder in sys.meta_path
    ):
        raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


sys.meta_path.insert(0, _OwnModules())
