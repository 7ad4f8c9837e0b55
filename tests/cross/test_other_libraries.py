"""PyTorch, JAX, CuPy and numba-cuda themselves in one process with Trilane, on a GPU.

Each program runs in a process of its own, since order of import and of first use matters: arrays
go both ways with no copy, by DLPack and by `__cuda_array_interface__`, and whoever reads waits for
the stream of whoever writes. These need a GPU and the library; without them they are skipped.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap

import pytest

from trilane.testing.child import child_environment

# A kernel that first spins for some milliseconds, then adds one: a reader that does not wait for
# its stream sees the old values.
_COMMON = """
import numpy as np

SLOW = r'''
extern "C" __global__ void slow_plus_one(float *x, int n, long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
'''
N = 1000
CYCLES = 40_000_000  # about 20 ms
VALUES = np.arange(N, dtype=np.float32)


def current_context():
    import ctypes
    driver = ctypes.CDLL("libcuda.so.1")
    found = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(found))
    return found.value


def slow_plus_one(tl, array, stream):
    kernel = tl.RawKernel(SLOW, "slow_plus_one")
    kernel((N // 256 + 1,), (256,), (array, np.int32(N), np.int64(0)))  # compiled
    with stream:
        kernel((N // 256 + 1,), (256,), (array, np.int32(N), np.int64(CYCLES)))


def same(array, expected):
    np.testing.assert_array_equal(np.asarray(array), expected)
"""

_TORCH_TO_US = """
tensor = torch.arange(N, dtype=torch.float32, device="cuda")
for ours in (tl.from_dlpack(tensor), tl.asarray(tensor)):
    assert ours.data.ptr == tensor.data_ptr()
    before = ours.get()
    ours += 1
    tl.cuda.get_current_stream().synchronize()
    same(tensor.cpu().numpy(), before + 1)

# A tensor that is still being written on a stream of torch's.
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    torch.cuda._sleep(CYCLES)
    late = torch.full((N,), 5.0, device="cuda")
    mine = tl.cuda.Stream(non_blocking=True)
    with mine:
        same((tl.from_dlpack(late) * 2).get(), np.full(N, 10.0))

# Tensors are arguments of kernels of all three ways.
kernel = tl.RawKernel(SLOW, "slow_plus_one")
torch.cuda.synchronize()
before = tensor.cpu().numpy()
kernel((N // 256 + 1,), (256,), (tensor, np.int32(N), np.int64(0)))
tl.cuda.get_current_stream().synchronize()
same(tensor.cpu().numpy(), before + 1)

from trilane.numba import cuda

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

twice[N // 256 + 1, 256](tensor)
cuda.synchronize()
same(tensor.cpu().numpy(), 2 * (before + 1))

# A tensor on a stream given by torch's handle.
external = tl.cuda.ExternalStream(side.cuda_stream)
with external:
    other = tl.asarray(VALUES) + 1
external.synchronize()
same(other.get(), VALUES + 1)
"""

_US_TO_TORCH = """
ours = tl.asarray(VALUES)
for tensor in (torch.from_dlpack(ours), torch.as_tensor(ours, device="cuda")):
    assert tensor.data_ptr() == ours.data.ptr
    same(tensor.cpu().numpy(), ours.get())
    tensor += 1
    torch.cuda.synchronize()
    same(ours.get(), tensor.cpu().numpy())

# Written on a stream of ours, read on one of torch's that does not wait for the default stream.
late = tl.asarray(VALUES)
mine = tl.cuda.Stream(non_blocking=True)
slow_plus_one(tl, late, mine)
side = torch.cuda.Stream()
with mine:
    with torch.cuda.stream(side):
        tensor = torch.from_dlpack(late)
        result = tensor * 2
side.synchronize()
same(result.cpu().numpy(), 2 * (VALUES + 2))

# The tensor keeps the memory.
tensor = torch.from_dlpack(tl.full(N, 7, dtype=np.float32))
for _ in range(10):
    tl.full(N, 1, dtype=np.float32)
same(tensor.cpu().numpy(), np.full(N, 7))

# Types and layouts.
for dtype in "bool int8 uint8 int16 int32 int64 float16 float32 float64 complex64".split():
    array = tl.arange(24).astype(dtype).reshape(4, 6)[::2, 1:].T
    same(torch.from_dlpack(array).cpu().numpy(), array.get())
    back = tl.from_dlpack(torch.from_dlpack(array))
    assert back.dtype == array.dtype and back.strides == array.strides, dtype
"""

_CUPY = """
theirs = cupy.arange(N, dtype="float32")
for ours in (tl.from_dlpack(theirs), tl.asarray(theirs)):
    assert ours.data.ptr == theirs.data.ptr
    before = ours.get()
    ours += 1
    tl.cuda.get_current_stream().synchronize()
    same(theirs.get(), before + 1)

ours = tl.asarray(VALUES)
for theirs in (cupy.from_dlpack(ours), cupy.asarray(ours)):
    assert theirs.data.ptr == ours.data.ptr
    before = theirs.get()
    theirs += 1
    cupy.cuda.get_current_stream().synchronize()
    same(ours.get(), before + 1)

# Written on a stream of ours, read on one of CuPy's, which waits by the interface's stream.
late = tl.asarray(VALUES)
mine = tl.cuda.Stream(non_blocking=True)
slow_plus_one(tl, late, mine)
with mine:
    with cupy.cuda.Stream(non_blocking=True) as side:
        result = cupy.asarray(late) * 2
        side.synchronize()
same(result.get(), 2 * (VALUES + 2))

# And the other way round.
late = cupy.asarray(VALUES)
side = cupy.cuda.Stream(non_blocking=True)
kernel = cupy.RawKernel(SLOW, "slow_plus_one")
with side:
    kernel((N // 256 + 1,), (256,), (late, np.int32(N), np.int64(CYCLES)))
    with tl.cuda.Stream(non_blocking=True) as mine:
        result = tl.asarray(late) * 2
        mine.synchronize()
same(result.get(), 2 * (VALUES + 1))

# A kernel of ours on an array of theirs. (Theirs take no array but CuPy's.)
theirs = cupy.asarray(VALUES)
cupy.cuda.runtime.deviceSynchronize()
slow_plus_one(tl, theirs, tl.cuda.Stream())
tl.cuda.get_current_stream().synchronize()
cupy.cuda.runtime.deviceSynchronize()
same(theirs.get(), VALUES + 2)
"""

_NUMBA = """
@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

ours = tl.asarray(VALUES)
twice[N // 256 + 1, 256](ours)
cuda.synchronize()
same(ours.get(), 2 * VALUES)

theirs = cuda.to_device(VALUES)
ours = tl.asarray(theirs)
ours += 1
tl.cuda.get_current_stream().synchronize()
same(theirs.copy_to_host(), VALUES + 1)
view = cuda.as_cuda_array(ours)
assert view.device_ctypes_pointer.value == ours.data.ptr

# Written on a stream of ours: numba-cuda waits for the stream that the interface names.
late = tl.asarray(VALUES)
mine = tl.cuda.Stream(non_blocking=True)
slow_plus_one(tl, late, mine)
with mine:
    twice[N // 256 + 1, 256, cuda.stream()](late)
cuda.synchronize()
same(late.get(), 2 * (VALUES + 2))
"""

_JAX = """
theirs = jnp.arange(N, dtype=jnp.float32) + 0
ours = tl.from_dlpack(theirs)
assert ours.data.ptr == theirs.unsafe_buffer_pointer()
same((ours * 2).get(), 2 * VALUES)
same(theirs, VALUES)

ours = tl.asarray(VALUES)
theirs = jnp.from_dlpack(ours)
same(jnp.sum(theirs), np.float32(VALUES.sum()))

# Written on a stream of ours.
late = tl.asarray(VALUES)
mine = tl.cuda.Stream(non_blocking=True)
slow_plus_one(tl, late, mine)
with mine:
    theirs = jnp.from_dlpack(late)
same(theirs * 2, 2 * (VALUES + 2))
"""

_IMPORTS = {
    "torch": "import torch\ntorch.zeros(1, device='cuda')\n",
    "cupy": "import cupy\ncupy.zeros(1)\n",
    "numba_cuda": (
        "import numpy\n"
        "if not hasattr(numpy, 'row_stack'): numpy.row_stack = numpy.vstack\n"
        "from numba import cuda\ncuda.to_device(numpy.zeros(1))\n"
    ),
    "jax": "import jax, jax.numpy as jnp\njnp.zeros(1) + 1\n",
}
_OURS = "import trilane.cupy as tl\ntl.zeros(1)\n"
_PROGRAMS = {
    "torch, its arrays": ("torch", _TORCH_TO_US),
    "torch, our arrays": ("torch", _US_TO_TORCH),
    "cupy": ("cupy", _CUPY),
    "numba-cuda": ("numba_cuda", _NUMBA),
    "jax": ("jax", _JAX),
}
_CONTEXT = (
    "import sys\nassert current_context() == context, 'another context is current'\nprint('ok')\n"
)


def _run(program: str) -> subprocess.CompletedProcess:
    settings = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TRILANE_DEVICE": "cuda"}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=child_environment(**settings),
        capture_output=True,
        text=True,
        timeout=110,
    )


def _needs(*libraries: str) -> None:
    for name in libraries:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} itself is not installed")


@pytest.fixture(autouse=True)
def gpu(device):
    if device != "cuda":
        pytest.skip("the other libraries work on GPUs only")


@pytest.mark.parametrize("first", ["theirs first", "ours first"])
@pytest.mark.parametrize("name", _PROGRAMS)
def test_arrays_go_both_ways(name, first):
    library, program = _PROGRAMS[name]
    _needs(library)
    start = [_IMPORTS[library], _OURS]
    if first == "ours first":
        start.reverse()
    done = _run(_COMMON + "".join(start) + "context = current_context()\n" + program + _CONTEXT)
    assert done.stdout.strip().endswith("ok"), done.stderr[-3000:]
    assert done.returncode == 0, done.stderr[-3000:]


def test_all_libraries_in_one_process():
    _needs(*_IMPORTS)
    program = """
    ours = tl.asarray(VALUES)
    tensor = torch.from_dlpack(ours)
    array = cupy.asarray(ours)
    last = jnp.from_dlpack(tl.asarray(array) + 0)
    view = cuda.as_cuda_array(ours)
    tensor += 1
    torch.cuda.synchronize()
    array *= 2
    cupy.cuda.runtime.deviceSynchronize()
    same(ours.get(), 2 * (VALUES + 1))
    same(view.copy_to_host(), 2 * (VALUES + 1))
    same(last, VALUES)
    # Ends with work in flight on everybody's streams.
    slow_plus_one(tl, ours, tl.cuda.Stream(non_blocking=True))
    torch.cuda._sleep(CYCLES)
    """
    start = "".join([_OURS, *_IMPORTS.values()])
    done = _run(
        _COMMON + start + "context = current_context()\n" + textwrap.dedent(program) + _CONTEXT
    )
    assert done.stdout.strip().endswith("ok"), done.stderr[-3000:]
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Error" not in done.stderr and "terminate" not in done.stderr, done.stderr[-3000:]


def test_a_fault_of_a_kernel_does_not_hide_behind_torch():
    """Both libraries share the context: after an illegal access each says so, and exit is quiet."""
    _needs("torch")
    program = """
    bad = tl.RawKernel(
        'extern "C" __global__ void bad(float *x) { x[1ll << 40] = 1; }', "bad")
    bad((1,), (1,), (tl.zeros(1, dtype=np.float32),))
    try:
        tl.cuda.get_current_stream().synchronize()
    except tl.cuda.runtime.CUDARuntimeError as error:
        assert "bad" in str(error) and "trilane check" in str(error), error
        print("ok")
    """
    done = _run(_COMMON + _IMPORTS["torch"] + _OURS + textwrap.dedent(program))
    assert done.stdout.strip().endswith("ok"), done.stderr[-3000:]
