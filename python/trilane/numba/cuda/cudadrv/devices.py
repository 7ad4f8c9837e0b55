"""Which device is current: ``cuda.gpus``, contexts by thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from trilane import _core
from trilane.numba.cuda.cudadrv.driver import Context, Device, driver, release_linked_code

__all__ = ["get_context", "gpus", "require_context", "reset"]


class _DeviceContextManager:
    """An entry of ``cuda.gpus``: a device, and ``with`` makes it current."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._previous: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def __enter__(self) -> _DeviceContextManager:
        self._previous.append(_core.current_device_index())
        _core.set_current_device(self._device.id)
        return self

    def __exit__(self, *error: object) -> None:
        _core.set_current_device(self._previous.pop())

    def __repr__(self) -> str:
        return f"<Managed Device {self._device.id}>"

    def __str__(self) -> str:
        return repr(self)


class _DeviceList:
    """All devices, found on first use."""

    @property
    def lst(self) -> list[_DeviceContextManager]:
        return [_DeviceContextManager(Device(i)) for i in range(driver.get_device_count())]

    def __getitem__(self, index: int) -> _DeviceContextManager:
        if not isinstance(index, slice) and not -len(self) <= index < len(self):
            raise IndexError(f"no such device: got {index}, expected 0 to {len(self) - 1}")
        return self.lst[index]

    def __len__(self) -> int:
        return driver.get_device_count()

    def __iter__(self) -> Iterator[_DeviceContextManager]:
        return iter(self.lst)

    def __str__(self) -> str:
        return ", ".join(map(str, self.lst))

    @property
    def current(self) -> _DeviceContextManager:
        return self.lst[_core.current_device_index()]


gpus = _DeviceList()


def get_context(devnum: int | None = None) -> Context:
    """The context of a device (default: the current one), made current for this thread."""
    if devnum is not None:
        _core.set_current_device(devnum)
    return Context(Device(_core.current_device_index()))


def require_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """Contexts are there when they are needed: the function as it is."""
    return function


def reset() -> None:
    """Give the memory of all devices back that nothing uses."""
    release_linked_code()
    for context in _core.live_contexts():
        with contextlib.suppress(_core.TrilaneError):
            context.synchronize()
            context.pool.free_all_free_blocks()
