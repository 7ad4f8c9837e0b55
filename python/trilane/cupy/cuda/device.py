"""The Device class: which device is current, and its properties."""

from __future__ import annotations

from functools import total_ordering

from trilane import _core
from trilane.cupy.cuda._attributes import ATTRIBUTE_NAMES
from trilane.cupy.cuda._errors import CUDARuntimeError


def _context(index: int) -> _core.Context:
    try:
        return _core.context_of(index)
    except (_core.InvalidArgumentError, _core.NotFoundError, IndexError) as error:
        raise CUDARuntimeError(
            "cudaErrorInvalidDevice", f"invalid device ordinal: {error}"
        ) from None


@total_ordering
class Device:
    """A device by its number. As a context manager it is the current device inside.

    Parameters
    ----------
    device : int or Device, optional
        The current device by default.

    Attributes
    ----------
    id : int
    """

    def __init__(self, device: int | Device | None = None) -> None:
        self.id: int = _core.current_device_index() if device is None else int(device)
        self._stack: list[int] = []

    @classmethod
    def from_pci_bus_id(cls, pci_bus_id: str) -> Device:
        """Find a device by its address on the bus."""
        for index in range(_core.device_count()):
            if _core.context_of(index).properties.pci_bus_id.lower() == pci_bus_id.lower():
                return cls(index)
        raise CUDARuntimeError("cudaErrorInvalidDevice", f"no device at {pci_bus_id!r}")

    def __int__(self) -> int:
        return self.id

    def __index__(self) -> int:
        return self.id

    def __enter__(self) -> Device:
        self._stack.append(_core.current_device_index())
        self.use()
        return self

    def __exit__(self, *args) -> None:
        _core.set_current_device(self._stack.pop())

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __eq__(self, other) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __lt__(self, other) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self.id < other.id

    def __hash__(self) -> int:
        return hash(("trilane.cupy.Device", self.id))

    def use(self) -> None:
        """Make this the current device of the calling thread."""
        _context(self.id)
        _core.set_current_device(self.id)

    def synchronize(self) -> None:
        """Wait for all work on the device."""
        _context(self.id).synchronize()

    @property
    def _properties(self) -> _core.DeviceProperties:
        return _context(self.id).properties

    @property
    def compute_capability(self) -> str:
        """Major and minor version of the architecture in one string, such as '90'."""
        major, minor = self._properties.compute_capability
        return f"{major}{minor}"

    @property
    def attributes(self) -> dict[str, int]:
        """Attributes by CUDA's names, such as 'MaxThreadsPerBlock'."""
        values = self._properties.attributes
        return {ATTRIBUTE_NAMES[k]: v for k, v in values.items() if k in ATTRIBUTE_NAMES}

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free and total bytes of memory."""
        return _context(self.id).memory_info()

    @property
    def pci_bus_id(self) -> str:
        """Address on the bus."""
        return self._properties.pci_bus_id

    def __getattr__(self, name: str):
        if name in ("cublas_handle", "cusolver_handle", "cusolver_sp_handle", "cusparse_handle"):
            raise NotImplementedError(f"Device.{name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def get_device_id() -> int:
    """Number of the calling thread's current device."""
    return _core.current_device_index()


def get_compute_capability() -> str:
    """Compute capability of the current device."""
    return Device().compute_capability
