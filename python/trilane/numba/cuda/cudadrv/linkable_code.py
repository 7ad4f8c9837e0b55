"""Code in other languages and forms that kernels are linked with."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any, ClassVar

__all__ = [
    "LTOIR", "Archive", "CUSource", "Cubin", "Fatbin", "LinkableCode", "Object", "PTXSource",
]  # fmt: skip


class LinkableCode:
    """Code in memory, with what is to be done when its module is loaded and unloaded.

    Parameters
    ----------
    data : str, bytes or file object
        The code.
    name : str, optional
        What messages call it.
    setup_callback, teardown_callback : callable, optional
        Called with the `LoadedCode` of each module that it was linked into: when it is loaded,
        and when contexts are reset or the program ends.
    """

    default_name: ClassVar[str] = "<unnamed>"
    kind: ClassVar[str] = ""

    def __init__(
        self,
        data: Any,
        name: str | None = None,
        setup_callback: Callable[..., Any] | None = None,
        teardown_callback: Callable[..., Any] | None = None,
        nrt: bool = False,
    ) -> None:
        for given in (setup_callback, teardown_callback):
            if given is not None and not callable(given):
                raise TypeError("setup_callback and teardown_callback must be callable")
        self._data = data
        self._name = name
        self.setup_callback = setup_callback
        self.teardown_callback = teardown_callback
        self.nrt = nrt

    @property
    def name(self) -> str:
        return self._name or self.default_name

    @property
    def data(self) -> Any:
        if isinstance(self._data, io.IOBase):
            self._data.seek(0)
            return self._data.read()
        return self._data

    @staticmethod
    def from_path(path: str) -> LinkableCode:
        """The code of a file, of the class that its suffix tells.

        Raises
        ------
        RuntimeError
            The suffix is none of code.
        """
        suffix = os.path.splitext(path)[1].lstrip(".")
        made = _BY_SUFFIX.get(suffix)
        if made is None:
            what = f"extension .{suffix}" if suffix else "no extension"
            known = ", ".join(_BY_SUFFIX)
            raise RuntimeError(
                f"Don't know how to link file with {what}: {path}; known are {known}"
            )
        text = suffix in ("cu", "ptx")
        with open(path, "r" if text else "rb") as file:
            return made(file.read(), name=path)

    @staticmethod
    def from_path_or_obj(path_or_obj: Any) -> LinkableCode:
        """`path_or_obj` itself, or the code of that file."""
        if isinstance(path_or_obj, LinkableCode):
            return path_or_obj
        if isinstance(path_or_obj, (str, os.PathLike)):
            return LinkableCode.from_path(str(path_or_obj))
        raise TypeError(
            f"Expected path to file or a LinkableCode object, got {type(path_or_obj).__name__}"
        )


class PTXSource(LinkableCode):
    """PTX text."""

    kind = "ptx"
    default_name = "<unnamed-ptx>"


class CUSource(LinkableCode):
    """CUDA C++ text."""

    kind = "cu"
    default_name = "<unnamed-cu>"


class Fatbin(LinkableCode):
    """Machine code for several architectures."""

    kind = "fatbin"
    default_name = "<unnamed-fatbin>"


class Cubin(LinkableCode):
    """Machine code for one architecture."""

    kind = "cubin"
    default_name = "<unnamed-cubin>"


class Archive(LinkableCode):
    """An archive of objects."""

    kind = "a"
    default_name = "<unnamed-archive>"


class Object(LinkableCode):
    """An object file."""

    kind = "o"
    default_name = "<unnamed-object>"


class LTOIR(LinkableCode):
    """Code in the compiler's intermediate form."""

    kind = "ltoir"
    default_name = "<unnamed-ltoir>"


_BY_SUFFIX = {
    "a": Archive, "cu": CUSource, "cubin": Cubin, "fatbin": Fatbin, "ltoir": LTOIR, "o": Object,
    "ptx": PTXSource,
}  # fmt: skip
