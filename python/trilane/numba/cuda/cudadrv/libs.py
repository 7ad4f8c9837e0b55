"""Files of a CUDA toolkit: none is used, so asking for one tells that it is not there."""

from __future__ import annotations

__all__ = ["check_static_lib", "get_cuda_include_dir", "get_cudalib", "get_libdevice"]


def get_cuda_include_dir() -> str:
    """The folder of a toolkit's headers.

    Raises
    ------
    FileNotFoundError
        Always: the headers that kernels need are inside Trilane's library.
    """
    raise FileNotFoundError("get_cuda_include_dir: no CUDA toolkit is used")


def get_cudalib(lib: str, static: bool = False) -> str:
    """The file of a toolkit's library.

    What `cudadevrt` has, groups of a whole grid, is part of Trilane's own library, whose file it is.

    Raises
    ------
    FileNotFoundError
        Any other: no toolkit is used.
    """
    if lib == "cudadevrt":
        from trilane import _core

        return _core.__file__
    raise FileNotFoundError(f"get_cudalib: {lib}: no CUDA toolkit is used")


def get_libdevice() -> str | None:
    """The file of libdevice: None, its functions are compiled in."""
    return None


def check_static_lib(path: str) -> None:
    """Raise FileNotFoundError unless `path` is a file."""
    import os

    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path} not found")
