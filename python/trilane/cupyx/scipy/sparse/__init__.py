"""Sparse matrices: none yet."""

from __future__ import annotations

from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute

_MISSING = frozenset(
    """csr_matrix csc_matrix coo_matrix dia_matrix spmatrix csr_array csc_array coo_array eye identity
    diags random rand hstack vstack bmat kron kronsum tril triu find isspmatrix isspmatrix_csr
    isspmatrix_csc isspmatrix_coo isspmatrix_dia linalg csgraph spdiags""".split()
)


def issparse(x) -> bool:
    """Whether a value is a sparse matrix of the device; there are none."""
    return False


def __getattr__(name: str):
    if name in _MISSING:
        raise missing(f"cupyx.scipy.sparse.{name}")
    raise _no_attribute(__name__, name)
