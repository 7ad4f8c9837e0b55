"""Import it to have a context: `context` and `device` are those of the first or chosen device."""

from __future__ import annotations

import atexit

from trilane import _early

_early.open_extension()  # the device starts while what follows imports NumPy

from . import driver  # noqa: E402
from ._context import make_default_context  # noqa: E402

driver.init()
context = make_default_context()
_early.restore_environment()
device = context.get_device()


def _finish_up() -> None:
    from .tools import clear_context_caches

    if driver.Context.get_current() is context:
        driver.Context.pop()
    clear_context_caches()


atexit.register(_finish_up)
