"""PyCUDA's driver interface: devices, memory, streams, modules and launches.

What does not exist raises NotImplementedError naming it.
"""

# ruff: noqa: F401  the imports are the interface
from __future__ import annotations

from typing import Any

from trilane._missing import missing_attributes as _missing_attributes

from ._context import (
    Context,
    Device,
    get_driver_version,
    get_version,
    have_gl_ext,
    init,
    set_debugging,
)
from ._copies import Memcpy2D, Memcpy3D, Memcpy3DPeer
from ._enums import (
    TR_DEFAULT,
    TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    address_mode,
    array3d_flags,
    array_cubemap_face,
    array_format,
    compute_mode,
    ctx_flags,
    device_attribute,
    event_flags,
    filter_mode,
    func_cache,
    function_attribute,
    graphics_register_flags,
    host_alloc_flags,
    ipc_mem_flags,
    jit_fallback,
    jit_input_type,
    jit_option,
    jit_target,
    limit,
    mem_attach_flags,
    mem_host_register_flags,
    mem_peer_register_flags,
    memory_type,
    pointer_attribute,
    profiler_output_mode,
    shared_config,
)
from ._errors import CompileError, Error, LaunchError, LogicError, MemoryError, RuntimeError
from ._host import (
    AlignedHostAllocation,
    HostAllocation,
    HostPointer,
    ManagedAllocation,
    ManagedAllocationOrStub,
    PagelockedHostAllocation,
    RegisteredHostMemory,
    aligned_empty,
    aligned_empty_like,
    aligned_zeros,
    aligned_zeros_like,
    managed_empty,
    managed_empty_like,
    managed_zeros,
    managed_zeros_like,
    pagelocked_empty,
    pagelocked_empty_like,
    pagelocked_zeros,
    pagelocked_zeros_like,
    register_host_memory,
)
from ._ipc import IPCMemoryHandle, mem_get_ipc_handle
from ._linker import Linker
from ._memory import (
    DeviceAllocation,
    PointerHolderBase,
    PooledDeviceAllocation,
    from_device,
    from_device_like,
    mem_alloc,
    mem_alloc_like,
    mem_alloc_pitch,
    mem_get_address_range,
    mem_get_info,
    memcpy_dtod,
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memcpy_peer,
    memcpy_peer_async,
    memset_d2d8,
    memset_d2d8_async,
    memset_d2d16,
    memset_d2d16_async,
    memset_d2d32,
    memset_d2d32_async,
    memset_d8,
    memset_d8_async,
    memset_d16,
    memset_d16_async,
    memset_d32,
    memset_d32_async,
    to_device,
)
from ._module import (
    ArgumentHandler,
    Function,
    In,
    InOut,
    Module,
    Out,
    module_from_buffer,
    module_from_file,
)
from ._stream import Event, Stream, initialize_profiler, start_profiler, stop_profiler
from ._texture import (
    Array,
    ArrayDescriptor,
    ArrayDescriptor3D,
    SurfaceObject,
    TextureObject,
    dtype_to_array_format,
    gpuarray_to_array,
    make_multichannel_2d_array,
    matrix_to_array,
    memcpy_atoa,
    memcpy_atod,
    memcpy_atoh,
    memcpy_dtoa,
    memcpy_htoa,
    np_to_array,
    py_memcpy_atoh,
    py_memcpy_htoa,
)

# Names of PyCUDA that need texture references.
_MISSING = {
    "SurfaceReference": "surface references: CUDA 12 dropped them: use SurfaceObject",
    "TextureReference": "texture references: CUDA 12 dropped them: use TextureObject",
    "bind_array_to_texref": "texture references: CUDA 12 dropped them: use TextureObject",
    "matrix_to_texref": "texture references: CUDA 12 dropped them: use TextureObject",
}


def _missing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"pycuda.driver.{name} is not there: {_MISSING[name]}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not there: {_MISSING[name]}."
    return refuse


for _name in _MISSING:
    globals()[_name] = _missing(_name)
del _name

__all__ = sorted(set(globals()) - {"Any", "annotations"} - {n for n in globals() if n[0] == "_"})

__getattr__ = _missing_attributes(__name__)
