"""CUDA arrays, textures and surfaces by the calls of the runtime: handles and addresses of structures."""

from __future__ import annotations

import weakref

from trilane import _core
from trilane.cupy.cuda import _structures
from trilane.cupy.cuda._errors import CUDARuntimeError

__all__ = [
    "createSurfaceObject",
    "createTextureObject",
    "destroySurfaceObject",
    "destroyTextureObject",
    "freeArray",
    "malloc3DArray",
    "mallocArray",
    "memcpy2D",
    "memcpy2DAsync",
    "memcpy2DFromArray",
    "memcpy2DFromArrayAsync",
    "memcpy2DToArray",
    "memcpy2DToArrayAsync",
    "memcpy3D",
    "memcpy3DAsync",
]

# What a handle stands for. Arrays of `CUDAarray` belong to it; the others live until their call.
known_arrays: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_arrays: dict[int, object] = {}
_textures: dict[int, _core.Texture] = {}
_surfaces: dict[int, _core.Surface] = {}

_HOST_SOURCES, _HOST_TARGETS = (0, 1), (0, 2)  # of cudaMemcpyKind


def _invalid(what: str) -> CUDARuntimeError:
    return CUDARuntimeError("cudaErrorInvalidValue", f"invalid argument: {what}")


def _at(structure, address: int, function: str):
    if not address:
        raise _invalid(f"{function}: a descriptor's address is null")
    return structure.from_address(int(address))


def _array_of(handle: int, function: str):
    array = known_arrays.get(int(handle))
    if array is None:
        raise CUDARuntimeError(
            "cudaErrorInvalidResourceHandle", f"{function}: {int(handle):#x} is no array"
        )
    return array


# --- arrays


def malloc3DArray(descPtr: int, width: int, height: int, depth: int, flags: int = 0) -> int:
    """Make a CUDA array; its handle. `descPtr`: the address of a ``cudaChannelFormatDesc``."""
    from trilane.cupy.cuda import texture

    desc = _at(_structures.ChannelFormatDesc, descPtr, "malloc3DArray")
    if width == 0:
        raise _invalid("malloc3DArray: the width is 0")
    format = texture.ChannelFormatDescriptor(*(getattr(desc, name) for name in "xyzwf"))
    array = texture.CUDAarray(format, width, height, depth, flags)
    _arrays[array.ptr] = array
    return array.ptr


def mallocArray(descPtr: int, width: int, height: int, flags: int = 0) -> int:
    """As `malloc3DArray`, of one or two axes."""
    return malloc3DArray(descPtr, width, height, 0, flags)


def freeArray(ptr: int) -> None:
    """Free what `mallocArray` made; textures of it keep its memory."""
    array = _arrays.pop(int(ptr), None)
    if array is None:
        raise _invalid(f"freeArray: {int(ptr):#x} is none of mallocArray")
    del known_arrays[int(ptr)]


# --- textures and surfaces


def _resource(descriptor: int, function: str):
    """Source and shape as `_core.Texture` takes them."""
    from trilane.cupy.cuda import texture

    desc = _at(_structures.ResourceDesc, descriptor, function)
    if desc.resType == 0:
        return _array_of(desc.res.array.array, function)._array, {}
    if desc.resType == 1:
        raise NotImplementedError(f"{function}: cudaResourceTypeMipmappedArray")
    if desc.resType not in (2, 3):
        raise _invalid(f"{function}: resource type {desc.resType}")
    memory = desc.res.linear if desc.resType == 2 else desc.res.pitch2D
    fields = (getattr(memory.desc, name) for name in "xyzwf")
    format = texture.ChannelFormatDescriptor(*fields)._format()
    if desc.resType == 2:
        width = memory.sizeInBytes // (format["bits"] // 8 * format["channels"])
        return memory.devPtr, {**format, "width": width}
    shape = {"width": memory.width, "height": memory.height, "pitch_bytes": memory.pitchInBytes}
    return memory.devPtr, {**format, **shape}


def createTextureObject(ResDescPtr: int, TexDescPtr: int) -> int:
    """Make a texture object of a ``cudaResourceDesc`` and a ``cudaTextureDesc``; its handle."""
    from trilane.cupy.cuda import runtime, texture

    source, shape = _resource(ResDescPtr, "createTextureObject")
    desc = _at(_structures.TextureDesc, TexDescPtr, "createTextureObject")
    with runtime._runtime_call():
        made = _core.Texture(source, **shape, **texture.reading(_structures.as_dict(desc)))
    _textures[made.handle] = made
    return made.handle


def destroyTextureObject(texObject: int) -> None:
    """Destroy what `createTextureObject` made, after all work of the device."""
    if _textures.pop(int(texObject), None) is None:
        raise _invalid(f"destroyTextureObject: {int(texObject):#x} is none of createTextureObject")


def createSurfaceObject(ResDescPtr: int) -> int:
    """Make a surface object of a ``cudaResourceDesc`` of an array; its handle."""
    from trilane.cupy.cuda import runtime

    source, _ = _resource(ResDescPtr, "createSurfaceObject")
    if not isinstance(source, _core.CudaArray):
        raise _invalid("createSurfaceObject: a surface needs a CUDA array")
    with runtime._runtime_call():
        made = _core.Surface(source)
    _surfaces[made.handle] = made
    return made.handle


def destroySurfaceObject(surfObject: int) -> None:
    """Destroy what `createSurfaceObject` made, after all work of the device."""
    if _surfaces.pop(int(surfObject), None) is None:
        raise _invalid(f"destroySurfaceObject: {int(surfObject):#x} is none of createSurfaceObject")


# --- copies of rectangles and boxes


def _copy(dst, src, width: int, height: int, depth: int, kind: int, stream, **places) -> None:
    from trilane.cupy.cuda import runtime

    if kind == runtime.memcpyDefault:
        sides = [
            isinstance(end, _core.CudaArray) or _core.resolve_memory(end)[1] is not None
            for end in (src, dst)
        ]
        kind = 2 * sides[0] + sides[1]
    if not 0 <= kind <= 3:
        raise _invalid(f"memcpy kind {kind}")
    hosts = {
        "dst_host": kind in _HOST_TARGETS and not isinstance(dst, _core.CudaArray),
        "src_host": kind in _HOST_SOURCES and not isinstance(src, _core.CudaArray),
    }
    with runtime._runtime_call():
        _core.copy_box(
            dst,
            src,
            int(width),
            int(height),
            int(depth),
            **hosts,
            **places,
            stream=None if stream is None else runtime._stream(stream),
            wait=stream is None,
        )


def memcpy2D(
    dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int
) -> None:
    """Copy `height` rows of `width` bytes, `dpitch` and `spitch` bytes apart."""
    memcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, None)


def memcpy2DAsync(dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int,
                  stream) -> None:  # fmt: skip
    """As `memcpy2D`, ordered on a stream."""
    _copy(
        int(dst), int(src), width, height, 1, kind, stream,
        dst_pitch=int(dpitch), src_pitch=int(spitch),
    )  # fmt: skip


def memcpy2DFromArray(dst: int, dpitch: int, src: int, wOffset: int, hOffset: int, width: int,
                      height: int, kind: int) -> None:  # fmt: skip
    """Copy a rectangle of an array, from byte `wOffset` of row `hOffset`, to memory."""
    memcpy2DFromArrayAsync(dst, dpitch, src, wOffset, hOffset, width, height, kind, None)


def memcpy2DFromArrayAsync(dst: int, dpitch: int, src: int, wOffset: int, hOffset: int, width: int,
                           height: int, kind: int, stream) -> None:  # fmt: skip
    """As `memcpy2DFromArray`, ordered on a stream."""
    array = _array_of(src, "memcpy2DFromArray")._array
    place = (int(wOffset), int(hOffset), 0)
    _copy(int(dst), array, width, height, 1, kind, stream, dst_pitch=int(dpitch), src_at=place)


def memcpy2DToArray(dst: int, wOffset: int, hOffset: int, src: int, spitch: int, width: int,
                    height: int, kind: int) -> None:  # fmt: skip
    """Copy memory to a rectangle of an array, from byte `wOffset` of row `hOffset` on."""
    memcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height, kind, None)


def memcpy2DToArrayAsync(dst: int, wOffset: int, hOffset: int, src: int, spitch: int, width: int,
                         height: int, kind: int, stream) -> None:  # fmt: skip
    """As `memcpy2DToArray`, ordered on a stream."""
    array = _array_of(dst, "memcpy2DToArray")._array
    place = (int(wOffset), int(hOffset), 0)
    _copy(array, int(src), width, height, 1, kind, stream, src_pitch=int(spitch), dst_at=place)


def memcpy3D(Memcpy3DParmsPtr: int) -> None:
    """Copy a box as the ``cudaMemcpy3DParms`` at an address say."""
    memcpy3DAsync(Memcpy3DParmsPtr, None)


def memcpy3DAsync(Memcpy3DParmsPtr: int, stream) -> None:
    """As `memcpy3D`, ordered on a stream."""
    parms = _at(_structures.Memcpy3DParms, Memcpy3DParmsPtr, "memcpy3D")
    handles = {side: getattr(parms, f"{side}Array") for side in ("dst", "src")}
    arrays = {side: _array_of(h, "memcpy3D") for side, h in handles.items() if h}
    # With an array positions and the width are elements, else bytes.
    sizes = {side: array._array.nbytes // array._elements for side, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise _invalid("memcpy3D: the arrays' elements differ in size")
    element = next(iter(sizes.values()), 1)
    ends, places = {}, {}
    for side in ("dst", "src"):
        position, pointer = getattr(parms, f"{side}Pos"), getattr(parms, f"{side}Ptr")
        if side in arrays:
            ends[side] = arrays[side]._array
            places[f"{side}_at"] = (position.x * element, position.y, position.z)
            continue
        if not pointer.ptr:
            raise _invalid(f"memcpy3D: neither {side}Array nor {side}Ptr is given")
        slice_pitch = pointer.pitch * pointer.ysize
        first = position.z * slice_pitch + position.y * pointer.pitch + position.x
        ends[side] = pointer.ptr + first
        places[f"{side}_pitch"], places[f"{side}_slice_pitch"] = pointer.pitch, slice_pitch
    extent = parms.extent
    _copy(
        ends["dst"], ends["src"], extent.width * element, extent.height, extent.depth, parms.kind,
        stream, **places,
    )  # fmt: skip
