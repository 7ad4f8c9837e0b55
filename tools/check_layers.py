"""Check who includes and imports whom: faces -> bindings -> {array, jit} -> core <- devices.

Run as a program it prints one line per violation and exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPP_SUFFIXES = {".h", ".cpp", ".inc", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

# The folders of ours that each folder of src/ may include; the longest that matches counts.
MAY_INCLUDE = {
    "core": ("core",),
    "array": ("core", "array"),
    "jit": ("core", "jit"),
    "devices/cpu": ("core", "devices/cpu"),
    "devices/cuda": ("core", "devices/cuda"),
    "bindings": ("core", "array", "jit", "bindings"),
}
# Files that may name more than their folder: the extension alone knows the devices.
EXTRA = {
    "bindings/extension.cpp": re.compile(r"devices/(cpu|cuda)/entry\.h"),
}
# Headers of others, and the only folders where they may stand.
FOREIGN = (
    (re.compile(r"(llvm|llvm-c|clang|clang-c|lld)/"), ("devices/cpu",), "LLVM and clang"),
    (re.compile(r"Python\.h|(nanobind|pybind11|numpy)/"), ("bindings",), "Python"),
    (
        re.compile(r"(cuda|cuda_runtime|cuda_runtime_api|nvrtc|cublas\w*|cusolver\w*|cufft\w*)\.h"),
        ("devices/cuda",),
        "CUDA",
    ),
    (re.compile(r"g(test|mock)/"), (), "GoogleTest"),
    (re.compile(r"benchmark/"), (), "Google Benchmark"),
)
FACES = ("pycuda", "numba", "cupy", "cupyx")
# A face may import these others: cupyx is the second half of cupy.
FACE_MAY_IMPORT = {"cupyx": ("cupy",)}
# Modules of a face that are commands (`python -m pycuda.debug`) and start ours.
COMMANDS = frozenset({"pycuda/debug.py"})


def is_test(path: Path) -> bool:
    """Whether a C++ file is a test or a helper of tests."""
    return path.name.endswith("_test.cpp") or "testing" in path.parts or path.stem == "testing"


def folder_rule(relative: str) -> tuple[str, ...] | None:
    """The folders that a file of src/ may include, None if its folder has no rule."""
    best = max((f for f in MAY_INCLUDE if relative.startswith(f + "/")), key=len, default=None)
    return None if best is None else MAY_INCLUDE[best]


def check_include(src: Path, path: Path, name: str, quoted: bool) -> str | None:
    """What is wrong with one #include of a file below src/, None if nothing is."""
    relative = path.relative_to(src).as_posix()
    for pattern, folders, what in FOREIGN:
        if pattern.match(name):
            if what.startswith("Google"):
                return None if is_test(path) else f"{what} outside tests: {name}"
            if any(relative.startswith(folder + "/") for folder in folders):
                return None
            return f"{what} may be included only below {', '.join(folders)}: {name}"
    ours = [folder for folder in MAY_INCLUDE if name.startswith(folder + "/")]
    if not ours:
        if quoted and not (src / name).exists() and (path.parent / name).exists():
            return f"say the path from src/: {name}"
        return None
    if not quoted:
        return f"own headers stand in quotes: {name}"
    if name.startswith("core/testing/") and not is_test(path):
        return f"core/testing is for tests: {name}"
    allowed = folder_rule(relative)
    if allowed is None:
        return f"folder without a rule in tools/check_layers.py: {relative}"
    if any(name.startswith(folder + "/") for folder in allowed):
        return None
    if relative in EXTRA and EXTRA[relative].fullmatch(name):
        return None
    return f"may include only {', '.join(allowed)}: {name}"


def check_sources(root: Path) -> Iterator[str]:
    """Violations below src/."""
    src = root / "src"
    for path in sorted(src.rglob("*")):
        if path.suffix not in CPP_SUFFIXES or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            fault = check_include(src, path, match[2], match[1] == '"')
            if fault is not None:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(root)}:{line}: {fault}"


def check_device_library(root: Path) -> Iterator[str]:
    """Violations below device_lib/: its headers include only one another."""
    library = root / "device_lib"
    for path in sorted(library.rglob("*")):
        if not path.is_file() or path.suffix == ".md":
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            places = (path.parent, library, library / "include", library / "cpu")
            if not any((place / match[2]).is_file() for place in places):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(root)}:{line}: not in device_lib: {match[2]}"


def imported(tree: ast.AST, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and absolute name of every import; `package` holds the module's package parts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def check_import(face: str | None, name: str) -> str | None:
    """What is wrong with an import of `name` in a module of a face, None if nothing is."""
    parts = name.split(".")
    if face is None or len(parts) < 2 or parts[0] != "trilane":
        return None
    other = parts[1]
    if other in FACES and other != face and other not in FACE_MAY_IMPORT.get(face, ()):
        return f"face {face} may not import face {other}: {name}: share it through the core"
    if other in ("cli", "aliases"):
        return f"a face may not import {name}"
    return None


def check_python(root: Path) -> Iterator[str]:
    """Violations below python/trilane: faces do not import each other; tests may."""
    package_root = root / "python" / "trilane"
    for path in sorted(package_root.rglob("*.py")):
        relative = path.relative_to(package_root)
        if path.name.startswith(("test_", "conftest")) or relative.parts[0] == "_aliases":
            continue
        if relative.as_posix() in COMMANDS:
            continue
        face = relative.parts[0] if relative.parts[0] in FACES else None
        package = ["trilane", *relative.parts[:-1]]
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        for line, name in imported(tree, package):
            fault = check_import(face, name)
            if fault is not None:
                yield f"{path.relative_to(root)}:{line}: {fault}"


def violations(root: Path = ROOT) -> list[str]:
    """All violations of a tree, each ``file:line: what``."""
    return [*check_sources(root), *check_device_library(root), *check_python(root)]


def main() -> int:
    """Print the violations; 0 if there are none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to check")
    found = violations(parser.parse_args().root)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"check_layers: {len(found)} violations" if found else "check_layers: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
