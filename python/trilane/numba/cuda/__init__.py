"""`numba.cuda` over Trilane's core: kernels written in Python, on a GPU or on the cpu device."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes
from trilane.numba.cuda import (
    cg,
    compiler,
    config,
    errors,
    fp16,
    launchconfig,
    libdevice,
    random,
    types,
    typing,
    utils,
    vector_types,
)  # fmt: skip
from trilane.numba.cuda.api import (
    as_cuda_array,
    close,
    cuda_error,
    current_context,
    default_stream,
    defer_cleanup,
    detect,
    device_array,
    device_array_like,
    event,
    event_elapsed_time,
    external_stream,
    from_cuda_array_interface,
    get_current_device,
    get_supported_ccs,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_cuda_array,
    is_float16_supported,
    is_supported_version,
    legacy_default_stream,
    list_devices,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    open_ipc_array,
    per_thread_default_stream,
    pinned,
    pinned_array,
    pinned_array_like,
    profile_start,
    profile_stop,
    profiling,
    select_device,
    set_memory_manager,
    stream,
    synchronize,
    to_device,
)  # fmt: skip
from trilane.numba.cuda.cudadrv.devices import require_context
from trilane.numba.cuda.cudadrv.error import CudaSupportError
from trilane.numba.cuda.cudadrv.linkable_code import (
    LTOIR,
    Archive,
    Cubin,
    CUSource,
    Fatbin,
    LinkableCode,
    Object,
    PTXSource,
)  # fmt: skip
from trilane.numba.cuda.devicearray import DeviceNDArray
from trilane.numba.cuda.dispatcher import CUDADispatcher, compile_cuda, jit
from trilane.numba.cuda.hints import In, InOut, Out
from trilane.numba.cuda.linking import declare_device
from trilane.numba.cuda.misc.special import literal_unroll
from trilane.numba.cuda.reduction import Reduce
from trilane.numba.cuda.stubs import (
    activemask,
    all_sync,
    any_sync,
    atomic,
    ballot_sync,
    blockDim,
    blockIdx,
    brev,
    cbrt,
    clz,
    const,
    eq_sync,
    ffs,
    fma,
    grid,
    gridDim,
    gridsize,
    laneid,
    lanemask_lt,
    ldca,
    ldcg,
    ldcs,
    ldcv,
    ldlu,
    local,
    match_all_sync,
    match_any_sync,
    nanosleep,
    popc,
    selp,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    stcg,
    stcs,
    stwb,
    stwt,
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
    threadIdx,
    warpsize,
)  # fmt: skip
from trilane.numba.cuda.vectorizers import guvectorize, vectorize
from trilane.numba.types import (
    boolean,
    byte,
    c8,
    c16,
    complex64,
    complex128,
    double,
    f4,
    f8,
    float32,
    float64,
    i1,
    i2,
    i4,
    i8,
    int8,
    int16,
    int32,
    int64,
    intc,
    intp,
    short,
    u1,
    u2,
    u4,
    u8,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    void,
)  # fmt: skip

# Whether the genuine numba is there beside this face; its CPU compiler is never used here.
HAS_NUMBA = False

globals().update(vector_types.constructors())
reduce = Reduce
autojit = jit
# The release whose API is followed.
__version__ = "0.30.4"

__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"]

__getattr__ = absent_attributes(
    __name__,
    "BaseCUDAMemoryManager HostOnlyCUDAMemoryManager GetIpcHandleMixin MemoryPointer "
    "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device",
)
