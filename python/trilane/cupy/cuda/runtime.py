"""The calls of CUDA's runtime that have a meaning here, by their CUDA names."""

from __future__ import annotations

import contextlib

import numpy as np

from trilane import _core
from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute
from trilane.cupy.cuda._attributes import ATTRIBUTE_NAMES
from trilane.cupy.cuda._errors import CUDARuntimeError, check_device_count
from trilane.cupy.cuda._runtime_arrays import *  # noqa: F403
from trilane.cupy.cuda._runtime_graphs import *  # noqa: F403
from trilane.cupy.cuda._runtime_ipc import *  # noqa: F403
from trilane.cupy.cuda.device import Device, _context
from trilane.cupy.cuda.memory import _host
from trilane.cupy.cuda.stream import refuse_callback

is_hip = False
CUDA_VERSION = 13000

memcpyHostToHost = 0
memcpyHostToDevice = 1
memcpyDeviceToHost = 2
memcpyDeviceToDevice = 3
memcpyDefault = 4

hostAllocDefault = 0
hostAllocPortable = 1
hostAllocMapped = 2
hostAllocWriteCombined = 4

streamDefault = 0
streamNonBlocking = 1
streamLegacy = 1
streamPerThread = 2

eventDefault = 0
eventBlockingSync = 1
eventDisableTiming = 2
eventInterprocess = 4

errorInvalidValue = 1
errorMemoryAllocation = 2
errorPeerAccessAlreadyEnabled = 704
errorPeerAccessNotEnabled = 705
errorContextIsDestroyed = 709
errorInvalidResourceHandle = 400

cudaMemAttachGlobal = 1
cudaMemAttachHost = 2
cudaInvalidDeviceId = -2

cudaResourceTypeArray = 0
cudaResourceTypeMipmappedArray = 1
cudaResourceTypeLinear = 2
cudaResourceTypePitch2D = 3
cudaAddressModeWrap = 0
cudaAddressModeClamp = 1
cudaAddressModeMirror = 2
cudaAddressModeBorder = 3
cudaFilterModePoint = 0
cudaFilterModeLinear = 1
cudaReadModeElementType = 0
cudaReadModeNormalizedFloat = 1
cudaChannelFormatKindSigned = 0
cudaChannelFormatKindUnsigned = 1
cudaChannelFormatKindFloat = 2
cudaChannelFormatKindNone = 3
cudaArrayDefault = 0
cudaArrayLayered = 1
cudaArraySurfaceLoadStore = 2
cudaArrayCubemap = 4
cudaArrayTextureGather = 8

deviceAttributeComputeCapabilityMajor = 75
deviceAttributeComputeCapabilityMinor = 76

for _number, _name in ATTRIBUTE_NAMES.items():
    globals()[f"cudaDevAttr{_name}"] = _number

# What a bare integer handle stands for.
_allocations: dict[int, object] = {}
_streams: dict[int, _core.Stream] = {}
_events: dict[int, _core.Event] = {}


@contextlib.contextmanager
def _runtime_call():
    """Errors of the core leave as those of the runtime."""
    try:
        yield
    except _core.OutOfMemoryError as error:
        raise CUDARuntimeError(
            "cudaErrorMemoryAllocation", f"out of memory: {error.message}"
        ) from None
    except _core.InvalidArgumentError as error:
        raise CUDARuntimeError(
            "cudaErrorInvalidValue", f"invalid argument: {error.message}"
        ) from None


def driverGetVersion() -> int:
    """CUDA version of the driver (13000 is 13.0); on the cpu device the one that it follows."""
    versions = _core.library_versions()
    text = versions.get("cuda driver", "")
    if "." not in text:
        return CUDA_VERSION
    major, minor = text.split(".")[:2]
    return int(major) * 1000 + int(minor) * 10


def runtimeGetVersion() -> int:
    """CUDA version of the runtime whose calls these are."""
    return CUDA_VERSION


def getDevice() -> int:
    """Number of the current device."""
    return _core.current_device_index()


def setDevice(device: int) -> None:
    """Make a device current for the calling thread."""
    Device(device).use()


def getDeviceCount() -> int:
    """Number of devices.

    Raises
    ------
    CUDARuntimeError
        There is none: ``cudaErrorInsufficientDriver`` for want of a driver that is new enough,
        else ``cudaErrorNoDevice``.
    """
    return check_device_count()


def deviceSynchronize() -> None:
    """Wait for all work on the current device."""
    _core.current_context().synchronize()


def deviceGetAttribute(attrib: int, device: int) -> int:
    """One attribute of a device by its number."""
    try:
        return _context(device).properties.attributes[int(attrib)]
    except KeyError:
        raise CUDARuntimeError("cudaErrorInvalidValue", f"no attribute {attrib}") from None


def deviceGetByPCIBusId(pci_bus_id: str) -> int:
    """Number of the device at an address of the bus."""
    return Device.from_pci_bus_id(pci_bus_id).id


def deviceGetPCIBusId(device: int) -> str:
    """Address of a device on the bus."""
    return _context(device).properties.pci_bus_id


def deviceCanAccessPeer(device: int, peer: int) -> int:
    """1 if a device can address another one's memory."""
    return int(_core.can_access_peer(_context(device), _context(peer)))


def deviceEnablePeerAccess(peer: int) -> None:
    """Let the current device address another one's memory."""
    change = _core.enable_peer_access(_core.current_context(), _context(peer))
    if change == "impossible":
        raise CUDARuntimeError(
            "cudaErrorPeerAccessUnsupported",
            f"peer access is not supported between devices {getDevice()} and {peer}",
        )
    if change == "already":
        raise CUDARuntimeError("cudaErrorPeerAccessAlreadyEnabled", f"device {peer}")


def deviceDisablePeerAccess(peer: int) -> None:
    """Undo `deviceEnablePeerAccess`."""
    if _core.disable_peer_access(_core.current_context(), _context(peer)) != "done":
        raise CUDARuntimeError("cudaErrorPeerAccessNotEnabled", f"device {peer}")


def getDeviceProperties(device: int) -> dict:
    """Properties of a device by the names of ``cudaDeviceProp``; `name` is bytes."""
    properties = _context(device).properties
    attributes = properties.attributes
    major, minor = properties.compute_capability
    result = {
        name[0].lower() + name[1:]: attributes[number]
        for number, name in ATTRIBUTE_NAMES.items()
        if number in attributes
    }
    result.update(
        name=properties.name.encode(),
        uuid=properties.uuid,
        totalGlobalMem=properties.total_memory,
        sharedMemPerBlock=properties.shared_per_block,
        sharedMemPerBlockOptin=properties.shared_per_block_optin,
        regsPerBlock=attributes.get(12, 65536),
        warpSize=properties.warp_size,
        maxThreadsPerBlock=properties.max_threads_per_block,
        maxThreadsDim=tuple(properties.max_block),
        maxGridSize=tuple(properties.max_grid),
        totalConstMem=properties.constant_memory,
        multiProcessorCount=properties.multiprocessor_count,
        maxThreadsPerMultiProcessor=attributes.get(39, properties.max_threads_per_block),
        major=major,
        minor=minor,
        integrated=attributes.get(18, int(properties.type == "cpu")),
        canMapHostMemory=attributes.get(19, 1),
        unifiedAddressing=attributes.get(41, 1),
        managedMemory=attributes.get(83, 1),
        l2CacheSize=attributes.get(38, 0),
        clockRate=attributes.get(13, 0),
        pciBusID=attributes.get(33, 0),
        pciDeviceID=attributes.get(34, 0),
        pciDomainID=attributes.get(50, 0),
    )
    return result


def memGetInfo() -> tuple[int, int]:
    """Free and total bytes of the current device."""
    return _core.current_context().memory_info()


@_runtime_call()
def malloc(size: int) -> int:
    """Take device memory; the address. Give it back by `free`."""
    buffer = _core.Buffer.allocate(int(size))
    address = int(buffer.__index__())
    _allocations[address] = buffer
    return address


@_runtime_call()
def mallocManaged(size: int, flags: int = cudaMemAttachGlobal) -> int:
    """Take memory that host and device can address."""
    buffer = _core.Buffer.allocate_managed(int(size), int(flags))
    address = int(buffer.__index__())
    _allocations[address] = buffer
    return address


@_runtime_call()
def mallocAsync(size: int, stream: int) -> int:
    """Take device memory in the order of a stream."""
    buffer = _core.Buffer.allocate(int(size), _stream(stream))
    address = int(buffer.__index__())
    _allocations[address] = buffer
    return address


def free(ptr: int) -> None:
    """Give back what `malloc` gave."""
    if ptr == 0:
        return
    buffer = _allocations.pop(int(ptr), None)
    if buffer is None:
        raise CUDARuntimeError(
            "cudaErrorInvalidValue", f"free: {ptr:#x} is no allocation of malloc"
        )
    buffer.free_now()


def freeAsync(ptr: int, stream: int) -> None:
    """Give back what `mallocAsync` gave, in the order of a stream."""
    free(ptr)


@_runtime_call()
def hostAlloc(size: int, flags: int) -> int:
    """Take pinned host memory; the address. Give it back by `freeHost`."""
    buffer = _core.HostBuffer.allocate(int(size), int(flags))
    _allocations[buffer.address] = buffer
    return buffer.address


def freeHost(ptr: int) -> None:
    """Give back what `hostAlloc` gave."""
    free(ptr)


@_runtime_call()
def hostRegister(ptr: int, size: int, flags: int) -> None:
    """Pin host memory that is there already."""
    memory = _host(int(ptr), size)
    _allocations[int(ptr)] = _core.register_host(memory, int(flags))


def hostUnregister(ptr: int) -> None:
    """Undo `hostRegister`."""
    registration = _allocations.pop(int(ptr), None)
    if registration is None:
        raise CUDARuntimeError(
            "cudaErrorInvalidValue", f"hostUnregister: {ptr:#x} is not registered"
        )
    registration.unregister()


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy bytes between addresses; done on return."""
    _copy(int(dst), int(src), int(size), kind, None, wait=True)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """Copy bytes between addresses in the order of a stream."""
    _copy(int(dst), int(src), int(size), kind, _stream(stream), wait=False)


def memcpyPeer(dst: int, dst_device: int, src: int, src_device: int, size: int) -> None:
    """Copy bytes between devices; done on return."""
    _copy_peer(dst, dst_device, src, src_device, size, None, wait=True)


def memcpyPeerAsync(
    dst: int, dst_device: int, src: int, src_device: int, size: int, stream: int
) -> None:
    """Copy bytes between devices in the order of a stream of one of the two.

    On the other device the copy comes after what is on its current stream, and before what follows.
    """
    _copy_peer(dst, dst_device, src, src_device, size, _stream(stream), wait=False)


def memset(ptr: int, value: int, size: int) -> None:
    """Set bytes, ordered on the null stream."""
    _core.fill(int(ptr), value & 0xFF, 1, int(size), stream=_stream(0))


def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:
    """Set bytes in the order of a stream."""
    _core.fill(int(ptr), value & 0xFF, 1, int(size), stream=_stream(stream))


def memPrefetchAsync(dev_ptr: int, count: int, dst_device: int, stream: int) -> None:
    """Move managed memory; a hint that is ignored."""


def memAdvise(dev_ptr: int, count: int, advice: int, device: int) -> None:
    """Advise on managed memory; a hint that is ignored."""


class PointerAttributes:
    """What `pointerGetAttributes` returns: device, devicePointer, hostPointer, type."""

    def __init__(self, device: int, device_pointer: int, host_pointer: int, kind: int) -> None:
        self.device = device
        self.devicePointer = device_pointer
        self.hostPointer = host_pointer
        self.type = kind


def pointerGetAttributes(ptr: int) -> PointerAttributes:
    """Where an address of `malloc` or `hostAlloc` points."""
    owner = _allocations.get(int(ptr))
    if isinstance(owner, _core.HostBuffer):
        return PointerAttributes(getDevice(), owner.device_pointer, owner.address, 1)
    _, buffer = _core.resolve_memory(int(ptr))
    if buffer is None and owner is None:
        return PointerAttributes(-2, 0, int(ptr), 0)
    device = (owner or buffer).context.index
    return PointerAttributes(device, int(ptr), 0, 2)


def streamCreate() -> int:
    """Make a stream; the handle. Give it back by `streamDestroy`."""
    return streamCreateWithFlags(streamDefault)


def streamCreateWithFlags(flags: int) -> int:
    """Make a stream with flags (1: does not wait for the null stream)."""
    return streamCreateWithPriority(flags, 0)


def streamCreateWithPriority(flags: int, priority: int) -> int:
    """Make a stream with flags and a priority."""
    stream = _core.Stream(None, bool(flags & streamNonBlocking), int(priority))
    _streams[stream.handle] = stream
    return stream.handle


def streamGetFlags(stream: int) -> int:
    """Flags of a stream."""
    return int(_stream(stream).non_blocking)


def streamGetPriority(stream: int) -> int:
    """Priority of a stream."""
    return _stream(stream).priority


def streamDestroy(stream: int) -> None:
    """Give back what `streamCreate` gave."""
    if _streams.pop(int(stream), None) is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"stream {stream}")


def streamSynchronize(stream: int) -> None:
    """Wait for all work on a stream."""
    _stream(stream).synchronize()


def streamQuery(stream: int) -> int:
    """0 if all work on a stream is done, 600 (cudaErrorNotReady) if not.

    Of a captured stream the status of the refusal, and the capture is lost.
    """
    try:
        return 0 if _stream(stream).done() else 600
    except CUDARuntimeError as error:
        if 900 <= error.status <= 908:
            return error.status
        raise


def streamWaitEvent(stream: int, event: int, flags: int = 0) -> None:
    """Let later work on a stream wait for an event."""
    _stream(stream).wait_for(_event(event))


def launchHostFunc(stream: int, callback, arg) -> None:
    """Call ``callback(arg)`` in the order of a stream."""
    _stream(stream).host_function(lambda: callback(arg))


def streamAddCallback(stream: int, callback, arg, flags: int = 0) -> None:
    """Call ``callback(stream, status, arg)`` in the order of a stream; graphs do not have it."""
    refuse_callback(_stream(stream))
    _stream(stream).host_function(lambda: callback(stream, 0, arg))


def eventCreate() -> int:
    """Make an event; the handle. Give it back by `eventDestroy`."""
    return eventCreateWithFlags(eventDefault)


def eventCreateWithFlags(flags: int) -> int:
    """Make an event with flags."""
    shared = bool(flags & eventInterprocess)
    if shared and not flags & eventDisableTiming:
        raise CUDARuntimeError(
            "cudaErrorInvalidValue", "an interprocess event has no timing: add eventDisableTiming"
        )
    timing, blocking = not flags & eventDisableTiming, bool(flags & eventBlockingSync)
    event = _core.Event(None, timing, blocking, shared=shared)
    _events[event.handle] = event
    return event.handle


def eventDestroy(event: int) -> None:
    """Give back what `eventCreate` gave."""
    if _events.pop(int(event), None) is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"event {event}")


def eventRecord(event: int, stream: int) -> None:
    """Record an event on a stream."""
    _event(event).record(_stream(stream))


def eventQuery(event: int) -> int:
    """0 if an event has happened, 600 (cudaErrorNotReady) if not."""
    return 0 if _event(event).done() else 600


def eventSynchronize(event: int) -> None:
    """Wait for an event."""
    _event(event).synchronize()


def eventElapsedTime(start: int, end: int) -> float:
    """Milliseconds between two events."""
    try:
        return _event(end).elapsed_ms_since(_event(start))
    except _core.InvalidArgumentError as error:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", str(error)) from None


def profilerStart() -> None:
    """Let an outside profiler collect from now on."""
    _core.start_profiler()


def profilerStop() -> None:
    """End what `profilerStart` began."""
    _core.stop_profiler()


def _stream(handle: int) -> _core.Stream:
    handle = int(handle)
    if handle in (0, streamLegacy, streamPerThread):
        return _core.current_context().default_stream
    stream = _streams.get(handle)
    return _core.Stream.wrap(handle) if stream is None else stream


def _event(handle: int) -> _core.Event:
    from trilane.cupy.cuda.stream import known_events

    event = _events.get(int(handle))
    if event is None and (shown := known_events.get(int(handle))) is not None:
        event = shown._core_event
    if event is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"event {handle}")
    return event


@_runtime_call()
def _copy_peer(dst, dst_device, src, src_device, size, stream, wait: bool) -> None:
    target, source = _context(dst_device), _context(src_device)
    if stream is None:
        stream = target.default_stream
    elif stream.context.index not in (target.index, source.index):
        raise CUDARuntimeError(
            "cudaErrorInvalidResourceHandle",
            f"stream of device {stream.context.index}: expected one of device {dst_device} or "
            f"{src_device}",
        )
    _core.copy_peer(int(dst), target, int(src), source, int(size), stream=stream, wait=wait)


@_runtime_call()
def _copy(dst: int, src: int, size: int, kind: int, stream, wait: bool) -> None:
    if kind == memcpyDefault:
        # Every address of the cpu device is a host address too.
        known_dst = _core.resolve_memory(dst)[1] is not None
        known_src = _core.resolve_memory(src)[1] is not None
        kind = 2 * known_src + known_dst
    if kind == memcpyHostToDevice:
        _core.copy_to_device(dst, _host(src, size), size, stream=stream, wait=wait)
    elif kind == memcpyDeviceToHost:
        _core.copy_to_host(_host(dst, size), src, size, stream=stream, wait=wait)
    elif kind == memcpyDeviceToDevice:
        _core.copy_on_device(dst, src, size, stream=stream, wait=wait)
    elif kind == memcpyHostToHost:
        np.copyto(_host(dst, size), _host(src, size))
    else:
        raise CUDARuntimeError("cudaErrorInvalidValue", f"memcpy kind {kind}")


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MISSING:
        raise missing(f"cupy.cuda.runtime.{name}")
    raise _no_attribute(__name__, name)


_MISSING = frozenset(
    """deviceGetDefaultMemPool deviceGetLimit deviceGetMemPool deviceSetLimit
    deviceSetMemPool graphDebugDotPrint mallocFromPoolAsync memPoolCreate memPoolDestroy
    memPoolGetAttribute memPoolSetAttribute memPoolTrimTo
    pointerGetMemoryType""".split()
)
