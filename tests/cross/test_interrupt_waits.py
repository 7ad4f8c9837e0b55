"""Ctrl-C leaves what waits for work on a GPU that never ends: over the fake driver."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trilane.testing.child import child_environment

PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import trilane.pycuda.autoinit
import trilane.pycuda.driver as drv
from trilane.pycuda.compiler import SourceModule
endless = SourceModule("__global__ void endless() { for (;;) { } }").get_function("endless")
block = drv.mem_alloc(1 << 25)
small, large = np.zeros(4, np.int32), np.zeros(1 << 23, np.int32)
stream = drv.Stream() if {on_stream} else None
event = drv.Event()
endless(block=(1, 1, 1), stream=stream)
event.record(stream)
for round in range(2):
    print("ready", flush=True)
    try:
        {wait}
        print("not left", flush=True)
    except KeyboardInterrupt:
        print("left", flush=True)
print("done", flush=True)
"""
WAITS = {
    "the device": "drv.Context.synchronize()",
    "an event": "event.synchronize()",
    "a copy to the host": "drv.memcpy_dtoh(small, block)",
    "a large copy to the host": "drv.memcpy_dtoh(large, block)",
    "a copy to the device": "drv.memcpy_htod(block, small)",
    "a large copy to the device": "drv.memcpy_htod(block, large)",
    "a copy into pageable memory": "drv.memcpy_dtoh_async(small, block, stream)",
    "a stream": "(stream or drv.Context).synchronize()",
}


@pytest.fixture(scope="module")
def fake_driver() -> dict[str, str]:
    folder = Path(__file__).parents[2] / "build" / "dev" / "src" / "devices" / "cuda"
    library, nvrtc = folder / "libfake_cuda.so", folder / "libfake_nvrtc.so"
    if not (library.exists() and nvrtc.exists()):
        pytest.skip("no fake driver: the C++ tests are not built here")
    return {
        "TRILANE_DEVICE": "cuda",
        "TRILANE_CUDA_LIBRARY": str(library),
        "TRILANE_NVRTC": str(nvrtc),
    }


def end_of(child: subprocess.Popen) -> int | None:
    """The status of a program that waits for its work at its end, until Ctrl-C leaves that too."""
    for _ in range(40):
        try:
            return child.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
    return None


@pytest.mark.parametrize("on_stream", [False, True], ids=["null stream", "stream"])
@pytest.mark.parametrize("what", WAITS)
def test_ctrl_c_leaves(what, on_stream, fake_driver):
    text = PROGRAM.replace("{wait}", WAITS[what]).replace("{on_stream}", str(on_stream))
    child = subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=child_environment(**fake_driver),
    )
    try:
        for _ in range(2):
            assert child.stdout.readline() == "ready\n", child.communicate()
            time.sleep(0.15)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "left\n", child.communicate()
        assert child.stdout.readline() == "done\n"
        ended = end_of(child)
        assert ended is not None, "the end of the program waits for the work and cannot be left"
        assert "Segmentation" not in child.stderr.read() and ended >= 0
    finally:
        child.kill()
        child.communicate()
