"""`cupy_backends.cuda.stream`: the current stream as CUDA's handle."""

from __future__ import annotations

from trilane.cupy.cuda import runtime
from trilane.cupy.cuda.stream import get_current_stream

__all__ = ["get_current_stream_ptr", "get_default_stream_ptr"]


def get_current_stream_ptr() -> int:
    """Handle of the calling thread's current stream; 0 for the null stream."""
    return get_current_stream().ptr


def get_default_stream_ptr() -> int:
    """The special handle of the default stream."""
    return runtime.streamLegacy
