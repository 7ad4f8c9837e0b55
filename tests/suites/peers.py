"""The peers whose released tests are run: one row each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"


@dataclass(frozen=True)
class Archive:
    """A released file and which of its paths to unpack where (below work/PEER/)."""

    package: str
    version: str
    kind: str  # "sdist" or "wheel"
    members: dict[str, str]  # path prefix in the archive -> folder


@dataclass(frozen=True)
class Peer:
    """How a peer's tests are obtained and run.

    `level` says what an id is: "item" (a collected pytest item) or "function" (a test function as
    it stands in the file; it passes if all of its parameter sets pass).
    """

    name: str
    archives: tuple[Archive, ...]
    tests: tuple[str, ...]  # folders with test files, relative to work/PEER/
    level: str
    requirements: tuple[str, ...]
    # Importable names served from unpacked folders: the peer's own test helpers.
    overlays: dict[str, str] = field(default_factory=dict)
    # The import name of the folder `tests[0]`, where its files import each other absolutely.
    package_root: str | None = None
    timeout_s: int = 120
    # How many devices the cpu device plays: tests of several GPUs want two.
    cpu_devices: int = 1
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return WORK / self.name

    @property
    def ids_file(self) -> Path:
        return HERE / "ids" / f"{self.name}.txt"

    @property
    def ledger_file(self) -> Path:
        return HERE / "ledger" / f"{self.name}.txt"


_BASE = (
    "numpy",
    "pytest",
    "pytest-timeout",
    "ml_dtypes",
    "nanobind-backend",
    "platformdirs",
    "rich",
)

PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            name="pycuda",
            archives=(Archive("pycuda", "2026.1", "sdist", {"pycuda-2026.1/test/": "test"}),),
            tests=("test",),
            level="item",
            requirements=(*_BASE, "pytools", "mako"),
            # Its items of 9 GB and more, which draw 10^11 random numbers, skip themselves on a
            # device that has less. (The cuda device does not read this.)
            environment={"TRILANE_CPU_MEMORY": "8GB"},
        ),
        Peer(
            name="numba",
            archives=(
                Archive(
                    "numba-cuda",
                    "0.30.4",
                    "wheel",
                    {
                        "numba_cuda/numba/cuda/tests/": "tests",
                        "numba_cuda/numba/cuda/testing.py": "testing.py",
                    },
                ),
            ),
            tests=("tests",),
            level="function",
            requirements=(
                *_BASE,
                "packaging",
                "psutil",
                "cffi",
                "llvmlite",
                "filecheck",
                "cuda-pathfinder",
                "cuda-bindings",
                "cuda-core",
            ),
            overlays={"numba.cuda.tests": "tests", "numba.cuda.testing": "testing.py"},
            package_root="numba.cuda.tests",
        ),
        Peer(
            name="cupy",
            archives=(
                Archive(
                    "cupy",
                    "14.2.0",
                    "sdist",
                    {
                        "cupy-14.2.0/tests/": "tests",
                        "cupy-14.2.0/cupy/testing/": "cupy_testing",
                    },
                ),
            ),
            tests=("tests/cupy_tests", "tests/cupyx_tests"),
            level="function",
            requirements=(*_BASE, "scipy", "hypothesis"),
            overlays={"cupy.testing": "cupy_testing"},
            cpu_devices=2,
        ),
    )
}
