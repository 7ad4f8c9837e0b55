"""Timing of functions on host and device."""

from __future__ import annotations

import contextlib
import functools
import math
import time

import numpy as np

from trilane._missing import missing_attributes as _missing_attributes
from trilane.cupy import cuda


class _PerfCaseResult:
    """Times of a function, in seconds.

    Attributes
    ----------
    name : str
    cpu_times : numpy.ndarray of shape (repeats,)
        From the call to its return.
    gpu_times : numpy.ndarray of shape (devices, repeats)
        Between events around the call.
    """

    def __init__(self, name: str, times: np.ndarray, devices: tuple[int, ...]) -> None:
        self.name = name
        self._times = times
        self._devices = devices

    @property
    def cpu_times(self) -> np.ndarray:
        """Host times."""
        return self._times[0]

    @property
    def gpu_times(self) -> np.ndarray:
        """Device times."""
        return self._times[1:]

    @staticmethod
    def _text(label: str, times: np.ndarray, show_gpu: bool = False) -> str:
        us = times * 1e6
        return (
            f"    {label}: {us.mean():9.3f} us   +/- {us.std():6.3f} "
            f"(min: {us.min():9.3f} / max: {us.max():9.3f}) us"
        )

    def to_str(self, show_gpu: bool = False) -> str:
        """Return one line of statistics."""
        text = f"{self.name:<20s}:" + self._text("CPU", self.cpu_times)
        if show_gpu:
            for device, times in zip(self._devices, self.gpu_times):
                text += self._text(f"GPU-{device}", times)
        return text

    def __str__(self) -> str:
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func,
    args=(),
    kwargs=None,
    n_repeat=10000,
    *,
    name=None,
    n_warmup=10,
    max_duration=math.inf,
    devices=None,
):
    """Measure a function on host and device.

    Parameters
    ----------
    func : callable
    args, kwargs
        Its arguments.
    n_repeat : int
        Most calls.
    name : str, optional
    n_warmup : int
        Calls before the first measured one.
    max_duration : float
        Seconds after which no further call starts.
    devices : tuple of int, optional
        By default the current one.

    Returns
    -------
    object with `cpu_times`, `gpu_times` and a printed form

    Raises
    ------
    ValueError
        An argument is out of its range.
    """
    if not callable(func):
        raise ValueError("`func` should be a callable object.")
    if not isinstance(args, tuple):
        raise ValueError("`args` should be of tuple type.")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise ValueError("`kwargs` should be of dict type.")
    if not isinstance(n_repeat, int):
        raise ValueError("`n_repeat` should be an integer.")
    if name is not None and not isinstance(name, str):
        raise ValueError("`name` should be str.")
    if not isinstance(n_warmup, int):
        raise ValueError("`n_warmup` should be an integer.")
    kwargs = kwargs or {}
    name = getattr(func, "__name__", repr(func)) if name is None else name
    devices = (cuda.get_device_id(),) if devices is None else tuple(devices)
    events = []
    for device in devices:
        with cuda.Device(device):
            events.append((device, cuda.Event(), cuda.Event()))
    for _ in range(n_warmup):
        func(*args, **kwargs)
    for device in devices:
        cuda.Device(device).synchronize()
    rows: list[list[float]] = [[] for _ in range(len(devices) + 1)]
    spent = 0.0
    for _ in range(n_repeat):
        _record(events, 1)
        started = time.perf_counter()
        func(*args, **kwargs)
        rows[0].append(time.perf_counter() - started)
        _record(events, 2)
        for row, (_, first, last) in zip(rows[1:], events):
            last.synchronize()
            row.append(cuda.get_elapsed_time(first, last) * 1e-3)
        spent += time.perf_counter() - started
        if spent > max_duration:
            break
    return _PerfCaseResult(name, np.asarray(rows, np.float64), devices)


def _record(events, place: int) -> None:
    for entry in events:
        with cuda.Device(entry[0]):
            entry[place].record()


class time_range:
    """A range around a block or a function, for an outside profiler.

    Parameters
    ----------
    message : str, optional
        Of a function its name by default; a block must have one.
    color_id, argb_color : int, optional
    sync : bool
        Wait for the device before the range ends.
    """

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False) -> None:
        if color_id is not None and argb_color is not None:
            raise ValueError("Only either color_id or argb_color can be specified")
        self.message = message
        self.color_id = -1 if color_id is None else color_id
        self.argb_color = argb_color
        self.sync = sync

    def _push(self, message: str) -> None:
        if self.argb_color is not None:
            cuda.nvtx.RangePushC(message, self.argb_color)
        else:
            cuda.nvtx.RangePush(message, self.color_id)

    def __enter__(self) -> time_range:
        if self.message is None:
            raise ValueError("when used as a context manager, the message argument cannot be None")
        self._push(self.message)
        return self

    def __exit__(self, *args) -> None:
        if self.sync:
            cuda.runtime.deviceSynchronize()
        cuda.nvtx.RangePop()

    def __call__(self, func):
        """`func` in a range of its own at each call."""
        message = func.__name__ if self.message is None else self.message

        @functools.wraps(func)
        def inner(*args, **kwargs):
            self._push(message)
            try:
                return func(*args, **kwargs)
            finally:
                self.__exit__()

        return inner


@contextlib.contextmanager
def profile():
    """Mark a block for an outside profiler."""
    with cuda.profile():
        yield


__getattr__ = _missing_attributes(__name__)
