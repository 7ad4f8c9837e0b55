"""Write docs/compat/cupy.md: every public name of the peer and whether it is here.

Run as ``python tools/gen_compat_cupy.py [--check]``; needs the built extension, touches no device.
The names of the peer's namespaces are facts listed here and in trilane/cupy/_names.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "compat" / "cupy.md"
sys.path.insert(0, str(ROOT / "python"))

NAMESPACES = {
    "cupy.ndarray": """T all any argmax argmin argpartition argsort astype base choose clip compress conj
        conjugate copy cstruct cumprod cumsum data device diagonal dot dtype dump dumps fill flags flat
        flatten get imag item itemsize mT max mean min nbytes ndim nonzero partition prod ptp put ravel
        real reduced_view repeat reshape round scatter_add scatter_max scatter_min searchsorted set
        shape size sort squeeze std strides sum swapaxes take toDlpack tobytes tofile tolist trace
        transpose var view""",
    "cupy.ufunc": "__call__ accumulate at nargs nin nout outer reduce reduceat types",
    "cupy.linalg": """LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq
        matmul matrix_norm matrix_power matrix_rank matrix_transpose norm outer pinv qr slogdet solve
        svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm""",
    "cupy.fft": """config fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft
        irfft2 irfftn rfft rfft2 rfftfreq rfftn""",
    "cupy.random": """BitGenerator Generator MRG32k3a Philox4x3210 RandomState XORWOW beta binomial
        bytes chisquare choice default_rng dirichlet exponential f gamma geometric get_random_state
        gumbel hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal
        negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power
        rand randint randn random random_integers random_sample ranf rayleigh reset_states sample seed
        set_random_state shuffle standard_cauchy standard_exponential standard_gamma standard_normal
        standard_t triangular uniform vonmises wald weibull zipf""",
    "cupy.cuda": """BaseMemory CFunctionAllocator Device Event ExternalStream Function Graph
        ManagedMemory Memory MemoryAsync MemoryAsyncPool MemoryHook MemoryPointer MemoryPool Module
        OutOfMemoryError PinnedMemory PinnedMemoryPointer PinnedMemoryPool PythonFunctionAllocator
        Stream UnownedMemory alloc alloc_pinned_memory compiler cub cublas cufft curand cusolver
        cusparse cutensor driver function get_allocator get_cublas_handle get_cuda_path
        get_current_stream get_device_id get_elapsed_time get_local_runtime_version is_available
        malloc_async malloc_managed memory memory_hook memory_hooks nccl nvrtc nvtx pinned_memory
        profile profiler runtime set_allocator set_pinned_memory_allocator stream texture thrust
        using_allocator""",
    "cupy.testing": """assert_allclose assert_array_almost_equal assert_array_almost_equal_nulp
        assert_array_equal assert_array_less assert_array_list_equal assert_array_max_ulp for_CF_orders
        for_all_dtypes for_all_dtypes_combination for_complex_dtypes for_dtypes for_dtypes_combination
        for_float_dtypes for_int_dtypes for_int_dtypes_combination for_orders for_signed_dtypes
        for_signed_dtypes_combination for_unsigned_dtypes for_unsigned_dtypes_combination
        numpy_cupy_allclose numpy_cupy_array_almost_equal numpy_cupy_array_almost_equal_nulp
        numpy_cupy_array_equal numpy_cupy_array_less numpy_cupy_array_list_equal
        numpy_cupy_array_max_ulp""",
    "cupyx": """GeneralizedUFunc empty_like_pinned empty_pinned errstate get_runtime_info geterr jit
        optimizing profiler rsqrt scatter_add scatter_max scatter_min scipy seterr
        zeros_like_pinned zeros_pinned""",
    "cupyx.profiler": "benchmark profile time_range",
    "cupyx.scipy": """fft fftpack get_array_module interpolate linalg ndimage optimize signal sparse
        spatial special stats""",
}


def is_here(owner: object, name: str) -> bool:
    """Whether a name can be had and is no stand-in for something absent."""
    try:
        value = getattr(owner, name)
    except (AttributeError, NotImplementedError):
        return False
    return getattr(value, "available", True) is not False


def resolve(path: str) -> object:
    """The face's object for a dotted name of the peer."""
    import importlib

    if path in ("cupy.ndarray", "cupy.ufunc"):
        return getattr(importlib.import_module("trilane.cupy"), path.split(".")[1])
    return importlib.import_module(f"trilane.{path}")


def render() -> str:
    """The page's text."""
    import trilane.cupy
    from trilane.cupy._names import PEER_NAMES

    tables = {"cupy": sorted(PEER_NAMES)}
    tables.update({path: sorted(set(names.split())) for path, names in NAMESPACES.items()})
    runtime = trilane.cupy.cuda.runtime
    tables["cupy.cuda.runtime"] = sorted(
        set(runtime._MISSING)
        | {n for n in dir(runtime) if n[0].islower() and callable(getattr(runtime, n))}
        - {"missing"}
    )
    lines = [
        "# CuPy: names and their state",
        "",
        "Generated by `tools/gen_compat_cupy.py`; do not edit. Names follow CuPy "
        f"{trilane.cupy.__version__}. A missing name raises `NotImplementedError` naming it; `hasattr` is false for it.",
        "",
        "| namespace | names | here | missing |",
        "|---|---|---|---|",
    ]
    details = []
    for path, names in tables.items():
        owner = resolve(path)
        here = [n for n in names if is_here(owner, n)]
        absent = [n for n in names if n not in here]
        lines.append(f"| `{path}` | {len(names)} | {len(here)} | {len(absent)} |")
        details += [
            "",
            f"## `{path}`",
            "",
            "Here: " + (", ".join(f"`{n}`" for n in here) or "none") + ".",
        ]
        if absent:
            details += ["", "Missing: " + ", ".join(f"`{n}`" for n in absent) + "."]
    return "\n".join(lines + details) + "\n" + _notes()


def _notes() -> str:
    return """
## Differences that are meant

- `fuse` calls the function as it is: joining operations is the array engine's own work.
- All `MemoryPool` objects show the device's one pool; `set_allocator` takes the face's own allocators only.
- `partition` and `argpartition` sort as a whole; `sort` is stable for every `kind`.
- Random numbers come from Philox for every generator name, and are the same on every device.
- `vectorize`, `geomspace`, `roots`, `polyfit`, `poly1d.deriv`, `poly1d.integ` and text input and output compute on the host.
- `__cuda_array_interface__` exists on CUDA devices only; on the cpu device exchange goes by DLPack.
- `linalg.solve`, `inv`, `det`, `slogdet`, `cholesky` run kernels of Trilane, meant for small and middle sizes.
"""


def main() -> int:
    """Write the page, or with ``--check`` say whether it is current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = render()
    if parser.parse_args().check:
        if not OUTPUT.exists() or OUTPUT.read_text() != text:
            print("docs/compat/cupy.md is out of date: run tools/gen_compat_cupy.py")
            return 1
        return 0
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
