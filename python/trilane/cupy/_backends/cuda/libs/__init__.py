"""`cupy_backends.cuda.libs`: none of the libraries is there; each says so when it is used."""

from __future__ import annotations

import sys

from trilane._missing import no_attribute
from trilane.cupy.cuda import _absent

for _name in _absent.NAMES:
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _absent.library(_name)


def __getattr__(name: str) -> object:
    raise no_attribute(__name__, name)
