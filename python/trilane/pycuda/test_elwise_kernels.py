"""The kernels behind PyCUDA's arrays, launched by hand."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.pycuda.autoinit  # noqa: F401
from trilane.pycuda import elementwise, gpuarray

N = 100
F, D, INT, C = np.float32, np.float64, np.int32, np.complex64
X = np.linspace(0.5, 9, N).astype(F)
Y = np.linspace(-3, 4, N).astype(F)
Z = (X + 1j * Y).astype(C)


def run(name, types, arguments, out):
    """The result of one launch; arrays among the arguments travel, "out" stands for it."""
    kernel = getattr(elementwise, name)(*types)
    result = gpuarray.empty(N, out)
    sent = [
        result.gpudata if a is OUT else gpuarray.to_gpu(a) if isinstance(a, np.ndarray) else a
        for a in arguments
    ]
    keep = sent
    sent = [getattr(a, "gpudata", a) for a in sent]
    kernel.prepared_call((1, 1), (64, 1, 1), *sent, N)
    del keep
    return result.get()


OUT = object()
SCALAR = np.array([3], F)

CASES = [
    ("get_copy_kernel", (D, F), (OUT, X), D, X),
    ("get_axpbz_kernel", (F, F), (2, X, 1, OUT), F, 2 * X + 1),
    ("get_axpbyz_kernel", (F, F, F), (2, X, 3, Y, OUT), F, 2 * X + 3 * Y),
    ("get_axpbyz_kernel", (F, F, F, True), (2, SCALAR, 3, Y, OUT), F, 6 + 3 * Y),
    ("get_axpbyz_kernel", (F, C, C), (2, X, C(3), Z, OUT), C, None),
    ("get_binary_op_kernel", (F, F, F, "*"), (X, Y, OUT), F, X * Y),
    ("get_binary_op_kernel", (F, C, C, "+"), (X, Z, OUT), C, X + Z),
    ("get_binary_op_kernel", (F, F, F, "-", False, True), (X, SCALAR, OUT), F, X - 3),
    ("get_rdivide_elwise_kernel", (F, F), (X, 2, OUT), F, 2 / X),
    ("get_binary_func_kernel", ("atan2f", F, F, F), (X, Y, OUT), F, np.arctan2(X, Y)),
    ("get_binary_func_scalar_kernel", ("fmodf", F, F, F), (X, 2, OUT), F, np.fmod(X, 2)),
    ("get_binary_minmax_kernel", ("min", F, F, F, False), (X, Y, OUT), F, np.minimum(X, Y)),
    ("get_binary_minmax_kernel", ("max", F, F, F, True), (X, 2, OUT), F, np.maximum(X, 2)),
    ("get_fill_kernel", (INT,), (7, OUT), INT, np.full(N, 7)),
    ("get_reverse_kernel", (F,), (X, OUT), F, X[::-1]),
    ("get_real_kernel", (C, F), (Z, OUT), F, Z.real),
    ("get_imag_kernel", (C, F), (Z, OUT), F, Z.imag),
    ("get_conj_kernel", (C, C), (Z, OUT), C, Z.conj()),
    ("get_arange_kernel", (F,), (OUT, 1, 0.5), F, 1 + 0.5 * np.arange(N)),
    ("get_pow_array_kernel", (F, F, F, True, True), (X, Y, OUT), F, X**Y),
    ("get_pow_array_kernel", (F, F, F, True, False), (X, 2, OUT), F, X**2),
    ("get_pow_array_kernel", (F, F, D, False, True), (2, Y, OUT), D, 2.0 ** Y.astype(D)),
    ("get_fmod_kernel", (), (X, X[::-1].copy(), OUT), F, np.fmod(X, X[::-1])),
    ("get_ldexp_kernel", (), (X, np.full(N, 3, F), OUT), F, X * 8),
    ("get_modf_kernel", (), (Y, np.zeros(N, F), OUT), F, np.modf(Y)[0]),
    ("get_frexp_kernel", (), (X, OUT, np.zeros(N, F)), F, np.frexp(X)[0]),
    ("get_unary_func_kernel", ("expf", F), (Y, OUT), F, np.exp(Y)),
    ("get_if_positive_kernel", (F, F), (Y, X, Y, OUT), F, np.where(Y > 0, X, Y)),
    ("get_where_kernel", (INT, F), (np.arange(N, dtype=INT) % 3, X, Y, OUT), F, None),
    ("get_scalar_op_kernel", (F, F, np.int8, "<"), (X, 4, OUT), np.int8, X < 4),
    ("get_logical_not_kernel", (INT, np.int8), (np.arange(N, dtype=INT) % 2, OUT), np.int8, None),
    ("get_put_kernel", (F, INT), (np.arange(N, dtype=INT)[::-1].copy(), OUT, X), F, X[::-1]),
]
EXPECTED = {
    4: 2 * X + 3 * Z,
    28: np.where(np.arange(N) % 3, X, Y),
    30: np.arange(N) % 2 == 0,
}


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i][0]}")
def test_kernel(case):
    name, types, arguments, out, expected = CASES[case]
    if expected is None:
        expected = EXPECTED[case]
    np.testing.assert_allclose(run(name, types, arguments, out), expected, rtol=3e-6, atol=1e-7)


def test_names_of_arguments_count():
    kernel = elementwise.get_copy_kernel(dtype_src=np.float32, dtype_dest=np.float64)
    assert kernel is elementwise.get_copy_kernel(np.float64, np.float32)
    with pytest.raises(TypeError, match="dtype_src"):
        elementwise.get_copy_kernel(np.float32)


@pytest.mark.parametrize(
    "name", ["get_take_kernel", "get_take_put_kernel", "get_linear_combination_kernel"]
)
def test_kernels_of_texture_references_are_gone(name):
    with pytest.raises(NotImplementedError, match=rf"{name}.*texture references.*CUDA 12"):
        getattr(elementwise, name)(np.float32, np.int32)


def test_two_numbers_have_no_power_kernel():
    with pytest.raises(ValueError, match="both numbers"):
        elementwise.get_pow_array_kernel(F, F, F, False, False)
