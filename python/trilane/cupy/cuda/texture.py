"""Textures and surfaces: CUDA arrays, their descriptions, and the objects that kernels take."""

from __future__ import annotations

import ctypes

import numpy as np

from trilane import _core
from trilane._exchange import core_stream
from trilane._missing import missing
from trilane.cupy._engine import ndarray
from trilane.cupy.cuda import _structures, runtime
from trilane.cupy.cuda._runtime_arrays import known_arrays
from trilane.cupy.cuda.runtime import _runtime_call

__all__ = [
    "CUDAarray",
    "ChannelFormatDescriptor",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureDescriptor",
    "TextureObject",
    "TextureReference",
]

_KINDS = {0: "int", 1: "uint", 2: "float"}


class ChannelFormatDescriptor:
    """The format of an element (``cudaChannelFormatDesc``).

    Parameters
    ----------
    x, y, z, w : int
        Bits of each channel; 0 for those that there are not.
    f : int
        ``runtime.cudaChannelFormatKindSigned``, ``Unsigned`` or ``Float``.
    """

    def __init__(self, x: int, y: int, z: int, w: int, f: int) -> None:
        self._desc = {"x": x, "y": y, "z": z, "w": w, "f": f}
        self._structure: _structures.ChannelFormatDesc | None = None

    def get_channel_format(self) -> dict:
        """What it was made of."""
        return dict(self._desc)

    @property
    def ptr(self) -> int:
        """The address of a ``cudaChannelFormatDesc``, which lives as long as this."""
        if self._structure is None:
            self._structure = _structures.ChannelFormatDesc(**self._desc)
        return ctypes.addressof(self._structure)

    def _format(self) -> dict:
        """As `_core` wants it."""
        bits = [self._desc[name] for name in "xyzw"]
        channels = sum(1 for n in bits if n)
        alike = bits[:channels] == [bits[0]] * channels
        if not channels or not alike or self._desc["f"] not in _KINDS:
            raise runtime.CUDARuntimeError(
                "cudaErrorInvalidValue",
                f"invalid channel descriptor: got {self._desc}, expected one to four channels of "
                "the same number of bits and a kind of signed, unsigned or float",
            )
        return {"kind": _KINDS[self._desc["f"]], "bits": bits[0], "channels": channels}


class CUDAarray:
    """A CUDA array of one to three axes, or a stack of layers.

    Parameters
    ----------
    desc : ChannelFormatDescriptor
    width, height, depth : int
        Elements along each axis; 0 for those that there are not.
    flags : int
        Of ``runtime.cudaArrayLayered``, ``cudaArraySurfaceLoadStore``, ``cudaArrayCubemap``,
        ``cudaArrayTextureGather``.
    """

    def __init__(
        self,
        desc: ChannelFormatDescriptor,
        width: int,
        height: int = 0,
        depth: int = 0,
        flags: int = 0,
    ) -> None:
        if width == 0:
            raise ValueError("To create a CUDA array, width must be nonzero.")
        if height == 0 and depth > 0 and not flags & runtime.cudaArrayLayered:
            raise ValueError("To create a 2D CUDA array, height must be nonzero.")
        with _runtime_call():
            self._array = _core.CudaArray(
                **desc._format(),
                width=width,
                height=height,
                depth=depth,
                layered=bool(flags & runtime.cudaArrayLayered),
                cubemap=bool(flags & runtime.cudaArrayCubemap),
                surface=bool(flags & runtime.cudaArraySurfaceLoadStore),
                gather=bool(flags & runtime.cudaArrayTextureGather),
            )
        self.desc, self.flags = desc, flags
        self.width, self.height, self.depth = width, height, depth
        self.ndim = 3 if depth > 0 else 2 if height > 0 else 1
        known_arrays[self.ptr] = self

    @property
    def _elements(self) -> int:
        return self.width * max(self.height, 1) * max(self.depth, 1)

    @property
    def ptr(self) -> int:
        """The handle."""
        return self._array.handle

    def _rows(self, other) -> tuple[int, int, int]:
        """Bytes of a row, rows, slices; the other end must have exactly the array's elements."""
        if not isinstance(other, (ndarray, np.ndarray)):
            raise TypeError(f"expected a cupy or numpy array: got {type(other).__name__}")
        if not other.flags.c_contiguous:
            raise ValueError("the array must be C contiguous")
        if other.nbytes != self._array.nbytes:
            raise ValueError(
                f"the array must have as many bytes as the CUDA array: got {other.nbytes} of shape "
                f"{other.shape}, expected {self._array.nbytes}"
            )
        height, depth = max(self.height, 1), max(self.depth, 1)
        return self._array.nbytes // (height * depth), height, depth

    def copy_from(self, in_arr, stream=None) -> None:
        """Copy all elements from a device or host array, C contiguous.

        With a stream the copy is ordered on it; without one it is done on return.
        """
        with _runtime_call():
            _core.copy_box(
                self._array,
                in_arr,
                *self._rows(in_arr),
                src_host=isinstance(in_arr, np.ndarray),
                stream=None if stream is None else core_stream(stream),
                wait=stream is None,
            )

    def copy_to(self, out_arr, stream=None) -> None:
        """Copy all elements to a device or host array, C contiguous.

        With a stream the copy is ordered on it; without one it is done on return.
        """
        with _runtime_call():
            _core.copy_box(
                out_arr,
                self._array,
                *self._rows(out_arr),
                dst_host=isinstance(out_arr, np.ndarray),
                stream=None if stream is None else core_stream(stream),
                wait=stream is None,
            )


class ResourceDescriptor:
    """What a texture or surface reads (``cudaResourceDesc``).

    Parameters
    ----------
    restype : int
        ``runtime.cudaResourceTypeArray``, ``Linear`` or ``Pitch2D``.
    cuArr : CUDAarray
        Of ``Array``.
    arr : ndarray
        Device memory, of ``Linear`` and ``Pitch2D``.
    chDesc : ChannelFormatDescriptor
        Of an element of `arr`.
    sizeInBytes : int
        Of ``Linear``.
    width, height, pitchInBytes : int
        Of ``Pitch2D``: elements of a row, rows, bytes from row to row.
    """

    def __init__(
        self,
        restype: int,
        cuArr: CUDAarray | None = None,
        arr=None,
        chDesc: ChannelFormatDescriptor | None = None,
        sizeInBytes: int = 0,
        width: int = 0,
        height: int = 0,
        pitchInBytes: int = 0,
    ) -> None:
        if restype == runtime.cudaResourceTypeMipmappedArray:
            raise NotImplementedError("cudaResourceTypeMipmappedArray is currently not supported.")
        needed = {"cuArr": cuArr} if restype == 0 else {"arr": arr, "chDesc": chDesc}
        for name, value in needed.items():
            if value is None:
                raise TypeError(f"ResourceDescriptor: {name} is required for restype {restype}")
        self.restype, self.cuArr, self.arr, self.chDesc = restype, cuArr, arr, chDesc
        self._size = sizeInBytes
        self._width, self._height, self._pitch = width, height, pitchInBytes
        self._structure: _structures.ResourceDesc | None = None

    def get_resource_desc(self) -> dict:
        """What it was made of."""
        if self.restype == runtime.cudaResourceTypeArray:
            return {"resType": 0, "array": {"array": self.cuArr.ptr}}
        shared = {"devPtr": self.arr.data.ptr, "desc": self.chDesc.get_channel_format()}
        if self.restype == runtime.cudaResourceTypeLinear:
            return {"resType": 2, "linear": {**shared, "sizeInBytes": self._size}}
        shape = {"width": self._width, "height": self._height, "pitchInBytes": self._pitch}
        return {"resType": 3, "pitch2D": {**shared, **shape}}

    @property
    def ptr(self) -> int:
        """The address of a ``cudaResourceDesc``, which lives as long as this."""
        if self._structure is None:
            self._structure = made = _structures.ResourceDesc(resType=self.restype)
            for name, fields in self.get_resource_desc().items():
                if name == "resType":
                    continue
                target = getattr(made.res, name)
                for field, value in fields.items():
                    if field == "desc":
                        value = _structures.ChannelFormatDesc(**value)
                    setattr(target, field, value)
        return ctypes.addressof(self._structure)

    def _source(self) -> tuple[object, dict]:
        """As `_core.Texture` wants it."""
        if self.restype == runtime.cudaResourceTypeArray:
            return self.cuArr._array, {}
        format = self.chDesc._format()
        if self.restype == runtime.cudaResourceTypeLinear:
            element = format["bits"] // 8 * format["channels"]
            return self.arr, {**format, "width": self._size // element}
        return self.arr, {
            **format,
            "width": self._width,
            "height": self._height,
            "pitch_bytes": self._pitch,
        }


class TextureDescriptor:
    """How a texture is read (``cudaTextureDesc``).

    Parameters
    ----------
    addressModes : sequence of int, optional
        Up to three of ``runtime.cudaAddressMode*``.
    filterMode, readMode : int
        Of ``runtime.cudaFilterMode*`` and ``runtime.cudaReadMode*``.
    sRGB, normalizedCoords, maxAnisotropy : int, optional
    borderColors : sequence of float, optional
        Up to four. Of a texture of integers the bits count.
    """

    def __init__(
        self,
        addressModes=None,
        filterMode: int = 0,
        readMode: int = 0,
        sRGB=None,
        borderColors=None,
        normalizedCoords=None,
        maxAnisotropy=None,
    ) -> None:
        modes, colors = tuple(addressModes or ()), tuple(borderColors or ())
        assert len(modes) <= 3
        assert len(colors) <= 4
        self._desc = {
            "addressMode": modes + (0,) * (3 - len(modes)),
            "filterMode": filterMode,
            "readMode": readMode,
            "sRGB": int(sRGB or 0),
            "borderColor": tuple(float(c) for c in colors) + (0.0,) * (4 - len(colors)),
            "normalizedCoords": int(normalizedCoords or 0),
            "maxAnisotropy": int(maxAnisotropy or 0),
        }
        self._structure: _structures.TextureDesc | None = None

    def get_texture_desc(self) -> dict:
        """What it was made of."""
        return dict(self._desc)

    @property
    def ptr(self) -> int:
        """The address of a ``cudaTextureDesc``, which lives as long as this."""
        if self._structure is None:
            self._structure = made = _structures.TextureDesc()
            for name, value in self._desc.items():
                if isinstance(value, tuple):
                    getattr(made, name)[:] = value
                else:
                    setattr(made, name, value)
        return ctypes.addressof(self._structure)


def reading(description: dict) -> dict:
    """What a ``cudaTextureDesc`` says, as `_core.Texture` wants it."""
    d = description
    return {
        "address_mode": d["addressMode"],
        "filter": d["filterMode"],
        "elements_as_they_are": d["readMode"] == runtime.cudaReadModeElementType,
        "normalized_coordinates": bool(d["normalizedCoords"]),
        "srgb": bool(d["sRGB"]),
        "max_anisotropy": d["maxAnisotropy"],
        "border": d["borderColor"],
    }


class TextureObject(_core.Texture):
    """A texture object; kernels take it as ``cudaTextureObject_t``."""

    def __init__(self, ResDesc: ResourceDescriptor, TexDesc: TextureDescriptor) -> None:
        source, shape = ResDesc._source()
        with _runtime_call():
            super().__init__(source, **shape, **reading(TexDesc.get_texture_desc()))
        self.ResDesc, self.TexDesc = ResDesc, TexDesc

    @property
    def ptr(self) -> int:
        """The handle."""
        return self.handle


class SurfaceObject(_core.Surface):
    """A surface object; kernels take it as ``cudaSurfaceObject_t``."""

    def __init__(self, ResDesc: ResourceDescriptor) -> None:
        if ResDesc.restype != runtime.cudaResourceTypeArray:
            raise ValueError("a surface needs a CUDA array")
        with _runtime_call():
            super().__init__(ResDesc.cuArr._array)
        self.ResDesc = ResDesc

    @property
    def ptr(self) -> int:
        """The handle."""
        return self.handle


class TextureReference:
    """Gone: CUDA 12 dropped texture references, and CuPy this class; use `TextureObject`."""

    def __init__(self, *args, **kwargs) -> None:
        raise missing("cupy.cuda.texture.TextureReference")
