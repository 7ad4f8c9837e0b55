"""The launch that a compilation is for. Compiled code never depends on it here; callers may ask."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "LaunchConfig", "capture_compile_config", "current_launch_config",
    "ensure_current_launch_config",
]  # fmt: skip


@dataclass
class LaunchConfig:
    """Grid, block, stream and arguments of a launch that is on its way."""

    dispatcher: Any
    griddim: tuple[int, ...]
    blockdim: tuple[int, ...]
    stream: Any
    sharedmem: int
    args: tuple[Any, ...]
    # What the compiled side asked for, and what it is answered: (type codes, device), a variant.
    request: Any = field(default=None, repr=False)
    variant: Any = field(default=None, repr=False)


_active = threading.local()


def current_launch_config() -> LaunchConfig | None:
    """The launch that this thread is making, None outside of one."""
    return getattr(_active, "config", None)


def ensure_current_launch_config() -> LaunchConfig:
    """The launch that this thread is making.

    Raises
    ------
    RuntimeError
        There is none.
    """
    config = current_launch_config()
    if config is None:
        raise RuntimeError("no launch configuration is active while compiling")
    return config


@contextlib.contextmanager
def launching(config: LaunchConfig) -> Iterator[None]:
    """The launch is `config` while the block runs."""
    before = current_launch_config()
    _active.config = config
    try:
        yield
    finally:
        _active.config = before


@contextlib.contextmanager
def capture_compile_config(dispatcher: Any) -> Iterator[dict[str, Any]]:
    """A dict whose "config" is the launch that `dispatcher` compiles for in the block, or None."""
    captured: dict[str, Any] = {"config": None}
    compile_for_args = dispatcher._compile_for_args

    def noting(*args: Any, **kwargs: Any) -> Any:
        captured["config"] = current_launch_config()
        return compile_for_args(*args, **kwargs)

    dispatcher._compile_for_args = noting
    try:
        yield captured
    finally:
        del dispatcher._compile_for_args
