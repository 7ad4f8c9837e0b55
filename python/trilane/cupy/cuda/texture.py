"""Textures and surfaces: not there yet; the names raise when they are used."""

from __future__ import annotations

from trilane._missing import missing


def _absent(name: str) -> type:
    def refuse(self, *args, **kwargs):
        raise missing(f"cupy.cuda.texture.{name}")

    return type(name, (), {"__init__": refuse, "__doc__": "Not supported yet."})


ChannelFormatDescriptor = _absent("ChannelFormatDescriptor")
CUDAarray = _absent("CUDAarray")
ResourceDescriptor = _absent("ResourceDescriptor")
SurfaceObject = _absent("SurfaceObject")
TextureDescriptor = _absent("TextureDescriptor")
TextureObject = _absent("TextureObject")
TextureReference = _absent("TextureReference")
