"""Places of a CUDA toolkit: none is needed, the compiler is inside Trilane's library."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__all__ = ["get_conda_ctk_libdir"]


def get_conda_ctk_libdir() -> str | None:
    """The library folder of a toolkit installed by conda: None, no such toolkit is used."""
    return None


__getattr__ = absent_attributes(
    __name__,
    "_find_cuda_home_from_lib_path _get_cudalib_dir_path_decision _get_libdevice_path_decision "
    "get_system_ctk get_system_ctk_libdir",
)
