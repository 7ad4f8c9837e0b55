"""Module, Function and LinkState by the names of the `cuda.function` namespace."""

from __future__ import annotations

from trilane import _core
from trilane._exchange import core_stream
from trilane.cupy.cuda._errors import driver_error


def load_image(data: bytes) -> _core.Module:
    """Load code on the current device.

    Raises
    ------
    CUDADriverError
        The device cannot run it: the text says what it is.
    """
    try:
        return _core.Module.load(data)
    except _core.TrilaneError as error:
        if error.kind not in ("InvalidArgument", "NotSupported"):
            raise
        raise driver_error("CUDA_ERROR_INVALID_IMAGE", error) from None


class Module:
    """Code loaded on the current device."""

    def __init__(self) -> None:
        self._module: _core.Module | None = None

    def _loaded(self, function: str) -> _core.Module:
        if self._module is None:
            raise ValueError(f"Module.{function}: nothing is loaded")
        return self._module

    def load(self, cubin: bytes) -> None:
        """Load an image from memory."""
        self._module = load_image(bytes(cubin))

    def load_file(self, filename: str) -> None:
        """Load an image from a file."""
        with open(filename, "rb") as file:
            self.load(file.read())

    def get_function(self, name: str) -> Function:
        """Return a kernel."""
        try:
            return Function(self._loaded("get_function").function(name))
        except _core.NotFoundError as error:
            raise driver_error("CUDA_ERROR_NOT_FOUND", error) from None

    def get_global_var(self, name: str) -> int:
        """Return the address of a ``__device__`` or ``__constant__`` variable."""
        try:
            return self._loaded("get_global_var").get_global(name)[0]
        except _core.NotFoundError as error:
            raise driver_error("CUDA_ERROR_NOT_FOUND", error) from None


class Function:
    """A kernel."""

    def __init__(self, function: _core.Function) -> None:
        self._function = function

    def __call__(self, grid, block, args, shared_mem: int = 0, stream=None) -> None:
        """Launch; `args` as of `RawKernel`."""
        self._function.launch(grid, block, tuple(args), shared_mem, core_stream(stream))


class LinkState:
    """Pieces of compiled code, joined by `complete`.

    On a GPU PTX, cubins, objects and libraries; on the cpu device what it compiled with ``-dc``.
    """

    def __init__(self) -> None:
        self._pieces: list[tuple[str, str, bytes]] = []

    def add_ptr_data(self, data: str | bytes, name: str) -> None:
        """Add code that is in memory."""
        self._pieces.append((name, "", data.encode() if isinstance(data, str) else bytes(data)))

    def add_ptr_file(self, path: str) -> None:
        """Add the code of a file."""
        with open(path, "rb") as file:
            self._pieces.append((str(path), "", file.read()))

    def complete(self) -> bytes:
        """Link; the result is for `Module.load`.

        Raises
        ------
        CUDADriverError
            The pieces do not fit: with the linker's text.
        """
        try:
            return _core.Module.link(self._pieces).image()
        except _core.TrilaneError as error:
            if error.kind not in ("InvalidArgument", "NotSupported"):
                raise
            raise driver_error("CUDA_ERROR_INVALID_SOURCE", error) from None
