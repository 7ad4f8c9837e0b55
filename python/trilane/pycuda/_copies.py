"""Structured copies: rectangles between host and device."""

from __future__ import annotations

from typing import Any

from trilane import _core

from ._enums import memory_type
from ._errors import LogicError, TrilaneError, translate


class _Side:
    """One end of a copy: what `set_src_host` and its kin said."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.host = False


class _Memcpy:
    src_memory_type = dst_memory_type = memory_type.DEVICE
    width_in_bytes = height = 0

    def __init_subclass__(cls, fields: str = "") -> None:
        for field in fields.split():
            for side in ("src", "dst"):
                setattr(cls, f"{side}_{field}", 0)

    def __init__(self) -> None:
        self._src, self._dst = _Side(), _Side()

    def _set(self, name: str, side: _Side, memory: Any, host: bool) -> None:
        side.memory, side.host = memory, host
        setattr(self, f"{name}_memory_type", memory_type.HOST if host else memory_type.DEVICE)

    def set_src_host(self, buffer: Any) -> None:
        """The source is host memory."""
        self._set("src", self._src, buffer, True)

    def set_dst_host(self, buffer: Any) -> None:
        """The destination is host memory."""
        self._set("dst", self._dst, buffer, True)

    def set_src_device(self, devptr: Any) -> None:
        """The source is device memory."""
        self._set("src", self._src, devptr, False)

    def set_dst_device(self, devptr: Any) -> None:
        """The destination is device memory."""
        self._set("dst", self._dst, devptr, False)

    def set_src_unified(self, buffer: Any) -> None:
        """The source is managed memory."""
        self._set("src", self._src, buffer, not hasattr(buffer, "__trilane_array__"))

    def set_dst_unified(self, buffer: Any) -> None:
        """The destination is managed memory."""
        self._set("dst", self._dst, buffer, not hasattr(buffer, "__trilane_array__"))

    def set_src_array(self, array: Any) -> None:
        """The source is an `Array`."""
        self._set("src", self._src, array, False)
        self.src_memory_type = memory_type.ARRAY

    def set_dst_array(self, array: Any) -> None:
        """The destination is an `Array`."""
        self._set("dst", self._dst, array, False)
        self.dst_memory_type = memory_type.ARRAY

    @property
    def src_device(self) -> int:
        return int(self._src.memory) if self._src.memory is not None and not self._src.host else 0

    @property
    def dst_device(self) -> int:
        return int(self._dst.memory) if self._dst.memory is not None and not self._dst.host else 0

    def _run(self, function: str, geometry: dict[str, int], stream: Any, wait: bool) -> None:
        for name, side in (("source", self._src), ("destination", self._dst)):
            if side.memory is None:
                raise LogicError(f"{function} failed: invalid argument - no {name} was set")
        kind = ("H" if self._src.host else "D") + "to" + ("H" if self._dst.host else "D")
        arrays = [isinstance(side.memory, _core.CudaArray) for side in (self._src, self._dst)]
        try:
            if any(arrays):
                self._run_box(geometry, stream, wait)
                return
            _core.copy_3d(
                kind, self._dst.memory, self._src.memory, stream=stream, wait=wait, **geometry
            )
        except TrilaneError as error:
            raise translate(function, error) from None

    def _run_box(self, geometry: dict[str, int], stream: Any, wait: bool) -> None:
        ends: dict[str, Any] = {}
        for name, side in (("src", self._src), ("dst", self._dst)):
            if isinstance(side.memory, _core.CudaArray):
                geometry.pop(f"{name}_offset")
                ends[f"{name}_at"] = (
                    getattr(self, f"{name}_x_in_bytes"),
                    getattr(self, f"{name}_y"),
                    getattr(self, f"{name}_z", 0),
                )
            ends[f"{name}_host"] = side.host
        memory = (self._dst.memory, self._src.memory)
        _core.copy_box(*memory, stream=stream, wait=wait, **geometry, **ends)


class Memcpy2D(_Memcpy, fields="x_in_bytes y pitch"):
    """A copy of `height` rows of `width_in_bytes`; fill in the fields, then call it.

    ``copy(aligned=True)`` copies and waits; ``copy(stream)`` puts the copy on the stream.
    """

    def __call__(self, arg: Any = None, *, aligned: bool | None = None) -> None:
        """Copy; with a stream, ordered on it."""
        stream = arg if isinstance(arg, _core.Stream) else None
        if arg is None and aligned is None:
            raise TypeError("Memcpy2D(): needs a stream, or aligned=True or False")
        geometry: dict[str, int] = {
            "width_bytes": self.width_in_bytes,
            "height": self.height,
            "dst_pitch": self.dst_pitch,
            "src_pitch": self.src_pitch,
            "dst_offset": self.dst_x_in_bytes + self.dst_y * self.dst_pitch,
            "src_offset": self.src_x_in_bytes + self.src_y * self.src_pitch,
        }
        name = "cuMemcpy2D" if stream is None else "cuMemcpy2DAsync"
        self._run(name, geometry, stream, stream is None)


class Memcpy3D(_Memcpy, fields="x_in_bytes y z lod pitch height"):
    """A copy of `depth` slices of `height` rows of `width_in_bytes`.

    ``src_height`` and ``dst_height`` are the rows from slice to slice.
    """

    depth = 0

    def __call__(self, stream: Any = None) -> None:
        """Copy; with a stream, ordered on it."""
        sides: dict[str, int] = {}
        for side in ("src", "dst"):
            pitch = getattr(self, f"{side}_pitch") or self.width_in_bytes
            slice_pitch = pitch * (getattr(self, f"{side}_height") or self.height)
            sides[f"{side}_pitch"] = pitch
            sides[f"{side}_slice_pitch"] = slice_pitch
            sides[f"{side}_offset"] = (
                getattr(self, f"{side}_x_in_bytes")
                + getattr(self, f"{side}_y") * pitch
                + getattr(self, f"{side}_z") * slice_pitch
            )
        geometry = {
            "width_bytes": self.width_in_bytes,
            "height": self.height,
            "depth": self.depth,
            **sides,
        }
        self._run("cuMemcpy3D", geometry, stream, stream is None)


class Memcpy3DPeer(Memcpy3D):
    """As `Memcpy3D`, between devices."""

    def set_src_context(self, context: Any) -> None:
        """The device of the source; allocations know theirs."""

    def set_dst_context(self, context: Any) -> None:
        """The device of the destination; allocations know theirs."""


for _class in (Memcpy2D, Memcpy3D, Memcpy3DPeer):
    _class.__module__ = "pycuda._driver"
