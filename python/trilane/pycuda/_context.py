"""Devices and the context façade.

A device has one context, made on first use. PyCUDA's context stack is kept as a stack of handles
per thread, so programs that push and pop behave as they expect, and programs that do not care
never meet "no currently active context".
"""

from __future__ import annotations

import builtins
import os
import threading
from typing import Any

from trilane import _core

from ._enums import compute_mode, ctx_flags, device_attribute, func_cache, limit, shared_config
from ._errors import LogicError, RuntimeError, TrilaneError, no_device_error, translate

_thread = threading.local()
_CUDA_VERSION = (12, 8, 0)  # the API level whose names and numbers this face has


def init(flags: int = 0) -> None:
    """Nothing needs to be initialised; kept for programs that call it. `flags` must be 0.

    Raises
    ------
    RuntimeError
        PyCUDA's, if there is no device.
    """
    if flags != 0:
        raise LogicError(f"cuInit failed: invalid argument - flags: got {flags}, expected 0")
    if _core.no_device() is not None:
        raise no_device_error("cuInit")


def get_version() -> tuple[int, int, int]:
    """The CUDA version that this interface follows, for instance ``(12, 8, 0)``."""
    return _CUDA_VERSION


def get_driver_version() -> int:
    """The version of the CUDA driver, or of the interface on the cpu device, as ``12080``."""
    major, minor, _ = _CUDA_VERSION
    return 1000 * major + 10 * minor


def set_debugging(flag: bool = True) -> None:
    """Compile with ``-G`` and without the cache from now on."""
    from . import compiler

    compiler._debugging = bool(flag)


def have_gl_ext() -> bool:
    """Whether OpenGL interoperation is there: it is not."""
    return False


def _stack() -> list[Context]:
    try:
        return _thread.stack
    except AttributeError:
        _thread.stack = []
        return _thread.stack


class Device:
    """A device by its number or PCI bus id.

    Parameters
    ----------
    number : int or str
        Position in the list of devices, or a PCI bus id as ``"0000:00:00.0"``.
    """

    def __init__(self, number: int | str = 0) -> None:
        if isinstance(number, str):
            number = _ordinal_of_bus(number)
        self._index = int(number)
        if _core.no_device() is not None:
            raise no_device_error("cuDeviceGet")
        if not 0 <= self._index < _core.device_count():
            raise LogicError(
                f"cuDeviceGet failed: invalid device ordinal - got {self._index}, expected 0 to "
                f"{_core.device_count() - 1}"
            )

    @property
    def _context(self) -> Any:
        try:
            return _core.context_of(self._index)
        except TrilaneError as error:
            raise translate("cuDeviceGet", error) from None

    @staticmethod
    def count() -> int:
        """How many devices there are."""
        return _core.device_count()

    def name(self) -> str:
        """The device's name."""
        return self._context.properties.name

    def pci_bus_id(self) -> str:
        """The PCI bus id as ``"0000:00:00.0"``."""
        return self._context.properties.pci_bus_id

    def compute_capability(self) -> tuple[int, int]:
        """The compute capability as ``(major, minor)``."""
        return self._context.properties.compute_capability

    def total_memory(self) -> int:
        """Bytes of memory of the device."""
        return self._context.properties.total_memory

    def get_attribute(self, attr: int) -> Any:
        """The value of a `device_attribute`.

        Raises
        ------
        LogicError
            If the device does not know the attribute.
        """
        try:
            value = self._context.properties.attributes[int(attr)]
        except KeyError:
            raise LogicError(
                f"cuDeviceGetAttribute failed: invalid argument - no attribute {attr!r}"
            ) from None
        return compute_mode(value) if int(attr) == int(device_attribute.COMPUTE_MODE) else value

    def get_attributes(self) -> dict[Any, Any]:
        """All attributes that the device knows, by `device_attribute`."""
        known = self._context.properties.attributes
        return {attr: self.get_attribute(attr) for attr in device_attribute if int(attr) in known}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.islower():
            raise AttributeError(f"'Device' object has no attribute '{name}'")
        try:
            attribute = device_attribute[name.upper()]
        except KeyError:
            raise AttributeError(f"'Device' object has no attribute '{name}'") from None
        return self.get_attribute(attribute)

    def make_context(self, flags: int = 0) -> Context:
        """A new handle of the device's context, made current for this thread."""
        context = Context(self, int(flags))
        context.push()
        return context

    def retain_primary_context(self) -> Context:
        """A handle of the device's context; it is not made current."""
        return Context(self, 0)

    def can_access_peer(self, other: Device) -> bool:
        """Whether kernels on this device may use memory of `other`."""
        return _core.can_access_peer(self._context, other._context)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._index == other._index

    def __hash__(self) -> int:
        return hash(("Device", self._index))

    def __repr__(self) -> str:
        return f"<pycuda.driver.Device {self._index}: {self.name()}>"


Device.__module__ = "pycuda._driver"


def _ordinal_of_bus(bus_id: str) -> int:
    for index in range(_core.device_count()):
        if _core.context_of(index).properties.pci_bus_id.lower() == bus_id.lower():
            return index
    raise LogicError(f"cuDeviceGetByPCIBusId failed: invalid device ordinal - no device '{bus_id}'")


class Context:
    """A handle of a device's context, with PyCUDA's stack operations."""

    def __init__(self, device: Device, flags: int = 0) -> None:
        self._device = device
        self._core = device._context
        self._flags = flags
        self._detached = False
        self._limits: dict[int, int] = {}
        self._cache_config = func_cache.PREFER_NONE
        self._shared_config = shared_config.DEFAULT_BANK_SIZE

    # --- the stack

    def push(self) -> None:
        """Make this context current for the thread, on top of its stack."""
        self._require_live("cuCtxPushCurrent")
        stack = _stack()
        if not stack:
            _thread.below = _core.current_device_index()
        _core.set_current_device(self._device._index)
        stack.append(self)

    @staticmethod
    def pop() -> None:
        """Take the current context off the thread's stack."""
        stack = _stack()
        if not stack:
            raise LogicError(
                "cuCtxPopCurrent failed: invalid device context - cannot pop context from empty "
                "stack"
            )
        stack.pop()
        _activate_top(stack)

    def detach(self) -> None:
        """Give this handle up; if it is on the thread's stack, the one below becomes current."""
        self._require_live("context::detach")
        self._detached = True
        stack = _stack()
        if self in stack:
            stack.remove(self)
            _activate_top(stack)

    def attach(self, flags: int = 0) -> Context:
        """Not part of CUDA any more."""
        raise NotImplementedError("pycuda.driver.Context.attach: CUDA has no cuCtxAttach any more")

    @staticmethod
    def get_current() -> Context | None:
        """The context on top of the thread's stack, or None if the stack is empty."""
        stack = _stack()
        return stack[-1] if stack else None

    @staticmethod
    def get_device() -> Device:
        """The current device of the thread."""
        return Device(_core.current_device_index())

    @staticmethod
    def synchronize() -> None:
        """Wait for all work of the current device."""
        try:
            _core.current_context().synchronize()
        except TrilaneError as error:
            raise translate("cuCtxSynchronize", error) from None

    # --- settings

    @staticmethod
    def set_limit(limit_: int, value: int) -> None:
        """Set a `limit`; it is remembered, and has no effect on the cpu device."""
        _current_settings()[limit(limit_)] = int(value)

    @staticmethod
    def get_limit(limit_: int) -> int:
        """The value of a `limit`."""
        return _current_settings().get(limit(limit_), _DEFAULT_LIMITS.get(limit(limit_), 0))

    @staticmethod
    def set_cache_config(config: int) -> None:
        """Preferred split of L1 cache and shared memory: a hint that devices here ignore."""
        _thread.cache_config = func_cache(config)

    @staticmethod
    def get_cache_config() -> Any:
        """What `set_cache_config` was told last in this thread."""
        return getattr(_thread, "cache_config", func_cache.PREFER_NONE)

    @staticmethod
    def set_shared_config(config: int) -> None:
        """Width of shared memory banks: has no effect on current hardware."""
        _thread.shared_config = shared_config(config)

    @staticmethod
    def get_shared_config() -> Any:
        """What `set_shared_config` was told last in this thread."""
        return getattr(_thread, "shared_config", shared_config.DEFAULT_BANK_SIZE)

    def get_api_version(self) -> int:
        """The version of the driver's interface."""
        return 3020

    def get_flags(self) -> Any:
        """The flags that the handle was made with."""
        return (
            ctx_flags(self._flags) if self._flags in ctx_flags._value2member_map_ else self._flags
        )

    @staticmethod
    def enable_peer_access(peer: Context, flags: int = 0) -> None:
        """Let the current device use memory of `peer`'s device."""
        try:
            change = _core.enable_peer_access(_core.current_context(), peer._core)
        except TrilaneError as error:
            raise translate("cuCtxEnablePeerAccess", error) from None
        if change == "impossible":
            raise LogicError(
                "cuCtxEnablePeerAccess failed: peer access is not supported between these two "
                "devices"
            )
        if change == "already":
            raise LogicError("cuCtxEnablePeerAccess failed: peer access is already enabled")

    @staticmethod
    def disable_peer_access(peer: Context, flags: int = 0) -> None:
        """Undo `enable_peer_access`."""
        if _core.disable_peer_access(_core.current_context(), peer._core) != "done":
            raise LogicError("cuCtxDisablePeerAccess failed: peer access has not been enabled")

    @property
    def handle(self) -> int:
        """A number that identifies this handle."""
        return id(self)

    def _require_live(self, function: str) -> None:
        if self._detached:
            raise LogicError(f"{function} failed: invalid device context - it was detached")

    def __enter__(self) -> Context:
        self.push()
        return self

    def __exit__(self, *exc: object) -> None:
        Context.pop()

    def __repr__(self) -> str:
        state = ", detached" if self._detached else ""
        return f"<pycuda.driver.Context of device {self._device._index}{state}>"


Context.__module__ = "pycuda._driver"

_DEFAULT_LIMITS = {
    limit.STACK_SIZE: 1024,
    limit.PRINTF_FIFO_SIZE: 7 << 20,
    limit.MALLOC_HEAP_SIZE: 8 << 20,
}
_limits_without_context: dict[Any, int] = {}


def _current_settings() -> dict[Any, int]:
    current = Context.get_current()
    return _limits_without_context if current is None else current._limits


def _activate_top(stack: list[Context]) -> None:
    """Of an empty stack: the device that was current before the first context was pushed."""
    _core.set_current_device(stack[-1]._device._index if stack else _thread.below)


def make_default_context(ctx_maker: Any = None) -> Context:
    """A context on the device that ``CUDA_DEVICE`` or ``~/.cuda_device`` names, else the first.

    Parameters
    ----------
    ctx_maker : callable, optional
        Called with the `Device`; makes the context. Default: `Device.make_context`.

    Raises
    ------
    RuntimeError
        The builtin one, if there is no device.
    """
    if _core.device_count() == 0:
        raise builtins.RuntimeError("No CUDA enabled device found. Please check your installation.")
    chosen = os.environ.get("CUDA_DEVICE", "").strip()
    if not chosen:
        try:
            with open(os.path.expanduser("~/.cuda_device"), encoding="utf-8") as file:
                chosen = file.read().strip()
        except OSError:
            pass  # there is none, as nearly always
    try:
        number = int(chosen or 0)
    except ValueError:
        raise RuntimeError(f"CUDA_DEVICE must be a number: got '{chosen}'") from None
    device = Device(number)
    return device.make_context() if ctx_maker is None else ctx_maker(device)
