"""A kernel compiled for argument types: what `CUDADispatcher.overloads` holds."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

__all__ = ["CompiledKernel"]


class CompiledKernel:
    """A kernel for one list of argument types.

    Attributes
    ----------
    signature : Signature
        Its argument types.
    cooperative : bool
        It waits for all blocks of the grid, so these must fit the device at once.
    launch_config_sensitive : bool
        It was compiled while something had asked for the launch's configuration.
    """

    def __init__(self, dispatcher: Any, signature: Any, translation: Any, function: Any) -> None:
        self.py_func = dispatcher.py_func
        self.signature = signature
        self.cooperative = bool(translation.cooperative)
        self.launch_config_sensitive = dispatcher.launch_config_sensitive
        self.entry_name = translation.kernel_name
        self._function = function
        links = [str(link) for link in dispatcher.targetoptions.get("link") or ()]
        self._codelibrary = SimpleNamespace(name=self.entry_name, _linking_files=set(links))

    @property
    def argument_types(self) -> tuple[Any, ...]:
        return self.signature.args

    @property
    def attributes(self) -> dict[str, int]:
        """Registers, bytes of each kind of memory and most threads, by name."""
        return self._function.attributes

    @property
    def regs_per_thread(self) -> int:
        return self.attributes["num_regs"]

    @property
    def const_mem_size(self) -> int:
        return self.attributes["const_bytes"]

    @property
    def shared_mem_per_block(self) -> int:
        return self.attributes["shared_bytes"]

    @property
    def max_threads_per_block(self) -> int:
        return self.attributes["max_threads_per_block"]

    @property
    def local_mem_per_thread(self) -> int:
        return self.attributes["local_bytes"]

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Blocks of a cooperative launch, at most."""
        threads = math.prod(blockdim) if isinstance(blockdim, tuple) else int(blockdim)
        processors = self._function.context.properties.multiprocessor_count
        return self._function.occupancy(threads, dynsmemsize) * processors

    def __repr__(self) -> str:
        return f"<kernel {self.entry_name}{self.signature.args}>"
