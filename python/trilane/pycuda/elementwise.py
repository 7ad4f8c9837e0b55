"""ElementwiseKernel: a line of C applied to every element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import shared_array
from trilane._missing import missing_attributes as _missing_attributes

from ._gpuarray import splay
from ._module import Function
from .compiler import SourceModule
from .tools import Argument, ScalarArg, VectorArg, parse_c_arg

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
    "parse_c_arg",
]

# What PyCUDA's users find in a kernel: tid, total_threads, cta_start, i and n or start, stop, step.
_SOURCE = """
#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({declarations})
{{
  size_t tid = threadIdx.x;
  size_t total_threads = gridDim.x * blockDim.x;
  size_t cta_start = blockDim.x * blockIdx.x;
  {counter} i;
  {loop_prep};
  {loop}
  {after_loop};
}}
"""

_ALL = """for (i = cta_start + tid; i < n; i += total_threads)
  {{
    {operation};
  }}"""

_RANGE = """for (i = start + (long)(cta_start + tid) * step; step < 0 ? i > stop : i < stop;
       i += (long)total_threads * step)
  {{
    {operation};
  }}"""


def _declarations(arguments: str | Sequence[Argument]) -> str:
    if isinstance(arguments, str):
        return arguments
    return ", ".join(argument.declarator() for argument in arguments)  # type: ignore[attr-defined]


def _parsed(arguments: str | Sequence[Argument]) -> list[Argument]:
    if isinstance(arguments, str):
        return [parse_c_arg(part) for part in arguments.split(",")]
    return list(arguments)


def _module(
    loop: str,
    counter: str,
    arguments: str | Sequence[Argument],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    source = _SOURCE.format(
        preamble=preamble,
        name=name,
        declarations=_declarations(arguments),
        counter=counter,
        loop_prep=loop_prep,
        loop=loop.format(operation=operation),
        after_loop=after_loop,
    )
    return SourceModule(source, options=options, keep=keep, no_extern_c=True)


def get_elwise_module(
    arguments: str | Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """The module of a kernel over all ``i < n``; `arguments` must declare ``size_t n``."""
    texts = (preamble, loop_prep, after_loop)
    return _module(_ALL, "size_t", arguments, operation, name, keep, options, *texts)


def get_elwise_range_module(
    arguments: str | Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """The module of a kernel from `start` to `stop` by `step`; `arguments` must declare them."""
    texts = (preamble, loop_prep, after_loop)
    return _module(_RANGE, "long", arguments, operation, name, keep, options, *texts)


def get_elwise_kernel_and_types(
    arguments: str | Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **kwargs: Any,
) -> tuple[SourceModule, Function, list[Argument]]:
    """Module, prepared function and all arguments of an elementwise kernel.

    The arguments end with ``size_t n``, or ``long start, long stop, long step`` with `use_range`.
    """
    parsed = _parsed(arguments)
    if use_range:
        added = [ScalarArg(np.intp, part) for part in ("start", "stop", "step")]
    else:
        added = [ScalarArg(np.uintp, "n")]
    build = get_elwise_range_module if use_range else get_elwise_module
    declared = f"{_declarations(arguments)}, {_declarations(added)}"
    module = build(declared, operation, name, keep, options, **kwargs)
    parsed += added
    function = module.get_function(name)
    function.prepare([arg.struct_char for arg in parsed])  # type: ignore[attr-defined]
    return module, function, parsed


def get_elwise_kernel(
    arguments: str | Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **kwargs: Any,
) -> Function:
    """The prepared function of an elementwise kernel; its last parameter is ``size_t n``."""
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, **kwargs)[1]


class ElementwiseKernel:
    """A kernel that runs `operation` for every index ``i`` below ``n``.

    Parameters
    ----------
    arguments : str or list of VectorArg and ScalarArg
        C declarations, ``"float a, float *x, float *z"``; vectors must be contiguous.
    operation : str
        C statements, ``"z[i] = a * x[i]"``.
    name : str
    options : list of str, optional
        For the compiler.
    preamble, loop_prep, after_loop : str
        C text before the kernel, before and after its loop.
    """

    def __init__(
        self,
        arguments: str | Sequence[Argument],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        unknown = set(kwargs) - {"preamble", "loop_prep", "after_loop"}
        if unknown:
            raise TypeError(f"ElementwiseKernel: unexpected arguments: {', '.join(unknown)}")
        self.arguments = _parsed(arguments)
        if not any(isinstance(argument, VectorArg) for argument in self.arguments):
            raise RuntimeError(f"{name}: ElementwiseKernel needs at least one array argument")
        self.name = name
        self._build = (arguments, operation, name, keep, options)
        self._texts = kwargs
        self._made: dict[tuple[int, bool], tuple[SourceModule, Function, list[Argument]]] = {}

    def generate_stride_kernel_and_types(
        self, use_range: bool
    ) -> tuple[SourceModule, Function, list[Argument]]:
        """Module, function and arguments for the current device, compiled on first use."""
        key = (_core.current_device_index(), use_range)
        if key not in self._made:
            self._made[key] = get_elwise_kernel_and_types(
                *self._build, use_range=use_range, **self._texts
            )
        return self._made[key]

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run; keywords `range` or `slice` (both slices) choose indices, `stream` a stream."""
        chosen = kwargs.pop("range", None)
        sliced = kwargs.pop("slice", None)
        stream = kwargs.pop("stream", None)
        if kwargs:
            raise TypeError(f"invalid keyword arguments specified: {', '.join(kwargs)}")
        if chosen is not None and sliced is not None:
            raise TypeError("may not specify both range and slice keyword arguments")
        size = _vector_size(self.arguments, args, self.name)
        if chosen is None and sliced is None:
            bounds: tuple[int, ...] = (size,)
            count = size
        else:
            bounds = self._bounds(chosen) if sliced is None else sliced.indices(size)
            count = len(range(*bounds))
        if count == 0:
            return
        function = self.generate_stride_kernel_and_types(len(bounds) == 3)[1]
        grid, block = splay(count)
        function._loose(grid, block, stream, (*args, *bounds))

    def _bounds(self, chosen: slice) -> tuple[int, int, int]:
        if chosen.stop is None:
            raise ValueError(f"{self.name}: range: stop is missing")
        return chosen.start or 0, chosen.stop, 1 if chosen.step is None else chosen.step

    def get_texref(self, name: str, use_range: bool = False) -> Any:
        """Gone: CUDA 12 dropped texture references."""
        raise NotImplementedError("ElementwiseKernel.get_texref: texture references are gone")


def _may_stand_for(given: np.dtype, declared: np.dtype) -> bool:
    """Whether an array of `given` may be read through a pointer to `declared`."""
    if given == declared:
        return True
    if given.itemsize != declared.itemsize:
        return False
    kinds = given.kind + declared.kind
    return "V" in kinds or set(kinds) <= set("iub")


def _vector_size(arguments: Sequence[Argument], args: Sequence[Any], name: str) -> int:
    """Elements of the first vector; vectors must be contiguous and of the dtypes of the C text."""
    if len(args) != len(arguments):
        raise TypeError(f"{name}: got {len(args)} arguments, expected {len(arguments)}")
    size = None
    for argument, given in zip(arguments, args, strict=True):
        if not isinstance(argument, VectorArg) or not hasattr(given, "dtype"):
            continue
        if not _may_stand_for(given.dtype, argument.dtype):
            raise TypeError(
                f"{name}: '{argument.name}': got an array of {given.dtype}, expected "
                f"{argument.dtype}"
            )
        shown = shared_array(given)
        if not (
            shown.c_contiguous or shown.f_contiguous if shown is not None else given.flags.forc
        ):
            raise RuntimeError(
                "elementwise kernel cannot deal with non-contiguous arrays: copy them first"
            )
        size = given.size if size is None else size
    if size is None:
        raise RuntimeError(f"{name}: needs at least one array argument")
    return size


_missing = _missing_attributes(__name__)


def __getattr__(name: str) -> object:
    # The kernels behind PyCUDA's arrays: few programs name them.
    if name.startswith("get_") and name.endswith("_kernel"):
        from . import _elwise_kernels

        found = getattr(_elwise_kernels, name, None)
        if found is not None:
            return found
    return _missing(name)
