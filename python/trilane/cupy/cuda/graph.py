"""Graphs: captured work of streams, done again at each launch."""

from __future__ import annotations

import weakref

from trilane import _core
from trilane._exchange import core_stream

# By the handle that calls of `runtime` take.
_alive: weakref.WeakValueDictionary[int, Graph] = weakref.WeakValueDictionary()


class Graph:
    """What a stream was given between `Stream.begin_capture` and `Stream.end_capture`.

    Each launch does that work again, with the memory, the sizes and the numbers of the capture.
    Memory, code and functions of the host that it uses live until the graph is gone and its last
    launch is done; what it computes into temporaries belongs to it alone.

    Attributes
    ----------
    graph : int
        0: what was captured is a graph that is ready to be launched.
    graphExec : int
        The handle for `runtime.graphLaunch` and `runtime.graphUpload`.
    """

    _core_graph: _core.Graph
    graph = 0

    def __init__(self, *args, **kwargs) -> None:
        if len(args) != 1 or not isinstance(args[0], _core.Graph):
            raise NotImplementedError(
                "a Graph cannot be made by its class: it is what Stream.end_capture() returns"
            )
        self._core_graph = args[0]
        _alive[self._core_graph.handle] = self

    @property
    def graphExec(self) -> int:
        return self._core_graph.handle

    def launch(self, stream=None) -> None:
        """Do the work once more, in the order of a stream (by default the current one).

        On a stream that is captured it becomes part of that capture.
        """
        self._core_graph.launch(core_stream(stream))

    def upload(self, stream=None) -> None:
        """Do before what the first launch on a stream would do first."""
        self._core_graph.upload(core_stream(stream))
