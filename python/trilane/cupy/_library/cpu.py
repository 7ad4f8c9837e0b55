"""The library of the cpu device: NumPy's own LAPACK and pocketfft over views of the device's memory.

A view needs no copy of the operands; what was enqueued on the current stream ends first. Results of
NumPy are copied into memory of the device, n * n values beside n * n * n operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import host_view
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._error_state import geterr
from trilane.cupy._library import Library


def _view(a: ndarray) -> np.ndarray:
    return host_view(a) if a.size else np.empty(a.shape, a.dtype)


def _to_device(host: Any) -> ndarray:
    """The values in device memory, in C order."""
    host = np.asarray(host)
    result = engine.empty(host.shape, host.dtype, "C")
    if result.size:
        # The memory may be that of an array freed a moment ago, with a kernel on its way.
        _core.current_stream().synchronize()
        _view(result)[...] = host
    return result


def _one_by_one(routine: Callable[..., tuple], hosts: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """The routine per matrix, with NaN in the results of those that fail."""
    batch = np.broadcast_shapes(*(h.shape[:-2] for h in hosts))
    hosts = tuple(np.broadcast_to(h, batch + h.shape[-2:]) for h in hosts)
    with np.errstate(all="ignore"):
        # Identities never fail, and tell shapes and dtypes of the results.
        pattern = routine(*(np.eye(*h.shape[-2:], dtype=h.dtype) for h in hosts))
    results = [np.full(batch + np.shape(p), np.nan, np.asarray(p).dtype) for p in pattern]
    for place in np.ndindex(*batch):
        try:
            parts = routine(*(h[place] for h in hosts))
        except np.linalg.LinAlgError:
            continue
        for result, part in zip(results, parts):
            result[place] = part
    return results


def _run(routine: Callable[..., tuple], *arrays: ndarray) -> tuple[ndarray, ...]:
    """NumPy's routine, which gives a tuple, over the arrays' memory."""
    _core.current_stream().synchronize()
    hosts = tuple(_view(a) for a in arrays)
    try:
        with np.errstate(all="ignore"):
            results = routine(*hosts)
    except np.linalg.LinAlgError:
        if geterr()["linalg"] == "raise":
            raise
        results = _one_by_one(routine, hosts)
    return tuple(_to_device(r) for r in results)


def _complex(results: tuple) -> tuple:
    """Eigenvalues are complex whatever their values: the dtype does not depend on them."""
    return tuple(np.asarray(r, np.result_type(r, np.complex64)) for r in results)


class CpuLibrary(Library):
    """NumPy's routines."""

    has_solvers = True

    def __init__(self) -> None:
        super().__init__("cpu")

    def solve(self, a, b):
        return _run(lambda x, y: (np.linalg.solve(x, y),), a, b)[0]

    def inv(self, a):
        return _run(lambda x: (np.linalg.inv(x),), a)[0]

    def det(self, a):
        return _run(lambda x: (np.linalg.det(x),), a)[0]

    def slogdet(self, a):
        return _run(lambda x: tuple(np.linalg.slogdet(x)), a)

    def cholesky(self, a):
        return _run(lambda x: (np.linalg.cholesky(x),), a)[0]

    def eigh(self, a, uplo):
        return _run(lambda x: tuple(np.linalg.eigh(x, uplo)), a)

    def eigvalsh(self, a, uplo):
        return _run(lambda x: (np.linalg.eigvalsh(x, uplo),), a)[0]

    def eig(self, a):
        return _run(lambda x: _complex(np.linalg.eig(x)), a)

    def eigvals(self, a):
        return _run(lambda x: _complex((np.linalg.eigvals(x),)), a)[0]

    def svd(self, a, full_matrices):
        return _run(lambda x: tuple(np.linalg.svd(x, full_matrices)), a)

    def svdvals(self, a):
        return _run(lambda x: (np.linalg.svd(x, compute_uv=False),), a)[0]

    def qr(self, a, mode):
        if mode == "r":
            return _run(lambda x: (np.linalg.qr(x, "r"),), a)[0]
        return _run(lambda x: tuple(np.linalg.qr(x, mode)), a)

    def fft(self, kind, a, lengths, axes, norm):
        shape = list(a.shape)
        for axis, n in zip(axes, lengths):
            shape[axis] = n
        dtype = a.dtype
        if kind == "rfftn":
            shape[axes[-1]] = lengths[-1] // 2 + 1
            dtype = np.dtype(a.dtype.char.upper())
        elif kind == "irfftn":
            dtype = np.dtype(a.dtype.char.lower())
        result = engine.empty(tuple(shape), dtype, "C")
        _core.current_stream().synchronize()
        if result.size == 0:
            return result
        transform, host = getattr(np.fft, kind), _view(a)
        if len(axes) == 1:
            transform(host, lengths, axes, norm, out=_view(result))
        else:
            # NumPy gives `out` to every step, whose shapes differ where lengths change.
            _view(result)[...] = transform(host, lengths, axes, norm)
        return result
