"""NumPy dtypes and their C types, under PyCUDA's second name for them."""

from __future__ import annotations

from .._dtypes import ctype_to_dtype, dtype_to_ctype, get_or_register_dtype, register_dtype

__all__ = ["ctype_to_dtype", "dtype_to_ctype", "get_or_register_dtype", "register_dtype"]
