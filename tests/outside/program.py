"""What a program of others is to the runner: where its text lies, and a function that drives it.

A driver is a function of one `Run`: it makes inputs, launches the program's kernels through
`trilane.cupy`, and compares what comes back with a reference of its own. Drivers live in a folder
outside the repository: see README.md.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.outside.extract import device_text


class WrongResult(Exception):
    """A kernel's result is not the reference's."""


@dataclass
class Program:
    """One program: the files its kernels come from and how they are driven.

    Attributes
    ----------
    name : str
        `collection/program`, unique.
    files : sequence of str
        `REPOSITORY:PATH`, in the order in which their device text is joined.
    kernels : sequence of str
        Kernel names or C++ name expressions (`reduce<float, 256>`).
    drive : callable
        Gets a `Run`.
    head, tail : str
        Text of the driver before and after that of the files: sizes, types, instantiations.
    keep, drop : sequence of str
        See `device_text`.
    replace : sequence of (str, str)
        What a host header or a script of the program would have put in.
    options : sequence of str
        Of the compiler.
    ordered : bool
        Whether every number of lanes gives the same bits. False: atomics on floats, or races that
        the program means.
    cooperative : bool
        Launches are cooperative: the grid may meet at a barrier.
    """

    name: str
    files: Sequence[str]
    kernels: Sequence[str]
    drive: Callable[[Run], None]
    head: str = ""
    tail: str = ""
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    replace: Sequence[tuple[str, str]] = ()
    options: Sequence[str] = ("--std=c++17",)
    ordered: bool = True
    cooperative: bool = False


PROGRAMS: dict[str, Program] = {}


def program(
    name: str, files: str | Sequence[str], kernels: str | Sequence[str], **rest: Any
) -> Callable[[Callable[[Run], None]], Callable[[Run], None]]:
    """Register the driver below; parameters are `Program`'s, names may be given as one text."""

    def register(drive: Callable[[Run], None]) -> Callable[[Run], None]:
        if name in PROGRAMS:
            raise ValueError(f"program: two programs are called {name}")
        listed = kernels.split() if isinstance(kernels, str) else list(kernels)
        paths = [files] if isinstance(files, str) else list(files)
        PROGRAMS[name] = Program(name, paths, listed, drive, **rest)
        return drive

    return register


def read_source(sources: Path, place: str) -> str:
    """The text of `REPOSITORY:PATH`: from a folder of that name, or a git directory in it.

    A work tree, `REPOSITORY/PATH`, is read as it is; a git directory, `REPOSITORY` or
    `REPOSITORY/repo`, at its HEAD.
    """
    repository, _, path = place.partition(":")
    root = sources / repository
    if (root / path).is_file():
        return (root / path).read_bytes().decode("utf-8", "replace")
    for git in (root, root / "repo"):
        if (git / "HEAD").is_file():
            done = subprocess.run(
                ["git", "-C", str(git), "show", f"HEAD:{path}"], capture_output=True, check=False
            )
            if done.returncode == 0:
                return done.stdout.decode("utf-8", "replace")
    raise FileNotFoundError(f"{place}: not below {sources}")


def source_of(wanted: Program, sources: Path) -> str:
    """The text that is compiled."""
    parts = [wanted.head]
    for i, place in enumerate(wanted.files):
        text = device_text(read_source(sources, place), keep=wanted.keep, drop=wanted.drop)
        parts.append(f'#line 1 "{place.rpartition("/")[2]}"\n{text}' if i or text else "")
    parts.append(wanted.tail)
    whole = "\n".join(parts)
    for old, new in wanted.replace:
        if old not in whole:
            raise ValueError(f"{wanted.name}: nothing to replace: {old!r}")
        whole = whole.replace(old, new)
    return whole


@dataclass
class Run:
    """One run of a program in this process.

    Attributes
    ----------
    rng : numpy.random.Generator
        Seeded by nothing but a constant: every run sees the same inputs.
    outputs : dict of str to numpy.ndarray
        What `compare` saw, for the comparison of numbers of lanes.
    """

    wanted: Program
    sources: Path
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(20))
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    launches: int = 0
    threads: int = 0
    compile_s: float = 0.0
    launch_s: float = 0.0
    module: Any = None

    def compile(self) -> None:
        """Compile and load every kernel."""
        import trilane.cupy as cp

        text = source_of(self.wanted, self.sources)
        began = time.perf_counter()
        self.module = cp.RawModule(
            code=text,
            options=tuple(self.wanted.options),
            name_expressions=tuple(self.wanted.kernels),
            enable_cooperative_groups=self.wanted.cooperative,
        )
        for name in self.wanted.kernels:
            self.module.get_function(name)
        self.compile_s = time.perf_counter() - began

    def put(self, array: Any, dtype: Any = None) -> Any:
        """An array of the device with these values."""
        import trilane.cupy as cp

        return cp.asarray(np.ascontiguousarray(array, dtype=dtype))

    def zeros(self, shape: Any, dtype: Any) -> Any:
        """An array of the device with zeros."""
        import trilane.cupy as cp

        return cp.zeros(shape, dtype=dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Float32 values, equally spread."""
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def constant(self, name: str, values: np.ndarray) -> None:
        """Write a `__constant__` or `__device__` variable."""
        import trilane.cupy as cp

        values = np.ascontiguousarray(values)
        pointer = self.module.get_global(name)
        target = cp.ndarray(values.shape, dtype=values.dtype, memptr=pointer)
        target.set(values)

    def fetch(self, name: str, shape: Any, dtype: Any) -> np.ndarray:
        """The values of a `__device__` variable."""
        import trilane.cupy as cp

        return cp.ndarray(shape, dtype=dtype, memptr=self.module.get_global(name)).get()

    def launch(self, name: str, grid: Any, block: Any, *args: Any, shared: int = 0) -> None:
        """Launch a kernel and wait. Python ints are C ints, floats are C floats."""
        import trilane.cupy as cp

        grid = (grid,) if isinstance(grid, int) else tuple(grid)
        block = (block,) if isinstance(block, int) else tuple(block)
        converted = tuple(
            np.bool_(a) if isinstance(a, bool)
            else np.int32(a) if isinstance(a, int)
            else np.float32(a) if type(a) is float
            else a
            for a in args
        )  # fmt: skip
        function = self.module.get_function(name)
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        function(grid, block, converted, shared_mem=shared)
        cp.cuda.Device().synchronize()
        self.launch_s += time.perf_counter() - began
        self.launches += 1
        self.threads += int(np.prod(grid)) * int(np.prod(block))

    def compare(
        self,
        label: str,
        got: Any,
        expected: Any,
        *,
        rtol: float = 0.0,
        atol: float = 0.0,
    ) -> None:
        """Compare a result with its reference; without tolerances, exactly.

        Raises
        ------
        WrongResult
            Another shape, or a value that is further off.
        """
        values = got if isinstance(got, np.ndarray) else got.get()
        if label in self.outputs:
            raise ValueError(f"{self.wanted.name}: two results are called {label}")
        self.outputs[label] = values
        expected = np.asarray(expected)
        if values.shape != expected.shape:
            raise WrongResult(f"{label}: shape {values.shape}, expected {expected.shape}")
        if rtol or atol:
            good = np.isclose(values, expected, rtol=rtol, atol=atol, equal_nan=True)
        else:
            good = values == expected
        if not np.all(good):
            at = tuple(int(i) for i in np.argwhere(~good)[0])
            raise WrongResult(
                f"{label}: {int(np.count_nonzero(~good))} of {values.size} wrong, "
                f"first at {at}: got {values[at]!r}, expected {expected[at]!r}"
            )
