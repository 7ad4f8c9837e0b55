"""Wrong CuPy programs: each gets an error of the class that its users catch, and the device works
afterwards."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy.cuda.compiler import CompileException
from trilane.cupy.cuda.driver import CUDADriverError
from trilane.cupy.cuda.memory import OutOfMemoryError
from trilane.cupy.cuda.runtime import CUDARuntimeError

SOURCE = r"""
extern "C" {
__global__ void add(float *a, const float *b, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) a[i] += b[i];
}
__global__ void dynamic(float *p) {
    extern __shared__ float s[];
    s[threadIdx.x] = 1;
    p[threadIdx.x] = s[threadIdx.x];
}
__global__ void wild(int *p) { p[1LL << 42] = 1; }
__global__ void asserts(int n) { assert(n == 0); }
__global__ void traps(int n) { if (n == 1) __trap(); }
}"""


@pytest.fixture
def on_cpu(device):
    # As CUDA does, the cuda device keeps a fault until the process ends.
    if device != "cpu":
        pytest.skip("a fault is final on a GPU")


@pytest.fixture
def module():
    return cp.RawModule(code=SOURCE)


@pytest.fixture
def a():
    return cp.zeros(100, cp.float32)


@pytest.fixture(autouse=True)
def works_afterwards(module):
    yield
    x = cp.ones(100, cp.float32)
    module.get_function("add")((1,), (128,), (x, x.copy(), cp.int32(100)))
    assert float((x + 1).sum()) == 300


LAUNCHES = {
    "too few arguments": (lambda f, a: f((1,), (1,), (a, a)), TypeError, "got 2, expected 3"),
    "too many": (lambda f, a: f((1,), (1,), (a, a, 1, 1)), TypeError, "got 4"),
    "host array": (
        lambda f, a: f((1,), (1,), (np.zeros(9, np.float32), a, 1)), TypeError,
        r"Unsupported type <class 'numpy\.ndarray'>",
    ),
    "float for int": (lambda f, a: f((1,), (1,), (a, a, 1.5)), TypeError, "'n'.*1.5"),
    "string": (lambda f, a: f((1,), (1,), (a, a, "x")), TypeError, "'n'.*str"),
    "huge block": (
        lambda f, a: f((1,), (2048,), (a, a, 1)), CUDADriverError,
        "CUDA_ERROR_INVALID_VALUE.*2048.*1024",
    ),
    "empty grid": (lambda f, a: f((0,), (1,), (a, a, 1)), CUDADriverError, "empty grid"),
    "block of NaN": (lambda f, a: f((1,), (float("nan"),), (a, a, 1)), TypeError, "nan"),
    "no arguments": (lambda f, a: f((1,), (1,)), TypeError, "args"),
    "unknown keyword": (
        lambda f, a: f((1,), (1,), (a, a, 1), sharedmem=5), TypeError, "sharedmem",
    ),
    "negative shared": (
        lambda f, a: f((1,), (1,), (a, a, 1), shared_mem=-1), CUDADriverError, "got -1 bytes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_wrong_launch(name, module, a):
    call, error, text = LAUNCHES[name]
    with pytest.raises(error, match=text):
        call(module.get_function("add"), a)


def _raw(text, name="f", **kwargs):
    return cp.RawKernel(text, name, **kwargs)((1,), (1,), (cp.zeros(3, cp.int32),))


EMPTY = 'extern "C" __global__ void f(int *p) { }'
MULTIPLY = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * y", "multiply2")

# What a compiler says is in its own words: clang's on the cpu device, NVRTC's on a GPU.
CALLS = {
    "undeclared variable": (
        lambda: _raw('extern "C" __global__ void f(int *p) {\n    p[0] = x;\n}'),
        CompileException,
        {
            "cpu": "(?s):2:.*undeclared identifier 'x'",
            "cuda": r'kernel\.cu\(2\): error: identifier "x" is undefined',
        },
    ),
    "missing header": (lambda: _raw("#include <nosuch.h>\n" + EMPTY), CompileException, "nosuch.h"),
    "unknown option": (lambda: _raw(EMPTY, options=("--frob",)), CompileException, "--frob"),
    "options of a string": (lambda: _raw(EMPTY, options="-std=c++17"), TypeError, "options"),
    "static shared memory": (
        lambda: _raw(
            'extern "C" __global__ void f(int *p) { __shared__ int big[20000];'
            " big[threadIdx.x] = 1; __syncthreads(); p[0] = big[1]; }"
        ),
        CompileException,
        {
            "cpu": "'big' has 80000 bytes.*49152",
            "cuda": r"'f' uses too much shared data \(0x13880 bytes, 0xc000 max\)",
        },
    ),
    "huge array": (lambda: cp.zeros(1 << 50), OutOfMemoryError, "out of device memory.*8192.0 TiB"),
    "huge malloc": (
        lambda: cp.cuda.runtime.malloc(1 << 55), CUDARuntimeError, "cudaErrorMemoryAllocation",
    ),
    "unknown dtype": (lambda: cp.zeros(3, "nosuch"), TypeError, "nosuch"),
    "objects": (lambda: cp.array([object()]), ValueError, "Unsupported dtype object"),
    "host array on the right": (
        lambda: cp.ones(3) + np.ones(3), TypeError, r"Unsupported type <class 'numpy\.ndarray'>",
    ),
    "host array on the left": (
        lambda: np.ones(3) + cp.ones(3), TypeError, r"Unsupported type <class 'numpy\.ndarray'>",
    ),
    "host array in a function": (
        lambda: cp.add(cp.ones(2), np.ones(2)), TypeError, r"Unsupported type <class 'numpy",
    ),
    "conversion by NumPy": (lambda: np.asarray(cp.ones(3)), TypeError, r"\.get\(\)"),
    "shapes": (lambda: cp.ones(3) + cp.ones(4), ValueError, r"\(3,\).*\(4,\)"),
    "reshape": (lambda: cp.ones(3).reshape(2, 2), ValueError, r"size 3.*\(2, 2\)"),
    "matmul": (lambda: cp.ones((2, 3)) @ cp.ones((2, 3)), ValueError, "mismatch"),
    "index": (lambda: cp.ones(3)[5], IndexError, "index 5.*size 3"),
    "axis": (lambda: cp.ones(3).sum(axis=2), np.exceptions.AxisError, "axis 2"),
    "truth": (lambda: bool(cp.ones(3)), ValueError, "ambiguous"),
    "cast": (
        lambda: cp.add(cp.ones(3), 1, out=cp.ones(3, cp.int32)), TypeError, "float64.*int32",
    ),
    "size of set": (lambda: cp.ones(3).set(np.ones(5)), ValueError, r"\(3,\).*\(5,\)"),
    "few arguments of a kernel": (lambda: MULTIPLY(cp.ones(3)), TypeError, "either 2 or 3.*given 1"),
    "host array for a kernel": (
        lambda: MULTIPLY(cp.ones(3, cp.float32), np.ones(3, np.float32)), TypeError,
        "Unsupported type <class 'numpy.ndarray'>",
    ),
    "dtype of a kernel": (
        lambda: MULTIPLY(cp.ones(3, cp.float32), cp.ones(3)), TypeError, "float64.*float32",
    ),
    "shapes of a kernel": (
        lambda: MULTIPLY(cp.ones(3, cp.float32), cp.ones(4, cp.float32)), ValueError, "mismatch",
    ),
    "text of a kernel": (
        lambda: cp.ElementwiseKernel("float32 x", "float32 z", "z = q", "bad")(
            cp.ones(3, cp.float32)
        ),
        CompileException, {"cpu": "'q'", "cuda": '"q" is undefined'},
    ),
    "type of a kernel's parameter": (
        lambda: cp.ElementwiseKernel("float99 x", "float32 z", "z = x", "bad"), TypeError, "float99",
    ),
    "no such device": (
        lambda: cp.cuda.Device(99).use(), CUDARuntimeError, "cudaErrorInvalidDevice.*99",
    ),
    "events never recorded": (
        lambda: cp.cuda.get_elapsed_time(cp.cuda.Event(), cp.cuda.Event()), CUDARuntimeError,
        "cudaErrorInvalidResourceHandle.*never recorded",
    ),
    "free of what is not": (
        lambda: cp.cuda.runtime.free(12345), CUDARuntimeError, "cudaErrorInvalidValue",
    ),
    "kind of a copy": (
        lambda: cp.cuda.runtime.memcpy(0, 0, 4, 99), CUDARuntimeError, "memcpy kind 99",
    ),
    "no such name": (lambda: cp.nosuch, AttributeError, "nosuch"),
    "negative shape": (lambda: cp.zeros(-1), ValueError, "negative dimensions"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call(name, device):
    call, error, text = CALLS[name]
    with pytest.raises(error, match=text[device] if isinstance(text, dict) else text):
        call()


def test_no_such_function_lists_what_there_is(module):
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_FOUND: named symbol.*add, dynamic"):
        module.get_function("nope")


def test_too_much_shared_memory_says_what_is_possible(module, a):
    dynamic = module.get_function("dynamic")
    most = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    with pytest.raises(CUDADriverError, match=f"60000.*49152.*MAX_DYNAMIC_SHARED.*{most}"):
        dynamic((1,), (1,), (a,), shared_mem=60000)
    with pytest.raises(CUDADriverError, match=f"600000 dynamic.*{most} at the very most"):
        dynamic((1,), (1,), (a,), shared_mem=600000)
    with pytest.raises(CUDADriverError, match=str(most)):
        dynamic.max_dynamic_shared_size_bytes = 1 << 22


FAULTS = [
    ("wild", 700, "cudaErrorIllegalAddress: an illegal memory access was encountered: wild"),
    ("asserts", 710, "cudaErrorAssert: device-side assert triggered: asserts: .*n == 0"),
    ("traps", 719, "cudaErrorLaunchFailure: unspecified launch failure: traps: trap"),
]


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize(("kernel", "status", "text"), FAULTS)
@pytest.mark.parametrize("caught_as", [CUDARuntimeError, CUDADriverError, RuntimeError])
def test_a_kernel_that_dies(module, a, kernel, status, text, caught_as):
    argument = a if kernel == "wild" else cp.int32(1)
    with pytest.raises(caught_as, match="^" + text) as caught:
        module.get_function(kernel)((1,), (1,), (argument,))
    assert caught.value.status == status
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, CUDARuntimeError) and str(again) == str(caught.value)


@pytest.mark.usefixtures("on_cpu")
def test_element_wise_kernels_die_as_others(a):
    asserts = cp.ElementwiseKernel("float32 x", "float32 z", "assert(x > 5); z = x", "asserts2")
    with pytest.raises(CUDARuntimeError, match="cudaErrorAssert.*x > 5"):
        asserts(a)
    wild = cp.ElementwiseKernel("raw float32 x", "float32 z", "z = x[1LL << 42]", "wild2")
    with pytest.raises(CUDARuntimeError, match="cudaErrorIllegalAddress"):
        wild(a, a)


def test_the_tables_know_the_numbers():
    assert CUDARuntimeError(700).args == ("cudaErrorIllegalAddress",)
    assert CUDARuntimeError("cudaErrorAssert").status == 710
    assert CUDADriverError(719).args == ("CUDA_ERROR_LAUNCH_FAILED",)
    assert CUDADriverError("CUDA_ERROR_ILLEGAL_ADDRESS").status == 700


def test_out_of_memory_says_each_thing_once():
    with pytest.raises(MemoryError) as caught:
        cp.zeros(1 << 50)
    assert str(caught.value).count("asked for") == 1
