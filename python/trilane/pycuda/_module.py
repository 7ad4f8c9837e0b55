"""Modules, functions, launches and the argument handlers In, Out, InOut."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from trilane import _core
from trilane._calls import CalledInC, CallSignature, stands_for

from ._context import Context
from ._enums import func_cache, function_attribute, shared_config
from ._errors import LogicError, TrilaneError, translate
from ._linker import link_options
from ._memory import mem_alloc
from ._stream import Event


class ArgumentHandler:
    """Wraps a host array given as an argument: copied in before, or out after the launch.

    Derive from it and override `pre_call` and `post_call` for other policies.
    """

    __trilane_handler__ = True

    def __init__(self, ary: Any) -> None:
        self.array = ary
        self.dev_alloc: Any = None

    def get_device_alloc(self) -> Any:
        """The device memory of the array, made on first use."""
        if self.dev_alloc is None:
            self.dev_alloc = mem_alloc(max(self.array.nbytes, 1))
        return self.dev_alloc

    def pre_call(self, stream: Any) -> None:
        """Called before the launch."""


class In(ArgumentHandler):
    """The array is copied to the device before the launch."""

    def pre_call(self, stream: Any) -> None:
        """Copy in, ordered on the stream of the launch."""
        _copy_in(self.get_device_alloc(), self.array, stream)


class Out(ArgumentHandler):
    """The array is copied from the device after the launch."""

    def post_call(self, stream: Any) -> None:
        """Copy out; done on return."""
        _copy_out(self.array, self.get_device_alloc(), stream)


class InOut(In, Out):
    """The array is copied in before and out after the launch."""


def _copy_in(dest: Any, src: Any, stream: Any) -> None:
    try:
        _core.copy_to_device(dest, src, stream=stream)
    except TrilaneError as error:
        raise translate("cuMemcpyHtoD", error) from None


def _copy_out(dest: Any, src: Any, stream: Any) -> None:
    try:
        _core.copy_to_host(dest, src, stream=stream)
    except TrilaneError as error:
        raise translate("cuMemcpyDtoH", error) from None


def _launch_error(error: Any) -> Exception:
    result = translate("cuLaunchKernel", error)
    if "got numpy.ndarray" in str(error):
        hint = ": wrap host arrays in In(), Out() or InOut(), or copy them with to_device()"
        result.args = (str(result) + hint,)
    return result


def _block_of(block: Any) -> tuple[int, ...]:
    if block is None:
        raise ValueError("must specify block size")
    try:
        return tuple(block)
    except TypeError:
        raise TypeError(
            f"block must be a tuple of ints, such as (256, 1, 1): got {block!r} of type "
            f"{type(block).__name__}"
        ) from None


def _check_launch(shared: Any, stream: Any) -> None:
    """Name the argument of a launch that the core does not take."""
    if stream is not None and not isinstance(stream, _core.Stream):
        raise TypeError(
            f"stream must be a pycuda.driver.Stream or None: got {stream!r} of type "
            f"{type(stream).__name__}"
        )
    if not isinstance(shared, (int, np.integer)):
        raise TypeError(f"shared must be a number of bytes: got {shared!r}")
    if shared < 0:
        raise LogicError(
            f"cuLaunchKernel failed: invalid argument - shared: got {shared}, expected a number of "
            "bytes, 0 or more"
        )


_ATTRIBUTE_KEYS = {
    function_attribute.MAX_THREADS_PER_BLOCK: "max_threads_per_block",
    function_attribute.SHARED_SIZE_BYTES: "shared_bytes",
    function_attribute.CONST_SIZE_BYTES: "const_bytes",
    function_attribute.LOCAL_SIZE_BYTES: "local_bytes",
    function_attribute.NUM_REGS: "num_regs",
    function_attribute.PTX_VERSION: "ptx_version",
    function_attribute.BINARY_VERSION: "binary_version",
    function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES: "max_dynamic_shared_bytes",
}


class Function(_core.FunctionCall, metaclass=CalledInC):
    """A kernel. Call it: ``function(*args, block=(x, y, z), grid=(x, y))``."""

    def __init__(self, core_function: Any) -> None:
        self._bind(core_function)
        self._core = core_function
        self._launch = core_function.try_launch
        self.arg_format: str | None = None
        self._texrefs: list[Any] = []

    __signature__ = CallSignature("_call")
    _launch_error = staticmethod(_launch_error)
    _prepared_error = staticmethod(partial(translate, "cuLaunchKernel"))

    # FunctionCall.__call__ launches what is plain; the rest, and what is wrong, comes here.
    @stands_for("Function.__call__")
    def _call(
        self,
        *args: Any,
        block: tuple[int, ...] | None = None,
        grid: tuple[int, ...] = (1, 1),
        stream: Any = None,
        shared: int = 0,
        texrefs: Sequence[Any] = (),
        time_kernel: bool = False,
        **extra: Any,
    ) -> float | None:
        """Launch the kernel.

        Parameters
        ----------
        *args
            NumPy scalars and Python numbers (converted when that loses nothing), allocations,
            device arrays, addresses, records by value, and `In`, `Out`, `InOut` of host arrays.
        block, grid : tuple of int
        stream : Stream, optional
        shared : int
            Bytes of dynamic shared memory.
        time_kernel : bool
            Wait for the kernel and return its time in seconds.

        Raises
        ------
        TypeError, LogicError
            Wrong number, type or size of arguments; the message names the parameter.
        LogicError, LaunchError
            Block or shared memory too large, or the kernel failed.
        """
        if block.__class__ is not tuple:
            block = _block_of(block)
        if extra:
            raise ValueError("extra keyword arguments: " + ",".join(extra))
        if texrefs:
            raise NotImplementedError("pycuda.driver.Function: texture references are gone")
        if time_kernel:
            return self._timed(args, grid, block, stream, shared)
        try:
            if self._launch(grid, block, args, shared, stream):
                return None
        except TrilaneError as error:
            raise _launch_error(error) from None
        except TypeError:
            _check_launch(shared, stream)
            raise
        self._call_with_handlers(args, grid, block, stream, shared)
        return None

    def _call_with_handlers(
        self, args: tuple[Any, ...], grid: Any, block: Any, stream: Any, shared: int
    ) -> None:
        handlers = [arg for arg in args if isinstance(arg, ArgumentHandler)]
        for handler in handlers:
            handler.pre_call(stream)
        plain = tuple(
            arg.get_device_alloc() if isinstance(arg, ArgumentHandler) else arg for arg in args
        )
        try:
            self._core.launch(grid, block, plain, shared, stream)
        except TrilaneError as error:
            raise _launch_error(error) from None
        except TypeError:
            _check_launch(shared, stream)
            raise
        for handler in handlers:
            post_call = getattr(handler, "post_call", None)
            if post_call is not None:
                post_call(stream)

    def _timed(
        self, args: tuple[Any, ...], grid: Any, block: Any, stream: Any, shared: int
    ) -> float:
        Context.synchronize()
        start = perf_counter()
        self(*args, block=block, grid=grid, stream=stream, shared=shared)
        Context.synchronize()
        return perf_counter() - start

    def _loose(self, grid: Any, block: Any, stream: Any, args: tuple[Any, ...]) -> None:
        # For generated kernels: NumPy scalars of any type convert when that loses nothing.
        try:
            self._launch(grid, block, args, 0, stream, True)
        except TrilaneError as error:
            raise _launch_error(error) from None

    # --- prepared calls

    def prepare(self, arg_types: str | Iterable[Any], texrefs: Sequence[Any] = ()) -> Function:
        """Say the types of the arguments once; returns the function.

        Parameters
        ----------
        arg_types : str or iterable
            A format of `struct` characters with ``"P"`` for pointers, or NumPy types and dtypes.
        """
        if texrefs:
            raise NotImplementedError("pycuda.driver.Function: texture references are gone")
        self.arg_format, self._arg_count = _prepared_format(arg_types)
        self._expect_arguments(self._arg_count)
        return self

    def _prepared(
        self, grid: Any, block: Any, stream: Any, args: tuple[Any, ...], shared: int
    ) -> None:
        if self.arg_format is None:
            raise LogicError("prepared_call failed: the function was not prepared: call prepare()")
        if len(args) != self._arg_count:
            raise struct.error(
                f"prepared_call of {self._core.signature}: got {len(args)} arguments, expected "
                f"{self._arg_count}"
            )
        try:
            if self._launch(grid, block, args, shared, stream, True):
                return
        except TrilaneError as error:
            raise translate("cuLaunchKernel", error) from None
        except TypeError:
            _check_launch(shared, stream)
            raise
        raise TypeError("prepared_call: In, Out and InOut are not accepted: pass device memory")

    # FunctionCall has prepared_call and prepared_async_call; what they leave comes to these.
    @stands_for("Function.prepared_call")
    def _prepared_call(
        self, grid: tuple[int, ...], block: tuple[int, ...], *args: Any, shared_size: int = 0
    ) -> None:
        self._prepared(grid, block, None, args, shared_size)

    @stands_for("Function.prepared_async_call")
    def _prepared_async(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        stream: Any,
        *args: Any,
        shared_size: int = 0,
    ) -> None:
        self._prepared(grid, block, stream, args, shared_size)

    def prepared_timed_call(
        self, grid: tuple[int, ...], block: tuple[int, ...], *args: Any, shared_size: int = 0
    ) -> Callable[[], float]:
        """As `prepared_call`; the result, called, waits and gives the kernel's time in seconds."""
        start, end = Event(), Event()
        start.record()
        self._prepared(grid, block, None, args, shared_size)
        end.record()

        def get_call_time() -> float:
            end.synchronize()
            return end.time_since(start) * 1e-3

        return get_call_time

    # --- attributes

    def get_attribute(self, attribute: int) -> int:
        """The value of a `function_attribute`."""
        key = _ATTRIBUTE_KEYS.get(function_attribute(attribute))
        return self._core.attributes[key] if key is not None else 0

    def set_attribute(self, attribute: int, value: int) -> None:
        """Set a `function_attribute`, for instance MAX_DYNAMIC_SHARED_SIZE_BYTES."""
        try:
            self._core.set_attribute(int(attribute), int(value))
        except TrilaneError as error:
            raise translate("cuFuncSetAttribute", error) from None

    def set_cache_config(self, config: int) -> None:
        """Preferred split of L1 cache and shared memory: a hint that devices here ignore."""
        func_cache(config)

    def set_shared_config(self, config: int) -> None:
        """Width of shared memory banks: has no effect on current hardware."""
        shared_config(config)

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or not name.islower():
            raise AttributeError(f"'Function' object has no attribute '{name}'")
        try:
            attribute = function_attribute[name.upper()]
        except KeyError:
            raise AttributeError(f"'Function' object has no attribute '{name}'") from None
        return self.get_attribute(attribute)

    def __reduce__(self) -> Any:
        return _copy_of_function, (type(self), self._core, self.__dict__)

    def __trilane_function__(self) -> Any:
        return self._core

    def __repr__(self) -> str:
        return f"<pycuda.driver.Function {self._core.signature}>"


def _copy_of_function(cls: type[Function], core_function: Any, state: dict[str, Any]) -> Function:
    made = cls.__new__(cls)
    made._bind(core_function)
    made.__dict__.update(state)
    if made.arg_format is not None:
        made._expect_arguments(made._arg_count)
    return made


_STRUCT_CHARACTERS = set("xbBcspPhHiIlLnNqQ?efdFD")


def _prepared_format(arg_types: str | Iterable[Any]) -> tuple[str, int]:
    if isinstance(arg_types, str):
        parts = _split_format(arg_types)
    else:
        parts = [_format_of(arg_type) for arg_type in arg_types]
    return "".join(parts), len(parts)


def _split_format(text: str) -> list[str]:
    parts: list[str] = []
    digits = ""
    for character in text:
        if character.isspace() or character in "@=<>!":
            continue
        if character.isdigit():
            digits += character
            continue
        if character not in _STRUCT_CHARACTERS:
            raise struct.error(f"prepare: bad character in format: got '{character}'")
        if character == "s":
            parts.append(digits + "s")
        else:
            parts.extend([character] * int(digits or 1))
        digits = ""
    return parts


def _format_of(arg_type: Any) -> str:
    if isinstance(arg_type, str):
        if len(arg_type) != 1 and not arg_type.endswith("s"):
            raise TypeError(f"prepare: not an argument type: got '{arg_type}'")
        return arg_type
    if isinstance(arg_type, np.dtype) or (
        isinstance(arg_type, type) and issubclass(arg_type, np.generic)
    ):
        dtype = np.dtype(arg_type)
        return dtype.char if dtype.char != "V" else f"{dtype.itemsize}s"
    # Anything else, a Python class among them, stands for a pointer.
    return "P"


class Module:
    """Code loaded on the current device."""

    def __init__(self, core_module: Any) -> None:
        self._core = core_module

    def get_function(self, name: str) -> Function:
        """The kernel `name`; a name expression such as ``"f<float>"`` where it was compiled.

        Raises
        ------
        LogicError
            If there is none; the message lists what there is.
        """
        try:
            return Function(self._core.function(name))
        except TrilaneError as error:
            raise translate("cuModuleGetFunction", error) from None

    def get_global(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a ``__device__`` or ``__constant__`` variable."""
        try:
            return self._core.get_global(name)
        except TrilaneError as error:
            raise translate("cuModuleGetGlobal", error) from None

    def get_texref(self, name: str) -> Any:
        """Gone: CUDA 12 dropped texture references."""
        raise NotImplementedError(
            "pycuda.driver.Module.get_texref: CUDA 12 dropped texture references: use TextureObject"
        )

    def get_surfref(self, name: str) -> Any:
        """Gone: CUDA 12 dropped surface references."""
        raise NotImplementedError(
            "pycuda.driver.Module.get_surfref: CUDA 12 dropped surface references"
        )


Function.__module__ = Module.__module__ = "pycuda._driver"


def module_from_buffer(
    buffer: bytes,
    options: Sequence[tuple[Any, int]] = (),
    message_handler: Callable[[bool, str, str], None] | None = None,
) -> Module:
    """Load what `pycuda.compiler.compile` returned, or the bytes of a file of the device's kind.

    Parameters
    ----------
    buffer : bytes
    options : list of (jit_option, int)
        For the driver's compiler: they count where the buffer is PTX.
    message_handler : callable, optional
        Called with ``(succeeded, information, errors)``.

    Raises
    ------
    LogicError
        It is nothing that the current device can run; the message says what it is.
    """
    chosen = link_options(options, "cuModuleLoadDataEx")
    data = buffer.encode() if isinstance(buffer, str) else bytes(buffer)
    try:
        if chosen and _is_ptx(data):
            module = Module(_core.Module.link([("the buffer", "", data)], **chosen))
        else:
            module = Module(_core.Module.load(data))
    except TrilaneError as error:
        if message_handler is not None:
            message_handler(False, "", error.detail or str(error))
        raise translate("cuModuleLoadDataEx", error) from None
    if message_handler is not None:
        message_handler(True, module._core.log, "")
    return module


def _is_ptx(data: bytes) -> bool:
    return b".version" in data[:65536] and b".target" in data[:65536]


def module_from_file(filename: str) -> Module:
    """As `module_from_buffer`, of a file."""
    try:
        with open(filename, "rb") as file:
            data = file.read()
    except OSError as error:
        raise translate_file("cuModuleLoad", filename, error) from None
    return module_from_buffer(data)


def translate_file(function: str, filename: str, error: OSError) -> Exception:
    """The exception for a file that cannot be read."""
    from ._errors import RuntimeError

    return RuntimeError(f"{function} failed: file not found - {filename}: {error.strerror}")
