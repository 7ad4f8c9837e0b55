"""Wrong PyCUDA programs: each gets an error of the class that its users catch, and the device works
afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.pycuda.autoinit as autoinit
import trilane.pycuda.driver as drv
from trilane import _core
from trilane.pycuda import gpuarray
from trilane.pycuda.compiler import SourceModule
from trilane.pycuda.elementwise import ElementwiseKernel

SOURCE = """
__global__ void add(float *a, float *b, int n) {
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
"""


@pytest.fixture
def on_cpu(device):
    # As CUDA does, the cuda device keeps a fault until the process ends.
    if device != "cpu":
        pytest.skip("a fault is final on a GPU")


@pytest.fixture
def module():
    return SourceModule(SOURCE)


@pytest.fixture
def a():
    return drv.mem_alloc(400)


@pytest.fixture(autouse=True)
def works_afterwards(module):
    yield
    x = np.ones(100, np.float32)
    module.get_function("add")(drv.InOut(x), drv.In(x.copy()), np.int32(100), block=(128, 1, 1))
    assert (x == 2).all()


ONE = {"block": (1, 1, 1)}

LAUNCHES = {
    "too few arguments": (lambda f, a: f(a, a, **ONE), TypeError, r"got 2, expected 3.*'n'"),
    "too many": (lambda f, a: f(a, a, np.int32(1), np.int32(1), **ONE), TypeError, "got 4"),
    "int64 for int": (lambda f, a: f(a, a, np.int64(1), **ONE), drv.LogicError, "'n'.*int64"),
    "float for int": (lambda f, a: f(a, a, 1.5, **ONE), TypeError, "'n'.*float 1.5"),
    "host array": (lambda f, a: f(np.zeros(4), a, np.int32(1), **ONE), TypeError, r"In\(\), Out"),
    "string": (lambda f, a: f("x", a, np.int32(1), **ONE), TypeError, r"parameter #0 \(0-based\)"),
    "no block": (lambda f, a: f(a, a, np.int32(1)), ValueError, "must specify block size"),
    "block of an int": (
        lambda f, a: f(a, a, np.int32(1), block=4), TypeError, "block must be a tuple.*got 4",
    ),
    "block of floats": (lambda f, a: f(a, a, np.int32(1), block=(4.0, 1, 1)), TypeError, "4.0"),
    "block of NaN": (
        lambda f, a: f(a, a, np.int32(1), block=(float("nan"), 1, 1)), TypeError, "nan",
    ),
    "huge block": (
        lambda f, a: f(a, a, np.int32(1), block=(2048, 1, 1)), drv.LogicError,
        "cuLaunchKernel failed: invalid argument.*2048.*1024",
    ),
    "empty block": (lambda f, a: f(a, a, np.int32(1), block=(0, 1, 1)), drv.LogicError, "empty"),
    "empty grid": (lambda f, a: f(a, a, np.int32(1), grid=(0, 1), **ONE), drv.LogicError, "empty"),
    "grid of floats": (
        lambda f, a: f(a, a, np.int32(1), grid=(100 / 50, 1), **ONE), TypeError, "grid",
    ),
    "huge grid": (
        lambda f, a: f(a, a, np.int32(1), grid=(1, 70000), **ONE), drv.LogicError, "70000.*65535",
    ),
    "unknown keyword": (
        lambda f, a: f(a, a, np.int32(1), gird=(1, 1), **ONE), ValueError, "gird",
    ),
    "stream of a number": (
        lambda f, a: f(a, a, np.int32(1), stream=5, **ONE), TypeError, "stream must be a pycuda",
    ),
    "negative shared": (
        lambda f, a: f(a, a, np.int32(1), shared=-5, **ONE), drv.LogicError, "shared: got -5",
    ),
    "not prepared": (
        lambda f, a: f.prepared_call((1, 1), (1, 1, 1), a), drv.LogicError, "not prepared",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_wrong_launch(name, module, a):
    call, error, text = LAUNCHES[name]
    with pytest.raises(error, match=text):
        call(module.get_function("add"), a)


# What a compiler says is in its own words: clang's on the cpu device, NVRTC's on a GPU.
CALLS = {
    "huge allocation": (lambda a: drv.mem_alloc(1 << 50), drv.MemoryError, "out of memory"),
    "huge pinned": (lambda a: drv.pagelocked_empty(1 << 50, np.int8), drv.MemoryError, "memory"),
    "no bytes": (lambda a: drv.mem_alloc(0), drv.LogicError, "got 0, expected > 0"),
    "bytes of a string": (lambda a: drv.mem_alloc("x"), TypeError, "str"),
    "bytes of a float": (lambda a: drv.mem_alloc(4.0), TypeError, "float"),
    "copy beyond the end": (
        lambda a: drv.memcpy_htod(a, np.zeros(1000, np.float32)), drv.LogicError,
        "4000 bytes.*400 bytes",
    ),
    "copy back beyond the end": (
        lambda a: drv.memcpy_dtoh(np.zeros(1000, np.float32), a), drv.LogicError, "400 bytes",
    ),
    "copy of a list": (lambda a: drv.memcpy_htod(a, [1, 2]), TypeError, "list"),
    "strided host array": (
        lambda a: drv.memcpy_htod(a, np.zeros((9, 9))[:, ::2]), ValueError, "not contiguous",
    ),
    "fill beyond the end": (lambda a: drv.memset_d32(a, 0, 101), drv.LogicError, "404 bytes"),
    "no such device": (lambda a: drv.Device(99), drv.LogicError, "ordinal.*99"),
    "events never recorded": (
        lambda a: drv.Event().time_since(drv.Event()), drv.LogicError, "never recorded",
    ),
    "unknown dtype": (lambda a: gpuarray.zeros(10, "nosuch"), TypeError, "nosuch"),
    "objects": (lambda a: gpuarray.to_gpu(np.array([object()])), ValueError, "object"),
    "shapes": (
        lambda a: gpuarray.zeros(10, np.float32) + gpuarray.zeros(11, np.float32), ValueError,
        r"\(10,\).*\(11,\)",
    ),
    "size of set": (
        lambda a: gpuarray.zeros(10, np.float32).set(np.zeros(5, np.float32)), ValueError, "size",
    ),
    "index": (lambda a: gpuarray.zeros(10, np.float32)[20], IndexError, "20.*size 10"),
    "a file that is not there": (
        lambda a: drv.module_from_file("/nonexistent.cubin"), drv.RuntimeError, "nonexistent",
    ),
    "bytes that are no module": (lambda a: drv.module_from_buffer(b"junk"), drv.LogicError, "load"),
    "undeclared variable": (
        lambda a: SourceModule("__global__ void f(int *p) {\n    p[0] = x;\n}"),
        drv.CompileError,
        {
            "cpu": "(?s):2:.*undeclared identifier 'x'.*p\\[0\\] = x",
            "cuda": r'(?s)kernel\.cu\(2\): error: identifier "x" is undefined.*p\[0\] = x',
        },
    ),
    "missing header": (
        lambda a: SourceModule("#include <nosuch.h>\n"), drv.CompileError, "nosuch.h",
    ),
    "unknown option": (
        lambda a: SourceModule("", options=["--frobnicate"]), drv.CompileError, "--frobnicate",
    ),
    "static shared memory": (
        lambda a: SourceModule(
            "__global__ void f(float *p) { __shared__ float big[20000]; big[threadIdx.x] = 1;"
            " __syncthreads(); p[0] = big[1]; }"
        ),
        drv.CompileError,
        {
            "cpu": "'big' has 80000 bytes.*49152.*MAX_DYNAMIC_SHARED_SIZE_BYTES",
            "cuda": r"'f' uses too much shared data \(0x13880 bytes, 0xc000 max\)",
        },
    ),
    "text of an element-wise kernel": (
        lambda a: ElementwiseKernel("float *x", "x[i] = y", "k")(gpuarray.zeros(3, np.float32)),
        drv.CompileError, {"cpu": "'y'", "cuda": '"y" is undefined'},
    ),
    "dtype of an element-wise kernel": (
        lambda a: ElementwiseKernel("float *x", "x[i] = 1", "k")(gpuarray.zeros(3, np.float64)),
        TypeError, "float64.*float32",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call(name, a, device):
    call, error, text = CALLS[name]
    with pytest.raises(error, match=text[device] if isinstance(text, dict) else text):
        call(a)


def test_no_such_function_lists_what_there_is(module):
    with pytest.raises(drv.LogicError, match="named symbol not found.*'nope'.*add, dynamic"):
        module.get_function("nope")
    with pytest.raises(drv.LogicError, match="named symbol not found"):
        module.get_global("nope")


def test_too_much_shared_memory_says_what_is_possible(module, a):
    dynamic = module.get_function("dynamic")
    most = _core.current_context().properties.shared_per_block_optin
    with pytest.raises(drv.LogicError, match=f"60000.*49152.*MAX_DYNAMIC_SHARED.*{most}"):
        dynamic(a, shared=60000, **ONE)
    with pytest.raises(drv.LogicError, match=f"600000 dynamic.*{most} at the very most"):
        dynamic(a, shared=600000, **ONE)
    with pytest.raises(drv.LogicError, match=f"1048576.*{most}"):
        dynamic.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20)


def test_freed_memory(module):
    p = drv.mem_alloc(400)
    p.free()
    with pytest.raises(drv.LogicError, match="freed"):
        module.get_function("add")(p, p, np.int32(1), **ONE)
    with pytest.raises(drv.LogicError, match="freed"):
        drv.memcpy_htod(p, np.zeros(4, np.float32))
    with pytest.raises(drv.LogicError, match="freed before"):
        p.free()


def test_out_of_memory_says_each_thing_once():
    with pytest.raises(drv.MemoryError) as caught:
        drv.mem_alloc(1 << 50)
    text = str(caught.value)
    assert text.startswith("cuMemAlloc failed: out of memory")
    assert text.count("asked for") == 1 and "1024.0 TiB" in text and str(1 << 50) not in text


def test_pop_of_an_empty_stack():
    assert autoinit.context is not None
    stack = []  # earlier tests may have pushed more
    while (context := drv.Context.get_current()) is not None:
        stack.append(context)
        context.pop()
    try:
        with pytest.raises(drv.LogicError, match="cuCtxPopCurrent failed: invalid device context"):
            drv.Context.pop()
        # The stack is a façade: work without a context on it goes to the current device.
        assert drv.mem_alloc(16).nbytes == 16
    finally:
        for context in reversed(stack):
            context.push()


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize(
    ("kernel", "code", "text", "error"),
    [
        ("wild", 700, "an illegal memory access was encountered - wild: .*block", drv.LogicError),
        ("asserts", 710, "device-side assert triggered - asserts: .*n == 0", drv.LogicError),
        ("traps", 719, "unspecified launch failure - traps: trap", drv.LaunchError),
    ],
)
def test_a_kernel_that_dies(module, a, kernel, code, text, error):
    argument = a if kernel == "wild" else np.int32(1)
    with pytest.raises(error, match=f"^cuLaunchKernel failed: {text}") as caught:
        module.get_function(kernel)(argument, **ONE)
    assert caught.value.code == code and isinstance(caught.value, drv.Error)


@pytest.mark.usefixtures("on_cpu")
def test_a_kernel_that_waits_for_ever(module):
    stuck = SourceModule(
        "__global__ void stuck() { if (threadIdx.x < 16) __syncwarp(0xffffffffu);"
        " else __syncthreads(); }"
    )
    with pytest.raises(drv.LaunchError, match="the launch timed out.*deadlock") as caught:
        stuck.get_function("stuck")(block=(32, 1, 1))
    assert caught.value.code == 702
