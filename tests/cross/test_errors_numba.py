"""Wrong Numba programs: each gets an error of the class that its users catch, and the device works
afterwards."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trilane import numba
from trilane.numba import cuda
from trilane.numba.core.errors import TypingError, UnsupportedError
from trilane.numba.cuda.cudadrv.driver import CudaAPIError, LinkerError


@pytest.fixture
def on_cpu(device):
    # As CUDA does, the cuda device keeps a fault until the process ends.
    if device != "cpu":
        pytest.skip("a fault is final on a GPU")


@cuda.jit
def add(a, b, n):
    i = cuda.grid(1)
    if i < n:
        a[i] += b[i]


@pytest.fixture
def d():
    return cuda.to_device(np.zeros(100, np.float32))


@pytest.fixture(autouse=True)
def works_afterwards():
    yield
    x = np.ones(100, np.float32)
    add[1, 128](x, x.copy(), 100)
    assert (x == 2).all()


LAUNCHES = {
    "too few arguments": (lambda d: add[1, 1](d, d), TypingError, "3 arguments but 2"),
    "too many": (lambda d: add[1, 1](d, d, 1, 1), TypingError, "3 arguments but 4"),
    "string": (lambda d: add[1, 1]("abc", d, 1), TypeError, "Cannot determine Numba type.*str"),
    "list": (lambda d: add[1, 1]([1, 2], d, 1), TypeError, "Cannot determine Numba type.*list"),
    "None": (lambda d: add[1, 1](None, d, 1), TypingError, r"getitem.*(?s:.*)a\[i\]"),
    "not configured": (lambda d: add(d, d, 1), ValueError, "launch configuration"),
    "block of a float": (lambda d: add[1, 4.0], TypeError, "blockdim.*4.0"),
    "block of NaN": (lambda d: add[1, float("nan")], TypeError, "blockdim.*nan"),
    "huge block": (
        lambda d: add[1, 2048](d, d, 1), CudaAPIError,
        r"\[1\] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE.*2048.*1024",
    ),
    "empty block": (lambda d: add[1, 0](d, d, 1), CudaAPIError, "empty block"),
    "negative block": (lambda d: add[1, -5](d, d, 1), CudaAPIError, "-5"),
    "huge grid": (lambda d: add[(1, 70000), 1](d, d, 1), CudaAPIError, "70000.*65535"),
    "four dimensions": (lambda d: add[(1, 1, 1, 1), 1], ValueError, "1, 2 or 3"),
    "no block": (lambda d: add[1], ValueError, "griddim and blockdim"),
    "negative shared": (lambda d: add[1, 1, 0, -1](d, d, 1), CudaAPIError, "got -1 bytes"),
    "too much dynamic shared": (
        lambda d: add[1, 1, 0, 60000](d, d, 1), CudaAPIError, "60000.*49152",
    ),
    "huge array": (
        lambda d: cuda.device_array(1 << 48), CudaAPIError,
        r"\[2\] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY",
    ),
    "unknown dtype": (lambda d: cuda.device_array(10, "nosuch"), TypeError, "nosuch"),
    "shape of a copy": (
        lambda d: d.copy_to_host(np.zeros(5, np.float32)), ValueError, "incompatible shape",
    ),
    "dtype of a copy": (
        lambda d: d.copy_to_host(np.zeros(100, np.int64)), TypeError, "incompatible dtype",
    ),
    "no such device": (lambda d: cuda.select_device(99), CudaAPIError, "99"),
    "negative tasks": (lambda d: add.forall(-1)(d, d, 1), ValueError, "negative task count: -1"),
    "unknown option": (lambda d: cuda.jit(frob=1)(lambda a: None), KeyError, "frob"),
    "ufunc of no Python function": (
        lambda d: numba.vectorize(["float32(float32)"], target="cuda")(math.sin),
        TypeError, r"Python function is expected, got builtin_function_or_method",
    ),
    "generalised ufunc of none": (
        lambda d: numba.guvectorize(["void(f4[:], f4[:])"], "(n)->(n)", target="cuda")(math.sin),
        TypeError, r"Python function is expected, got builtin_function_or_method",
    ),
    "ufunc for the processor": (
        lambda d: numba.vectorize(["float32(float32)"])(lambda x: x),
        NotImplementedError, "numba.vectorize",
    ),
    "code for the processor": (lambda d: numba.njit(math.sin), NotImplementedError, "numba.njit"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_wrong_call(name, d):
    call, error, text = LAUNCHES[name]
    with pytest.raises(error, match=text):
        call(d)


def undefined(a):
    a[0] = nosuch  # noqa: F821


def unknown_attribute(a):
    a[0] = math.nosuch(1.0)


def string(a):
    a[0] = "abc"


def a_list(a):
    b = [1, 2]
    b.append(3)
    a[0] = b[2]


def returns(a):
    return a[0]


def two_indices(a):
    a[0, 0] = 1


def text_index(a):
    a["x"] = 1


def tries(a):
    try:
        a[0] = 1
    except ValueError:
        a[0] = 2


def opens(a):
    with open("x"):
        a[0] = 1


KERNELS = [
    (undefined, TypingError, "name 'nosuch' is not defined"),
    (unknown_attribute, TypingError, "Unknown attribute 'nosuch' of math"),
    (string, TypingError, "unicode_type"),
    (a_list, UnsupportedError, "list"),
    (returns, TypingError, "void return type"),
    (two_indices, TypingError, "2 indices"),
    (text_index, TypingError, "unicode_type"),
    (tries, UnsupportedError, "try"),
    (opens, UnsupportedError, "with"),
]


@pytest.mark.parametrize(("function", "error", "text"), KERNELS, ids=lambda v: str(v)[:20])
def test_a_wrong_kernel_shows_its_line(function, error, text, d):
    with pytest.raises(error, match=text) as caught:
        cuda.jit(function)[1, 1](d)
    shown = str(caught.value)
    assert "test_errors_numba.py" in shown and "^" in shown and function.__name__ in shown


def test_shared_arrays_too_large(d):
    @cuda.jit
    def one(a):
        buffer = cuda.shared.array(20000, numba.float32)
        buffer[0] = a[0]
        a[1] = buffer[0]

    with pytest.raises(LinkerError, match="too much shared data: 'buffer' has 80000.*49152") as e:
        one[1, 32](d)
    assert "buffer = cuda.shared.array(20000" in str(e.value)

    @cuda.jit
    def two(a):
        first = cuda.shared.array(10000, numba.float32)
        second = cuda.shared.array((100, 100), numba.float32)
        first[0] = second[0, 0] = a[0]
        a[1] = first[0]

    with pytest.raises(LinkerError, match="'second' has 40000 bytes, 80000 with those before it"):
        two[1, 32](d)

    @cuda.jit(device=True)
    def part(a):
        inner = cuda.shared.array(8000, numba.float32)
        inner[cuda.threadIdx.x] = a[0]
        cuda.syncthreads()
        return inner[1]

    @cuda.jit
    def three(a):
        outer = cuda.shared.array(8000, numba.float32)
        outer[cuda.threadIdx.x] = part(a)
        cuda.syncthreads()
        a[0] = outer[1]

    with pytest.raises(LinkerError, match="too much shared data"):
        three[1, 32](d)


@pytest.mark.usefixtures("on_cpu")
def test_a_kernel_that_dies(d):
    @cuda.jit
    def wild(a):
        a[1 << 42] = 1

    with pytest.raises(CudaAPIError, match="CUDA_ERROR_ILLEGAL_ADDRESS.*wild") as caught:
        wild[1, 1](d)
    assert caught.value.code == 700


def test_exceptions_of_kernels(d):
    @cuda.jit(debug=True, opt=False)
    def raises(a):
        if cuda.threadIdx.x == 3:
            raise ValueError("wrong", 5)

    with pytest.raises(ValueError, match=r"tid=\[3, 0, 0\] ctaid=\[0, 0, 0\].*wrong"):
        raises[1, 8](d)


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("operator", ["/", "//", "%"])
def test_division_by_zero_raises_with_debug(kind, operator, d):
    names: dict[str, object] = {}
    exec(f"def divide(a, n):\n    a[0] = 7\n    a[0] = 1 {operator} n\n", names)  # noqa: S102
    divide = cuda.jit(debug=True, opt=False)(names["divide"])
    with pytest.raises(ZeroDivisionError, match=r"tid=\[0, 0, 0\] ctaid=\[0, 0, 0\]"):
        divide[1, 1](d, kind(0))
    assert d.copy_to_host()[0] == 7
    divide[1, 1](d, kind(2))
    assert d.copy_to_host()[0] == eval(f"1 {operator} {kind(2)}")  # noqa: S307
    quiet = cuda.jit(names["divide"])
    quiet[1, 1](d, kind(0))


def test_division_by_zero_in_a_called_function(d):
    @cuda.jit(device=True)
    def ratio(x, y):
        return x / y

    @cuda.jit(debug=True, opt=False)
    def outer(a, n):
        a[1] = 3
        a[0] = ratio(1, n) if n < 5 else 2
        a[1] = 4

    with pytest.raises(ZeroDivisionError):
        outer[1, 1](d, 0)
    assert d.copy_to_host()[1] == 3
    outer[1, 1](d, 9)
    assert list(d.copy_to_host()[:2]) == [2, 4]
