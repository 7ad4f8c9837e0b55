"""Streams and events over the core's."""

from __future__ import annotations

import threading
import weakref

from trilane import _core
from trilane._exchange import core_stream
from trilane.cupy.cuda._errors import CUDARuntimeError
from trilane.cupy.cuda.graph import Graph

_thread = threading.local()
_CAPTURE_STATUS = (900, 901, 906)


def _stack() -> list:
    try:
        return _thread.stack
    except AttributeError:
        _thread.stack = []
        return _thread.stack


def refuse_callback(stream: _core.Stream) -> None:
    """Refuse a callback with a status on a stream that is captured."""
    if stream.capturing():
        raise CUDARuntimeError(
            "cudaErrorStreamCaptureUnsupported",
            "operation not permitted when stream is capturing: expected launch_host_func()",
        )


class _BaseStream:
    """What all streams can do. Usable as a context manager, which makes it current inside."""

    ptr: int
    device_id: int

    @property
    def _core_stream(self) -> _core.Stream:
        raise NotImplementedError

    def __eq__(self, other) -> bool:
        if not isinstance(other, _BaseStream):
            return NotImplemented
        return self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def __enter__(self):
        _stack().append((_core.current_stream(), getattr(_thread, "current", None)))
        self.use()
        return self

    def __exit__(self, *args) -> None:
        core, shown = _stack().pop()
        _core.set_current_stream(core)
        _thread.current = shown

    @property
    def __trilane_stream__(self) -> _core.Stream:
        return self._core_stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    def use(self):
        """Make this the current stream of the calling thread, and return it."""
        core = self._core_stream
        if self.device_id not in (-1, _core.current_device_index()):
            raise RuntimeError(
                f"This stream is of device {self.device_id}, the current device is "
                f"{_core.current_device_index()}"
            )
        _core.set_current_stream(core)
        _thread.current = (core.id, self)
        return self

    @property
    def done(self) -> bool:
        """Whether all work on the stream is done; false, and the capture is lost, if captured."""
        try:
            return self._core_stream.done()
        except CUDARuntimeError as error:
            if error.status in _CAPTURE_STATUS:
                return False
            raise

    def synchronize(self) -> None:
        """Wait for all work on the stream."""
        self._core_stream.synchronize()

    def add_callback(self, callback, arg) -> None:
        """Call ``callback(stream, status, arg)`` once the work so far is done.

        Graphs know `launch_host_func` alone.
        """
        refuse_callback(self._core_stream)
        self._core_stream.host_function(lambda: callback(self, 0, arg))

    def launch_host_func(self, callback, arg) -> None:
        """Call ``callback(arg)`` once the work so far is done."""
        self._core_stream.host_function(lambda: callback(arg))

    def record(self, event: Event | None = None) -> Event:
        """Record an event (a new one by default) on the stream, and return it."""
        if event is None:
            event = Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let later work on the stream wait for the event."""
        self._core_stream.wait_for(event._core_event)

    @property
    def is_non_blocking(self) -> bool:
        """Whether the stream does not wait for the null stream."""
        return self._core_stream.non_blocking

    @property
    def priority(self) -> int:
        """Priority; lower runs first."""
        return self._core_stream.priority

    def begin_capture(self, mode: int | None = None) -> None:
        """Keep what is put on the stream from now on for a graph, instead of doing it.

        Memory that is allocated or freed meanwhile stays as it is for the graph alone. What waits
        for the stream is refused.

        Parameters
        ----------
        mode : int, optional
            ``runtime.streamCaptureModeRelaxed`` (the default), ``...ThreadLocal`` or ``...Global``:
            which calls of CUDA's own are refused in this and other threads, and whether the
            capture must end in the thread that began it.

        Raises
        ------
        RuntimeError
            The default stream cannot be captured.
        CUDARuntimeError
            ``cudaErrorIllegalState``: it is captured already.
        """
        if self.ptr in (0, 1):
            raise RuntimeError("cannot capture on the default (legacy) stream")
        self._core_stream.begin_capture(2 if mode is None else int(mode))

    def end_capture(self) -> Graph:
        """Return the graph of what was put on the stream since `begin_capture`.

        Raises
        ------
        CUDARuntimeError
            The capture was lost by something that was refused before
            (``cudaErrorStreamCaptureInvalidated``), a stream that took part was not waited for
            (``...Unjoined``), or the stream did not begin a capture.
        """
        return Graph(self._core_stream.end_capture())

    def is_capturing(self) -> bool:
        """Whether work is being captured; also if that capture is lost."""
        return self._core_stream.capturing()


class Stream(_BaseStream):
    """A stream of the current device.

    Parameters
    ----------
    null : bool
        The legacy default stream.
    non_blocking : bool
        Do not wait for the default stream.
    ptds : bool
        The per-thread default stream.
    priority : int, optional
        Lower runs first.

    Attributes
    ----------
    ptr : int
        The raw handle.
    device_id : int
        The device, -1 for the default streams.
    """

    null: Stream
    ptds: Stream

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        self._null = bool(null or ptds)
        if null and ptds:
            raise ValueError("null and ptds cannot be both True")
        if self._null:
            self.ptr = 2 if ptds else 0
            self.device_id = -1
            self._core_object = None
            return
        core = _core.Stream(None, bool(non_blocking), 0 if priority is None else int(priority))
        self._core_object = core
        self.ptr = core.handle
        self.device_id = core.context.index

    @property
    def _core_stream(self) -> _core.Stream:
        if self._core_object is None:
            return _core.current_context().default_stream
        return self._core_object

    @classmethod
    def from_external(cls, obj) -> ExternalStream:
        """Wrap a stream of another library: an object with ``__cuda_stream__``."""
        if not hasattr(obj, "__cuda_stream__"):
            raise TypeError(f"{type(obj).__name__} has no __cuda_stream__")
        return ExternalStream(obj.__cuda_stream__()[1])


class ExternalStream(_BaseStream):
    """A stream that another library owns.

    Parameters
    ----------
    ptr : int
        The raw handle.
    device_id : int
        The device; the current one by default.
    """

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self.ptr = int(ptr)
        context = _core.current_context() if device_id < 0 else _core.context_of(device_id)
        self.device_id = context.index
        if self.ptr in (0, 1, 2):
            self._core_object = context.default_stream
        else:
            self._core_object = _core.Stream.wrap(self.ptr, context)

    @property
    def _core_stream(self) -> _core.Stream:
        return self._core_object


class _CoreStream(_BaseStream):
    """A stream that another face made current."""

    def __init__(self, core: _core.Stream) -> None:
        self._core_object = core
        self.ptr = core.handle
        self.device_id = core.context.index

    @property
    def _core_stream(self) -> _core.Stream:
        return self._core_object


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


def get_current_stream(device_id: int = -1) -> _BaseStream:
    """Return the calling thread's current stream of a device (by default the current device)."""
    context = _core.current_context() if device_id < 0 else _core.context_of(device_id)
    core = _core.current_stream(context)
    shown = getattr(_thread, "current", None)
    if shown is not None and shown[0] == core.id:
        return shown[1]
    if core.handle == 0:
        return Stream.null
    return _CoreStream(core)


# By their handles, as calls of the runtime name them.
known_events: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Event:
    """A point in a stream.

    Parameters
    ----------
    block : bool
        Sleep while waiting, not spin.
    disable_timing : bool
        No times; cheaper.
    interprocess : bool
        Other processes may open it by `cupy.cuda.runtime.ipcGetEventHandle`; needs
        `disable_timing`.
    """

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess and not disable_timing:
            raise CUDARuntimeError(
                "cudaErrorInvalidValue", "an interprocess event has no timing: disable_timing=True"
            )
        self._core_event = _core.Event(
            None, not disable_timing, bool(block), shared=bool(interprocess)
        )
        self.ptr = self._core_event.handle
        known_events[self.ptr] = self

    @property
    def done(self) -> bool:
        """Whether the event has happened."""
        return self._core_event.done()

    def record(self, stream: _BaseStream | None = None) -> None:
        """Record on a stream, the current one by default."""
        self._core_event.record(core_stream(stream))

    def synchronize(self) -> None:
        """Wait for the event."""
        self._core_event.synchronize()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two recorded events.

    Raises
    ------
    CUDARuntimeError
        An event was not recorded, or has no timing.
    """
    try:
        return end_event._core_event.elapsed_ms_since(start_event._core_event)
    except _core.InvalidArgumentError as error:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", str(error)) from None
