"""Kernels with signatures, specialised kernels, compiled kernels and launches seen from outside."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from trilane.numba import cuda, float32, float64, int32, int64
from trilane.numba.cuda import launchconfig


def add_kernel(r, x, y):
    r[0] = x + y


def module_kernel(a):
    a[0] = 1


compiled_module_kernel = cuda.jit(module_kernel)


def test_each_signature_of_a_list_is_used():
    f = cuda.jit(["(int64[::1], int64, int64)", (float64[::1], float64, float64)])(add_kernel)
    r = np.zeros(1, np.int64)
    f[1, 1](r, 1, 2)
    assert r[0] == 3
    r = np.zeros(1)
    f[1, 1](r, 1.5, 2.5)
    assert r[0] == 4.0
    with pytest.raises(TypeError, match="No matching definition"):
        f[1, 1](np.zeros(1, np.complex128), 1j, 1j)
    assert len(f.overloads) == 2 and not f.specialized


def test_the_nearest_signature_decides_the_precision():
    f = cuda.jit(["(float64[::1], float32, float32)", "(float64[::1], float64, float64)"])
    f = f(add_kernel)
    r = np.zeros(1)
    f[1, 1](r, np.float32(1), np.float32(2**-25))
    assert r[0] == 1.0
    f[1, 1](r, 1, 2**-25)
    assert r[0] == 1.0 + 2**-25
    f[1, 1](r, np.int32(1), 2.5)
    assert r[0] == 3.5


def test_ambiguous_signatures():
    f = cuda.jit(["(float64[::1], float32, float64)", "(float64[::1], float64, float32)",
                  "(float64[::1], int64, int64)"])(add_kernel)  # fmt: skip
    with pytest.raises(TypeError, match="Ambiguous overloading for <function add_kernel") as error:
        f[1, 1](np.zeros(1), 1.0, 2.0)
    assert "int64" not in str(error.value)


def test_specialisations_are_kept():
    f = cuda.jit(module_kernel)
    one = f.specialize(float32[::1])
    assert one is f.specialize(np.zeros(1, np.float32)) and one.specialized
    assert one is not f.specialize(float32[:]) and len(f.specializations) == 2
    with pytest.raises(RuntimeError, match="already specialized"):
        one.specialize(int32[::1])
    with pytest.raises(RuntimeError, match="already specialized"):
        cuda.jit("void(int32[::1])")(module_kernel).specialize(int32[::1])
    assert isinstance(one.get_regs_per_thread(), int)


def test_a_compiled_kernel_tells_what_it_takes():
    @cuda.jit
    def kernel(a):
        held = cuda.shared.array(10, float64)
        held[cuda.threadIdx.x] = a[0]
        cuda.syncthreads()
        a[0] = held[0]

    kernel[1, 1](np.zeros(1))
    (overload,) = kernel.overloads.values()
    assert overload.shared_mem_per_block == 80 and not overload.cooperative
    assert overload.regs_per_thread > 0 and overload.max_threads_per_block >= 1
    blocks = overload.max_cooperative_grid_blocks(256)
    assert blocks == overload.max_cooperative_grid_blocks((16, 4, 4)) > 0


@pytest.mark.parametrize("dims, error, text", [
    (((1, 2, 3, 4), 1), ValueError, r"griddim must be .* got \[1, 2, 3, 4\]"),
    ((1, 2.0), TypeError, r"blockdim must be a sequence of integers, got \[2.0\]"),
])  # fmt: skip
def test_dimensions(dims, error, text):
    with pytest.raises(error, match=text):
        compiled_module_kernel[dims]


@pytest.mark.parametrize("options, text", [
    ({"launch_bounds": (1, 2, 3, 4)}, "Got 4 launch bounds:"),
    ({"shared_memory_carveout": 101}, "must be between -1 and 100"),
    ({"shared_memory_carveout": "most"}, "Invalid carveout value"),
])  # fmt: skip
def test_options(options, text):
    with pytest.raises(ValueError, match=text):
        cuda.jit(**options)


def test_the_launch_that_compiles():
    f = cuda.jit(module_kernel)
    a = np.zeros(1)
    assert launchconfig.current_launch_config() is None
    with launchconfig.capture_compile_config(f) as captured:
        f[2, 3](a)
    config = captured["config"]
    assert (config.dispatcher, config.griddim, config.blockdim) == (f, (2, 1, 1), (3, 1, 1))
    assert config.args[0] is a and f[2, 3].args is None
    with pytest.raises(RuntimeError):
        launchconfig.ensure_current_launch_config()


def test_callbacks_before_launches():
    configured = compiled_module_kernel[1, 1]
    seen = []
    configured.pre_launch_callbacks.append(lambda kernel, launch: seen.append((kernel, launch)))
    try:
        device = cuda.to_device(np.zeros(1))
        configured(device)
        configured(device)
        assert len(seen) == 2 and seen[0][1] is configured
        assert seen[0][0] in compiled_module_kernel.overloads.values()
        with pytest.raises(pickle.PicklingError, match="pre-launch callbacks"):
            pickle.dumps(configured)
    finally:
        configured.pre_launch_callbacks.clear()


def test_arguments_of_several_types():
    f = cuda.jit([(int64[::1], int64, int64)])(add_kernel)
    r = np.zeros(1, np.int64)
    f[1, 1](r, np.int32(2), np.uint8(3))
    assert r[0] == 5
