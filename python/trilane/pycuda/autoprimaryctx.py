"""As `autoinit`, by the name that asks for the device's primary context."""

from __future__ import annotations

import atexit

from trilane import _early

_early.open_extension()  # the device starts while what follows imports NumPy

from . import driver  # noqa: E402
from ._context import make_default_context  # noqa: E402


def _retained(dev: driver.Device) -> driver.Context:
    made = dev.retain_primary_context()
    made.push()
    return made


def _finish_up() -> None:
    from .tools import clear_context_caches

    if driver.Context.get_current() is context:
        driver.Context.pop()
    clear_context_caches()


driver.init()
context = make_default_context(_retained)
_early.restore_environment()
device = context.get_device()
atexit.register(_finish_up)
