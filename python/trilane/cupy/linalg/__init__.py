"""Linear algebra. Products and norms run on the device; solvers wait for the library interface."""

from __future__ import annotations

from numpy.linalg import LinAlgError

from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute
from trilane.cupy.linalg._norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from trilane.cupy.linalg._products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    matrix_transpose,
    outer,
    tensordot,
    trace,
    vecdot,
)
from trilane.cupy.linalg._solve import cholesky, det, inv, slogdet, solve, tensorinv, tensorsolve

_MISSING = frozenset("eig eigh eigvals eigvalsh lstsq multi_dot pinv qr svd svdvals".split())

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "norm",
    "outer",
    "slogdet",
    "solve",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def __getattr__(name: str):
    if name in _MISSING:
        raise missing(f"cupy.linalg.{name} (the device's LAPACK interface)")
    raise _no_attribute(__name__, name)
