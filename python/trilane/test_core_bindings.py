"""The bound core: errors, copies, streams and events, arguments of every kind."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trilane
from trilane import _core
from trilane.testing.child import child_environment


def test_errors_have_kind_detail_and_builtin_bases():
    with pytest.raises(trilane.CompileError) as caught:
        _core.Module.compile("__global__ void f(float *a)\n{\n  a[0] = b;\n}")
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.kind == "CompileError"
    assert re.search(r"kernel\.cu(:3:10|\(3\))", str(caught.value) + caught.value.detail)
    assert issubclass(trilane.TypeMismatchError, TypeError)
    assert issubclass(trilane.OutOfMemoryError, MemoryError)


def test_copies_take_any_contiguous_host_memory():
    buffer = _core.Buffer.allocate(16)
    for source in (b"0123456789abcdef", bytearray(16), np.arange(4, dtype=np.float32)):
        _core.copy_to_device(buffer, source)
        back = bytearray(16)
        _core.copy_to_host(back, buffer)
        assert back == bytes(source)
    with pytest.raises(ValueError, match="contiguous"):
        _core.copy_to_device(buffer, np.zeros(8, np.float32)[::2])
    with pytest.raises(_core.TypeMismatchError, match="list"):
        _core.copy_to_device(buffer, [1, 2])
    with pytest.raises(_core.InvalidArgumentError):
        _core.copy_to_device(buffer, np.zeros(5, np.float32))


def test_freed_buffer_is_refused():
    buffer = _core.Buffer.allocate(16)
    buffer.free_now()
    with pytest.raises(_core.InvalidArgumentError, match="freed"):
        _core.copy_to_device(buffer, bytes(16))


def test_streams_and_events_keep_order():
    seen = []
    stream = _core.Stream(non_blocking=True)
    stream.host_function(lambda: seen.append(1))
    event = _core.Event()
    event.record(stream)
    event.synchronize()
    assert event.done()
    assert seen == [1]


@pytest.mark.parametrize(
    ("c_type", "value", "dtype"),
    [
        ("signed char", np.int8(-3), np.int8),
        ("unsigned long long", np.uint64(2**64 - 1), np.uint64),
        ("float", 1.5, np.float32),
        ("double", np.float64(0.1), np.float64),
        ("bool", np.bool_(True), np.bool_),
        ("float2", np.complex64(1 + 2j), np.complex64),
        ("double2", 1 + 2j, np.complex128),
    ],
)
def test_scalars_arrive_as_they_are(c_type, value, dtype):
    module = _core.Module.compile(
        f'extern "C" __global__ void put({c_type} *out, {c_type} x) {{ *out = x; }}'
    )
    out = np.zeros(1, dtype)
    buffer = _core.Buffer.allocate(out.nbytes)
    module.function("put").launch(1, 1, (buffer, value))
    _core.copy_to_host(out, buffer)
    assert out[0] == dtype(value)


_REGISTERED = """
import numpy as np
from trilane.pycuda import autoprimaryctx
import trilane.pycuda.driver as cuda

class Held:
    def __init__(self, array):
        self.registered = cuda.register_host_memory(array)

host = cuda.aligned_empty((4096,), np.float64)
memory, stream = cuda.mem_alloc_like(host), cuda.Stream()
for _ in range(40):  # more than the interpreter's list of pending calls holds
    cuda.memcpy_htod_async(memory, cuda.register_host_memory(host), stream)
    stream.synchronize()
held = Held(host)
getattr(stream, "__trilane_stream__", stream).host_function(lambda held=held: None)
del held
stream.synchronize()
cuda.register_host_memory(host).base.unregister()
print("registered again")
"""


def test_memory_registered_for_many_copies_can_be_registered_anew():
    """More releases than the interpreter's list of pending calls holds.

    The fake driver calls back at once, while the caller still holds the array. That nothing is
    given back within the driver's callback shows on a GPU alone: `test_gpuarray_shape.py`.
    """
    built = (
        Path(__file__).parents[2] / "build"
    )  # the sanitizers' needs their runtime in the process
    fakes = [*built.glob("dev/src/devices/cuda/libfake_cuda.so")]
    if not fakes:
        pytest.skip("no fake driver: the C++ tests are not built here")
    environment = child_environment(
        TRILANE_DEVICE="cuda",
        TRILANE_CUDA_LIBRARY=str(fakes[0]),
        TRILANE_NVRTC=str(fakes[0].with_name("libfake_nvrtc.so")),
    )
    done = subprocess.run(
        [sys.executable, "-c", _REGISTERED], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == "registered again", done.stderr
    assert "unregister" not in done.stderr.lower()
