"""NumPy's functions of whole arrays in kernels, and steps of zero, against NumPy and Python."""

from __future__ import annotations

import numpy as np
import pytest

from trilane.numba import cuda, float64, int64
from trilane.numba.core.errors import TypingError, UnsupportedError

ARRAYS = {
    "floats": np.array([[1.5, -2.0, 0.25], [3.0, 0.0, -7.5]]),
    "nan": np.array([1.0, np.nan, -3.0, 2.0]),
    "integers": np.array([3, -1, 7, 7], np.int32),
    "bytes": np.array([200, 100, 0], np.uint8),
    "strided": np.arange(24.0).reshape(4, 6)[::-2, 1::2],
}


def reductions(o, a):
    o[0] = np.sum(a)
    o[1] = a.prod()
    o[2] = a.mean()
    o[3] = np.var(a)
    o[4] = a.std()
    o[5] = a.min()
    o[6] = np.max(a)
    o[7] = a.argmin()
    o[8] = np.argmax(a)
    o[9] = np.all(a)
    o[10] = a.any()
    o[11] = np.count_nonzero(a)
    o[12] = np.ptp(a)


def of_numbers(o, a):
    o[0] = np.nansum(a)
    o[1] = np.nanprod(a)
    o[2] = np.nanmean(a)
    o[3] = np.nanvar(a)
    o[4] = np.nanmin(a)
    o[5] = np.nanmax(a)


@pytest.mark.parametrize("function", [reductions, of_numbers])
@pytest.mark.parametrize("name", ARRAYS)
def test_reductions(function, name):
    got, expected = np.zeros(13), np.zeros(13)
    cuda.jit(function)[1, 1](got, ARRAYS[name])
    function(expected, ARRAYS[name])
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_the_least_of_nothing():
    @cuda.jit
    def least(o, a):
        o[0] = a.min()

    with pytest.raises(ValueError, match="zero-size array"):
        least[1, 1](np.zeros(1), np.zeros(0))


CASES = (np.array([1.0, 2.0]), np.array([[3, 4]]), np.array([5.0, 6.0])[::-1])


def test_a_tuple_of_several_arrays_is_unrolled():
    @cuda.jit
    def kernel(o):
        i = 0
        for case in cuda.literal_unroll(CASES):
            o[i] = np.sum(case) + case.ndim
            i += 1  # noqa: SIM113

    o = np.zeros(3)
    kernel[1, 1](o)
    assert o.tolist() == [4, 9, 12]
    assert cuda.literal_unroll(CASES) is CASES


COMPLEX = np.array([1 + 2j, -1j, 1 - 2j, np.nan + 1j])


@pytest.mark.parametrize("ufunc, inputs, dtype", [
    (np.sin, (ARRAYS["strided"],), float),
    (np.sin, (2.5,), float),
    (np.hypot, (ARRAYS["floats"], ARRAYS["floats"][0]), float),
    (np.add, (ARRAYS["integers"], 2), np.int32),
    (np.less, (np.array([-1, 0, 1]), np.array([1, 0, 2**63], np.uint64)), bool),
    (np.equal, (np.array([2**63 - 1]), np.array([2**63], np.uint64)), bool),
    (np.less, (COMPLEX, COMPLEX[::-1]), bool),
    (np.greater_equal, (COMPLEX, COMPLEX[1]), bool),
    (np.maximum, (COMPLEX, COMPLEX[::-1]), complex),
    (np.fmin, (COMPLEX, COMPLEX[::-1]), complex),
    (np.log2, (COMPLEX[:3],), complex),
    (np.logical_not, (ARRAYS["bytes"],), bool),
])  # fmt: skip
def test_ufuncs_with_an_array_for_the_result(ufunc, inputs, dtype):
    source = ", ".join(f"a{i}" for i in range(len(inputs)))
    scope = {"np": np}
    exec(f"def kernel({source}, o):\n    np.{ufunc.__name__}({source}, o)", scope)
    expected = ufunc(*inputs)
    got = np.zeros(expected.shape or 1, dtype)
    cuda.jit(scope["kernel"])[1, 1](*inputs, got)
    np.testing.assert_allclose(got, np.broadcast_to(expected, got.shape), rtol=1e-14)


def test_ufunc_by_name_and_its_errors():
    @cuda.jit
    def named(a, o):
        np.cos(a, out=o[1:])

    a, o = np.arange(3.0), np.zeros(4)
    named[1, 1](a, o)
    np.testing.assert_allclose(o[1:], np.cos(a))

    @cuda.jit
    def without(a, o):
        o[0] = np.cos(a)[0]

    with pytest.raises(UnsupportedError, match="without one for the result"):
        without[1, 1](a, o)


def test_signatures_of_device_functions_convert():
    def plain(a, b):
        return a + b

    cut = cuda.jit(["(int64, int64)"], device=True)(plain)
    both = cuda.jit([int64(int64, int64), "(float64, float64)"], device=True)(plain)
    rounded = cuda.jit(int64(float64, float64), device=True)(plain)

    @cuda.jit
    def kernel(o, x, y):
        o[0] = cut(x, y)
        o[1] = both(x, y)
        o[2] = both(1, y)
        o[3] = rounded(x, y)

    o = np.zeros(4)
    kernel[1, 1](o, 1.5, 2.75)
    assert o.tolist() == [3, 4.25, 3.75, 4]
    with pytest.raises(TypingError, match="Invalid use of type.*with parameters .complex128"):
        kernel[1, 1](o, 1j, 2j)


def count(o, start, stop, step):
    for _ in range(start, stop, step):
        o[0] += 1
    o[1] = len(range(start, stop, step))


def test_a_step_of_zero_ends():
    for values in ((0, 5), (5, 0)):
        for kind in (np.int64, np.uint64):
            o = np.zeros(2)
            cuda.jit(count)[1, 1](o, *map(kind, values), kind(0))
            assert o.tolist() == [0, 0]
    with pytest.raises(ValueError, match="must not be zero"):
        cuda.jit(debug=True, opt=False)(count)[1, 1](np.zeros(2), 0, 5, 0)


@cuda.jit(device=True)
def put_behind(r, y):
    r[1:] = y


@cuda.jit
def add_into(r, x, y):
    np.add(x, y, r)


@cuda.jit
def assign(r, y):
    r[:] = y


@cuda.jit
def assign_in_a_function(r, y):
    put_behind(r, y)
    r[0] = 7


@pytest.mark.parametrize(
    ("kernel", "shapes"),
    [
        (add_into, [(3,), (3,), (2,)]),
        (add_into, [(5,), (3,), (3,)]),
        (add_into, [(1,), (3,), (3,)]),
        (add_into, [(2, 3), (2, 3), (2,)]),
        (assign, [(3,), (2,)]),
        (assign, [(2,), (6,)]),
        (assign, [(4, 3), (4, 2)]),
        (assign_in_a_function, [(3,), (3,)]),
    ],
)
def test_arrays_that_do_not_fit_raise(kernel, shapes):
    """They were read past their end."""
    arrays = [np.ones(shape) for shape in shapes[1:]]
    result = np.full(shapes[0], -1.0)
    with pytest.raises(ValueError, match=r"tid=\[0, 0, 0\].*cannot be broadcast to the shape"):
        kernel[1, 1](result, *arrays)
        cuda.synchronize()
    whole = np.zeros(3)
    assign[1, 1](whole, np.arange(3.0))
    np.testing.assert_array_equal(whole, [0, 1, 2])


@pytest.mark.parametrize(
    "shapes", [[(2, 3), (3,), (2, 1)], [(2, 3), (1, 3), (1,)], [(0,), (0,), (1,)]]
)
def test_arrays_that_fit_are_broadcast(shapes):
    x, y = (np.arange(float(np.prod(s))).reshape(s) for s in shapes[1:])
    result = np.full(shapes[0], -1.0)
    add_into[1, 1](result, x, y)
    np.testing.assert_array_equal(result, np.broadcast_to(x + y, shapes[0]))
