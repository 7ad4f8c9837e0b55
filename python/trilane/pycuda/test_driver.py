"""The driver face: launches, copies, host memory, and the error of each common mistake."""

from __future__ import annotations

import re

import numpy as np
import pytest

import trilane.pycuda.autoinit as autoinit
import trilane.pycuda.driver as cuda
from trilane.pycuda.compiler import SourceModule

SOURCE = """
__global__ void add(const float *a, const float *b, float *c, int n)
{
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) c[i] = a[i] + b[i];
}
__constant__ float table[4];
__global__ void read(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def module():
    return SourceModule(SOURCE)


@pytest.fixture
def vectors():
    rng = np.random.default_rng(2)
    return [rng.random(400, dtype=np.float32) for _ in range(3)]


def test_vector_addition(module, vectors):
    a, b, c = vectors
    memory = [cuda.mem_alloc(v.nbytes) for v in vectors]
    cuda.memcpy_htod(memory[0], a)
    cuda.memcpy_htod(memory[1], b)
    module.get_function("add")(*memory, np.int32(400), block=(256, 1, 1), grid=(2, 1))
    cuda.memcpy_dtoh(c, memory[2])
    np.testing.assert_array_equal(c, a + b)


def test_handlers_and_prepared_calls(module, vectors):
    a, b, c = vectors
    add = module.get_function("add")
    add(cuda.In(a), cuda.In(b), cuda.Out(c), 400, block=(256, 1, 1), grid=(2, 1))
    np.testing.assert_array_equal(c, a + b)
    memory = [cuda.to_device(v) for v in vectors]
    add.prepare("PPPi").prepared_call((2, 1), (256, 1, 1), *memory, np.int64(400))
    np.testing.assert_array_equal(cuda.from_device_like(memory[2], c), a + b)


def test_constant_memory(module):
    address, nbytes = module.get_global("table")
    assert nbytes == 16
    cuda.memcpy_htod(address, np.arange(4, dtype=np.float32))
    out = np.zeros(4, np.float32)
    module.get_function("read")(cuda.Out(out), block=(4, 1, 1))
    np.testing.assert_array_equal(out, np.arange(4))


@pytest.mark.parametrize(
    ("args", "match"),
    [
        ((np.float64(3),), r"'n' \(int\): got numpy.float64"),
        ((np.int64(3),), r"'n' \(int\): got numpy.int64"),
        ((), r"got 3, expected 4.*'n'"),
        (("text",), "'n': got str, expected int"),
    ],
)
def test_wrong_arguments_name_the_parameter(module, args, match):
    memory = [cuda.mem_alloc(1600) for _ in range(3)]
    for cls in (TypeError, cuda.LogicError):
        with pytest.raises(cls, match=match):
            module.get_function("add")(*memory, *args, block=(1, 1, 1))


def test_host_array_is_refused_with_a_hint(module, vectors):
    with pytest.raises(cuda.LogicError, match=r"In\(\), Out\(\)"):
        module.get_function("add")(*vectors, np.int32(1), block=(1, 1, 1))


def test_bad_configuration(module):
    memory = [cuda.mem_alloc(1600) for _ in range(3)]
    add = module.get_function("add")
    with pytest.raises(cuda.LogicError, match="block too large"):
        add(*memory, np.int32(0), block=(2000, 1, 1))
    with pytest.raises(TypeError, match="must hold integers"):
        add(*memory, np.int32(0), block=(1.5, 1, 1))
    with pytest.raises(ValueError, match="must specify block size"):
        add(*memory, np.int32(0))


def test_freed_allocation(module):
    memory = [cuda.mem_alloc(1600) for _ in range(3)]
    memory[1].free()
    with pytest.raises(cuda.LogicError, match="freed"):
        module.get_function("add")(*memory, np.int32(1), block=(1, 1, 1))
    with pytest.raises(cuda.LogicError, match="freed"):
        memory[1].free()


def test_out_of_memory_and_overflow_of_an_allocation():
    with pytest.raises(cuda.MemoryError, match="cuMemAlloc failed: out of memory"):
        cuda.mem_alloc(1 << 50)
    with pytest.raises(cuda.LogicError, match="expected at most 16 bytes"):
        cuda.memcpy_htod(cuda.mem_alloc(16), np.zeros(100))


def test_unknown_function_and_compile_error(module):
    with pytest.raises(cuda.LogicError, match=r"cuModuleGetFunction failed.*add"):
        module.get_function("missing")
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule("__global__ void f(float *a)\n{\n  a[0] = b;\n}")
    assert re.search(r"kernel\.cu(:3:10|\(3\))", str(caught.value))


def test_rectangles_and_fills():
    source = np.arange(24, dtype=np.float32).reshape(4, 6)
    memory = cuda.mem_alloc(source.nbytes)
    copy = cuda.Memcpy2D()
    copy.set_src_host(source)
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 24
    copy.height = 4
    copy(aligned=True)
    np.testing.assert_array_equal(cuda.from_device_like(memory, source), source)
    cuda.memset_d32(memory, 7, 24)
    assert (cuda.from_device(memory, (24,), np.int32) == 7).all()


def test_host_memory_and_its_base():
    pinned = cuda.pagelocked_zeros((10,), np.float32)
    assert pinned.base.get_flags() == 0
    assert not hasattr((pinned + 1).base, "get_flags")
    shared = cuda.managed_zeros(10, np.float32)
    kernel = SourceModule("__global__ void f(float *a) { a[threadIdx.x] += 2; }").get_function("f")
    kernel(shared, block=(10, 1, 1))
    cuda.Context.synchronize()
    assert (shared == 2).all()


def test_context_stack():
    before = cuda.Context.get_current()
    context = autoinit.device.make_context()
    assert cuda.Context.get_current() is context
    context.detach()
    assert cuda.Context.get_current() is before
    with pytest.raises(cuda.LogicError, match="detached"):
        context.push()


def test_device_facts():
    assert autoinit.device.max_threads_per_block == 1024
    assert isinstance(autoinit.device.get_attributes(), dict)
    with pytest.raises(cuda.LogicError, match="invalid device ordinal"):
        cuda.Device(1000)


def test_templates_and_headers_without_no_extern_c():
    out = np.zeros(1, np.float16)
    half = SourceModule(
        "#include <cuda_fp16.h>\n__global__ void h(half *a) { a[0] = __float2half(2.0f); }"
    )
    half.get_function("h")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 2
    template = SourceModule("template <class T> __global__ void f(T *a) { a[0] = 3; }")
    single = np.zeros(1, np.float32)
    template.get_function("f<float>")(cuda.Out(single), block=(1, 1, 1))
    assert single[0] == 3


def test_missing_features_name_themselves():
    with pytest.raises(NotImplementedError, match="pycuda.driver.TextureReference"):
        cuda.TextureReference()
