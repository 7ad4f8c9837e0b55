"""Streams and events."""

from __future__ import annotations

from typing import Any

from trilane import _core

from ._errors import LogicError, TrilaneError, translate


class Stream(_core.Stream):
    """An order of work on the current device.

    Parameters
    ----------
    flags : int
        0, or 1 for a stream that does not wait for the null stream.
    """

    def __init__(self, flags: int = 0) -> None:
        try:
            super().__init__(None, bool(int(flags) & 1))
        except TrilaneError as error:
            raise translate("cuStreamCreate", error) from None

    def synchronize(self) -> None:
        """Wait for all work of the stream."""
        try:
            super().synchronize()
        except TrilaneError as error:
            raise translate("cuStreamSynchronize", error) from None

    def is_done(self) -> bool:
        """Whether all work of the stream is done."""
        try:
            return self.done()
        except TrilaneError as error:
            raise translate("cuStreamQuery", error) from None

    def wait_for_event(self, evt: Event) -> None:
        """Work put on the stream from now on waits for `evt`."""
        try:
            self.wait_for(evt)
        except TrilaneError as error:
            raise translate("cuStreamWaitEvent", error) from None


class Event(_core.Event):
    """A point in the work of a stream.

    Parameters
    ----------
    flags : event_flags
    """

    def __init__(self, flags: int = 0) -> None:
        flags = int(flags)
        shared = bool(flags & 4)
        if shared and not flags & 2:
            raise LogicError(
                "cuEventCreate failed: invalid argument - an INTERPROCESS event has no timing: add "
                "event_flags.DISABLE_TIMING"
            )
        try:
            super().__init__(None, not flags & 2, bool(flags & 1), shared=shared)
        except TrilaneError as error:
            raise translate("cuEventCreate", error) from None

    def record(self, stream: Any = None) -> Event:
        """Mark this point of the stream; returns the event."""
        try:
            super().record(stream)
        except TrilaneError as error:
            raise translate("cuEventRecord", error) from None
        return self

    def synchronize(self) -> Event:
        """Wait until the point is reached; returns the event."""
        try:
            super().synchronize()
        except TrilaneError as error:
            raise translate("cuEventSynchronize", error) from None
        return self

    def query(self) -> bool:
        """Whether the point is reached."""
        try:
            return self.done()
        except TrilaneError as error:
            raise translate("cuEventQuery", error) from None

    def time_since(self, start: Event) -> float:
        """Milliseconds from `start` to this event."""
        try:
            return self.elapsed_ms_since(start)
        except TrilaneError as error:
            raise translate("cuEventElapsedTime", error) from None

    def time_till(self, end: Event) -> float:
        """Milliseconds from this event to `end`."""
        return end.time_since(self)

    def ipc_handle(self) -> bytearray:
        """What another process opens an event of flag ``INTERPROCESS`` by: 64 bytes."""
        try:
            return bytearray(self.share())
        except TrilaneError as error:
            raise translate("cuIpcGetEventHandle", error) from None

    @staticmethod
    def from_ipc_handle(handle: Any) -> Event:
        """The event of another process that `ipc_handle` stands for."""
        event = Event.__new__(Event)
        try:
            _core.Event.__init__(event, handle=bytes(handle))
        except TrilaneError as error:
            raise translate("cuIpcOpenEventHandle", error) from None
        return event


Stream.__module__ = Event.__module__ = "pycuda._driver"


def start_profiler() -> None:
    """Let an outside profiler (``nsys profile -c cudaProfilerApi``) collect from now on."""
    _core.start_profiler()


def stop_profiler() -> None:
    """End what `start_profiler` began."""
    _core.stop_profiler()


def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """Gone from CUDA."""
    raise LogicError("cuProfilerInitialize failed: operation not supported - CUDA dropped it")
