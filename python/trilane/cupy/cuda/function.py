"""Module and Function by the names of the `cuda.function` namespace."""

from __future__ import annotations

from trilane import _core
from trilane._exchange import core_stream


class Module:
    """Code loaded on the current device."""

    def __init__(self) -> None:
        self._module: _core.Module | None = None

    def load(self, cubin: bytes) -> None:
        """Load an image from memory."""
        self._module = _core.Module.load(bytes(cubin))

    def load_file(self, filename: str) -> None:
        """Load an image from a file."""
        with open(filename, "rb") as file:
            self.load(file.read())

    def get_function(self, name: str) -> Function:
        """Return a kernel."""
        if self._module is None:
            raise ValueError("Module.get_function: nothing is loaded")
        return Function(self._module.function(name))


class Function:
    """A kernel."""

    def __init__(self, function: _core.Function) -> None:
        self._function = function

    def __call__(self, grid, block, args, shared_mem: int = 0, stream=None) -> None:
        """Launch; `args` as of `RawKernel`."""
        self._function.launch(grid, block, tuple(args), shared_mem, core_stream(stream))
