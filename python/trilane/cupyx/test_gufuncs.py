"""GeneralizedUFunc against NumPy's functions of several axes."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.cupyx as cupyx


def whole(*shape, dtype="d"):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


product = cupyx.GeneralizedUFunc(lambda a, b: a @ b, "(i,j),(j,k)->(i,k)", "product")
total = cupyx.GeneralizedUFunc(lambda a: a.sum(), "(i)->()", "total")


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (6, 3, 2))]
)
def test_loops_broadcast(shapes, batched):
    function = cupyx.GeneralizedUFunc(
        lambda a, b: a @ b, "(i,j),(j,k)->(i,k)", supports_batched=batched
    )
    a, b = (whole(*shape) for shape in shapes)
    np.testing.assert_array_equal(function(cp.asarray(a), cp.asarray(b)).get(), a @ b)


@pytest.mark.parametrize("axes", [[(0, 1), (1, 2), (0, 2)], [(-2, -1), (0, 1), (2, 0)]])
def test_axes_are_where_the_core_dimensions_are(axes):
    a, b = whole(3, 3, 3), whole(3, 3, 3) + 1
    got = product(cp.asarray(a), cp.asarray(b), axes=axes)
    np.testing.assert_array_equal(got.get(), np.matmul(a, b, axes=axes))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axis_and_keepdims(axis, keepdims):
    a = whole(2, 3, 4)
    got = total(cp.asarray(a), axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(got.get(), a.sum(axis=axis, keepdims=keepdims))


def test_out_dtype_and_order():
    a, b = cp.asarray(whole(4, 2, 3)), cp.asarray(whole(3, 2))
    out = cp.empty((4, 2, 2), "F")
    assert product(a, b, out=out) is out
    np.testing.assert_array_equal(out.get(), a.get() @ b.get())
    assert product(a, b, dtype="f").dtype == "f"
    assert product(a, b, order="F").f_contiguous
    with pytest.raises(TypeError):
        product(a, b, out=cp.empty((4, 2, 2), "i"))
    with pytest.raises(ValueError, match="shape"):
        product(a, b, out=cp.empty((4, 2, 3)))


def test_out_is_written_by_a_function_that_takes_it():
    def copy(x, out=None):
        out[...] = x

    function = cupyx.GeneralizedUFunc(copy, "(i)->(i)", supports_out=True)
    a, out = whole(3, 4), cp.zeros((3, 4))
    function(cp.asarray(a), out=out)
    np.testing.assert_array_equal(out.get(), a)


def test_functions_for_types():
    called = []

    def of(kind):
        return lambda a: called.append(kind) or a

    function = cupyx.GeneralizedUFunc(
        of("any"), "(i)->(i)", signatures=[("i->i", of("i")), ("d->d", of("d"))]
    )
    for dtype, casting in (("i", "no"), ("d", "no"), ("f", "no"), ("f", "same_kind")):
        function(cp.ones(2, dtype), casting=casting)
    assert called == ["i", "d", "any", "d"]
    assert function(cp.ones(2), signature="i->i", casting="unsafe").dtype == "i"
    with pytest.raises(TypeError, match="No loop"):
        function(cp.ones(2), signature="f->f")


def test_optional_and_broadcastable_dimensions():
    function = cupyx.GeneralizedUFunc(lambda a, b: a @ b, "(m?,n),(n,p?)->(m?,p?)")
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4))]
    for shape_a, shape_b in shapes:
        a, b = whole(*shape_a), whole(*shape_b)
        np.testing.assert_array_equal(function(cp.asarray(a), cp.asarray(b)).get(), a @ b)
    apart = cupyx.GeneralizedUFunc(lambda a, b: a + b, "(i|1),(i)->(i)")
    np.testing.assert_array_equal(apart(cp.ones(1), cp.arange(3.0)).get(), [1, 2, 3])
    with pytest.raises(ValueError):
        apart(cp.ones(3), cp.arange(1.0))


@pytest.mark.parametrize("signature", ["(i)", "(i)-(i)", "i->(i)", "(i)(i)->(i)", "()->()->"])
def test_what_is_no_signature_is_refused(signature):
    with pytest.raises(ValueError, match="gufunc signature"):
        cupyx.GeneralizedUFunc(lambda a: a, signature)
