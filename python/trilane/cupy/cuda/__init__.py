"""Devices, streams, events, memory: the `cuda` namespace."""

from __future__ import annotations

import contextlib
import importlib

from trilane import _core
from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute
from trilane.cupy.cuda import (
    _absent,
    compiler,
    device,
    driver,
    graph,
    memory,
    nvtx,
    pinned_memory,
    profiler,
    runtime,
    stream,
)
from trilane.cupy.cuda.device import Device, get_device_id
from trilane.cupy.cuda.graph import Graph
from trilane.cupy.cuda.memory import (
    BaseMemory,
    ManagedMemory,
    Memory,
    MemoryAsyncPool,
    MemoryPointer,
    MemoryPool,
    OutOfMemoryError,
    UnownedMemory,
    alloc,
    get_allocator,
    malloc_async,
    malloc_managed,
    set_allocator,
    using_allocator,
)
from trilane.cupy.cuda.pinned_memory import (
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    alloc_pinned_memory,
    set_pinned_memory_allocator,
)
from trilane.cupy.cuda.stream import (
    Event,
    ExternalStream,
    Stream,
    get_current_stream,
    get_elapsed_time,
)

_LAZY = {
    "function": "trilane.cupy.cuda.function",
    "texture": "trilane.cupy.cuda.texture",
}
_MISSING = frozenset(
    """memory_hook memory_hooks common MemoryHook CFunctionAllocator
    PythonFunctionAllocator MemoryAsync get_cublas_handle""".split()
)

cub_enabled = False
nccl_available = False
cutensor_available = False


def is_available() -> bool:
    """Whether there is a device; the embedded cpu device counts."""
    return _core.device_count() > 0


def get_local_runtime_version() -> int:
    """CUDA version whose runtime calls are followed."""
    return runtime.runtimeGetVersion()


def get_cuda_path() -> str | None:
    """Folder of a CUDA toolkit; None, as none is needed."""
    return None


def get_nvcc_path() -> str | None:
    """Path of CUDA's compiler driver; None, as none is needed."""
    return None


def get_rocm_path() -> str | None:
    """Folder of ROCm; None, as there are no such devices."""
    return None


def get_hipcc_path() -> str | None:
    """Path of HIP's compiler; None, as there are no such devices."""
    return None


@contextlib.contextmanager
def profile():
    """Mark the block for an outside profiler."""
    profiler.start()
    try:
        yield
    finally:
        profiler.stop()


# `import cupy.cuda.cutensor` asks `available` of it, too.
globals().update({_name: _absent.library(_name) for _name in _absent.NAMES})


def __getattr__(name: str):
    if name in _LAZY:
        return importlib.import_module(_LAZY[name])
    if name in _MISSING:
        raise missing(f"cupy.cuda.{name}")
    raise _no_attribute(__name__, name)


__all__ = [
    "BaseMemory",
    "Device",
    "Event",
    "ExternalStream",
    "Graph",
    "ManagedMemory",
    "Memory",
    "MemoryAsyncPool",
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "PinnedMemory",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "Stream",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "device",
    "driver",
    "get_allocator",
    "get_cuda_path",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "get_local_runtime_version",
    "graph",
    "is_available",
    "malloc_async",
    "malloc_managed",
    "memory",
    "nvtx",
    "pinned_memory",
    "profile",
    "profiler",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
    "using_allocator",
]
