"""Modules of files, and LinkState."""

from __future__ import annotations

import pytest

import trilane.cupy as cp
from trilane import _core
from trilane.cupy.cuda import function
from trilane.cupy.cuda.driver import CUDADriverError

HELPER = 'extern "C" __device__ int seven() { return 7; } __device__ int unused = 1;'
KERNEL = """
extern "C" __device__ int seven();
extern "C" { __device__ int offset = 2; }
extern "C" __global__ void work(int *out) { out[threadIdx.x] = seven() + offset + threadIdx.x; }
"""


def piece(text):
    return _core.compile_image(text, ["-dc"])


def ran(kernel):
    out = cp.zeros(3, cp.int32)
    kernel((1,), (3,), (out,))
    return out.tolist()


def test_pieces_are_linked(tmp_path):
    state = function.LinkState()
    state.add_ptr_data(piece(KERNEL), "kernel")
    path = tmp_path / "helper.bin"
    path.write_bytes(piece(HELPER))
    state.add_ptr_file(str(path))
    module = function.Module()
    image = state.complete()
    module.load(image)
    assert ran(module.get_function("work")) == [9, 10, 11]
    assert module.get_global_var("offset") > 0
    (tmp_path / "linked.cubin").write_bytes(image)
    raw = cp.RawModule(path=str(tmp_path / "linked.cubin"))
    assert ran(raw.get_function("work")) == [9, 10, 11]
    for find in (module.get_function, module.get_global_var):
        with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_FOUND"):
            find("absent")


def test_what_does_not_fit_is_told():
    state = function.LinkState()
    state.add_ptr_data(piece(KERNEL), "kernel")
    with pytest.raises(CUDADriverError, match=r"CUDA_ERROR_INVALID_SOURCE.*seven"):
        state.complete()


@pytest.mark.parametrize("form", ["ptx", "cubin"])
def test_files_of_nvrtc(form, tmp_path, device_kind):
    text = KERNEL.replace("seven() +", "")
    path = tmp_path / f"code.{form}"
    if device_kind == "cuda":
        capability = cp.cuda.Device().compute_capability
        arch = ("compute_" if form == "ptx" else "sm_") + capability
        code = _core.image_code(_core.compile_image(text, [f"-arch={arch}"]))[1]
        path.write_bytes(code)
        assert ran(cp.RawModule(path=str(path)).get_function("work")) == [2, 3, 4]
        return
    path.write_bytes(
        {"ptx": b".version 8.0\n.target sm_90\n", "cubin": b"\x7fELF" + bytes(99)}[form]
    )
    with pytest.raises(CUDADriverError, match=r"CUDA_ERROR_INVALID_IMAGE.*CUDA C\+\+ text"):
        cp.RawModule(path=str(path)).get_function("work")
