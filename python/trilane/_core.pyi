"""
The core of Trilane: devices, streams, memory, programs. Stubs: _core.pyi.
"""

from collections.abc import Callable, Sequence
from typing import overload



def set_error_face(kind: str, function: object | None) -> None:
    """
    What to raise in place of the core's errors of a kind: `function(error)` gives an exception, which stays an instance of the error's class so that other faces know it. None: the errors themselves.
    """

class DeviceProperties:
    """Fixed facts about a device."""

    @property
    def type(self) -> str: ...

    @property
    def ordinal(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def pci_bus_id(self) -> str: ...

    @property
    def uuid(self) -> bytes: ...

    @property
    def total_memory(self) -> int: ...

    @property
    def compute_capability(self) -> tuple[int, int]: ...

    @property
    def warp_size(self) -> int: ...

    @property
    def max_threads_per_block(self) -> int: ...

    @property
    def max_block(self) -> tuple: ...

    @property
    def max_grid(self) -> tuple: ...

    @property
    def shared_per_block(self) -> int: ...

    @property
    def shared_per_block_optin(self) -> int: ...

    @property
    def constant_memory(self) -> int: ...

    @property
    def multiprocessor_count(self) -> int: ...

    @property
    def attributes(self) -> dict[int, int]: ...

class CheckReport:
    """One finding of the checks, merged over threads."""

    @property
    def kind(self) -> str: ...

    @property
    def kernel(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def block(self) -> tuple: ...

    @property
    def thread(self) -> tuple: ...

    @property
    def text(self) -> str: ...

    @property
    def count(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Context:
    """
    A device with its pool, streams and caches. There is one per device; equal objects mean the same device.
    """

    @property
    def index(self) -> int: ...

    @property
    def properties(self) -> DeviceProperties: ...

    @property
    def pool(self) -> MemoryPool: ...

    @property
    def host_pool(self) -> HostMemoryPool: ...

    @property
    def default_stream(self) -> Stream: ...

    def synchronize(self) -> None: ...

    def memory_info(self) -> tuple[int, int]: ...

    def cache_statistics(self) -> dict: ...

    def clear_memory_cache(self) -> None: ...

    def describe(self) -> list[tuple[str, str]]: ...

    def take_check_reports(self) -> list[CheckReport]: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

def device_count() -> int: ...

def context_of(index: int) -> Context: ...

def live_contexts() -> list: ...

def current_context() -> Context: ...

def current_device_index() -> int: ...

def set_current_device(index: int) -> None: ...

def device_types() -> list: ...

def no_device() -> tuple[int, str] | None:
    """
    None if there is a device; else the number of ``cudaError_t`` that says why there is none, 35 (no driver, or too old) or 100, and the reasons in words.
    """

def cache_directory() -> str: ...

def cache_state() -> str: ...

def cache_limit() -> int:
    """
    Bytes that each kind of compiled thing may take of the disk: TRILANE_CACHE_MIB, 2 GiB.
    """

def library_versions() -> dict: ...

def take_check_reports(context: Context | None = None) -> list[CheckReport]: ...

class Graph:
    """
    Captured work, done again at each launch. What it uses lives as long as it.
    """

    def launch(self, stream: Stream | None = None) -> None: ...

    def upload(self, stream: Stream | None = None) -> None:
        """What the first launch would do first."""

    @property
    def context(self) -> Context: ...

    @property
    def handle(self) -> int: ...

class Stream:
    """An order of work on one device."""

    def __init__(self, context: Context | None = None, non_blocking: bool = False, priority: int = 0) -> None: ...

    @staticmethod
    def wrap(handle: int, context: Context | None = None) -> Stream:
        """A stream that another library owns; it is never destroyed here."""

    @property
    def context(self) -> Context: ...

    @property
    def handle(self) -> int: ...

    @property
    def id(self) -> int: ...

    @property
    def non_blocking(self) -> bool: ...

    @property
    def priority(self) -> int: ...

    def synchronize(self) -> None: ...

    def done(self) -> bool: ...

    def wait_for(self, event: Event) -> None: ...

    def host_function(self, function: Callable) -> None:
        """Calls `function()` when the work before it is done."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def begin_capture(self, mode: int = 2) -> None:
        """
        What is put on the stream from now on is kept for a graph instead of done.
        """

    def end_capture(self) -> Graph:
        """The graph of what was put on the stream since begin_capture()."""

    def capturing(self) -> bool:
        """Whether it is captured; also if that capture is lost."""

class Event:
    """A point in the work of a stream."""

    def __init__(self, context: Context | None = None, timing: bool = True, blocking: bool = False, *, shared: bool = False, handle: bytes | None = None) -> None:
        """
        `shared`: other processes may open it; without timing. `handle`: what share() of such an
        event gave.
        """

    def share(self) -> bytes:
        """What another process opens the event by: 64 bytes."""

    @property
    def context(self) -> Context: ...

    @property
    def handle(self) -> int: ...

    def record(self, stream: Stream | None = None) -> None: ...

    def done(self) -> bool: ...

    def synchronize(self) -> None: ...

    def elapsed_ms_since(self, start: Event) -> float:
        """Milliseconds from `start` to this event."""

def current_stream(context: Context | None = None) -> Stream: ...

def set_current_stream(stream: Stream) -> None: ...

class Buffer:
    """A piece of device memory. Faces derive their allocation types from it."""

    @overload
    def __init__(self, nbytes: int, stream: Stream | None = None) -> None:
        """From the pool of the stream's device, not initialised."""

    @overload
    def __init__(self, other: Buffer) -> None:
        """Another handle of the same memory."""

    @staticmethod
    def allocate(nbytes: int, stream: Stream | None = None) -> Buffer: ...

    @staticmethod
    def allocate_managed(nbytes: int, flags: int = 1, context: Context | None = None) -> Buffer: ...

    @staticmethod
    def adopt(address: int, nbytes: int, owner: object | None = None, context: Context | None = None) -> Buffer:
        """Memory that `owner` owns; it is kept alive."""

    @property
    def address(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def context(self) -> Context: ...

    @property
    def stream(self) -> Stream: ...

    @property
    def freed(self) -> bool: ...

    def free_now(self) -> None: ...

    def record_use(self, stream: Stream) -> None: ...

    def mark_escaped(self) -> None: ...

    def set_name(self, name: str) -> None: ...

    def __index__(self) -> int: ...

    def __int__(self) -> int: ...

    def __len__(self) -> int: ...

    def __bool__(self) -> bool: ...

    def __repr__(self) -> str: ...

class HostBuffer:
    """
    Pinned host memory. `numpy.asarray` of it is a view of its bytes that keeps it alive.
    """

    @staticmethod
    def allocate(nbytes: int, flags: int = 0, context: Context | None = None) -> HostBuffer: ...

    @property
    def __array_interface__(self) -> dict: ...

    @property
    def address(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def flags(self) -> int: ...

    @property
    def context(self) -> Context: ...

    @property
    def device_pointer(self) -> int: ...

    @property
    def freed(self) -> bool: ...

    def free_now(self) -> None: ...

    def __len__(self) -> int: ...

class HostRegistration:
    """Host memory that a device may reach."""

    def unregister(self) -> None: ...

    @property
    def device_pointer(self) -> int: ...

def register_host(memory: object, flags: int = 0, context: Context | None = None) -> HostRegistration: ...

class MemoryPool:
    """The pool of a device's memory."""

    @property
    def used_bytes(self) -> int: ...

    @property
    def held_bytes(self) -> int: ...

    @property
    def free_bytes(self) -> int: ...

    @property
    def free_blocks(self) -> int: ...

    @property
    def live_buffers(self) -> int: ...

    @property
    def peak_used_bytes(self) -> int: ...

    @property
    def allocations(self) -> int: ...

    @property
    def device_allocations(self) -> int: ...

    @property
    def limit(self) -> int:
        """Bytes the pool may hold; 0: no limit."""

    @limit.setter
    def limit(self, arg: int, /) -> None: ...

    def statistics(self) -> dict: ...

    def free_all_free_blocks(self) -> None: ...

    def set_enabled(self, enabled: bool) -> None: ...

class HostMemoryPool:
    """The pool of pinned host memory."""

    @property
    def held_bytes(self) -> int: ...

    @property
    def free_bytes(self) -> int: ...

    @property
    def free_blocks(self) -> int: ...

    def free_all_free_blocks(self) -> None: ...

def copy_to_device(dst: object, src: object, nbytes: int | None = None, *, dst_offset: int = 0, stream: Stream | None = None, wait: bool = True) -> None: ...

def copy_to_host(dst: object, src: object, nbytes: int | None = None, *, src_offset: int = 0, stream: Stream | None = None, wait: bool = True) -> None: ...

def copy_on_device(dst: object, src: object, nbytes: int, *, dst_offset: int = 0, src_offset: int = 0, stream: Stream | None = None, wait: bool = False) -> None: ...

def fill(dst: object, pattern: int, pattern_bytes: int, count: int, *, height: int = 1, pitch: int = 0, dst_offset: int = 0, stream: Stream | None = None) -> None:
    """`pattern` of 1, 2 or 4 bytes, `count` times in each of `height` rows."""

def copy_3d(kind: str, dst: object, src: object, width_bytes: int, height: int = 1, depth: int = 1, *, dst_pitch: int = 0, src_pitch: int = 0, dst_slice_pitch: int = 0, src_slice_pitch: int = 0, dst_offset: int = 0, src_offset: int = 0, stream: Stream | None = None, wait: bool = True) -> None: ...

def resolve_memory(memory: object) -> tuple:
    """The address, and the Buffer if it is known."""

class CudaArray:
    """Elements laid out as the device likes, for textures and surfaces."""

    def __init__(self, kind: str, bits: int, channels: int, width: int, height: int = 0, depth: int = 0, *, layered: bool = False, cubemap: bool = False, surface: bool = False, gather: bool = False, context: Context | None = None) -> None: ...

    @property
    def context(self) -> Context: ...

    @property
    def handle(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def bits(self) -> int: ...

    @property
    def channels(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def freed(self) -> bool: ...

    def free(self) -> None:
        """Textures and surfaces of it keep its memory."""

class Texture:
    """
    A texture object of an array, or of memory: `width` elements, or `height` rows of them.
    """

    def __init__(self, source: object, *, kind: str = 'float', bits: int = 32, channels: int = 1, width: int = 0, height: int = 0, pitch_bytes: int = 0, address_mode: tuple = (1, 1, 1), filter: int = 0, elements_as_they_are: bool = False, normalized_coordinates: bool = False, srgb: bool = False, max_anisotropy: int = 0, border: tuple = (0.0, 0.0, 0.0, 0.0)) -> None: ...

    @property
    def context(self) -> Context: ...

    @property
    def handle(self) -> int:
        """What a kernel takes as cudaTextureObject_t."""

class Surface:
    """A surface object of an array."""

    def __init__(self, array: CudaArray) -> None: ...

    @property
    def context(self) -> Context: ...

    @property
    def handle(self) -> int:
        """What a kernel takes as cudaSurfaceObject_t."""

def copy_box(dst: object, src: object, width_bytes: int, height: int = 1, depth: int = 1, *, dst_host: bool = False, src_host: bool = False, dst_pitch: int = 0, src_pitch: int = 0, dst_slice_pitch: int = 0, src_slice_pitch: int = 0, dst_offset: int = 0, src_offset: int = 0, dst_at: tuple = (0, 0, 0), src_at: tuple = (0, 0, 0), stream: Stream | None = None, wait: bool = True) -> None:
    """
    Copies a box to, from or between CudaArrays; `*_at` is (byte, row, slice) in one.
    """

def dlpack_export(owner: object, address: int, shape: tuple, strides: tuple, code: int, bits: int, device_type: int, device_id: int, versioned: bool) -> object:
    """
    A DLPack capsule of memory that `owner` keeps. Strides are in elements.
    """

def dlpack_take(capsule: object) -> tuple:
    """
    What a DLPack capsule describes: (address, shape, strides in elements or None, type
    code, bits, device type, device number, read-only, keeper). The keeper holds the memory.
    """

def can_access_peer(context: Context, peer: Context) -> bool:
    """Whether kernels of one device can be given memory of another."""

def enable_peer_access(context: Context, peer: Context) -> str:
    """
    'done', 'already' or 'impossible'. Memory of a peer is also reached without it, where it
    can be.
    """

def disable_peer_access(context: Context, peer: Context) -> str:
    """'done' or 'not enabled'."""

def copy_peer(dst: object, dst_context: Context | None, src: object, src_context: Context | None, nbytes: int, *, stream: Stream | None = None, wait: bool = False) -> None:
    """
    Copy between devices. A context says where a bare address is; allocations know theirs.
    The stream is of one of the two devices; on the other the copy comes after what is on its
    current stream, and before what follows.
    """

def export_memory(memory: object, context: Context | None = None) -> tuple:
    """
    (handle, offset): what another process opens the allocation by, and where in it `memory` is.
    """

class IpcMemory:
    """Memory that another process exported."""

    def __init__(self, handle: bytes, context: Context | None = None) -> None: ...

    @property
    def address(self) -> int: ...

    @property
    def context(self) -> Context: ...

    @property
    def closed(self) -> bool: ...

    def close(self) -> None:
        """Waits for the device, whose work may use the memory."""

def start_profiler(context: Context | None = None) -> None:
    """Where there is an outside profiler, it collects now."""

def stop_profiler(context: Context | None = None) -> None: ...

def nvtx_listening() -> bool:
    """
    Whether there is a profiler: a library that NVTX_INJECTION64_PATH names.
    """

def nvtx_mark(message: str, color: int | None = None) -> None: ...

def nvtx_push(message: str, color: int | None = None) -> int:
    """The depth in this thread; negative where nobody counts."""

def nvtx_pop() -> int: ...

def nvtx_start(message: str, color: int | None = None) -> int:
    """The range's number for `nvtx_end`."""

def nvtx_end(range: int) -> None: ...

class Parameter:
    """A parameter of a kernel, as the compiler laid it out."""

    @property
    def name(self) -> str: ...

    @property
    def c_type(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def align(self) -> int: ...

    @property
    def pointee_size(self) -> int: ...

    @property
    def pointee_kind(self) -> str: ...

    @property
    def pointee_const(self) -> bool: ...

    def __repr__(self) -> str: ...

class Module:
    """Code loaded on a device."""

    @staticmethod
    def compile(source: str, options: Sequence[str] = [], *, headers: Sequence[tuple[str, str]] = [], name_expressions: Sequence[str] = [], file_name: str = 'kernel.cu', context: Context | None = None) -> Module:
        """Compiles CUDA C++ through the cache and loads it."""

    @staticmethod
    def load(data: bytes, context: Context | None = None, format: str = '') -> Module: ...

    @staticmethod
    def link(pieces: Sequence[tuple[str, str, bytes]], context: Context | None = None, *, max_registers: int = 0, threads_per_block: int = 0, optimization_level: int = 4, line_info: bool = False, debug: bool = False, verbose: bool = False) -> Module:
        """Links (name, format, bytes) of compiled code and loads the result."""

    @property
    def context(self) -> Context: ...

    @property
    def log(self) -> str: ...

    def image(self) -> bytes: ...

    def function(self, name: str) -> Function: ...

    def get_global(self, name: str) -> tuple[int, int]: ...

    def function_names(self) -> list[str]: ...

def image_code(image: bytes) -> tuple[str, bytes, str]:
    """
    (format, code, compiler's log): what is in the bytes of Module.image() or compile_image().
    """

def compile_image(source: str, options: Sequence[str] = [], *, headers: Sequence[tuple[str, str]] = [], name_expressions: Sequence[str] = [], file_name: str = 'kernel.cu', context: Context | None = None) -> bytes:
    """Compiles through the cache; loads nothing."""

class Function:
    """A kernel of a module."""

    @property
    def name(self) -> str: ...

    @property
    def module(self) -> Module: ...

    @property
    def context(self) -> Context: ...

    @property
    def signature(self) -> str: ...

    @property
    def parameters(self) -> object: ...

    @property
    def attributes(self) -> dict: ...

    def set_attribute(self, attribute: int, value: int) -> None: ...

    def occupancy(self, block_threads: int, shared_bytes: int = 0) -> int: ...

    def launch(self, grid: object, block: object, args: tuple, shared: int = 0, stream: Stream | None = None, cooperative: bool = False) -> None:
        """
        Puts the kernel on the stream. Arguments are checked against its parameters.
        """

    def try_launch(self, grid: object, block: object, args: tuple, shared: int = 0, stream: Stream | None = None, loose: bool = False, cooperative: bool = False) -> bool:
        """
        As launch(), but False, with nothing started, if an argument has `__trilane_handler__`. With `loose` NumPy scalars convert as Python numbers do.
        """

    def __repr__(self) -> str: ...

class RawCall:
    """Base of cupy.RawKernel: launches."""

    def __call__(self, /, *args, **kwargs):
        """Call self as a function."""

    def _bind(self, device: int, function: Function, cooperative: bool, /) -> None: ...

class FunctionCall:
    """Base of pycuda.driver.Function: launches."""

    def __call__(self, /, *args, **kwargs):
        """Call self as a function."""

    def _bind(self, function: Function, /) -> None: ...
    def _expect_arguments(self, count: int, /) -> None: ...
    def prepared_call(self, grid: tuple[int, ...], block: tuple[int, ...], *args: object,
                      shared_size: int = 0) -> None: ...
    def prepared_async_call(self, grid: tuple[int, ...], block: tuple[int, ...], stream: object,
                            *args: object, shared_size: int = 0) -> None: ...

class TrilaneError(Exception):
    kind: str
    message: str
    detail: str

class InvalidArgumentError(TrilaneError, ValueError): ...

class TypeMismatchError(TrilaneError, TypeError): ...

class OutOfMemoryError(TrilaneError, MemoryError): ...

class CompileError(TrilaneError, RuntimeError): ...

class LaunchError(TrilaneError, RuntimeError): ...

class KernelFaultError(TrilaneError, RuntimeError):
    code: int
    driver_name: str
    runtime_name: str
    fault_text: str

class DeviceError(TrilaneError, RuntimeError):
    code: int
    driver_name: str
    runtime_name: str
    fault_text: str

class CheckError(TrilaneError, RuntimeError): ...

class NotFoundError(TrilaneError, LookupError): ...

class NotSupportedError(TrilaneError, NotImplementedError): ...

class IndexOutOfRangeError(TrilaneError, IndexError): ...

class InternalError(TrilaneError, RuntimeError): ...
