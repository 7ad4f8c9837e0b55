"""Code that kernels are linked with: `link=`, `declare_device`, and what is called at loading."""

from __future__ import annotations

import itertools
import os
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from trilane import _core
from trilane.numba import types
from trilane.numba.core import config
from trilane.numba.cuda.cudadrv.error import LinkerError
from trilane.numba.cuda.cudadrv.linkable_code import LTOIR, CUSource, LinkableCode
from trilane.numba.genuine import own

__all__ = ["ExternFunction", "LoadedCode", "as_links", "declare_device", "link_kernel", "release"]


def as_links(given: Any) -> list[LinkableCode]:
    """The pieces of code of a ``link=`` argument: a path, a `LinkableCode`, or several.

    Raises
    ------
    LinkerError
        A file that is not there.
    RuntimeError, TypeError
        What cannot be linked.
    """
    if given is None:
        return []
    single = isinstance(given, (str, os.PathLike, LinkableCode))
    links = []
    for item in [given] if single else list(given):
        try:
            code = LinkableCode.from_path_or_obj(item)
        except FileNotFoundError:
            raise LinkerError(f"{item} not found") from None
        if isinstance(code, LTOIR):
            raise NotImplementedError(
                f"link: {code.name}: LTO-IR is code for NVIDIA's nvJitLink, which is not used "
                "here: give the CUDA C++ text or PTX"
            )
        links.append(code)
    return links


class ExternFunction:
    """A function of linked code, to be called in kernels.

    Attributes
    ----------
    name : str
    sig : Signature
    link : tuple of LinkableCode
        Linked into every kernel that calls the function.
    use_cooperative : bool
    abi : str
        "numba": ``int f(T* result, ...)``; "c": ``T f(...)``.
    """

    def __init__(
        self, name: str, sig: Any, link: Iterable[LinkableCode], use_cooperative: bool, abi: str
    ) -> None:
        self.name, self.sig, self.link = name, sig, tuple(link)
        self.use_cooperative, self.abi = use_cooperative, abi
        parts = [name, abi, "cooperative" if use_cooperative else "", sig.return_type.code]
        self.__trilane_external__ = "\n".join([*parts, *(arg.code for arg in sig.args)])

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.name} is a function of the device: call it in a kernel")

    def __repr__(self) -> str:
        return f"<ExternFunction {self.name}{self.sig}>"


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> ExternFunction:
    """Declare a function of code in another language, for kernels to call.

    Parameters
    ----------
    name : str
        Its symbol: ``extern "C"`` functions have their plain names.
    sig : str or Signature
        With the type of the result. Numbers, bools and ``CPointer(T)``; arrays and complex numbers
        too where `abi` is "numba".
    link : str, LinkableCode or several, optional
        What defines it: linked into each kernel that calls it.
    use_cooperative : bool
        It synchronises the grid: kernels that call it are launched cooperatively.
    abi : {"numba", "c"}
        How values are passed. "numba": the first parameter points to the result, and 0 is
        returned; an array comes as ``(void *, void *, long long items, long long itemsize,
        void *data, long long shape..., long long strides...)``, a complex number as two. "c": as
        in C.

    Raises
    ------
    TypeError
        The signature has no type of the result.
    """
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if isinstance(sig, str):
        sig = types.parse_signature(sig)
    sig = own(sig)
    if not isinstance(sig, types.Signature) or sig.return_type is None:
        raise TypeError("Return type must be provided for device declarations")
    return ExternFunction(name, sig, as_links(link), use_cooperative, abi)


# --- linking


def _include_options(code: LinkableCode) -> list[str]:
    folders = [f for f in (config.CUDA_NVRTC_EXTRA_SEARCH_PATHS or "").split(":") if f]
    if os.path.isfile(code.name):
        folders.append(os.path.dirname(os.path.abspath(code.name)))
    return [f"-I{folder}" for folder in folders]


def _compiled(code: LinkableCode, text: str, options: list[str], context: Any) -> bytes:
    options = [option for option in options if option in ("-G", "-lineinfo")]
    image = _core.compile_image(
        text,
        [*options, *_include_options(code), "-dc"],
        file_name=os.path.basename(code.name),
        context=context,
    )
    log = _core.image_code(image)[2]
    if log:
        warnings.warn(f"NVRTC log messages whilst compiling {code.name}:\n\n{log}", stacklevel=2)
    return image


def _piece(code: LinkableCode, options: list[str], context: Any) -> tuple[str, str, bytes]:
    data = code.data
    if isinstance(code, CUSource):
        text = data.decode() if isinstance(data, (bytes, bytearray)) else data
        return (code.name, "", _compiled(code, text, options, context))
    return (code.name, "", data.encode() if isinstance(data, str) else bytes(data))


def _once(links: Iterable[LinkableCode]) -> list[LinkableCode]:
    found: dict[Any, LinkableCode] = {}
    for code in links:
        found.setdefault((code.kind, code.data), code)
    return list(found.values())


def link_kernel(
    name: str, source: str, options: list[str], links: list[LinkableCode], file_name: str,
    context: Any, forget: Callable[[], None],
) -> tuple[Any, LoadedCode]:  # fmt: skip
    """The module of a kernel and the code that it is linked with, and who holds it.

    `forget`, a method, is called when contexts are reset: the next launch links again.

    Raises
    ------
    LinkerError
        The pieces do not fit: with the linker's text, which names symbols and pieces.
    NotImplementedError
        A piece that the device does not take, such as PTX on the cpu device.
    """
    links = _once(links)
    kernel = _core.compile_image(
        source, [*options, "-dc"], file_name=os.path.basename(file_name), context=context
    )
    pieces = [(name, "", kernel)]
    pieces += [_piece(code, options, context) for code in links]
    try:
        module = _core.Module.link(pieces, context=context)
    except _core.TrilaneError as error:
        if error.kind == "NotSupported":
            raise NotImplementedError(error.message) from None
        if error.kind != "InvalidArgument":
            raise
        raise LinkerError(f"{error.message}\n{error.detail}") from None
    return module, _loaded(module, links, forget)


# --- callbacks


class LoadedCode:
    """A loaded module, as callbacks see it.

    Attributes
    ----------
    handle : int
        A number of its own; no handle of the driver's.
    """

    _numbers = itertools.count(1)

    def __init__(self, module: Any, handle: int | None = None) -> None:
        self._core = module
        self.forget: Callable[[], Any] = lambda: None
        self.handle = next(self._numbers) if handle is None else handle

    def get_global(self, name: str | bytes) -> tuple[int, int]:
        """Address and bytes of a ``__device__`` or ``__constant__`` variable."""
        return self._core.get_global(name.decode() if isinstance(name, bytes) else name)

    def get_function_names(self) -> list[str]:
        """Symbols of the kernels."""
        return self._core.function_names()


_alive: dict[int, weakref.finalize] = {}
_forgetting: weakref.WeakSet[LoadedCode] = weakref.WeakSet()


def _teardown(code: LoadedCode, callbacks: list[Callable[[Any], Any]]) -> None:
    _alive.pop(code.handle, None)
    for callback in callbacks:
        callback(code)


def _loaded(module: Any, links: list[LinkableCode], forget: Callable[[], None]) -> LoadedCode:
    holder = LoadedCode(module)
    holder.forget = weakref.WeakMethod(forget)
    _forgetting.add(holder)
    for code in links:
        if code.setup_callback is not None:
            code.setup_callback(holder)
    teardowns = [c.teardown_callback for c in links if c.teardown_callback is not None]
    if teardowns:
        # The callbacks get another object of the same number: this one ends their wait.
        theirs = LoadedCode(module, holder.handle)
        _alive[holder.handle] = weakref.finalize(holder, _teardown, theirs, teardowns)
    return holder


def release() -> None:
    """What a reset of the contexts does to linked kernels: they are torn down, and link again."""
    for holder in list(_forgetting):
        forget = holder.forget()
        if forget is not None:
            forget()
    for finalizer in list(_alive.values()):
        finalizer()
