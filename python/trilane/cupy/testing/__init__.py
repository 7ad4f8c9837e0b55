"""Assertions and decorators for tests of programs that use device arrays."""

from __future__ import annotations

import importlib

from trilane._missing import no_attribute as _no_attribute
from trilane.cupy.testing._assertions import (
    assert_allclose,
    assert_array_almost_equal,
    assert_array_almost_equal_nulp,
    assert_array_equal,
    assert_array_less,
    assert_array_list_equal,
    assert_array_max_ulp,
)
from trilane.cupy.testing._compare import (
    numpy_cupy_allclose,
    numpy_cupy_array_almost_equal,
    numpy_cupy_array_equal,
    numpy_cupy_array_less,
    numpy_cupy_array_list_equal,
    numpy_cupy_equal,
    numpy_cupy_raises,
)
from trilane.cupy.testing._loops import (
    for_all_dtypes,
    for_all_dtypes_combination,
    for_CF_orders,
    for_complex_dtypes,
    for_dtypes,
    for_dtypes_combination,
    for_float_dtypes,
    for_int_dtypes,
    for_int_dtypes_combination,
    for_orders,
    for_signed_dtypes,
    for_signed_dtypes_combination,
    for_unsigned_dtypes,
    for_unsigned_dtypes_combination,
)
from trilane.cupy.testing._make import (
    fix_random,
    generate_matrix,
    generate_seed,
    shaped_arange,
    shaped_linspace,
    shaped_random,
    shaped_reverse_arange,
)

# These need pytest, which users of the assertions may not have.
_WITH_PYTEST = {
    "parameterize": "_parameters",
    "product": "_parameters",
    "product_dict": "_parameters",
    "assert_warns": "_requirements",
    "installed": "_requirements",
    "multi_gpu": "_requirements",
    "numpy_satisfies": "_requirements",
    "slow": "_requirements",
    "with_requires": "_requirements",
}


def __getattr__(name: str):
    if name in _WITH_PYTEST:
        module = importlib.import_module(f"trilane.cupy.testing.{_WITH_PYTEST[name]}")
        return getattr(module, name)
    raise _no_attribute(__name__, name)


__all__ = [
    "assert_allclose",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_list_equal",
    "assert_array_max_ulp",
    "assert_warns",
    "fix_random",
    "for_CF_orders",
    "for_all_dtypes",
    "for_all_dtypes_combination",
    "for_complex_dtypes",
    "for_dtypes",
    "for_dtypes_combination",
    "for_float_dtypes",
    "for_int_dtypes",
    "for_int_dtypes_combination",
    "for_orders",
    "for_signed_dtypes",
    "for_signed_dtypes_combination",
    "for_unsigned_dtypes",
    "for_unsigned_dtypes_combination",
    "generate_matrix",
    "generate_seed",
    "installed",
    "multi_gpu",
    "numpy_cupy_allclose",
    "numpy_cupy_array_almost_equal",
    "numpy_cupy_array_equal",
    "numpy_cupy_array_less",
    "numpy_cupy_array_list_equal",
    "numpy_cupy_equal",
    "numpy_cupy_raises",
    "numpy_satisfies",
    "parameterize",
    "product",
    "product_dict",
    "shaped_arange",
    "shaped_linspace",
    "shaped_random",
    "shaped_reverse_arange",
    "slow",
    "with_requires",
]
