"""Each feature of the language: a kernel of one thread against the same Python function."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trilane.numba import cuda, float64
from trilane.numba.core.errors import TypingError, UnsupportedError

OFFSET = 3
TABLE = (1, 2.5, 4)
WEIGHTS = np.arange(4.0)


def for_else(o, x):
    total = 0
    for j in range(5):
        if j == 3:
            continue
        total += j * 0.5
    else:
        total += 100
    o[0] = total


def while_break(o, x):
    a, b = 0, 1
    while b < 100:
        a, b = b, a + b
        if b == 13:
            break
    else:
        a = -1
    o[0] = a


def division(o, x):
    o[0] = -7 // 2
    o[1] = -7 % 3
    o[2] = x // -2
    o[3] = x % -2.5
    o[4] = 7 / 2
    o[5] = int(-x) // 3
    o[6] = int(-x) % 3
    o[7] = x**2


def rounding(o, x):
    o[0] = round(2.5)
    o[1] = round(x * 1.2345, 2)
    o[2] = int(x)
    o[3] = abs(-x)
    o[4] = min(3, 2.5)
    o[5] = max(1, 2, 3)


def tuples(o, x):
    u = (4, 5, 6)
    total = 0.0
    for v in TABLE:
        total += v
    for i, v in enumerate(u):
        total += i * v
    for p, q in zip(u, (1, 2, 3)):
        total += p * q
    a, (b, c) = 1, (2, x)
    o[0] = total
    o[1] = len(u) + u[-1]
    o[2] = a + b + c
    o[3] = (u + (9,))[3]
    o[4] = 5 in u


def conditions(o, x):
    o[0] = 1 < x < 10
    o[1] = 1 < x < 2 < 3
    o[2] = 0 or x
    o[3] = x and 7
    o[4] = 1 if x > 2 else 2.5
    o[5] = not x


def later_variable(o, x):
    for i in range(5):
        if i > 0:
            o[i] = previous  # noqa: F821
        previous = i * 10


def changing_type(o, x):
    n = 1
    o[0] = n // 2
    for i in range(3):
        n = n + 0.5
    o[1] = n


def inner_functions(o, x):
    def shifted(v):
        return v + x

    square = lambda v: v * v  # noqa: E731
    o[0] = shifted(1)
    o[1] = square(3) + square(x)


def constants(o, x):
    o[0] = WEIGHTS[2] + OFFSET + TABLE[1]
    o[1] = math.pi


def functions(o, x):
    o[0] = math.sin(x)
    o[1] = math.hypot(x, 2)
    o[2] = math.floor(x)
    o[3] = np.sqrt(x)
    m, e = math.frexp(x)
    o[4] = m + e
    o[5] = math.copysign(x, -0.0)


FEATURES = [
    for_else, while_break, division, rounding, tuples, conditions, later_variable, changing_type,
    inner_functions, constants, functions,
]  # fmt: skip


@pytest.mark.parametrize("function", FEATURES, ids=lambda f: f.__name__)
def test_feature_is_python(function):
    expected, got = np.zeros(8), np.zeros(8)
    function(expected, 5.5)
    cuda.jit(function)[1, 1](got, 5.5)
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def views(o, m):
    row = m[1]
    o[0] = row[2]
    o[1] = m[-1, -1]
    o[2] = m.T[2, 1]
    o[3] = m.shape[1] + m.size + m.ndim
    o[4] = m[:, 1][1]
    o[5] = row[1:][0]
    o[6] = m[::-1, ::2][0, 1]
    m[0, :] = 7
    o[7] = m[0, 1]


@pytest.mark.parametrize("order", ["C", "F"])
def test_views(order):
    m = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    other = m.copy(order)
    expected, got = np.zeros(8), np.zeros(8)
    views(expected, m)
    cuda.jit(views)[1, 1](got, other)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(other, m)


def test_recursion_and_defaults():
    @cuda.jit(device=True)
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @cuda.jit(device=True)
    def add(a, b=2.0):
        return a + b

    @cuda.jit
    def kernel(o):
        o[0] = factorial(5)
        o[1] = add(1)
        o[2] = add(1, b=3)

    o = np.zeros(3)
    kernel[1, 1](o)
    assert o.tolist() == [120, 3, 4]


def test_shared_memory_static_and_dynamic():
    @cuda.jit
    def kernel(o):
        fixed = cuda.shared.array(4, float64)
        i = cuda.threadIdx.x
        fixed[i] = i
        cuda.syncthreads()
        o[i] = fixed[3 - i]

    @cuda.jit
    def dynamic(o):
        memory = cuda.shared.array(0, float64)
        i = cuda.threadIdx.x
        memory[i] = i
        cuda.syncthreads()
        o[i] = memory[3 - i] + len(memory)

    o = np.zeros(4)
    kernel[1, 4](o)
    assert o.tolist() == [3, 2, 1, 0]
    dynamic[1, 4, 0, 64](o)
    assert o.tolist() == [11, 10, 9, 8]


def test_raise_reaches_python():
    @cuda.jit
    def kernel(a):
        if a[cuda.threadIdx.x] < 0:
            raise ValueError("negative")

    kernel[1, 2](np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="negative"):
        kernel[1, 4](np.array([1.0, 2.0, -1.0, 3.0]))


def test_records():
    records = np.zeros(2, np.dtype([("x", np.float32), ("y", np.int32)]))

    @cuda.jit
    def kernel(r):
        r[0].x = 3.5
        r[1]["y"] = r[0].x * 2

    kernel[1, 1](records)
    assert records[0]["x"] == 3.5
    assert records[1]["y"] == 7


def test_errors_show_the_place():
    @cuda.jit
    def kernel(o):
        o[0] = o + "a"

    with pytest.raises(TypingError) as caught:
        kernel[1, 1](np.zeros(1))
    assert 'o[0] = o + "a"' in str(caught.value)
    assert "^^^^^^^" in str(caught.value)
    assert "array(float64, 1d, C), unicode_type" in str(caught.value)


def test_construct_that_kernels_lack():
    @cuda.jit
    def kernel(o):
        o[0] = sum([x for x in o])

    with pytest.raises(UnsupportedError, match="list comprehension"):
        kernel[1, 1](np.zeros(1))


def test_functions_made_by_exec():
    names = {}
    exec("def doubled(o, x):\n    o[0] = 2 * x\n", names)
    text = "def tripled(o, x):\n    o[0] = 3 * x\n"
    exec(text, names)
    o = np.zeros(1)
    cuda.jit(names["doubled"])[1, 1](o, 4.0)
    assert o[0] == 8
    cuda.jit(names["tripled"])[1, 1](o, 4.0)
    assert o[0] == 12


@pytest.mark.parametrize("align", [False, True])
def test_records_keep_numpys_layout(align):
    dtype = np.dtype([("a", "i4"), ("b", "f8"), ("c", "i1")], align=align)

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i].b = x[i].a * 2

    x = np.zeros(30, dtype)
    x["a"] = np.arange(30)
    x["c"] = 7
    double[1, 32](x)
    np.testing.assert_array_equal(x["b"], 2.0 * np.arange(30))
    np.testing.assert_array_equal(x["a"], np.arange(30))
    assert (x["c"] == 7).all()


def test_pinned_host_arrays():
    x = np.arange(16.0)
    with cuda.pinned(x):
        assert cuda.to_device(x).copy_to_host()[3] == 3


@cuda.jit(device=True)
def sum_through_local(a, n, shape, backwards):
    box = cuda.local.array(shape, np.int64)
    for i in range(n):
        box[i, 0] = a[i]
    if backwards:
        n = n - 1.5  # would make n a float where the two ways meet
    total = 0
    for i in range(shape[0]):
        total += box[i, 0]
    return total + box[n - 1, 0]


@cuda.jit(device=True)
def outer_shape(a, n):
    return sum_through_local(a, n, (n, 2), False)


def test_constants_decide_in_device_functions():
    @cuda.jit
    def kernel(a, out):
        out[0] = sum_through_local(a, 3, (3, 1), False)
        out[1] = sum_through_local(a, 4, (4, 1), False)
        out[2] = outer_shape(a, 2)

    out = np.zeros(3, np.int64)
    kernel[1, 1](np.array([1, 2, 3, 4]), out)
    assert out.tolist() == [6 + 3, 10 + 4, 3 + 2]


def test_a_recursion_that_counts_down_is_one_function():
    @cuda.jit(device=True)
    def triangle(n):
        if n:
            return n + triangle(n - 1)
        return 0

    @cuda.jit
    def kernel(out):
        out[0] = triangle(300)

    out = np.zeros(1, np.int64)
    kernel[1, 1](out)
    assert out[0] == 300 * 301 // 2
    assert kernel.inspect_cuda()[next(iter(kernel.overloads))].count("static __device__") <= 4


def test_a_device_function_of_integers_passes_on_what_another_raised():
    @cuda.jit(device=True)
    def inverse(x):
        if x == 0:
            raise ValueError("zero")
        return 100 // x

    @cuda.jit(device=True)
    def shifted(x):
        return inverse(x) + 1

    @cuda.jit(debug=True, opt=False)
    def kernel(x, out):
        out[0] = shifted(x)

    out = np.zeros(1, np.int64)
    kernel[1, 1](4, out)
    assert out[0] == 26
    with pytest.raises(ValueError, match="zero"):
        kernel[1, 1](0, out)
