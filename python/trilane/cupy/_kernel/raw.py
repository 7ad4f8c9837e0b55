"""RawKernel and RawModule: CUDA C++ text of the user, compiled and launched as it is."""

from __future__ import annotations

import copyreg

import numpy as np

from trilane import _core
from trilane._calls import CalledInC, CallSignature, stands_for
from trilane._exchange import core_stream, shared_array
from trilane.cupy._engine import ndarray
from trilane.cupy.cuda._errors import CompileException, CUDADriverError, driver_error
from trilane.cupy.cuda.function import load_image

# Arguments that the core's launch takes as they are; of others `_raw_argument` makes such.
_AS_THEY_ARE = (int, float, np.generic, _core.Texture, _core.Surface)
# The types of nearly all arguments, found without a walk through their bases.
_PLAIN = frozenset(
    {ndarray, int, float, np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64}
)
# CUfunction_attribute numbers.
_MAX_DYNAMIC_SHARED = 8
_SHARED_CARVEOUT = 9


class RawModule:
    """A module of user text or of a file, with its kernels and globals.

    Parameters
    ----------
    code : str, optional
        CUDA C++ text.
    path : str, optional
        A file: an image of the device (cubin, PTX) or CUDA C++ text (``.cu``).
    options : tuple of str
        Options of the compiler, in NVRTC's spelling.
    backend : str
        'nvrtc' or 'nvcc': both mean the device's compiler.
    translate_cucomplex : bool
        Accepted; ``cuComplex.h`` is there as it is.
    enable_cooperative_groups : bool
        Launch cooperatively.
    name_expressions : sequence of str, optional
        Template instances to make, such as ``'kernel<float>'``.
    jitify : bool
        Not supported.

    Raises
    ------
    TypeError
        Not exactly one of `code` and `path` is given, or name expressions come with `path`.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options=(),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions=None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if path is not None and name_expressions is not None:
            raise TypeError("`name_expressions` need `code`: a file holds what it holds")
        if isinstance(options, str):
            raise TypeError(f"options must be a sequence of str: got {options!r}")
        if backend not in ("nvrtc", "nvcc"):
            raise ValueError(f"Invalid backend: {backend!r}: expected 'nvrtc' or 'nvcc'")
        if name_expressions is not None and backend != "nvrtc":
            raise ValueError(
                "only nvrtc supports retrieving the mangled names for the given `name_expressions`"
            )
        if jitify:
            raise NotImplementedError("RawModule(jitify=True)")
        self.code = code
        self.file_path = path
        self.options = tuple(options)
        self.backend = backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = tuple(name_expressions) if name_expressions is not None else None
        self._modules: dict[int, _core.Module] = {}

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_modules": {}}

    @property
    def module(self) -> _core.Module:
        """The module loaded on the current device."""
        return self._module()

    def _module(self, log_stream=None) -> _core.Module:
        device = _core.current_device_index()
        module = self._modules.get(device)
        if module is None:
            module = self._load()
            if log_stream is not None and module.log:
                log_stream.write(module.log)
            self._modules[device] = module
        return module

    def _load(self) -> _core.Module:
        code, file_name = self.code, "kernel.cu"
        if self.file_path is not None:
            import pathlib

            path = pathlib.Path(self.file_path)
            if not path.is_file():
                raise CUDADriverError("CUDA_ERROR_FILE_NOT_FOUND", f"file not found: {path}")
            if path.suffix not in (".cu", ".cuh", ".cpp"):
                return load_image(path.read_bytes())
            code, file_name = path.read_text(), str(path)
        assert code is not None
        try:
            return _core.Module.compile(
                code,
                self.options,
                name_expressions=self.name_expressions or (),
                file_name=file_name,
            )
        except _core.CompileError as error:
            raise CompileException.from_core(
                error, code, file_name, self.options, self.backend
            ) from None

    def compile(self, log_stream=None) -> None:
        """Compile now; without this the first use does.

        Parameters
        ----------
        log_stream : text file, optional
            Receives the compiler's warnings.
        """
        self._module(log_stream)

    def get_function(self, name: str) -> RawKernel:
        """Return a kernel of the module.

        Parameters
        ----------
        name : str
            The name of an ``extern "C"`` kernel, or one of `name_expressions`.
        """
        kernel = RawKernel.__new__(RawKernel)
        kernel._setup(self, name)
        kernel._function()
        return kernel

    def get_global(self, name: str):
        """Return a `MemoryPointer` to a ``__device__`` or ``__constant__`` variable."""
        from trilane.cupy.cuda.memory import MemoryPointer, UnownedMemory

        module = self._module()
        try:
            address, nbytes = module.get_global(name)
        except _core.NotFoundError as error:
            raise driver_error("CUDA_ERROR_NOT_FOUND", error) from None
        return MemoryPointer(UnownedMemory(address, nbytes, module), 0)


class RawKernel(_core.RawCall, metaclass=CalledInC):
    """One kernel of user text. Call it to launch: ``kernel(grid, block, args)``.

    Parameters
    ----------
    code : str
        CUDA C++ text.
    name : str
        The ``extern "C"`` kernel in it, or a name expression.
    options, backend, translate_cucomplex, enable_cooperative_groups, jitify
        As of `RawModule`.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options=(),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        if not isinstance(code, str):
            raise TypeError(f"code must be str: got {type(code).__name__}")
        module = RawModule(
            code=code,
            options=options,
            backend=backend,
            translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups,
            jitify=jitify,
            name_expressions=(name,) if "<" in name else None,
        )
        self._setup(module, name)

    def _setup(self, module: RawModule, name: str) -> None:
        self._raw_module = module
        self.name = self.__name__ = name
        self._functions: dict[int, _core.Function] = {}
        self._wanted: dict[int, int] = {}

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_functions": {}}

    def __reduce__(self) -> tuple:
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]

    code = property(lambda self: self._raw_module.code, doc="The text.")
    file_path = property(lambda self: self._raw_module.file_path, doc="The file, if there is one.")
    options = property(lambda self: self._raw_module.options, doc="Options of the compiler.")
    backend = property(lambda self: self._raw_module.backend, doc="The compiler asked for.")
    enable_cooperative_groups = property(
        lambda self: self._raw_module.enable_cooperative_groups, doc="Whether launches cooperate."
    )

    def _function(self, log_stream=None) -> _core.Function:
        device = _core.current_device_index()
        function = self._functions.get(device)
        if function is None:
            module = self._raw_module._module(log_stream)
            try:
                function = module.function(self.name)
            except _core.NotFoundError as error:
                raise driver_error("CUDA_ERROR_NOT_FOUND", error) from None
            for attribute, value in self._wanted.items():
                function.set_attribute(attribute, value)
            self._functions[device] = function
            self._bind(device, function, self.enable_cooperative_groups)
        return function

    @property
    def kernel(self) -> _core.Function:
        """The core's function on the current device."""
        return self._function()

    def compile(self, log_stream=None) -> None:
        """Compile now; without this the first call does."""
        self._function(log_stream)

    __signature__ = CallSignature("_call")

    # RawCall.__call__ launches what is plain; the rest, and what is wrong, comes here.
    @stands_for("RawKernel.__call__")
    def _call(self, grid, block, args, *, shared_mem: int = 0, stream=None) -> None:
        """Launch.

        Parameters
        ----------
        grid, block : tuple of int
            One to three extents.
        args : tuple
            Arrays, NumPy scalars, Python numbers, structures (``numpy.void``), in the order of the
            kernel's parameters.
        shared_mem : int
            Bytes of dynamic shared memory.
        stream : Stream, optional

        Raises
        ------
        TypeError
            The arguments do not fit the kernel's parameters; the message names the parameter.
        CUDADriverError
            The configuration is refused.
        CUDARuntimeError
            The kernel died; its status says of what.
        """
        function = self._functions.get(_core.current_device_index()) or self._function()
        if type(args) is not tuple:
            args = tuple(args)
        for x in args:
            if type(x) not in _PLAIN and not isinstance(x, _AS_THEY_ARE):
                args = tuple([_raw_argument(x) for x in args])
                break
        try:
            function.launch(
                grid,
                block,
                args,
                shared_mem,
                None if stream is None else core_stream(stream),
                self._raw_module.enable_cooperative_groups,
            )
        except _core.InvalidArgumentError as error:
            raise driver_error("CUDA_ERROR_INVALID_VALUE", error) from None
        except TypeError as error:
            if isinstance(error, _core.TrilaneError) or shared_mem >= 0:
                raise
            raise CUDADriverError(
                "CUDA_ERROR_INVALID_VALUE",
                f"shared_mem: got {shared_mem} bytes, expected 0 or more",
            ) from None

    @property
    def attributes(self) -> dict[str, int]:
        """Every attribute of the kernel on the current device."""
        core = self._function().attributes
        return {
            "max_threads_per_block": core["max_threads_per_block"],
            "shared_size_bytes": core["shared_bytes"],
            "const_size_bytes": core["const_bytes"],
            "local_size_bytes": core["local_bytes"],
            "num_regs": core["num_regs"],
            "ptx_version": core["ptx_version"],
            "binary_version": core["binary_version"],
            "cache_mode_ca": 0,
            "max_dynamic_shared_size_bytes": core["max_dynamic_shared_bytes"],
            "preferred_shared_memory_carveout": self._wanted.get(_SHARED_CARVEOUT, -1),
        }

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Largest dynamic shared memory of a launch; settable."""
        return self.attributes["max_dynamic_shared_size_bytes"]

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, nbytes: int) -> None:
        self._set(_MAX_DYNAMIC_SHARED, nbytes)

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """Preferred share of shared memory in percent, -1 for the default; settable."""
        return self.attributes["preferred_shared_memory_carveout"]

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent: int) -> None:
        self._set(_SHARED_CARVEOUT, percent)

    def _set(self, attribute: int, value: int) -> None:
        try:
            self._function().set_attribute(attribute, int(value))
        except _core.InvalidArgumentError as error:
            raise driver_error("CUDA_ERROR_INVALID_VALUE", error) from None
        self._wanted[attribute] = int(value)


def _attribute_property(name: str) -> property:
    return property(lambda self: self.attributes[name], doc=f"The attribute {name!r}.")


for _name in (
    "max_threads_per_block",
    "shared_size_bytes",
    "const_size_bytes",
    "local_size_bytes",
    "num_regs",
    "ptx_version",
    "binary_version",
    "cache_mode_ca",
):
    setattr(RawKernel, _name, _attribute_property(_name))


def _raw_argument(x):
    """What the core's launch takes for one argument of a raw kernel."""
    if isinstance(x, np.ndarray):
        shown = None if type(x) is np.ndarray else shared_array(x)
        if shown is not None:
            return shown
        if x.size != 1 or x.dtype.kind == "O":
            raise TypeError(
                f"Unsupported type {type(x)}: only arrays of one element (structures) pass by value"
            )
        return x.reshape(())[()] if x.dtype.kind != "V" else x.tobytes()
    if hasattr(x, "__cupy_get_ndarray__"):
        return x.__cupy_get_ndarray__()
    return x
