"""Kernels linked with code in other languages: link=, declare_device, callbacks."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from trilane import _core
from trilane.numba import cuda, types
from trilane.numba.cuda.cudadrv.error import LinkerError
from trilane.testing.child import child_environment

NUMBA_ABI = """
extern "C" __device__ int times(int *result, int a, float b) { *result = a * b; return 0; }
extern "C" __device__ int add_complex(float2 *result, float re, float im, float by)
{ *result = make_float2(re + by, im); return 0; }
extern "C" __device__ int fill(void *result, void *, void *, long long items, long long itemsize,
                               void *data, long long rows, long long columns,
                               long long row_bytes, long long column_bytes, int start) {
    for (long long i = 0; i < rows; ++i)
        for (long long j = 0; j < columns; ++j)
            *(int *)((char *)data + i * row_bytes + j * column_bytes) =
                start + (int)(items * itemsize) + (int)(i * 10 + j);
    return 0;
}
"""
C_ABI = """
extern "C" __device__ int add(int a, int b) { return a + b; }
extern "C" __device__ bool odd(unsigned long long n) { return n % 2; }
extern "C" __device__ void store(float *to, float value) { *to = value; }
extern "C" __device__ int answer() { return 42; }
"""


def test_numbers_in_both_ways_of_passing_them():
    times = cuda.declare_device("times", "int32(int32, float32)", link=cuda.CUSource(NUMBA_ABI))
    link = cuda.CUSource(C_ABI)
    add = cuda.declare_device("add", types.int32(types.int32, types.int32), link, abi="c")
    odd = cuda.declare_device("odd", "boolean(uint64)", [link], abi="c")
    answer = cuda.declare_device("answer", "int32()", (link,), abi="c")

    @cuda.jit(device=True)
    def inner(x):
        return times(x, 2.5)

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = inner(x[i])
            out[i, 1] = add(x[i], i)
            out[i, 2] = odd(x[i])
            out[i, 3] = answer()

    x = np.arange(20, dtype=np.int32)
    out = np.zeros((20, 4), np.int64)
    kernel[1, 32](out, x)
    expected = [(int(i * 2.5), 2 * i, i % 2, 42) for i in range(20)]
    assert out.tolist() == [list(row) for row in expected]


def test_arrays_and_complex_numbers_as_numba_passes_them():
    link = cuda.CUSource(NUMBA_ABI)
    fill = cuda.declare_device("fill", "void(int32[:, :], int32)", link=link)
    shift = cuda.declare_device("add_complex", "complex64(complex64, float32)", link=link)

    @cuda.jit
    def kernel(a, z):
        fill(a, 100)
        z[0] = shift(z[0], 2)

    a = np.zeros((2, 6), np.int32)
    z = np.array([1 + 3j], np.complex64)
    kernel[1, 1](a[:, ::2], z)
    assert a[:, ::2].tolist() == [[124, 125, 126], [134, 135, 136]]
    assert not a[:, 1::2].any() and z[0] == 3 + 3j


def test_pointers_come_from_cffi():
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    store = cuda.declare_device(
        "store", types.void(types.CPointer(types.float32), types.float32),
        link=cuda.CUSource(C_ABI), abi="c",
    )  # fmt: skip

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            store(ffi.from_buffer(x[i:]), i)

    x = np.zeros(10, np.float32)
    kernel[1, 32](x)
    assert x.tolist() == list(range(10))

    @cuda.jit
    def strided(x):
        store(ffi.from_buffer(x), 1)

    with pytest.raises(Exception, match="non-contiguous"):
        strided[1, 1](cuda.to_device(x)[::2])


def test_calls_that_do_not_fit_are_refused():
    add = cuda.declare_device("add", "int32(int32, int32)", link=cuda.CUSource(C_ABI), abi="c")

    @cuda.jit
    def too_few(x):
        x[0] = add(1)

    @cuda.jit
    def wrong(x):
        x[0] = add(x, 1)

    x = np.zeros(1, np.int32)
    with pytest.raises(Exception, match="takes 2 arguments but 1 were given"):
        too_few[1, 1](x)
    with pytest.raises(Exception, match="add"):
        wrong[1, 1](x)
    with pytest.raises(TypeError, match="call it in a kernel"):
        add(1, 2)
    with pytest.raises(NotImplementedError, match="Unsupported ABI: fast"):
        cuda.declare_device("f", "int32()", abi="fast")
    for bad in ((types.float32[:],), "(float32[:],)"):
        with pytest.raises(TypeError, match="Return type"):
            cuda.declare_device("f", bad)
    with pytest.raises(ValueError, match="link keyword invalid for device function"):
        cuda.jit(device=True, link=[cuda.CUSource(C_ABI)])(lambda x: x)


def test_the_linker_is_heard():
    absent = cuda.declare_device("absent", "int32(int32)")

    @cuda.jit
    def kernel(x):
        x[0] = absent(1)

    x = np.zeros(1, np.int32)
    with pytest.raises(LinkerError, match="absent"):
        kernel[1, 1](x)
    twice = [cuda.CUSource(C_ABI, name=name) for name in ("one.cu", "two.cu")]
    twice[1]._data += "\n"

    @cuda.jit(link=twice)
    def other(x):
        x[0] = 1

    with pytest.raises(LinkerError, match="answer"):
        other[1, 1](x)
    with pytest.raises(LinkerError, match=r"^nonexistent\.cu not found$"):
        cuda.jit(link=["nonexistent.cu"])(lambda: None)
    with pytest.raises(NotImplementedError, match="LTO-IR"):
        cuda.jit(link=cuda.LTOIR(b"x"))(lambda: None)


def test_files_find_their_headers_and_tell_warnings(tmp_path):
    (tmp_path / "base.h").write_text("#define BASE 30\n")
    path = tmp_path / "code.cu"
    path.write_text(
        '#include "base.h"\n#warning look here\n'
        'extern "C" __device__ int based(int *r, int x) { *r = BASE + x; return 0; }\n'
    )
    based = cuda.declare_device("based", "int32(int32)", link=str(path))

    @cuda.jit
    def kernel(x):
        x[0] = based(x[0])

    x = np.array([4], np.int32)
    with pytest.warns(UserWarning, match="(?s)NVRTC log messages .*look here"):
        kernel[1, 1](x)
    assert x[0] == 34


def test_an_error_in_the_text_is_told_with_its_file(tmp_path):
    path = tmp_path / "broken.cu"
    text = "__device__ int f() { return SYNTAX; }\n__device__ int g() { return SYNTAX; }\n"
    path.write_text(text)

    with pytest.raises(_core.TrilaneError, match="SYNTAX") as caught:

        @cuda.jit("void(int32[:])", link=[str(path)])
        def kernel(x):
            x[0] = 1

    assert "broken.cu" in caught.value.detail


def test_code_of_nvidias_compilers(device_kind):
    ptx = cuda.PTXSource(b".version 8.0\n.target sm_90\n.address_size 64\n", name="part.ptx")

    @cuda.jit(link=[ptx])
    def kernel(x):
        x[0] = 1

    x = np.zeros(1, np.int32)
    if device_kind == "cpu":
        with pytest.raises(NotImplementedError, match=r"part\.ptx is PTX .*CUDA C\+\+ text"):
            kernel[1, 1](x)
    else:
        kernel[1, 1](x)
        assert x[0] == 1


@pytest.mark.parametrize("form", ["PTXSource", "Cubin"])
def test_what_nvrtc_makes_is_linked(form, device_kind):
    if device_kind != "cuda":
        pytest.skip("the cpu device runs CUDA C++ texts alone")
    major, minor = cuda.get_current_device().compute_capability
    arch = ("sm" if form == "Cubin" else "compute") + f"_{major}{minor}"
    code = _core.image_code(_core.compile_image(C_ABI, ["-dc", f"-arch={arch}"]))[1]
    add = cuda.declare_device("add", "int32(int32, int32)", abi="c")

    @cuda.jit(link=[getattr(cuda, form)(code)])
    def kernel(x):
        x[0] = add(x[0], 2)

    x = np.array([5], np.int32)
    kernel[1, 1](x)
    assert x[0] == 7


# --- callbacks

NUMBER = """
__device__ int num = 0;
extern "C" __device__ int get_num(int *result) { *result = num; return 0; }
"""


def test_a_callback_sees_the_module_before_the_kernel_runs():
    def setup(code):
        address, nbytes = code.get_global(b"num")
        assert nbytes == 4 and code.get_function_names()
        _core.copy_to_device(address, np.array([42], np.int32))

    lib = cuda.CUSource(NUMBER, setup_callback=setup)
    get_num = cuda.declare_device("get_num", "int32()", link=[lib])

    @cuda.jit
    def kernel(x):
        x[0] = get_num()

    x = np.zeros(1, np.int32)
    kernel[1, 1](x)
    assert x[0] == 42


def counted():
    seen, gone = [], []
    lib = cuda.CUSource(
        "",
        setup_callback=lambda code: seen.append(code.handle),
        teardown_callback=lambda code: gone.append(code.handle),
    )
    return lib, seen, gone


def test_callbacks_come_once_per_module_and_at_its_end():
    lib, seen, gone = counted()

    @cuda.jit(link=[lib])
    def kernel(x):
        pass

    assert not seen
    for value in (42, 100, 3.14):
        kernel[1, 1](value)
    assert len(seen) == len(set(seen)) == 2 and not gone
    cuda.current_context().reset()
    assert sorted(gone) == sorted(seen)
    kernel[1, 1](1)
    assert len(seen) == 3
    cuda.get_current_device().reset()
    assert sorted(gone) == sorted(seen)


_AT_EXIT = """
from trilane.numba import cuda
lib = cuda.CUSource("", teardown_callback=lambda code: print("torn down", flush=True))
@cuda.jit(link=[lib])
def kernel():
    pass
kernel[1, 1]()
print("done", flush=True)
"""


def test_the_end_of_the_program_tears_down(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(_AT_EXIT)
    done = subprocess.run(
        [sys.executable, str(program)], env=child_environment(), capture_output=True, text=True
    )
    assert done.stdout.split("\n") == ["done", "torn down", ""], done.stderr


def test_threads_share_one_module():
    lib, seen, gone = counted()

    @cuda.jit(link=[lib])
    def kernel():
        pass

    threads = [threading.Thread(target=lambda: kernel[1, 1]()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1
    cuda.current_context().reset()
    assert gone == seen
