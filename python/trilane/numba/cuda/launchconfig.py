"""The launch configuration that a compilation is for: compiled code never depends on it here."""

from __future__ import annotations

from typing import Any

from trilane.numba.absent import absent_attributes

__all__ = ["current_launch_config", "ensure_current_launch_config"]


def current_launch_config() -> None:
    """The configuration of the launch that is compiling: None, there is no such dependence."""
    return None


def ensure_current_launch_config() -> Any:
    """The configuration of the launch that is compiling.

    Raises
    ------
    RuntimeError
        Always: kernels are compiled for argument types, whatever the launch is.
    """
    raise RuntimeError("no launch configuration is active while compiling")


__getattr__ = absent_attributes(__name__, "LaunchConfig capture_compile_config")
