"""CUDA's structures of arrays and textures, as calls of the runtime take them by address."""

from __future__ import annotations

import ctypes

__all__ = ["ChannelFormatDesc", "Memcpy3DParms", "ResourceDesc", "TextureDesc", "as_dict"]


class ChannelFormatDesc(ctypes.Structure):
    """``cudaChannelFormatDesc``."""

    _fields_ = [(name, ctypes.c_int) for name in "xyzwf"]


class _Array(ctypes.Structure):
    _fields_ = [("array", ctypes.c_uint64)]


class _Linear(ctypes.Structure):
    _fields_ = [
        ("devPtr", ctypes.c_uint64),
        ("desc", ChannelFormatDesc),
        ("sizeInBytes", ctypes.c_size_t),
    ]


class _Pitch2D(ctypes.Structure):
    _fields_ = [
        ("devPtr", ctypes.c_uint64),
        ("desc", ChannelFormatDesc),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("pitchInBytes", ctypes.c_size_t),
    ]


class _Resource(ctypes.Union):
    _fields_ = [
        ("array", _Array),
        ("linear", _Linear),
        ("pitch2D", _Pitch2D),
        ("reserved", ctypes.c_int * 32),
    ]


class ResourceDesc(ctypes.Structure):
    """``cudaResourceDesc``."""

    _fields_ = [("resType", ctypes.c_int), ("res", _Resource), ("flags", ctypes.c_uint)]


class TextureDesc(ctypes.Structure):
    """``cudaTextureDesc``."""

    _fields_ = [
        ("addressMode", ctypes.c_int * 3),
        ("filterMode", ctypes.c_int),
        ("readMode", ctypes.c_int),
        ("sRGB", ctypes.c_int),
        ("borderColor", ctypes.c_float * 4),
        ("normalizedCoords", ctypes.c_int),
        ("maxAnisotropy", ctypes.c_uint),
        ("mipmapFilterMode", ctypes.c_int),
        ("mipmapLevelBias", ctypes.c_float),
        ("minMipmapLevelClamp", ctypes.c_float),
        ("maxMipmapLevelClamp", ctypes.c_float),
        ("disableTrilinearOptimization", ctypes.c_int),
        ("seamlessCubemap", ctypes.c_int),
    ]


class _Position(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "xyz"]


class _PitchedPointer(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_uint64)] + [
        (name, ctypes.c_size_t) for name in ("pitch", "xsize", "ysize")
    ]


class _Extent(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("width", "height", "depth")]


class Memcpy3DParms(ctypes.Structure):
    """``cudaMemcpy3DParms``."""

    _fields_ = [
        ("srcArray", ctypes.c_uint64),
        ("srcPos", _Position),
        ("srcPtr", _PitchedPointer),
        ("dstArray", ctypes.c_uint64),
        ("dstPos", _Position),
        ("dstPtr", _PitchedPointer),
        ("extent", _Extent),
        ("kind", ctypes.c_int),
    ]


def as_dict(structure: ctypes.Structure) -> dict:
    """Its fields, those that are structures and arrays too."""
    result: dict = {}
    for name, *_ in structure._fields_:  # type: ignore[misc]
        value = getattr(structure, name)
        if isinstance(value, ctypes.Structure):
            value = as_dict(value)
        elif isinstance(value, ctypes.Array):
            value = tuple(value)
        result[name] = value
    return result
