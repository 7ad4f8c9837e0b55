"""What a kernel case is, and how one runs on a device through the core.

A case is CUDA C++ text with one kernel `f` (extern "C"), the arrays it gets, and the arrays it must
leave. Operands are arrays, so they are run-time values to the compiler. Results are compared bit for
bit; a NaN matches any NaN unless the case asks for its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

OPTIONS = ("-fmad=false", "--std=c++17")

C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}


@dataclass
class Case:
    """One kernel with its data.

    Attributes
    ----------
    name : str
        Unique; the test's id and the key of recorded results.
    source : str
        CUDA C++ text; the kernel is `f`.
    arrays : list of numpy.ndarray
        The kernel's pointer arguments, in order, with their values before the launch.
    expected : dict of int to numpy.ndarray
        Position in `arrays` -> value after the launch.
    scalars : list of numpy scalars
        Arguments after the pointers.
    nan_bits : bool
        Compare the bits of NaNs too.
    tolerance : float
        Relative error allowed; 0: bit for bit.
    absolute : float
        Absolute error allowed beside it.
    refused : dict of str to str
        Kind of device -> what its compile error must say: the feature does not exist there.
    """

    name: str
    source: str
    arrays: list[np.ndarray]
    expected: dict[int, np.ndarray]
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (32,)
    scalars: list = field(default_factory=list)
    shared: int = 0
    options: tuple[str, ...] = OPTIONS
    nan_bits: bool = False
    tolerance: float = 0.0
    absolute: float = 0.0
    cooperative: bool = False
    refused: dict[str, str] = field(default_factory=dict)


CASES: list[Case] = []


def add(case: Case) -> Case:
    if any(other.name == case.name for other in CASES):
        raise ValueError(f"two kernel cases are called {case.name}")
    CASES.append(case)
    return case


def kernel(
    name: str,
    body: str,
    arrays: Sequence[np.ndarray],
    expected: dict[int, np.ndarray] | np.ndarray,
    *,
    head: str = "",
    parameters: str = "",
    **options: object,
) -> Case:
    """A case from a kernel body; its parameters are p0, p1 ... of the arrays' types.

    `expected` as an array is that of p0. `parameters` is the text of more parameters, for `scalars`.
    """
    arrays = [np.ascontiguousarray(a) for a in arrays]
    if not isinstance(expected, dict):
        expected = {0: expected}
    expected = {
        i: np.ascontiguousarray(np.asarray(e).astype(arrays[i].dtype)) for i, e in expected.items()
    }
    listed = ", ".join(f"{C_TYPES[str(a.dtype)]}* p{i}" for i, a in enumerate(arrays))
    if parameters:
        listed += ", " + parameters
    source = f'{head}\nextern "C" __global__ void f({listed}) {{\n{body}\n}}\n'
    return add(Case(name, source, arrays, expected, **options))  # type: ignore[arg-type]


def each(
    name: str,
    expression: str,
    result: str,
    expected: Sequence,
    *,
    head: str = "",
    options: tuple[str, ...] = OPTIONS,
    nan_bits: bool = False,
    tolerance: float = 0.0,
    **operands: tuple[str, Sequence],
) -> Case:
    """A case of one expression over named operands, element by element, one thread each.

    `operands` maps a name to (dtype, values). `expected` of a float result may hold floats or, as
    Python ints through `bits32`/`bits64`, exact patterns.
    """
    columns = {key: np.array(values, dtype=dtype) for key, (dtype, values) in operands.items()}
    count = len(next(iter(columns.values())))
    out = np.zeros(count, dtype=result)
    declared = "\n".join(
        f"    const {C_TYPES[str(c.dtype)]} {key} = p{i + 1}[i];"
        for i, (key, c) in enumerate(columns.items())
    )
    body = f"    const int i = threadIdx.x;\n{declared}\n    p0[i] = {expression};"
    want = np.asarray(expected)
    if want.dtype != out.dtype:
        want = np.array(expected, dtype=result)
    if want.shape != out.shape:
        raise ValueError(f"{name}: {count} operands, {want.shape} expected values")
    return kernel(
        name, body, [out, *columns.values()], want, head=head, block=(count,),
        options=options, nan_bits=nan_bits, tolerance=tolerance,
    )  # fmt: skip


def bits32(*patterns: int) -> np.ndarray:
    """Floats of these bit patterns."""
    return np.array(patterns, dtype=np.uint32).view(np.float32)


def bits64(*patterns: int) -> np.ndarray:
    """Doubles of these bit patterns."""
    return np.array(patterns, dtype=np.uint64).view(np.float64)


def run(case: Case, context: object) -> list[np.ndarray]:
    """Compile and launch on `context`; all arrays as they are afterwards."""
    from trilane import _core

    function = _core.Module.compile(
        case.source, list(case.options), file_name=f"{case.name}.cu", context=context
    ).function("f")
    stream = context.default_stream  # type: ignore[attr-defined]
    buffers = []
    for array in case.arrays:
        buffer = _core.Buffer.allocate(max(array.nbytes, 1), stream=stream)
        if array.nbytes:
            _core.copy_to_device(buffer, array)
        buffers.append(buffer)
    function.launch(
        case.grid, case.block, (*buffers, *case.scalars), shared=case.shared, stream=stream,
        cooperative=case.cooperative,
    )  # fmt: skip
    context.synchronize()  # type: ignore[attr-defined]
    results = []
    for array, buffer in zip(case.arrays, buffers, strict=True):
        result = np.empty_like(array)
        if array.nbytes:
            _core.copy_to_host(result, buffer)
        results.append(result)
    return results


def differences(case: Case, results: list[np.ndarray]) -> list[str]:
    """One line per wrong element, at most eight."""
    lines = []
    for position, expected in case.expected.items():
        got = results[position]
        if got.shape != expected.shape:
            lines.append(f"p{position}: {got.size} values, {expected.size} expected")
            continue
        unsigned = np.dtype(f"u{got.dtype.itemsize}")
        same = got.view(unsigned) == expected.view(unsigned)
        if got.dtype.kind == "f":
            if not case.nan_bits:
                same |= np.isnan(got) & np.isnan(expected)
            if case.tolerance:
                same |= np.isclose(got, expected, rtol=case.tolerance, atol=case.absolute)
        lines += [
            f"p{position}[{i}]: got {got[i]!r} (0x{int(got.view(unsigned)[i]):x}), "
            f"expected {expected[i]!r} (0x{int(expected.view(unsigned)[i]):x})"
            for i in np.flatnonzero(~same)[:8]
        ]
    return lines
