"""The names of CuPy's private `_core` that other libraries use, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy import _core


@pytest.mark.parametrize("shape, axis", [((1000,), None), ((7, 5), 0), ((3, 4, 5), (0, 2))])
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_made_reduction_agrees_with_numpy(shape, axis, keepdims):
    total = _core.create_reduction_func(
        "my_sum", ("q->q", ("d->d", ("in0 * 2", None, None))), ("in0", "a + b", "out0 = a", None), 0
    )
    whole = np.arange(np.prod(shape)).reshape(shape)
    for values, factor in ((whole, 1), (whole.astype("i4"), 1), (whole.astype("f4"), 2)):
        got = total(cp.asarray(values), axis=axis, keepdims=keepdims)
        expected = factor * values.sum(axis=axis, keepdims=keepdims)
        assert got.dtype == ("d" if factor == 2 else "q")
        np.testing.assert_array_equal(got.get(), expected)
    out = cp.empty(total(cp.asarray(whole), axis=axis).shape, "f4")
    assert total(cp.asarray(whole), axis=axis, out=out) is out
    np.testing.assert_array_equal(out.get(), whole.sum(axis=axis))


def test_a_made_reduction_refuses_what_it_has_no_loop_for():
    total = _core.create_reduction_func("my_sum", ("f->f",), ("in0", "a + b", "out0 = a", None), 0)
    with pytest.raises(TypeError, match="no loop for complex64"):
        total(cp.ones(3, "F"))
    with pytest.raises(TypeError, match="Argument 'a' has incorrect type"):
        total(np.ones(3, "f"))
    least = _core.create_reduction_func(
        "my_min", ("f->f",), ("in0", "min(a, b)", "out0 = a", None), None
    )
    with pytest.raises(ValueError, match="no identity"):
        least(cp.ones(0, "f"))


def test_products_are_never_asked_for_more_digits_than_they_have():
    from trilane.cupy._core import _routines_linalg

    assert _core.get_compute_type("f") == _routines_linalg.COMPUTE_TYPE_DEFAULT
    _core.set_compute_type("f", _routines_linalg.COMPUTE_TYPE_TF32)
    assert _core.get_compute_type("f") == _routines_linalg.COMPUTE_TYPE_TF32
    _core.set_compute_type("f", _routines_linalg.COMPUTE_TYPE_DEFAULT)
    with pytest.raises(NotImplementedError, match="float64"):
        _core.set_compute_type("f", _routines_linalg.COMPUTE_TYPE_FP64)


def test_a_masked_array_is_a_value_error():
    class Masked:
        __cuda_array_interface__ = {
            "shape": (3,),
            "typestr": "<f4",
            "data": (0, False),
            "version": 3,
            "mask": cp.ones(3, bool),
        }

    with pytest.raises(ValueError, match="does not support masked arrays"):
        cp.asarray(Masked())
