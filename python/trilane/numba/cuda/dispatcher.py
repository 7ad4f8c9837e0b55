"""`@cuda.jit`: Python functions that become kernels when they are called with arguments.

The way of a call: ``kernel[grid, block]`` makes a configured launch (kept per configuration), whose
call is C++: types of the arguments -> compiled variant -> packed launch. Only an unknown
combination of types comes back here, to `compile_for`.
"""

from __future__ import annotations

import enum
import functools
import threading
import warnings
from types import FunctionType
from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import as_bytes
from trilane.numba import types
from trilane.numba.core import config
from trilane.numba.core.errors import NumbaInvalidConfigWarning
from trilane.numba.cuda.configured import ForwardConfigured
from trilane.numba.cuda.cudadrv.driver import core_stream
from trilane.numba.cuda.cudadrv.error import LinkerError, as_api_error
from trilane.numba.cuda.devicearray import as_cuda_array, is_cuda_array
from trilane.numba.cuda.failures import Failures
from trilane.numba.cuda.hints import ArgHint
from trilane.numba.cuda.launchconfig import current_launch_config, ensure_current_launch_config
from trilane.numba.cuda.linking import as_links, link_kernel
from trilane.numba.cuda.overload import CompiledKernel
from trilane.numba.cuda.signatures import best_signature, signature_args
from trilane.numba.cuda.untyped import UntypedMemoryError
from trilane.numba.frontend import build_unit
from trilane.numba.genuine import own

__all__ = ["CUDADispatcher", "compile_cuda", "jit"]

_jit = _core.jit


def _options(targetoptions: dict[str, Any]) -> list[str]:
    options = ["--use_fast_math"] if targetoptions.get("fastmath") else []
    if targetoptions.get("debug"):
        options.append("-G")
    elif targetoptions.get("lineinfo"):
        options.append("-lineinfo")
    if targetoptions.get("max_registers"):
        options.append(f"--maxrregcount={targetoptions['max_registers']}")
    if targetoptions.get("fma") is False:
        options.append("-fmad=false")
    return options


def _dim(value: Any, what: str) -> tuple[int, ...]:
    if isinstance(value, (int, np.integer)):
        return (int(value),)
    given = list(value) if isinstance(value, (tuple, list)) else [value]
    if not 1 <= len(given) <= 3:
        raise ValueError(f"{what} must be a sequence of 1, 2 or 3 integers, got {given}")
    if not all(isinstance(v, (int, np.integer)) for v in given):
        raise TypeError(f"{what} must be a sequence of integers, got {given}")
    return tuple(int(v) for v in given)


def unknown_elements(array: np.ndarray) -> Exception:
    """Why an array whose elements have no type in kernels is refused."""
    try:
        types.from_dtype(array.dtype)
    except Exception as refusal:
        return refusal
    return TypeError(f"Cannot determine Numba type of an array of {array.dtype!r}")


class CUDADispatcher:
    """A Python function as a kernel or device function.

    Attributes
    ----------
    py_func : function
        The Python function.
    overloads : dict
        Compiled variants by argument types.
    """

    def __init__(
        self,
        py_func: FunctionType,
        targetoptions: dict[str, Any],
        signatures: list[Any],
        one_signature: bool = False,
    ) -> None:
        self.py_func = py_func
        self.targetoptions = targetoptions
        inline = targetoptions.get("inline", "never")
        # A cost model is asked by Numba's own inliner; the C++ compiler has one of its own.
        self.inline_mode = inline if isinstance(inline, str) else "always" if inline is True else ""
        self.overloads: dict[Any, Any] = {}
        self.specialized = False
        self.specializations: dict[Any, CUDADispatcher] = {}
        self.launch_config_sensitive = False
        self._extensions: list[Any] = list(targetoptions.get("extensions") or ())
        self._dispatcher = _jit.Dispatcher(self)
        self._configured: dict[Any, ForwardConfigured] = {}
        self._sources: dict[tuple[str, ...], Any] = {}
        self._lock = threading.RLock()
        self._explicit: list[types.Signature] = []
        functools.update_wrapper(self, py_func)
        for given in signatures:
            self._add_signature(given)
        if one_signature and not self.is_device:
            # The types of arguments are given, not chosen: each call converts to them.
            variant = self._compile(
                tuple(a.code for a in self._explicit[0].args), _core.current_device_index()
            )
            self._dispatcher.specialise(variant, _core.current_device_index())
            self.specialized = True

    @property
    def device_signatures(self) -> list[list[str]]:
        """What arguments and result of a device function convert to, as codes; result first."""
        if not self.is_device:
            return []
        return [
            ["" if s.return_type == types.none else s.return_type.code, *(a.code for a in s.args)]
            for s in self._explicit
        ]

    # --- launching
    @property
    def is_device(self) -> bool:
        return bool(self.targetoptions.get("device"))

    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> ForwardConfigured:
        """The kernel with a launch configuration, ready to be called."""
        if self.is_device:
            raise RuntimeError(
                f"Cannot compile a device function as a kernel: {self.__name__} is one"
            )
        key = None
        if isinstance(stream, int) and stream == 0:
            try:
                key = (griddim, blockdim, 0, sharedmem) if sharedmem else (griddim, blockdim)
                found = self._configured.get(key)
                if found is not None:
                    return found
            except TypeError:
                key = None
        grid, block = _dim(griddim, "griddim"), _dim(blockdim, "blockdim")
        made = ForwardConfigured(self, grid, block, core_stream(stream), sharedmem)
        if key is not None and len(self._configured) < 256:
            self._configured[key] = made
        return made

    def __getitem__(self, args: Any) -> ForwardConfigured:
        try:
            return self._configured[args]  # its keys are what stands in the brackets
        except (KeyError, TypeError):  # a new one, or a list in it
            pass
        if not isinstance(args, tuple) or len(args) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        return self.configure(*args)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.is_device:
            return self.py_func(*args, **kwargs)
        raise ValueError(
            f"Kernel launch configuration was not specified for {self.__name__}: "
            "use kernel[griddim, blockdim](...)"
        )

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """The kernel with as many threads as there are tasks; block size chosen if `tpb` is 0."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    # --- what the compiled side asks for
    def convert(self, value: Any) -> tuple[Any, ...]:
        """Something that the compiled side does not know: hints, tuples, records, foreign arrays."""
        if isinstance(value, ArgHint):
            return ("hint", value.value, value.copy_in, value.copy_out)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return ("named", tuple(value), type(value).__name__, tuple(value._fields))
        if isinstance(value, enum.Enum):
            return ("value", value.value)
        if isinstance(value, np.void):
            return ("bytes", types.from_dtype(value.dtype).code, value.tobytes())
        if is_cuda_array(value):
            return ("array", as_cuda_array(value))
        if type(value) is np.ndarray:  # the compiled side has looked at it already
            raise unknown_elements(value)
        if isinstance(value, np.ndarray):
            return ("hint", value.view(np.ndarray), True, True)
        if as_bytes(value) is not None:
            raise UntypedMemoryError(value)
        raise TypeError(f"Cannot determine Numba type of {type(value)}")

    def element_code(self, dtype: Any) -> str:
        return types.from_dtype(dtype).code

    def compact(self, array: Any) -> np.ndarray:
        return np.ascontiguousarray(array)

    def copy_back(self, target: np.ndarray, compact: np.ndarray) -> None:
        target[...] = compact

    def compile_for(self, codes: list[str], device: int) -> Any:
        """The variant for argument types that were not met before."""
        launch = current_launch_config()
        if launch is None or launch.dispatcher is not self:
            return self._variant_for(codes, device)
        launch.request, launch.variant = (codes, device), None
        self._compile_for_args(*launch.args)
        return launch.variant

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        """Compile for the launch that is on its way; `args` are its arguments."""
        launch = ensure_current_launch_config()
        launch.variant = self._variant_for(*launch.request)
        return launch.variant

    def _variant_for(self, codes: list[str], device: int) -> Any:
        if self._explicit:
            return self._matching(codes, device)
        return self._compile(tuple(codes), device)

    def mark_launch_config_sensitive(self) -> None:
        """Note that what is compiled from now on was made for one launch configuration.

        Code never depends on the configuration here: what was compiled serves all of them.
        """
        self.launch_config_sensitive = True

    # --- compiling
    def translate(self, codes: tuple[str, ...], result: str = "") -> tuple[Any, Any]:
        """CUDA C++ for argument types, and the trees that it came from."""
        unit = build_unit(self.py_func)
        bounds = self.targetoptions.get("launch_bounds") or 0
        threads, blocks = (tuple(bounds) + (0,))[:2] if isinstance(bounds, tuple) else (bounds, 0)
        translation = _jit.translate(
            unit.functions,
            list(codes),
            "",
            int(threads or 0),
            int(blocks or 0),
            self.is_device,
            result,
            bool(self.targetoptions.get("debug")),
        )
        return translation, unit

    def _compile(self, codes: tuple[str, ...], device: int) -> Any:
        with self._lock:
            key = (device, codes)
            if key in self._sources:
                return self._sources[key][1]
            translation, unit = self.translate(codes)
            context = _core.context_of(device)
            try:
                module, holder = self._load(translation, unit, context)
            except _core.TrilaneError as error:
                # What one function takes is refused with its line before; this is it and its callees.
                if "too much shared data" in error.message:
                    raise LinkerError(
                        f"{self.__name__} uses too much shared data, with the functions that it "
                        f"calls: {error.message}"
                    ) from None
                raise as_api_error(error) from None
            function = module.function(translation.kernel_name)
            variant = _jit.make_variant(translation, function, Failures(self, unit))
            self._sources[key] = (translation, variant, function, holder)
            args = tuple(types.from_code(c) for c in codes)
            signature = types.Signature(types.void, args)
            self.overloads[args] = CompiledKernel(self, signature, translation, function)
            self._dispatcher.add(list(codes), variant)
            return variant

    def _load(self, translation: Any, unit: Any, context: Any) -> tuple[Any, Any]:
        """The module, and what must live as long as it."""
        options = _options(self.targetoptions)
        file_name = self.py_func.__code__.co_filename
        links = list(self.targetoptions.get("link") or ())
        for external in unit.externals:
            links += external.link
        if links or unit.externals:
            return link_kernel(
                self.__name__, translation.source, options, links, file_name, context, self._forget
            )
        module = _core.Module.compile(
            translation.source, options, file_name=file_name, context=context
        )
        return module, None

    def _forget(self) -> None:
        with self._lock:
            self._dispatcher = _jit.Dispatcher(self)
            self._sources.clear()
            self._configured.clear()
            self.overloads.clear()

    def _add_signature(self, given: Any) -> None:
        given = types.parse_signature(given) if isinstance(given, str) else own(given)
        args = signature_args(given)
        if (
            isinstance(given, types.Signature)
            and given.return_type not in (None, types.void)
            and not self.is_device
        ):
            raise TypeError("CUDA kernel must have void return type.")
        result = given.return_type if isinstance(given, types.Signature) else None
        self._explicit.append(types.Signature((self.is_device and result) or types.void, args))
        if self.is_device:
            return
        self._compile(tuple(a.code for a in args), _core.current_device_index())

    def _matching(self, codes: list[str], device: int) -> Any:
        given = [types.from_code(c) for c in codes]
        best = best_signature(self.py_func, self._explicit, given)
        variant = self._compile(tuple(a.code for a in best.args), device)
        self._dispatcher.add(codes, variant)
        return variant

    def compile(self, sig: Any) -> Any:
        """Compile for a signature ahead of the first launch."""
        args = signature_args(sig)
        self._compile(tuple(a.code for a in args), _core.current_device_index())
        return self.overloads[args]

    def kernel_for(self, args: tuple[Any, ...]) -> CompiledKernel:
        """The compiled kernel that a launch with these arguments uses."""
        codes = _jit.argument_codes(self, args)
        if self._explicit:
            chosen = best_signature(self.py_func, self._explicit, list(map(types.from_code, codes)))
            codes = [a.code for a in chosen.args]
        self._compile(tuple(codes), _core.current_device_index())
        return self.overloads[tuple(types.from_code(c) for c in codes)]

    def compile_device(self, args: Any, return_type: Any = None) -> Any:
        """CUDA C++ of a device function for argument types."""
        codes = tuple(a.code for a in signature_args(args))
        return self.translate(codes, own(return_type).code if return_type else "")[0]

    def specialize(self, *args: Any) -> CUDADispatcher:
        """A dispatcher for the types of `args` only."""
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        argtypes = tuple(a if isinstance(own(a), types.Type) else types.typeof(a) for a in args)
        argtypes = tuple(map(own, argtypes))
        if argtypes not in self.specializations:
            given = [types.Signature(types.void, argtypes)]
            self.specializations[argtypes] = CUDADispatcher(
                self.py_func, self.targetoptions, given, one_signature=True
            )
        return self.specializations[argtypes]

    # --- looking inside
    @property
    def signatures(self) -> list[Any]:
        return list(self.overloads)

    @property
    def nopython_signatures(self) -> list[Any]:
        return [types.Signature(types.void, args) for args in self.overloads]

    def inspect_cuda(self, signature: Any = None) -> Any:
        """The CUDA C++ of the compiled variants: a dict by argument types, or one text."""
        found = {
            tuple(types.from_code(c) for c in codes): entry[0].source
            for (_, codes), entry in self._sources.items()
        }
        return found if signature is None else found[signature_args(signature)]

    def inspect_llvm(self, signature: Any = None) -> Any:
        raise NotImplementedError("inspect_llvm: kernels are CUDA C++ here, see inspect_cuda")

    def inspect_asm(self, signature: Any = None) -> Any:
        raise NotImplementedError(
            "inspect_asm: the device's code is not kept as text, see inspect_cuda"
        )

    def inspect_sass(self, signature: Any = None) -> Any:
        raise NotImplementedError(
            "inspect_sass: the device's code is not kept as text, see inspect_cuda"
        )

    def inspect_types(self, file: Any = None) -> None:
        """Print argument types and the source of each compiled variant."""
        for args, text in self.inspect_cuda().items():
            print(f"{self.__name__} {args}\n{'-' * 80}\n{text}\n{'=' * 80}", file=file)

    def _attribute(self, name: str, signature: Any) -> Any:
        found = {args: function.attributes[name] for args, function in self.overloads.items()}
        if signature is not None:
            return found[signature_args(signature)]
        return next(iter(found.values())) if self.specialized else found

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        return self._attribute("num_regs", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        return self._attribute("const_bytes", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        return self._attribute("shared_bytes", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        return self._attribute("max_threads_per_block", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        return self._attribute("local_bytes", signature)

    @property
    def extensions(self) -> Any:
        return self._extensions

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self.__call__, instance)

    def __reduce__(self) -> Any:
        return (
            _rebuild, (self.py_func, self.targetoptions, self._explicit, self.specialized)
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<CUDADispatcher of {self.py_func!r}>"


def _rebuild(
    py_func: Any, targetoptions: dict[str, Any], signatures: list[Any], specialized: bool
) -> CUDADispatcher:
    return CUDADispatcher(py_func, targetoptions, signatures, specialized)


class ForAll:
    """A kernel launched with one thread per task."""

    def __init__(
        self, dispatcher: CUDADispatcher, ntasks: int, tpb: int, stream: Any, sharedmem: int
    ) -> None:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.dispatcher, self.ntasks, self.thread_per_block = dispatcher, ntasks, tpb
        self.stream, self.sharedmem = stream, sharedmem

    def __call__(self, *args: Any) -> None:
        if self.ntasks == 0:
            return
        block = self.thread_per_block or 256
        grid = (self.ntasks + block - 1) // block
        self.dispatcher[grid, block, self.stream, self.sharedmem](*args)


_KNOWN_OPTIONS = {
    "fastmath", "debug", "lineinfo", "opt", "max_registers", "launch_bounds", "cache", "inline",
    "device", "extensions", "boundscheck", "nopython", "forceobj", "link", "ensure_compiled", "fma",
    "opt_level", "lto", "shared_memory_carveout", "nrt", "abi", "abi_info", "forceinline",
    "register_module", "cc", "error_model",
}  # fmt: skip


def jit(func_or_sig: Any = None, device: bool = False, inline: str = "never", link: Any = (), debug: Any = None,
        opt: Any = None, lineinfo: bool = False, cache: bool = False, **kws: Any) -> Any:  # fmt: skip
    """Make a kernel, or with ``device=True`` a function that kernels call, of a Python function.

    Parameters
    ----------
    func_or_sig : function, signature or list of signatures
        A signature (``"void(float32[:], int32)"``, ``void(float32[:])``, or a tuple of types) compiles
        at once; without, the types of the first call's arguments decide.
    device : bool
        A device function.
    fastmath, debug, lineinfo, max_registers, launch_bounds, link, cache
        As Numba's. Compiled code is cached on disk in any case.

    Raises
    ------
    TypingError, UnsupportedError
        The function cannot be a kernel: with file, line, column and the expression.
    """
    if device and link:
        raise ValueError("link keyword invalid for device function")
    if kws.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA: use TRILANE_CHECK=1")
    if (
        kws.get("argtypes") is not None
        or kws.get("restype") is not None
        or kws.get("bind") is not None
    ):
        raise DeprecationWarning("cuda.jit: argtypes, restype and bind are gone: give a signature")
    unknown = set(kws) - _KNOWN_OPTIONS
    if unknown:
        raise KeyError(
            f"unrecognized options: {', '.join(sorted(unknown))}. Known options are {', '.join(sorted(_KNOWN_OPTIONS))}"
        )
    debug = bool(config.CUDA_DEBUGINFO_DEFAULT) if debug is None else debug
    opt = config.OPT != 0 if opt is None else opt
    _check_options(kws)
    if debug and opt:
        _warn(
            "debug=True with opt=True is not supported by CUDA. This may result in a crash - set "
            "debug=False or opt=False."
        )
    if debug and lineinfo:
        _warn(
            "debug and lineinfo are mutually exclusive. Use debug to get full debug info (this "
            "disables some optimizations), or lineinfo for code generation with line info only."
        )
    options = {
        **kws,
        "device": device,
        "inline": inline,
        "debug": debug,
        "lineinfo": lineinfo,
        "link": as_links(link),
    }

    def decorate(function: Any) -> CUDADispatcher:
        if isinstance(function, CUDADispatcher):
            function = function.py_func
        if not isinstance(function, FunctionType):
            raise TypeError(f"cuda.jit needs a function, got {type(function).__name__}")
        return CUDADispatcher(function, options, signatures, one_signature)

    signatures: list[Any] = []
    one_signature = func_or_sig is not None and not isinstance(func_or_sig, list)
    if func_or_sig is None:
        return decorate
    if isinstance(func_or_sig, (FunctionType, CUDADispatcher)):
        one_signature = False
        return decorate(func_or_sig)
    signatures = list(func_or_sig) if isinstance(func_or_sig, list) else [func_or_sig]
    return decorate


def _check_options(options: dict[str, Any]) -> None:
    bounds = options.get("launch_bounds")
    if isinstance(bounds, tuple) and len(bounds) > 3:
        raise ValueError(
            f"Got {len(bounds)} launch bounds: expected at most 3 (threads of a block, blocks of a "
            "multiprocessor, blocks of a cluster)"
        )
    carveout = options.get("shared_memory_carveout")
    if isinstance(carveout, str):
        if carveout.lower() not in ("default", "maxl1", "maxshared"):
            raise ValueError(
                f"Invalid carveout value: {carveout}. Must be 'default', 'MaxL1' or 'MaxShared'"
            )
    elif carveout is not None and not -1 <= carveout <= 100:
        raise ValueError(f"Carveout value must be between -1 and 100, got {carveout}")


def _warn(message: str) -> None:
    warnings.warn(NumbaInvalidConfigWarning(message), stacklevel=3)


def compile_cuda(
    pyfunc: FunctionType, sig: Any, device: bool = False, **options: Any
) -> tuple[str, Any]:
    """The CUDA C++ that a Python function becomes for a signature, and its result type."""
    dispatcher = CUDADispatcher(pyfunc, {"device": device, **options}, [])
    translation = dispatcher.translate(tuple(a.code for a in signature_args(sig)))[0]
    return translation.source, types.from_code(translation.result)
