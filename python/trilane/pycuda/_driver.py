"""The name under which PyCUDA's classes print; the same objects as in `driver`."""

from __future__ import annotations

from .driver import *  # noqa: F403
