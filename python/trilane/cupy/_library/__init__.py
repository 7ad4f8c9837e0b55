"""What the vendor's libraries do on a device: dense linear algebra and Fourier transforms.

`library_of` gives the library of an array's device. Routines take and return device arrays, are
ordered with the current stream, and get arrays of the dtype that they compute in; promotion and
checks of shapes are the callers' work. A routine that a device lacks raises NotImplementedError with
its name: nothing goes to the host by itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from trilane.cupy._engine import ndarray

__all__ = ["Library", "library_of"]


class Library:
    """The routines of one kind of device; this one has none of them."""

    # Whether solve, inv, det, slogdet and cholesky are here; else kernels of our own run.
    has_solvers = False

    def __init__(self, device: str) -> None:
        self.device = device

    def _lacks(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"cupy.{name} on the {self.device} device")

    # Matrices are in the last two axes; axes ahead of them are batches. A matrix that is singular,
    # not positive definite or does not converge gives NaN, or LinAlgError under
    # ``cupyx.errstate(linalg='raise')``.

    def solve(self, a: ndarray, b: ndarray) -> ndarray:
        """Solutions of matrices (..., M, M) and right sides (..., M, K)."""
        raise self._lacks("linalg.solve")

    def inv(self, a: ndarray) -> ndarray:
        raise self._lacks("linalg.inv")

    def det(self, a: ndarray) -> ndarray:
        raise self._lacks("linalg.det")

    def slogdet(self, a: ndarray) -> tuple[ndarray, ndarray]:
        raise self._lacks("linalg.slogdet")

    def cholesky(self, a: ndarray) -> ndarray:
        """The lower factor, from the lower triangle."""
        raise self._lacks("linalg.cholesky")

    def eigh(self, a: ndarray, uplo: str) -> tuple[ndarray, ndarray]:
        raise self._lacks("linalg.eigh")

    def eigvalsh(self, a: ndarray, uplo: str) -> ndarray:
        raise self._lacks("linalg.eigvalsh")

    def eig(self, a: ndarray) -> tuple[ndarray, ndarray]:
        """Eigenvalues and vectors; complex."""
        raise self._lacks("linalg.eig")

    def eigvals(self, a: ndarray) -> ndarray:
        raise self._lacks("linalg.eigvals")

    def svd(self, a: ndarray, full_matrices: bool) -> tuple[ndarray, ndarray, ndarray]:
        raise self._lacks("linalg.svd")

    def svdvals(self, a: ndarray) -> ndarray:
        raise self._lacks("linalg.svd")

    def qr(self, a: ndarray, mode: str) -> Any:
        """``q, r`` of modes reduced and complete, ``r``, or ``h, tau`` of raw."""
        raise self._lacks("linalg.qr")

    def fft(
        self, kind: str, a: ndarray, lengths: list[int], axes: tuple[int, ...], norm: str
    ) -> ndarray:
        """Transform over axes, cut or filled up with zeros to the lengths.

        kind: ``fftn``, ``ifftn`` of complex values, ``rfftn`` of real ones, ``irfftn`` from the half
        that `rfftn` gives of the last of the axes.
        """
        raise self._lacks(f"fft.{kind}")


@cache
def _library(device: str) -> Library:
    if device == "cpu":
        from trilane.cupy._library.cpu import CpuLibrary

        return CpuLibrary()
    return Library(device)


def library_of(a: ndarray) -> Library:
    """The library of the device that an array is on."""
    return _library(a.buffer.context.properties.type)
