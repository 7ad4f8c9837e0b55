"""What a bit-compare case is, and how all of them run on a device through the core.

A case is a kernel that writes one array. Its text is put into a module with others of the same
options and headers, since a compile costs more than a launch. Arrays of half and bfloat16 are kept
as their 16 bits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from tests.bitcompare.inputs import NUMPY

C_TYPES = {
    "i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short",
    "i32": "int", "u32": "unsigned int", "i64": "long long", "u64": "unsigned long long",
    "f32": "float", "f64": "double", "half": "__half", "bf16": "__nv_bfloat16",
}  # fmt: skip
# Bits of the exponent and of the fraction.
FLOATS = {"f32": (8, 23), "f64": (11, 52), "half": (5, 10), "bf16": (8, 7)}
OPTIONS = ("-fmad=false", "--std=c++17")
PER_MODULE = 12


@dataclass(frozen=True, eq=False)
class Case:
    """One kernel with its operands.

    Attributes
    ----------
    rows : tuple of str
        What the rows of the result are; the result has `columns` values in each.
    result : str
        Type of the result, a key of `C_TYPES`.
    operands : dict of str to (str, numpy.ndarray)
        Name -> type and values; the kernel gets them as pointers after `out`.
    ulp : float or callable
        Distance allowed between two devices: twice what the CUDA guide allows one from the truth.
        A callable gets the operands' arrays and gives one bound for each column.
    absolute : float or callable
        The same as an absolute distance; a result that is within either is right.
    nan_bits : bool
        NaNs must have the same bits.
    """

    name: str
    head: str
    text: str
    rows: tuple[str, ...]
    columns: int
    result: str
    operands: dict[str, tuple[str, np.ndarray]]
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (32,)
    options: tuple[str, ...] = OPTIONS
    ulp: float | Callable = 0.0
    absolute: float | Callable = 0.0
    nan_bits: bool = False

    @property
    def digest(self) -> str:
        """Changes with everything that the result depends on."""
        state = hashlib.sha256(repr((self.head, self.text, self.rows, self.columns, self.result,
                                     self.grid, self.block, self.options)).encode())  # fmt: skip
        for _kind, values in self.operands.values():
            state.update(values.tobytes())
        return state.hexdigest()[:16]


CASES: list[Case] = []


def kernel(
    name: str,
    result: str,
    columns: int,
    body: str,
    operands: dict[str, tuple[str, np.ndarray]] | None = None,
    *,
    rows: Sequence[str] = ("out",),
    head: str = "",
    **more: object,
) -> Case:
    """A case from a kernel body; `out` and the operands' names are pointers in it."""
    operands = {k: (t, np.ascontiguousarray(v)) for k, (t, v) in (operands or {}).items()}
    if any(case.name == name for case in CASES):
        raise ValueError(f"two cases are called {name}")
    listed = [f"{C_TYPES[result]}* out"]
    listed += [f"const {C_TYPES[kind]}* {key}" for key, (kind, _v) in operands.items()]
    text = f'extern "C" __global__ void {name}({", ".join(listed)}) {{\n{body}\n}}\n'
    if "half" in text:
        head = f"#include <cuda_fp16.h>\n{head}"
    if "bfloat16" in text:
        head = f"#include <cuda_bf16.h>\n{head}"
    case = Case(name, head, text, tuple(rows), columns, result, operands, **more)  # type: ignore[arg-type]
    CASES.append(case)
    return case


def each(
    name: str,
    result: str,
    expressions: str | Sequence[str],
    operands: dict[str, tuple[str, np.ndarray]],
    **more: object,
) -> Case:
    """A case of expressions over operands, one thread for each element, a row for each expression."""
    if isinstance(expressions, str):
        expressions = [expressions]
    columns = len(next(iter(operands.values()))[1])
    if any(len(values) != columns for _kind, values in operands.values()):
        raise ValueError(f"{name}: operands of different lengths")
    body = [f"    const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= {columns}) return;"]
    body += [f"    const {C_TYPES[kind]} {k} = p_{k}[i];" for k, (kind, _v) in operands.items()]
    body += [f"    out[{row * columns} + i] = {e};" for row, e in enumerate(expressions)]
    return kernel(
        name, result, columns, "\n".join(body), {f"p_{k}": v for k, v in operands.items()},
        rows=expressions, grid=(-(-columns // 128),), block=(128,), **more,
    )  # fmt: skip


@dataclass
class Group:
    """Cases that share a module."""

    options: tuple[str, ...]
    cases: list[Case] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.cases[0].name

    @property
    def source(self) -> str:
        heads = dict.fromkeys(case.head for case in self.cases if case.head)
        return "\n".join([*heads, *(case.text for case in self.cases)])


def groups(cases: Sequence[Case]) -> list[Group]:
    """Modules in the order of their first case, of at most PER_MODULE cases."""
    made: list[Group] = []
    current: dict[tuple, Group] = {}
    for case in cases:
        key = (case.options, case.head)
        group = current.get(key)
        if group is None or len(group.cases) == PER_MODULE:
            group = current[key] = Group(case.options)
            made.append(group)
        group.cases.append(case)
    return made


def run_all(cases: Sequence[Case], context: object) -> dict[str, np.ndarray]:
    """Results by name, of shape (rows, columns)."""
    from trilane import _core

    parts = groups(cases)

    def compiled(group: Group) -> object:
        return _core.Module.compile(
            group.source, list(group.options), file_name=f"{group.name}.cu",
            context=context,
        )  # fmt: skip

    results = {}
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for group, module in zip(parts, pool.map(compiled, parts), strict=True):
            for case in group.cases:
                results[case.name] = _launched(case, module.function(case.name), context)
    return results


def _launched(case: Case, function: object, context: object) -> np.ndarray:
    from trilane import _core

    stream = context.default_stream  # type: ignore[attr-defined]
    out = np.zeros((len(case.rows), case.columns), NUMPY[case.result])
    buffers = []
    for array in (out, *(values for _kind, values in case.operands.values())):
        buffer = _core.Buffer.allocate(array.nbytes, stream=stream)
        _core.copy_to_device(buffer, array)
        buffers.append(buffer)
    function.launch(case.grid, case.block, tuple(buffers), stream=stream)  # type: ignore[attr-defined]
    context.synchronize()  # type: ignore[attr-defined]
    _core.copy_to_host(out, buffers[0])
    return out
