"""Linear algebra. Products and norms are kernels; decompositions are the device's library's."""

from __future__ import annotations

from numpy.linalg import LinAlgError

from trilane._missing import missing_attributes as _missing_attributes
from trilane.cupy.linalg._decompose import eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from trilane.cupy.linalg._least_squares import lstsq, matrix_rank, pinv
from trilane.cupy.linalg._norms import cond, matrix_norm, norm, vector_norm
from trilane.cupy.linalg._products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    matrix_transpose,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from trilane.cupy.linalg._solve import cholesky, det, inv, slogdet, solve, tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

__getattr__ = _missing_attributes(__name__)
