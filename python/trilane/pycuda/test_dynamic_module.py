"""Kernels that launch kernels, and modules of several sources."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.pycuda.autoinit  # noqa: F401
import trilane.pycuda.driver as cuda
from trilane.pycuda.compiler import (
    DEFAULT_NVCC_FLAGS,
    DynamicModule,
    DynamicSourceModule,
    SourceModule,
    compile,
)

PARENT = """
extern __global__ void fill(int *out, int value);
__global__ void start(int *out) { fill<<<1, 4>>>(out, 7); }
"""
CHILD = "__global__ void fill(int *out, int value) { out[threadIdx.x] = value + threadIdx.x; }"


def filled(function):
    out = np.zeros(4, np.int32)
    function(cuda.Out(out), block=(1, 1, 1))
    return out.tolist()


def test_a_kernel_launches_a_kernel():
    assert filled(DynamicSourceModule(CHILD + PARENT).get_function("start")) == [7, 8, 9, 10]


def test_without_relocatable_code_the_error_says_what_is_missing():
    with pytest.raises(cuda.CompileError, match="-rdc=true"):
        SourceModule(CHILD + PARENT)


@pytest.mark.parametrize("order", [(PARENT, CHILD), (CHILD, PARENT)])
@pytest.mark.parametrize("no_extern_c", [False, True])
def test_sources_are_linked_in_any_order(order, no_extern_c):
    heard = []
    module = DynamicModule(
        no_extern_c=no_extern_c, message_handler=lambda *message: heard.append(message)
    )
    for source in order:
        options = ["-rdc=true", "-lcudadevrt", *DEFAULT_NVCC_FLAGS]
        assert module.add_source(source, nvcc_options=options) is module
    assert module.add_stdlib("cudadevrt") is module
    module.link()
    assert filled(module.get_function("start")) == [7, 8, 9, 10]
    assert [message[0] for message in heard] == [True]


def test_errors_name_the_source(device_kind):
    module = DynamicModule().add_source("__global__ void a() {}", name="first.cu")
    with pytest.raises(
        cuda.CompileError, match=r"second\.cu\(2\)" if device_kind == "cuda" else "second.cu:2"
    ):
        module.add_source("\n__global__ void b() { nothing(); }", name="second.cu")


def test_what_was_compiled_is_linked():
    image = compile(CHILD, options=["-dc"])
    module = DynamicModule().add_source(PARENT).add_data(image, cuda.jit_input_type.CUBIN, "child")
    module.link()
    assert filled(module.get_function("start")) == [7, 8, 9, 10]


def test_sources_have_options_and_static_names_of_their_own():
    module = DynamicModule().add_source("static __device__ int f() { return N; }", ["-DN=1"])
    module.add_source(
        "static __device__ int f() { return N; } "
        "__global__ void g(int *out) { for (int i = 0; i < 4; ++i) out[i] = f(); }",
        ["-DN=2"],
    )
    module.link()
    assert filled(module.get_function("g")) == [2, 2, 2, 2]
    with pytest.raises(cuda.LogicError, match="the module is linked"):
        module.add_source(CHILD)


def test_what_does_not_fit_is_told_by_the_linker():
    heard = []
    module = DynamicModule(message_handler=lambda *message: heard.append(message))
    with pytest.raises(cuda.Error, match="fill"):
        module.add_source(PARENT).link()
    assert heard[0][0] is False and "fill" in heard[0][2]


def test_nothing_cannot_be_linked():
    with pytest.raises(cuda.LogicError, match="nothing was added"):
        DynamicModule().link()


def test_libraries_of_a_toolkit_are_refused():
    with pytest.raises(NotImplementedError, match="cublas_device"):
        DynamicModule().add_stdlib("cublas_device")


def test_globals_of_a_linked_module():
    module = DynamicModule().add_source("__constant__ int c[3];").add_source("__device__ float f;")
    module.link()
    assert [module.get_global(name)[1] for name in "cf"] == [12, 4]
