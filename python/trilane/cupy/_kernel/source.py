"""CUDA C++ text that element-wise and reduction kernels have in common: headers, types, arguments."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

from trilane import _core
from trilane.cupy._dtypes import c_name

_WORDS = re.compile(r"[A-Za-z_]\w*")
_CARRAY_WORDS = frozenset({"float16", "half", "__half", "half2", "__half2", "CUPY_FOR"})


@dataclass(frozen=True)
class Operand:
    """How one parameter reaches the kernel.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype
    mode : str
        'value' (a scalar), 'linear' (contiguous in loop order), 'strided', or 'raw'.
    ndim : int
        Axes of a strided or raw array; 0 otherwise.
    contiguous : bool
        Of a raw array: C-contiguous.
    constant : bool
        The text may not write to it.
    """

    name: str
    dtype: np.dtype
    mode: str
    ndim: int
    contiguous: bool
    constant: bool

    def declarations(self) -> list[str]:
        """Parameters of the kernel function."""
        type_name = c_name(self.dtype)
        if self.mode == "value":
            return [f"const {type_name} {self.name}"]
        const = "const " if self.constant else ""
        pointer = f"{const}{type_name}* _p_{self.name}"
        if self.mode == "linear":
            return [pointer]
        return [pointer, f"const CLayout<{self.ndim}> _l_{self.name}"]

    def before_loop(self) -> str:
        """Statements ahead of the loop: the array object."""
        if self.mode not in ("strided", "raw"):
            return ""
        const = "const " if self.constant else ""
        name = self.name if self.mode == "raw" else f"_raw_{self.name}"
        contiguous = "true" if self.mode == "raw" and self.contiguous else "false"
        return (
            f"    const CArray<{const}{c_name(self.dtype)}, {self.ndim}, {contiguous}> "
            f"{name}(_p_{self.name}, _l_{self.name});\n"
        )

    def in_loop(self, index: str, position: str) -> str:
        """The statement that binds the name to the element."""
        if self.mode in ("value", "raw"):
            return ""
        element = (
            f"_p_{self.name}[{position}]" if self.mode == "linear" else f"_raw_{self.name}[{index}]"
        )
        type_name = c_name(self.dtype)
        if self.constant:
            return f"        const {type_name} {self.name} = {element};\n"
        return f"        {type_name}& {self.name} = {element};\n"


def prelude(text: str, dtypes: list[np.dtype], bindings: dict[str, np.dtype]) -> str:
    """Includes that the text and its types need, and the type variables."""
    words = set(_WORDS.findall(text))
    kinds = {dtype.kind for dtype in dtypes}
    lines = ["#include <trilane/strided.h>"]
    if "c" in kinds or "complex" in words or "thrust" in words:
        lines.append("#include <cupy/complex.cuh>")
    if any(dtype.char == "e" for dtype in dtypes) or words & _CARRAY_WORDS:
        lines.append("#include <cupy/carray.cuh>")
    if any(dtype.name == "bfloat16" for dtype in dtypes) or "bfloat16" in words:
        lines.append("#include <cuda_bf16.h>\ntypedef __nv_bfloat16 bfloat16;")
    lines.extend(f"typedef {c_name(dtype)} {name};" for name, dtype in sorted(bindings.items()))
    return "\n".join(lines) + "\n"


def layout_bytes(shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """The bytes of ``CLayout<N>``."""
    size = 1
    for extent in shape:
        size *= extent
    if not shape:
        return struct.pack("=qqq", size, 1, 0)
    return struct.pack(f"={1 + 2 * len(shape)}q", size, *shape, *strides)


def collapse(
    shape: tuple[int, ...], strides: list[tuple[int, ...] | None]
) -> tuple[tuple[int, ...], list[tuple[int, ...] | None]]:
    """Join neighbouring axes that every array steps through alike, and drop axes of length 1."""
    axes = [axis for axis, extent in enumerate(shape) if extent != 1]
    used = [s for s in strides if s is not None]
    groups: list[list[int]] = []
    for axis in axes:
        if groups:
            last = groups[-1][-1]
            if all(s[last] == s[axis] * shape[axis] for s in used):
                groups[-1].append(axis)
                continue
        groups.append([axis])
    new_shape = []
    for group in groups:
        extent = 1
        for axis in group:
            extent *= shape[axis]
        new_shape.append(extent)
    new_strides = [None if s is None else tuple(s[group[-1]] for group in groups) for s in strides]
    return tuple(new_shape), new_strides


def compile_function(source: str, name: str, options: tuple[str, ...]) -> _core.Function:
    """Compile for the current device, through the core's cache, and look the kernel up.

    Raises
    ------
    CompileException
        With the compiler's text: what users wrote into a kernel does not compile.
    """
    try:
        return _core.Module.compile(source, options, file_name=f"{name}.cu").function(name)
    except _core.CompileError as error:
        from trilane.cupy.cuda._errors import CompileException

        raise CompileException.from_core(error, source, name, options, "nvrtc") from None
