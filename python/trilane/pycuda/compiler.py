"""CUDA C strings to modules: SourceModule, compile, and nvcc's options.

There is no nvcc: the device's own compiler takes its options, and keeps what it compiled in
Trilane's cache, whatever `cache_dir` says.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from trilane import _core
from trilane._missing import missing_attributes as _missing_attributes

from ._enums import jit_input_type
from ._errors import CompileError, LogicError, TrilaneError, translate
from ._linker import Linker, MessageHandler
from ._module import Function, Module

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()

_debugging = bool(os.environ.get("CUDA_DEBUGGING"))
_FILE_NAME = "kernel.cu"
# What the compiler says when C++ headers, templates or overloads stand inside `extern "C"`.
# The first three are clang's words, the last is NVRTC's.
_NEEDS_CPP = (
    "must have C++ linkage",
    "conflicting types",
    "functions that differ only in",
    '"C" linkage',
)


def get_nvcc_version(nvcc: str = "nvcc") -> str:
    """A text that identifies the compiler of the current device."""
    facts = dict(_core.current_context().describe())
    return "Trilane, {}".format(facts.get("compiler", "compiler unknown"))


def _all_options(
    options: Sequence[str] | None,
    include_dirs: Sequence[str] | None,
    arch: str | None,
    code: str | None,
) -> list[str]:
    chosen = [str(option) for option in (DEFAULT_NVCC_FLAGS if options is None else options)]
    result = [option for option in chosen if not _is_link_option(option)]
    if arch is not None:
        result += ["-arch", arch]
    if code is not None:
        result += ["-code", code]
    result += [f"-I{directory}" for directory in include_dirs or ()]
    if _debugging:
        result.append("-G")
    return result


def _is_link_option(option: str) -> bool:
    return option.startswith(("-l", "-L")) and option not in ("-lineinfo", "-line-info")


def _wrapped(source: str) -> str:
    return f'extern "C" {{\n#line 1 "{_FILE_NAME}"\n{source}\n}}\n'


def _failure(options: Sequence[str], error: Any) -> CompileError:
    result = CompileError(
        f"nvcc compilation of {_FILE_NAME} failed",
        ["nvcc", *options, _FILE_NAME],
        stderr=error.detail or str(error),
    )
    result.detail = error.detail
    return result


def _build(
    build: Callable[..., Any], source: str, options: list[str], no_extern_c: bool, **kwargs: Any
) -> tuple[Any, bool]:
    """`build` of the source, in ``extern "C"`` if possible; whether names are C++'s then."""
    if no_extern_c:
        try:
            return build(source, options, file_name=_FILE_NAME, **kwargs), True
        except TrilaneError as error:
            raise _refused(options, error) from None
    try:
        return build(_wrapped(source), options, file_name=_FILE_NAME, **kwargs), False
    except TrilaneError as error:
        first = error
    if not any(text in first.detail for text in _NEEDS_CPP):
        raise _refused(options, first) from None
    try:
        return build(source, options, file_name=_FILE_NAME, **kwargs), True
    except TrilaneError:
        raise _refused(options, first) from None


def _refused(options: Sequence[str], error: Any) -> Exception:
    return _failure(options, error) if error.kind == "CompileError" else translate("compile", error)


def _keep(source: str, image: bytes | None) -> None:
    import tempfile
    from pathlib import Path

    directory = Path(tempfile.mkdtemp(prefix="trilane-"))
    (directory / _FILE_NAME).write_text(source)
    if image is not None:
        (directory / "kernel.image").write_bytes(image)
    print(f"*** compiler output in {directory}")


def compile(  # noqa: A001  PyCUDA's name
    source: str,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | None = None,
    include_dirs: Sequence[str] = (),
    target: str = "cubin",
) -> bytes:
    """Compile CUDA C for the current device.

    Parameters
    ----------
    target : str
        ``"cubin"`` or ``"fatbin"``: code that is ready to run. ``"ptx"``: code that can be linked
        too (`pycuda.driver.Linker`): on a GPU PTX, on the cpu device its own form.

    Returns
    -------
    bytes
        For `pycuda.driver.module_from_buffer` and `pycuda.driver.Linker`: the device's code in an
        envelope of Trilane's.

    Raises
    ------
    CompileError
        With the compiler's text, lines and carets.
    """
    if target not in ("cubin", "ptx", "fatbin"):
        raise ValueError(f"compile: target: got '{target}', expected cubin, ptx or fatbin")
    all_options = _all_options(options, include_dirs, arch, code)
    if target == "ptx":
        all_options = _for_ptx(all_options)
    image, _ = _build(_core.compile_image, source, all_options, no_extern_c)
    if keep:
        _keep(source, image)
    return image


def _for_ptx(options: list[str]) -> list[str]:
    """The options with which the current device makes code that can be linked."""
    result = [*options, "-dc"]
    properties = _core.current_context().properties
    if properties.type == "cuda":
        major, minor = properties.compute_capability
        asked = re.findall(r"(?:sm|compute)_(\d+[af]?)", " ".join(options))
        result.append(f"-arch=compute_{asked[-1] if asked else major * 10 + minor}")
    return result


def compile_plain(
    source: str,
    options: Sequence[str],
    keep: bool,
    nvcc: str = "nvcc",
    cache_dir: str | None = None,
    target: str = "cubin",
) -> bytes:
    """As `compile`, of text that is taken as it is."""
    return compile(source, nvcc, options, keep, no_extern_c=True, target=target)


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """Not there: the compilers here give no text after the preprocessor alone."""
    raise NotImplementedError(
        "pycuda.compiler.preprocess_source: neither NVRTC nor the cpu device's compiler gives the "
        "text after the preprocessor: compile() takes the source as it is, and caches it with what "
        "it includes"
    )


class CudaModule:
    """Base of what has a `module`: functions and globals by name."""

    module: Module
    _cpp = False  # names are C++'s

    def get_function(self, name: str) -> Function:
        """The kernel `name`.

        Raises
        ------
        LogicError
            If there is none; the message lists what there is.
        """
        try:
            return self.module.get_function(name)
        except LogicError:
            if not self._cpp:
                raise
            found = _mangled_matches(name, self.module._core.function_names())
            if len(found) != 1:
                raise
            return self.module.get_function(found[0])

    def get_global(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a ``__device__`` or ``__constant__`` variable."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> Any:
        """Gone: CUDA 12 dropped texture references."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> Any:
        """Gone: CUDA 12 dropped surface references."""
        return self.module.get_surfref(name)


class SourceModule(CudaModule):
    """A module compiled from CUDA C.

    Parameters
    ----------
    source : str
        Put into ``extern "C"`` unless `no_extern_c`; text that cannot be, because it has templates
        or includes C++ headers, is compiled as it is, and kernels are found by their plain names.
    options : list of str, optional
        Options of nvcc or NVRTC; default `DEFAULT_NVCC_FLAGS`.
    keep : bool
        Keep the source in a directory whose name is printed.
    include_dirs : list of str
    nvcc, arch, code, cache_dir
        As in PyCUDA; `nvcc` and `cache_dir` mean nothing here.

    Raises
    ------
    CompileError
        With the compiler's text, lines and carets.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | None = None,
        include_dirs: Sequence[str] = (),
    ) -> None:
        self._source = source
        self._options = _all_options(options, include_dirs, arch, code)
        core_module, self._cpp = _build(_core.Module.compile, source, self._options, no_extern_c)
        if core_module.log:
            warnings.warn(
                "The CUDA compiler succeeded, but said the following:\n" + core_module.log,
                stacklevel=2,
            )
        if keep:
            _keep(source, core_module.image())
        self.module = Module(core_module)

    def get_function(self, name: str) -> Function:
        """The kernel `name`; templates by an expression such as ``"f<float>"``.

        Raises
        ------
        LogicError
            If there is none; the message lists what there is.
        """
        return self._instance(name) if "<" in name else super().get_function(name)

    def _instance(self, name: str) -> Function:
        core_module, _ = _build(
            _core.Module.compile, self._source, self._options, True, name_expressions=[name]
        )
        return Module(core_module).get_function(name)


def _mangled_matches(name: str, symbols: Sequence[str]) -> list[str]:
    start = f"_Z{len(name)}{name}"
    return [symbol for symbol in symbols if symbol.startswith(start)]


class DynamicModule(CudaModule):
    """Several sources and pieces of compiled code, linked into one module.

    Functions and variables of one source may be used in another that declares them ``extern``, and
    kernels may launch kernels of any of them.

    Parameters
    ----------
    nvcc, keep, no_extern_c, arch, code, cache_dir, include_dirs
        As in `SourceModule`.
    link_options : list of (jit_option, int), optional
    message_handler : callable, optional
        Called with ``(succeeded, information, errors)`` when the module was linked.
    log_verbose : bool
        Whether the information tells what was done.
    cuda_libdir
        Means nothing here.

    Notes
    -----
    Each source is compiled by itself. See `pycuda.driver.Linker` for what can be added besides.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Iterable[tuple[Any, int]] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | None = None,
        include_dirs: Sequence[str] | None = None,
        message_handler: MessageHandler | None = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        self.linker: Linker | None = Linker(message_handler, link_options, log_verbose)
        self._keep, self._no_extern_c = keep, no_extern_c
        self._target = (include_dirs, arch, code)

    def _open_linker(self, function: str) -> Linker:
        if self.linker is None:
            raise LogicError(f"{function} failed: invalid resource handle - the module is linked")
        return self.linker

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Compile CUDA C and add it; `name` stands in messages.

        Raises
        ------
        CompileError
            With the compiler's text, lines and carets, which have the name of the source.
        """
        linker = self._open_linker("cuLinkAddData")
        options = _all_options(nvcc_options, *self._target)
        image, cpp = _build(
            _core.compile_image,
            f'#line 1 "{name}"\n{source}',
            list(dict.fromkeys([*options, "-dc"])),
            self._no_extern_c,
        )
        self._cpp = self._cpp or cpp
        if self._keep:
            _keep(source, image)
        linker.add_data(image, jit_input_type.OBJECT, name)
        return self

    def add_data(self, data: Any, input_type: Any, name: str = "unknown") -> DynamicModule:
        """Add compiled code, as `pycuda.driver.Linker.add_data`."""
        self._open_linker("cuLinkAddData").add_data(data, input_type, name)
        return self

    def add_file(self, filename: Any, input_type: Any) -> DynamicModule:
        """Add a file of compiled code, as `pycuda.driver.Linker.add_file`."""
        self._open_linker("cuLinkAddFile").add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Only ``"cudadevrt"``, which is there without asking.

        Raises
        ------
        NotImplementedError
            Another library: it comes with a toolkit, `add_file` takes it from there.
        """
        if libname != "cudadevrt":
            raise NotImplementedError(
                f"DynamicModule.add_stdlib: no library '{libname}' comes with Trilane: give the "
                "file of a toolkit to add_file"
            )
        return self

    def link(self) -> None:
        """Link and load everything that was added. Once only.

        Raises
        ------
        LogicError
            The pieces do not fit: the message and its ``detail`` are the linker's.
        """
        linker = self._open_linker("cuLinkComplete")
        self.module = linker.link_module()
        self.linker = None


class DynamicSourceModule(DynamicModule):
    """One source whose kernels may launch kernels: a `DynamicModule` of it and the runtime."""

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        link_options: Iterable[tuple[Any, int]] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | None = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
        options: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            nvcc, link_options, keep, no_extern_c, arch, code, cache_dir, include_dirs,
            cuda_libdir=cuda_libdir,
        )  # fmt: skip
        self.add_source(source, options, _FILE_NAME)
        self.add_stdlib("cudadevrt")
        self.link()


__getattr__ = _missing_attributes(__name__)
