"""Starting the device while NumPy is imported: for programs in which nobody can tell the difference.

`wanted` is read once, when the extension is opened (which imports NumPy).
"""

from __future__ import annotations

import ast
import os
import sys

__all__ = ["is_harmless", "open_extension", "restore_environment", "wanted"]

wanted = False

_FACES = {"cupy", "cupy_backends", "cupyx", "numba", "pycuda"}

# None of these forks, changes the environment or touches a GPU before the first use of a device.
_QUIET = _FACES | {
    "__future__", "abc", "argparse", "array", "bisect", "cmath", "collections", "copy", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "heapq", "itertools", "json", "math",
    "numbers", "numpy", "operator", "random", "re", "statistics", "string", "struct", "textwrap",
    "time", "typing", "warnings",
}  # fmt: skip

# By these a program reaches other modules, other code or the environment without an import.
_REACHING = {
    "__builtins__", "__dict__", "__globals__", "__import__", "__loader__", "__spec__",
    "__subclasses__", "_os", "_sys", "builtins", "compile", "ctypeslib", "environ", "eval", "exec",
    "f2py", "fork", "getattr", "importlib", "load_library", "os", "putenv", "sys", "testing", "vars",
}  # fmt: skip

# What loads the genuine numba, of which that is not known.
_GENUINE_NUMBA = {
    "cfunc", "experimental", "guvectorize", "njit", "prange", "stencil", "typed", "vectorize",
}  # fmt: skip

# NumPy sets these while it opens OpenBLAS and takes them away again. The driver reads the environment
# meanwhile, and C's environment may not change under a reader: so they are there before.
_BLAS_VARIABLES = ("OPENBLAS_MAIN_FREE", "GOTOBLAS_MAIN_FREE")


_added: list[str] = []


def is_harmless(source: str | bytes, folder: str) -> bool:
    """Whether a program uses a face, and can neither fork nor change the environment before.

    Parameters
    ----------
    source : str or bytes
        The program's text.
    folder : str
        Where its imports are looked for first: a file there may stand for a module.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                return False
            names = [node.module, *(alias.name for alias in node.names)]
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Attribute):
            if node.attr == "compile":  # re.compile; the built-in function is a name
                continue
            names = [node.attr]
            if isinstance(node.value, ast.Name):
                names.append(f"{node.value.id}.{node.attr}")
        else:
            continue
        if any(part in _REACHING for name in names for part in name.split(".")):
            return False
        if any(name in _GENUINE_NUMBA or name == "numba.jit" for name in names):
            return False
        if isinstance(node, ast.Import):
            modules.update(name.partition(".")[0] for name in names)
        elif isinstance(node, ast.ImportFrom):
            modules.add(names[0].partition(".")[0])
    if not modules <= _QUIET or not modules & _FACES:
        return False
    beside = (os.path.join(folder, name) for m in modules for name in (m, m + ".py"))
    return not any(map(os.path.exists, beside))


def open_extension() -> None:
    """Open the extension, and start the device beside it unless TRILANE_EARLY=0.

    Raises nothing for want of a device: who uses it is told. Does nothing if the extension is open.
    """
    global wanted
    if "trilane._core" in sys.modules or os.environ.get("TRILANE_EARLY") == "0":
        return
    for name in _BLAS_VARIABLES:
        if name not in os.environ:
            os.environ[name] = "1"
            _added.append(name)
    wanted = True
    try:
        import trilane._core  # noqa: F401
    finally:
        wanted = False


def restore_environment() -> None:
    """Take away what `open_extension` added, when the device has started."""
    while _added:
        os.environ.pop(_added.pop(), None)
