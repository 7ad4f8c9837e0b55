"""Without a device that TRILANE_DEVICE admits every face raises what its users know from CUDA."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from trilane import _core
from trilane.cupy.cuda.runtime import CUDARuntimeError, getDeviceCount
from trilane.numba import cuda
from trilane.numba.cuda.cudadrv.error import CudaSupportError
from trilane.pycuda import driver

PROGRAM = r"""
import json
import pickle
import numpy as np
from trilane import _core, cupy
from trilane.numba import cuda
from trilane.pycuda import driver

SOURCE = 'extern "C" __global__ void f() {}'


def autoinit():
    import trilane.pycuda.autoinit


calls = {
    "cupy.zeros": lambda: cupy.zeros(3),
    "cupy.asarray": lambda: cupy.asarray([1]),
    "cupy.RawKernel": lambda: cupy.RawKernel(SOURCE, "f")((1,), (1,), ()),
    "cupy.Stream": lambda: cupy.cuda.Stream(),
    "cupy.getDeviceCount": lambda: cupy.cuda.runtime.getDeviceCount(),
    "cupy.use": lambda: cupy.cuda.Device(0).use(),
    "pycuda.init": lambda: driver.init(),
    "pycuda.Device": lambda: driver.Device(0),
    "pycuda.mem_alloc": lambda: driver.mem_alloc(4),
    "pycuda.autoinit": autoinit,
    "numba.to_device": lambda: cuda.to_device(np.zeros(3)),
    "numba.device_array": lambda: cuda.device_array(3),
    "numba.stream": lambda: cuda.stream(),
    "numba.event": lambda: cuda.event(),
    "numba.synchronize": lambda: cuda.synchronize(),
    "numba.launch": lambda: cuda.jit(lambda a: None)[1, 1](np.zeros(3)),
    "numba.gpus": lambda: len(cuda.gpus),
    "numba.detect": lambda: cuda.detect(),
    "numba.select_device": lambda: cuda.select_device(0),
    "numba.current_context": lambda: cuda.current_context(),
}
found = {}
for name, call in calls.items():
    try:
        call()
        found[name] = ["", "nothing raised", 0]
    except Exception as error:
        again = pickle.loads(pickle.dumps(error)) if name.startswith("cupy") else None
        found[name] = [type(error).__name__, str(error), getattr(again, "status", 0)]
quiet = [cupy.cuda.is_available(), cuda.is_available(), driver.Device.count(), cuda.cuda_error()]
print(json.dumps([found, quiet]))
"""
# By face: the class and how the text begins.
EXPECTED = {
    "cupy": (
        "CUDARuntimeError",
        "cudaErrorInsufficientDriver: CUDA driver version is insufficient",
    ),
    "pycuda": ("RuntimeError", "cu"),
    "numba": ("CudaSupportError", "Error at driver init: CUDA driver library cannot be found"),
}


@pytest.fixture(scope="module")
def without_driver():
    chosen = {"TRILANE_DEVICE": "cuda", "TRILANE_CUDA_LIBRARY": "/nowhere/libcuda.so.1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | chosen,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_call_raises_what_the_original_does(without_driver):
    found, _ = without_driver
    assert len(found) == 20
    for name, (cls, text, status) in found.items():
        face = name.split(".")[0]
        expected, start = EXPECTED[face]
        assert (cls, text[: len(start)]) == (expected, start), name
        assert "/nowhere/libcuda.so.1" in text, name  # and says why
        assert status == (35 if face == "cupy" else 0), name
        if face == "pycuda":
            assert " failed: no CUDA-capable device is detected - " in text


def test_questions_whether_there_is_one_are_answered(without_driver):
    _, (in_cupy, in_numba, in_pycuda, why) = without_driver
    assert (in_cupy, in_numba, in_pycuda) == (False, False, 0)
    assert "/nowhere/libcuda.so.1" in why


def test_a_driver_without_a_gpu_is_another_error(monkeypatch):
    monkeypatch.setattr(_core, "no_device", lambda: (100, "no device: cuda: hidden"))
    with pytest.raises(CUDARuntimeError) as caught:
        getDeviceCount()
    assert caught.value.status == 100
    assert str(caught.value).startswith("cudaErrorNoDevice: no CUDA-capable device is detected")
    with pytest.raises(CudaSupportError, match=r"cuInit results in CUDA_ERROR_NO_DEVICE \(100\)"):
        cuda.current_context()
    with pytest.raises(driver.RuntimeError, match="cuInit failed: no CUDA-capable device"):
        driver.init()


def test_with_a_device_there_is_no_reason():
    assert _core.no_device() is None
    assert cuda.cuda_error() is None
    driver.init()
    assert getDeviceCount() == _core.device_count() > 0
