"""Code of several texts linked into one module: what is shared, and what the linker says."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.pycuda.autoinit  # noqa: F401
import trilane.pycuda.driver as cuda
from trilane.pycuda.compiler import DynamicModule, compile

KIND = cuda.jit_input_type

HELPER = """
__device__ int calls = 5;
__constant__ float factors[2];
__device__ float scaled(float x) { atomicAdd(&calls, 1); return factors[1] * x + threadIdx.x; }
"""
USER = """
extern __device__ int calls;
extern __constant__ float factors[2];
__device__ float scaled(float x);
__global__ void work(float *out) { out[threadIdx.x] = scaled(out[threadIdx.x]) + factors[0]; }
__global__ void count(int *out) { *out = calls; }
"""


def piece(source, *options, no_extern_c=False):
    return compile(source, options=list(options), target="ptx", no_extern_c=no_extern_c)


def linked(*sources, **options):
    linker = cuda.Linker(**options)
    for number, source in enumerate(sources):
        linker.add_data(piece(source), KIND.PTX, f"part{number}.cu")
    return linker.link_module()


@pytest.mark.parametrize("order", [(HELPER, USER), (USER, HELPER)])
def test_functions_and_variables_are_shared(order):
    heard = []
    module = linked(*order, message_handler=lambda *message: heard.append(message))
    address, nbytes = module.get_global("factors")
    assert nbytes == 8
    cuda.memcpy_htod(address, np.array([100, 2], np.float32))
    data = np.arange(40, dtype=np.float32)
    expected = 2 * data + np.arange(40) + 100
    module.get_function("work")(cuda.InOut(data), block=(40, 1, 1))
    assert data.tolist() == expected.tolist()
    count = np.zeros(1, np.int32)
    module.get_function("count")(cuda.Out(count), block=(1, 1, 1))
    assert count[0] == 45
    cuda.memcpy_dtoh(count, module.get_global("calls")[0])
    assert count[0] == 45
    assert [message[0] for message in heard] == [True]


def test_each_piece_keeps_its_own_static_names_macros_and_shared_arrays():
    text = """
    static __device__ int twice(int x) {{ return {factor} * x; }}
    static __device__ int bias = {factor};
    __global__ void {name}(int *out) {{
        __shared__ int all[64];
        all[threadIdx.x] = twice(threadIdx.x) + bias;
        __syncthreads();
        out[threadIdx.x] = all[63 - threadIdx.x];
    }}
    """
    module = linked(text.format(factor=2, name="f"), text.format(factor=7, name="g"))
    for name, factor in (("f", 2), ("g", 7)):
        out = np.zeros(64, np.int32)
        module.get_function(name)(cuda.Out(out), block=(64, 1, 1))
        assert out.tolist() == [factor * (63 - i) + factor for i in range(64)]


def test_a_function_of_another_piece_may_hold_barriers_and_warp_operations():
    helper = """
    __device__ int sum_of_block(int value) {
        __shared__ int total;
        if (threadIdx.x == 0) total = 0;
        __syncthreads();
        for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
        if (threadIdx.x % 32 == 0) atomicAdd(&total, value);
        __syncthreads();
        return total;
    }
    """
    user = """
    __device__ int sum_of_block(int value);
    __global__ void sums(int *out) { out[threadIdx.x] = sum_of_block(threadIdx.x); }
    """
    out = np.zeros(256, np.int32)
    linked(helper, user).get_function("sums")(cuda.Out(out), block=(256, 1, 1))
    assert set(out.tolist()) == {255 * 128}


# NVRTC refuses the fourth way, a static data member (docs/design/dialect.md).
ONE_COUNTER = {
    "variable template": ("template <typename T> __device__ int counter = 0;", "&counter<float>"),
    "inline variable": ("inline __device__ int counter = 0;", "&counter"),
    "static variable": (
        "template <typename T> __device__ int *counter() { static int value; return &value; }",
        "counter<float>()",
    ),
}


@pytest.mark.parametrize("way", ONE_COUNTER)
def test_instances_of_one_template_are_one(way):
    declared, address = ONE_COUNTER[way]
    text = f"""
    {declared}
    extern "C" __global__ void NAME(int *out) {{ *out = atomicAdd({address}, 1); }}
    """
    linker = cuda.Linker()
    for name in ("first", "second"):
        image = piece(text.replace("NAME", name), no_extern_c=True)
        linker.add_data(image, KIND.PTX, name)
    module = linker.link_module()
    out = np.zeros(1, np.int32)
    for turn, name in enumerate(("first", "second", "first")):
        module.get_function(name)(cuda.Out(out), block=(1, 1, 1))
        assert out[0] == turn


def failure(*sources):
    heard = []
    with pytest.raises(cuda.LogicError, match="cuLinkComplete failed") as caught:
        linked(*sources, message_handler=lambda *message: heard.append(message))
    assert len(heard) == 1 and heard[0][:2] == (False, "")
    assert heard[0][2] == caught.value.detail
    return heard[0][2]


def test_two_definitions_are_named():
    log = failure("__device__ int twin() { return 1; }", "__device__ int twin() { return 2; }")
    assert "twin" in log and "part1.cu" in log


def test_two_kernels_of_one_name_are_named():
    kernel = "__global__ void work(int *p) { *p = 1; }"
    assert "work" in failure(kernel, kernel)


def test_what_is_missing_is_named():
    user = "__device__ int absent(int); __global__ void f(int *p) { *p = absent(1); }"
    log = failure(HELPER, user)
    assert "absent" in log and "scaled" not in log
    log = failure("extern __device__ int nowhere; __global__ void f(int *p) { *p = nowhere; }")
    assert "nowhere" in log


def test_a_function_that_was_declared_otherwise_is_named(device_kind):
    if device_kind == "cuda":
        pytest.skip("nvlink compares no parameters of functions that have the same name in C")
    log = failure(
        "__device__ int f(float x) { return x; }",
        "__device__ int f(int); __global__ void k(int *p) { *p = f(1); }",
    )
    assert "Prototype doesn't match for 'f' in 'part1.cu'" in log and "part0.cu" in log


def test_a_piece_can_be_loaded_alone():
    image = piece("__device__ int f() { return 3; } __global__ void k(int *p) { *p = f(); }")
    out = np.zeros(1, np.int32)
    cuda.module_from_buffer(image).get_function("k")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 3


def test_options_and_their_errors():
    options = [
        (cuda.jit_option.MAX_REGISTERS, 32),
        (cuda.jit_option.OPTIMIZATION_LEVEL, 3),
        (cuda.jit_option.WALL_TIME, 0),
    ]
    linked(HELPER, USER, options=options, log_verbose=True).get_function("work")
    source = "__global__ void k(int *p) { *p = 9; }"
    out = np.zeros(1, np.int32)
    module = cuda.module_from_buffer(piece(source), options=options)
    module.get_function("k")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 9
    with pytest.raises(cuda.LogicError, match="ERROR_LOG_BUFFER is the linker's own"):
        cuda.Linker(options=[(cuda.jit_option.ERROR_LOG_BUFFER, 1)])
    with pytest.raises(NotImplementedError, match="TARGET"):
        cuda.Linker(options=[(cuda.jit_option.TARGET, cuda.jit_target.COMPUTE_75)])
    with pytest.raises(cuda.LogicError, match="pairs of a jit_option"):
        cuda.Linker(options=[("maxrregcount", 3)])


def test_a_linker_works_once():
    linker = cuda.Linker()
    with pytest.raises(cuda.LogicError, match="nothing was added"):
        linker.link_module()
    with pytest.raises(cuda.LogicError, match=r"empty\.ptx: nothing is in it"):
        linker.add_data(b"", KIND.PTX, "empty.ptx")
    with pytest.raises(ValueError, match="77"):
        linker.add_data(b"x", 77)
    linker.add_data(piece(HELPER), KIND.PTX)
    linker.link_module()
    with pytest.raises(cuda.LogicError, match="has done its work"):
        linker.link_module()
    with pytest.raises(cuda.LogicError, match="has done its work"):
        linker.add_data(piece(HELPER), KIND.PTX)


def test_files_are_linked(tmp_path):
    path = tmp_path / "helper.bin"
    path.write_bytes(piece(HELPER))
    linker = cuda.Linker()
    linker.add_file(str(path), KIND.PTX)
    linker.add_data(piece(USER), KIND.PTX)
    assert linker.link_module().get_global("factors")[1] == 8
    with pytest.raises(cuda.RuntimeError, match=r"cuLinkAddFile failed: file not found .*absent"):
        cuda.Linker().add_file(str(tmp_path / "absent.cubin"), KIND.CUBIN)


FOREIGN = {
    "a cubin": b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\x00" + bytes(64),
    "an object file of the host": b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00" + bytes(64),
    "a library of object files": b"!<arch>\nrest",
    "a fatbin": b"\x50\xed\x55\xba\x01\x00\x10\x00" + bytes(64),
    "PTX": b"//\n.version 8.0\n.target sm_90\n.address_size 64\n",
    "LTO-IR": b"\xed\x43\x4e\x7f" + bytes(64),
    "LLVM bitcode": b"BC\xc0\xde" + bytes(64),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_the_cpu_device_says_what_it_cannot_run(what, device_kind):
    if device_kind != "cpu":
        pytest.skip("about the cpu device, which runs CUDA C++ texts alone")
    linker = cuda.Linker()
    linker.add_data(piece(USER), KIND.PTX)
    linker.add_data(FOREIGN[what], KIND.CUBIN, "part.bin")
    with pytest.raises(cuda.LogicError, match=rf"part\.bin is {what}.*CUDA C\+\+ text") as caught:
        linker.link_module()
    assert isinstance(caught.value, NotImplementedError)
    with pytest.raises(cuda.LogicError, match=rf"the image is {what}.*CUDA C\+\+ text"):
        cuda.module_from_buffer(FOREIGN[what])


def test_code_that_was_not_compiled_to_be_linked_is_refused(device_kind):
    if device_kind != "cpu":
        pytest.skip("the driver takes whole cubins")
    linker = cuda.Linker()
    linker.add_data(compile(USER.replace("scaled(out[threadIdx.x]) +", ""), options=["-dc"]), 0)
    linker.add_data(compile("__global__ void other() {}"), KIND.CUBIN, "whole.cubin")
    with pytest.raises(cuda.LogicError, match=r"whole\.cubin was compiled to run.*-dc"):
        linker.link_module()


@pytest.mark.parametrize("arch", ["compute", "sm"])
def test_what_nvrtc_makes_is_linked_with_texts(arch, device_kind):
    """Cubin and PTX as a user has them: without an envelope of ours."""
    if device_kind != "cuda":
        pytest.skip("the cpu device runs CUDA C++ texts alone")
    from trilane import _core

    major, minor = cuda.Context.get_device().compute_capability()
    _, bare, _ = _core.image_code(compile(HELPER, options=["-dc", f"-arch={arch}_{major}{minor}"]))
    assert bare.startswith(b"\x7fELF") == (arch == "sm")
    module = DynamicModule().add_source(USER, name="user.cu")
    module.add_data(bare, KIND.PTX if arch == "compute" else KIND.CUBIN, "helper")
    module.link()
    data = np.zeros(4, np.float32)
    module.get_function("work")(cuda.InOut(data), block=(4, 1, 1))
    assert data.tolist() == [0, 1, 2, 3]
