"""Kernels that C++ calls: what a call keeps of a Python method's rules, messages and looks."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import struct
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import trilane.cupy as cp
from trilane import _core
from trilane.cupy.cuda._errors import CUDADriverError
from trilane.numba import cuda
from trilane.numba.core.errors import TypingError
from trilane.numba.cuda.cudadrv.error import CudaAPIError
from trilane.pycuda import driver, gpuarray
from trilane.pycuda.compiler import SourceModule
from trilane.testing.child import child_environment

TEXT = r"""
extern "C" __global__ void scale(const float* a, float* b, float f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * f;
}
extern "C" __global__ void store(long long* out, long long q, unsigned long long u, int i,
                                 unsigned j, short h, float f, double d, bool y) {
    out[0] = q; out[1] = (long long)u; out[2] = i; out[3] = j; out[4] = h;
    out[5] = (long long)(f * 4); out[6] = (long long)(d * 4); out[7] = y;
}
extern "C" __global__ void size(int* out) {
    extern __shared__ int room[];
    if (threadIdx.x == 0) room[blockDim.x - 1] = gridDim.x * 100 + blockDim.x;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1 && blockIdx.x == 0) out[0] = room[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def raw():
    return cp.RawModule(code=TEXT)


@pytest.fixture(scope="module")
def module():
    return SourceModule(TEXT, no_extern_c=True)


STORED = (
    np.int64(-(2**62)), np.uint64(2**63 + 5), np.int32(-7), np.uint32(2**32 - 1), np.int16(-3),
    np.float32(2.5), np.float64(-0.75), np.bool_(True),
)  # fmt: skip
EXPECTED = [-(2**62), 5 - 2**63, -7, 2**32 - 1, -3, 10, -3, 1]


def test_numpy_scalars_and_python_numbers_arrive(raw, module):
    out = cp.zeros(8, cp.int64)
    kernel, function = raw.get_function("store"), module.get_function("store")
    kernel((1,), (1,), (out, *STORED))
    assert out.get().tolist() == EXPECTED
    out[...] = 0
    kernel((1,), (1,), (out, *(x.item() for x in STORED)))
    assert out.get().tolist() == EXPECTED
    for arguments in (STORED, [x.item() for x in STORED]):
        memory = gpuarray.zeros(8, np.int64)
        function(memory, *arguments, block=(1, 1, 1), grid=(1, 1))
        assert memory.get().tolist() == EXPECTED
    function.prepare("PqQiIhfdb")
    # Prepared calls convert what loses nothing: here all are of another type.
    function.prepared_call((1, 1), (1, 1, 1), memory, *map(int, STORED[:5]), 2.5, -0.75, True)
    assert memory.get().tolist() == EXPECTED


def test_grid_and_block_of_every_form(raw, module):
    out = cp.zeros(1, cp.int32)
    kernel, function = raw.get_function("size"), module.get_function("size")
    n = 7
    for grid, block in [
        ((3,), (n,)), ([3], [n]), (3, n), ((np.int64(3),), (np.int32(n),)), ((3, 1, 1), (n, 1)),
    ]:  # fmt: skip
        out[...] = 0
        kernel(grid, block, (out,), shared_mem=4 * n)
        assert out.get()[0] == 307
    counts = (n + 1,)  # a tuple that is met again and one made anew
    for _ in range(3):
        kernel((3,), counts, (out,), shared_mem=64)
        assert out.get()[0] == 308
        kernel((2 + len(counts),), (n + len(counts),), (out,), shared_mem=64)
        assert out.get()[0] == 308
    function(out, block=[n, 1, 1], grid=2, shared=64)
    assert out.get()[0] == 207
    function(out, block=(n, 1, 1), shared=64)
    assert out.get()[0] == 107
    with pytest.raises(CUDADriverError, match="empty grid"):
        kernel((0,), (1,), (out,), shared_mem=4)
    with pytest.raises(CUDADriverError, match="wrong length"):
        kernel((1, 1, 1, 1), (1,), (out,))
    with pytest.raises(TypeError, match="grid must hold integers"):
        kernel((1.5,), (1,), (out,))
    with pytest.raises(TypeError, match="block must be a tuple of ints"):
        function(out, block=7, grid=(1, 1))


def test_wrong_calls_say_what_they_always_said(raw, module):
    kernel, function = raw.get_function("scale"), module.get_function("scale")
    a = cp.ones(4, cp.float32)
    with pytest.raises(TypeError, match=r"RawKernel\.__call__\(\) missing 1 required positional"):
        kernel((1,), (1,))
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'shared'"):
        kernel((1,), (1,), (a, a, 1.0, 4), shared=4)
    with pytest.raises(TypeError, match="argument 4 'n'"):
        kernel((1,), (1,), (a, a, 1.0, np.int64(4)))
    with pytest.raises(TypeError, match="n is missing|'n' .* is missing"):
        kernel((1,), (1,), (a, a, 1.0))
    with pytest.raises(CUDADriverError, match="shared_mem: got -1 bytes"):
        kernel((1,), (1,), (a, a, 1.0, 4), shared_mem=-1)
    with pytest.raises(TypeError, match="arrays of one element"):
        kernel((1,), (1,), (np.ones(4, np.float32), a, 1.0, 4))
    with pytest.raises(ValueError, match="must specify block size"):
        function(a, a, 1.0, 4)
    with pytest.raises(ValueError, match="extra keyword arguments: blocks"):
        function(a, a, 1.0, 4, block=(1, 1, 1), blocks=1)
    with pytest.raises(TypeError, match="stream must be a pycuda.driver.Stream"):
        function(a, a, 1.0, 4, block=(1, 1, 1), grid=(1, 1), stream="s")
    with pytest.raises(driver.LogicError, match="shared: got -1"):
        function(a, a, 1.0, 4, block=(1, 1, 1), grid=(1, 1), shared=-1)
    with pytest.raises((TypeError, driver.LogicError), match=r"In\(\), Out\(\) or InOut\(\)"):
        host = np.ones(4, np.float32)
        function(host, host, 1.0, 4, block=(1, 1, 1), grid=(1, 1))
    with pytest.raises(driver.LogicError, match="was not prepared"):
        function.prepared_call((1, 1), (1, 1, 1), a, a, 1.0, 4)
    function.prepare("PPfi")
    with pytest.raises(struct.error, match="got 3 arguments, expected 4"):
        function.prepared_call((1, 1), (1, 1, 1), a, a, 1.0)
    with pytest.raises(TypeError, match=r"Function\.prepared_call\(\)"):
        function.prepared_call((1, 1), (1, 1, 1), a, a, 1.0, 4, size=1)
    with pytest.raises(TypeError, match="In, Out and InOut are not accepted"):
        function.prepared_call((1, 1), (1, 1, 1), driver.In(np.ones(4)), a, 1.0, 4)


def test_errors_hide_how_they_were_found(raw):
    kernel = raw.get_function("scale")
    try:
        kernel((0,), (1,), (cp.ones(4, cp.float32),) * 2 + (1.0, 4))
    except CUDADriverError as error:
        assert error.__cause__ is None
        assert error.__suppress_context__


def test_handlers_streams_and_timing_of_pycuda(module):
    function = module.get_function("scale")
    host, result = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    stream = driver.Stream()
    for more in ({}, {"stream": stream}, {"stream": None, "shared": 0, "texrefs": []}):
        result[:] = 0
        function(driver.In(host), driver.Out(result), 3.0, 5, block=(8, 1, 1), grid=(1, 1), **more)
        np.testing.assert_array_equal(result, host * 3)
    memory = gpuarray.to_gpu(host)
    took = function(memory, memory, 2.0, 5, block=(8, 1, 1), grid=(1, 1), time_kernel=True)
    assert took > 0
    np.testing.assert_array_equal(memory.get(), host * 2)
    function.prepare("PPfi").prepared_async_call(
        (1, 1), (8, 1, 1), stream, memory, memory, 2.0, 5, shared_size=16
    )
    stream.synchronize()
    np.testing.assert_array_equal(memory.get(), host * 4)
    keywords = {"grid": (1, 1), "block": (8, 1, 1)}
    function(memory, memory, 0.5, 5, **keywords)
    np.testing.assert_array_equal(memory.get(), host * 2)


def test_streams_of_cupy(raw):
    kernel = raw.get_function("scale")
    a, b = cp.ones(8, cp.float32), cp.zeros(8, cp.float32)
    own = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()  # such a stream does not wait for the fills
    for f, stream in enumerate((own, cp.cuda.Stream.null, own.ptr, None), 1):
        kernel((1,), (8,), (a, b, float(f), 8), stream=stream)
        cp.cuda.Device().synchronize()
        assert b.get().tolist() == [f] * 8
    with own:
        kernel((1,), (8,), (a, b, 9.0, 8))
    own.synchronize()
    assert b.get().tolist() == [9] * 8


def test_signatures_and_docstrings(raw, module):
    kernel, function = raw.get_function("scale"), module.get_function("scale")
    assert list(inspect.signature(kernel).parameters) == [
        "grid", "block", "args", "shared_mem", "stream",
    ]  # fmt: skip
    assert list(inspect.signature(function).parameters)[:3] == ["args", "block", "grid"]
    assert list(inspect.signature(cp.RawKernel).parameters)[:2] == ["code", "name"]
    assert list(inspect.signature(driver.Function.prepared_call).parameters) == [
        "self", "grid", "block", "args", "shared_size",
    ]  # fmt: skip
    assert "prepare" in driver.Function.prepared_call.__doc__
    assert callable(kernel)
    assert kernel.__name__ == "scale"


def test_copies_and_pickles(module):
    kernel = cp.RawKernel(TEXT, "scale")
    a = cp.ones(4, cp.float32)
    kernel((1,), (4,), (a, a, 2.0, 4))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(kernel, protocol))
        again((1,), (4,), (a, a, 2.0, 4))
    copy.copy(kernel)((1,), (4,), (a, a, 0.25, 4))
    assert a.get().tolist() == [2.0**6 * 0.5] * 4
    function = module.get_function("scale").prepare("PPfi")
    twin = copy.copy(function)
    twin.prepared_call((1, 1), (4, 1, 1), a, a, 0.5, 4)
    twin(a, a, np.float32(0.5), np.int32(4), block=(4, 1, 1), grid=(1, 1))
    assert a.get().tolist() == [8.0] * 4


def test_subclasses_may_call_and_hold_what_they_like():
    class Counting(cp.RawKernel):
        calls = 0

        def __call__(self, *args, **more):
            self.calls += 1
            return super().__call__(*args, **more)

    a = cp.ones(4, cp.float32)
    kernel = Counting(TEXT, "scale")
    kernel((1,), (4,), (a, a, 3.0, 4))
    kernel((1,), (4,), (a, a, 3.0, 4), shared_mem=0)
    assert (kernel.calls, a.get().tolist()) == (2, [9.0] * 4)
    kernel.itself = kernel
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
    with pytest.raises(AttributeError):
        _core.RawCall()((1,), (1,), ())


def test_what_a_class_says_of_its_calls(module):
    """Its `__call__` is the method that stands for it, and the instances are called by C++ still."""
    from trilane.numba.cuda.configured import ForwardConfigured

    for cls, first in (
        (cp.RawKernel, "grid"),
        (driver.Function, "args"),
        (ForwardConfigured, "args"),
    ):
        assert cls.__call__.__doc__.startswith("Launch")
        assert cls.__call__.__qualname__ == f"{cls.__name__}.__call__"
        assert list(inspect.signature(cls.__call__).parameters)[:2] == ["self", first]
    assert "shared_mem" in inspect.getdoc(cp.RawKernel.__call__)
    a = cp.ones(4, cp.float32)
    kernel = cp.RawKernel(TEXT, "scale")
    cp.RawKernel.__call__(kernel, (1,), (4,), (a, a, 3.0, 4))
    assert a.get().tolist() == [3.0] * 4

    class Silent(cp.RawKernel):
        def __call__(self):
            """Nothing."""

    class Inherits(cp.RawKernel):
        pass

    assert Silent.__call__.__doc__ == "Nothing." and Silent(TEXT, "scale")() is None
    assert Inherits.__call__ is cp.RawKernel.__call__
    assert type(kernel).__basicsize__ == type(Inherits(TEXT, "scale")).__basicsize__


def test_calls_of_a_subclass_that_was_never_bound():
    kernel = cp.RawKernel.__new__(cp.RawKernel)
    with pytest.raises(AttributeError, match="_functions"):
        kernel((1,), (1,), ())
    with pytest.raises(TypeError, match="Function of the core"):
        kernel._bind(0, None, False)


def test_arrays_that_show_themselves(raw):
    class Holder:
        def __init__(self, array):
            self.array = array

        def __cupy_get_ndarray__(self):
            return self.array

    class Shown(cp.ndarray):
        def __cupy_get_ndarray__(self):
            return other

    other, a = cp.zeros(4, cp.float32), cp.ones(4, cp.float32)
    kernel = raw.get_function("scale")
    kernel((1,), (4,), (Holder(a), a.view(Shown), 2.0, 4))
    assert other.get().tolist() == [2.0] * 4
    assert a.get().tolist() == [1.0] * 4


def test_many_arguments():
    count = 40
    parameters = ", ".join(f"int p{i}" for i in range(count))
    total = " + ".join(f"p{i}" for i in range(count))
    text = f'extern "C" __global__ void sum(int* out, {parameters}) {{ out[0] = {total}; }}'
    out = cp.zeros(1, cp.int32)
    cp.RawKernel(text, "sum")((1,), (1,), (out, *range(count)))
    assert out.get()[0] == sum(range(count))
    function = SourceModule(text, no_extern_c=True).get_function("sum")
    function(out, *map(np.int32, range(count)), block=(1, 1, 1), grid=(1, 1))
    assert out.get()[0] == sum(range(count))


def test_threads_launch_the_same_kernel(raw):
    kernel = raw.get_function("scale")
    wrong = []

    def work(f: int) -> None:
        a, b = cp.ones(64, cp.float32), cp.zeros(64, cp.float32)
        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            for i in range(50):
                kernel((1 + i % 3,), (64 + i % 2,), (a, b, float(f), 64), stream=stream)
        stream.synchronize()
        if b.get().tolist() != [f] * 64:
            wrong.append(f)

    cp.cuda.Device().synchronize()
    threads = [threading.Thread(target=work, args=(f,)) for f in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@cuda.jit
def store_all(out, q, i, f, d, y):
    out[0], out[1], out[2] = q, i, int(f * 4)
    out[3], out[4] = int(d * 4), int(y)


def test_numba_numbers_of_every_kind():
    kernel = store_all[1, 1]
    out = cuda.to_device(np.zeros(5, np.int64))
    given = (-(2**62), np.int32(-7), np.float32(2.5), -0.75, True)
    for _ in range(3):
        kernel(out, *given)
        assert out.copy_to_host().tolist() == [-(2**62), -7, 10, -3, 1]
    kernel(out, np.uint32(2**32 - 1), np.int64(3), np.float16(1.5), np.float64(2.25), np.bool_(0))
    kernel(out, np.uint32(2**32 - 1), np.int64(3), np.float16(1.5), np.float64(2.25), np.bool_(0))
    assert out.copy_to_host().tolist() == [2**32 - 1, 3, 6, 9, 0]
    assert len(store_all.overloads) == 2


def test_numba_layouts_and_declared_types():
    @cuda.jit("void(float32[:, :], int32, float32)")
    def declared(a, n, f):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] = a[i, j] * f + n

    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    for order in "CF":
        a = cuda.to_device(np.array(host, order=order))
        for _ in range(2):
            declared[(1, 1), (4, 4)](a, 1, 2)
        np.testing.assert_array_equal(a.copy_to_host(), host * 4 + 3)
    strided = cp.zeros((6, 8), cp.float32)
    view = strided[::2, ::-2]
    view[...] = cp.asarray(host)
    declared[(1, 1), (4, 4)](view, np.int32(1), np.float32(2))
    np.testing.assert_array_equal(view.get(), host * 2 + 1)
    assert strided.get()[1::2].sum() == 0

    @cuda.jit
    def anything(a, f):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] *= f

    for array in (cp.asarray(host), cp.asfortranarray(cp.asarray(host)), view):
        before = array.get()
        for _ in range(2):
            anything[(1, 1), (4, 4)](array, 3)
        np.testing.assert_array_equal(array.get(), before * 9)
    empty = cp.zeros((0, 4), cp.float32)
    anything[(1, 1), (4, 4)](empty, 3)
    pending = cp.asarray(host) * 2 + 1  # an expression until the launch asks for its memory
    anything[(1, 1), (4, 4)](pending, 2)
    np.testing.assert_array_equal(pending.get(), host * 4 + 2)


def test_numba_wrong_calls_and_what_python_deals_with():
    configured = store_all[1, 1]
    out = cuda.to_device(np.zeros(5, np.int64))
    configured(out, 1, 2, 3.0, 4.0, True)
    with pytest.raises(TypingError, match="takes 6 arguments but 2 were given"):
        configured(out, 1)
    with pytest.raises(TypeError, match="Int value is too large"):
        configured(out, 2**70, 2, 3.0, 4.0, True)
    with pytest.raises(TypeError, match="Cannot determine Numba type"):
        configured(object(), 1, 2, 3.0, 4.0, True)
    host = np.zeros(5, np.int64)
    configured(host, 5, f=1.0, d=2.0, i=3, y=False)
    assert host.tolist() == [5, 3, 4, 8, 0]
    with pytest.raises(CudaAPIError, match="cuLaunchKernel"):
        store_all[1, 4096](out, 1, 2, 3.0, 4.0, True)
    assert list(inspect.signature(configured).parameters) == ["args", "kwargs"]


def test_numba_extensions_given_later_are_asked():
    class Doubled:
        asked = 0

        def prepare_args(self, kind, value, stream, retr):
            self.asked += 1
            return kind, value * 2 if isinstance(value, int) else value

    @cuda.jit
    def put(out, n):
        out[0] = n

    out, extension = cuda.to_device(np.zeros(1, np.int64)), Doubled()
    configured = put[1, 1]
    configured(out, 4)
    configured(out, 4)
    assert out.copy_to_host()[0] == 4
    put.extensions.append(extension)
    configured(out, 4)
    assert (out.copy_to_host()[0], extension.asked) == (8, 2)


def test_numba_shared_memory_streams_and_raising_kernels():
    @cuda.jit
    def shared(out):
        room = cuda.shared.array(0, np.int32)
        room[cuda.threadIdx.x] = cuda.threadIdx.x
        cuda.syncthreads()
        out[cuda.threadIdx.x] = room[cuda.blockDim.x - 1 - cuda.threadIdx.x]

    out, stream = cuda.to_device(np.zeros(8, np.int32)), cuda.stream()
    for _ in range(2):
        shared[1, 8, stream, 32](out)
        stream.synchronize()
        assert out.copy_to_host().tolist() == list(range(7, -1, -1))

    @cuda.jit(debug=True, opt=False)
    def fails(n):
        if n > 1:
            raise ValueError("too large")

    for _ in range(2):
        fails[1, 1](1)
        with pytest.raises(ValueError, match="too large"):
            fails[1, 1](2)


FAKE = """
import numpy as np, trilane
from trilane import _core
t = _core.testing
t.use_fake_devices(2)
t.add_kernel("give", [("out", "float *", "pointer", 8), ("n", "int", "int", 4)])
import trilane.cupy as cp
from trilane.pycuda import driver, autoprimaryctx
"""
FAKE_CASES = {
    "an error after the start is told once, and by cupy as it is": """
kernel = cp.RawKernel("give", "give")
a = cp.empty(4, cp.float32)
kernel((1,), (1,), (a, 4))
before = t.calls_of("launch")
t.fail("launch", 1, "DeviceError")
try:
    kernel((1,), (1,), (a, 4))
except trilane.DeviceError as error:
    assert error.kind == "DeviceError"
else:
    raise SystemExit("no error")
assert t.calls_of("launch") == before + 1
kernel((1,), (1,), (a, 4))
""",
    "pycuda makes its own class of it": """
module = driver.module_from_buffer(_core.Module.compile("give").image())
function = module.get_function("give").prepare("Pi")
a = driver.mem_alloc(16)
for call in (
    lambda: function(a, np.int32(4), block=(1, 1, 1), grid=(1, 1)),
    lambda: function.prepared_call((1, 1), (1, 1, 1), a, 4),
):
    call()
    before = t.calls_of("launch")
    t.fail("launch", 1, "DeviceError")
    try:
        call()
    except driver.Error as error:
        assert "cuLaunchKernel failed" in str(error), error
        assert error.__cause__ is None and error.__suppress_context__
    else:
        raise SystemExit("no error")
    assert t.calls_of("launch") == before + 1
    call()
""",
    "memory used on another stream is reused after that use": """
kernel = cp.RawKernel("give", "give")
a = cp.empty(1 << 20, cp.uint8)
stream = cp.cuda.Stream(non_blocking=True)
kernel((1,), (1,), (a, 4), stream=stream)
t.set_hold(True)
kernel((1,), (1,), (a, 4), stream=stream)
address = a.data.ptr
del a
assert cp.empty(1 << 20, cp.uint8).data.ptr != address
t.finish(_core.Stream.wrap(stream.ptr).handle)
t.set_hold(False)
""",
    "each device has a function of its own": """
kernel = cp.RawKernel("give", "give")
for device in (0, 1, 0, 1):
    with cp.cuda.Device(device):
        kernel((1,), (1,), (cp.empty(4, cp.float32), 4))
assert kernel._functions[0].context != kernel._functions[1].context
""",
}


@pytest.mark.parametrize("what", FAKE_CASES)
def test_over_a_device_of_which_calls_fail(what):
    if not hasattr(_core, "testing"):
        pytest.skip("the extension was built without its tests")
    done = subprocess.run(
        [sys.executable, "-c", FAKE + FAKE_CASES[what]],
        env=child_environment(TRILANE_DEVICE="fake"), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
