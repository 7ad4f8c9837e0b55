"""Captures of streams and graphs, by the calls of the runtime."""

from __future__ import annotations

import itertools

from trilane import _core
from trilane.cupy.cuda._errors import CUDARuntimeError
from trilane.cupy.cuda.graph import _alive

__all__ = [
    "graphDestroy",
    "graphExecDestroy",
    "graphInstantiate",
    "graphLaunch",
    "graphUpload",
    "streamBeginCapture",
    "streamCaptureModeGlobal",
    "streamCaptureModeRelaxed",
    "streamCaptureModeThreadLocal",
    "streamCaptureStatusActive",
    "streamCaptureStatusInvalidated",
    "streamCaptureStatusNone",
    "streamEndCapture",
    "streamIsCapturing",
]

streamCaptureModeGlobal = 0
streamCaptureModeThreadLocal = 1
streamCaptureModeRelaxed = 2
streamCaptureStatusNone = 0
streamCaptureStatusActive = 1
streamCaptureStatusInvalidated = 2

# What a handle stands for.
_graphs: dict[int, _core.Graph] = {}
_executables: dict[int, _core.Graph] = {}
_handles = itertools.count(1)


def streamBeginCapture(stream: int, mode: int = streamCaptureModeRelaxed) -> None:
    """Keep what is put on a stream from now on for a graph."""
    _runtime()._stream(stream).begin_capture(int(mode))


def streamEndCapture(stream: int) -> int:
    """End a capture; the handle of its graph. Give it back by `graphDestroy`."""
    graph = _runtime()._stream(stream).end_capture()
    handle = next(_handles)
    _graphs[handle] = graph
    return handle


def streamIsCapturing(stream: int) -> bool:
    """Whether a stream's work is being captured; also if that capture is lost."""
    return _runtime()._stream(stream).capturing()


def graphInstantiate(graph: int) -> int:
    """Make a graph ready to be launched; the handle. Give it back by `graphExecDestroy`.

    All that are made of one graph follow each other when they are launched.
    """
    made = _graphs.get(int(graph))
    if made is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"graph {graph}")
    handle = next(_handles)
    _executables[handle] = made
    return handle


def graphLaunch(graphExec: int, stream: int) -> None:
    """Do the work of a graph once more in the order of a stream."""
    _executable(graphExec).launch(_runtime()._stream(stream))


def graphUpload(graphExec: int, stream: int) -> None:
    """Do before what the first launch of a graph would do first."""
    _executable(graphExec).upload(_runtime()._stream(stream))


def graphDestroy(graph: int) -> None:
    """Give back what `streamEndCapture` gave; what was made of it stays."""
    if _graphs.pop(int(graph), None) is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"graph {graph}")


def graphExecDestroy(graphExec: int) -> None:
    """Give back what `graphInstantiate` gave; launches that are not done are not disturbed."""
    if _executables.pop(int(graphExec), None) is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"graph {graphExec}")


def _executable(handle: int) -> _core.Graph:
    made = _executables.get(int(handle))
    if made is not None:
        return made
    graph = _alive.get(int(handle))  # Graph.graphExec
    if graph is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"graph {handle}")
    return graph._core_graph


def _runtime():
    from trilane.cupy.cuda import runtime

    return runtime
