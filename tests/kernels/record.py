"""Run the kernel cases on an NVIDIA GPU with NVRTC and the driver alone, and keep what they leave.

`python -m tests.kernels.record OUT.json [NAME ...]` needs neither Trilane nor its cuda device: it is
the outside witness for the expected values. It prints each case whose results differ from what the
case expects, and each that NVRTC does not accept. The file holds, per case, the final bytes of every
array in hexadecimal; `cases_random` takes its expectations from the committed one.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tests.kernels.all_cases import CASES
from tests.kernels.case import Case, differences

TOOLKIT = Path(os.environ.get("CUDA_PATH", "/usr/local/cuda"))
# Headers that nvcc takes from the host: NVRTC has none, so what the cases use of them is given here.
HOST_HEADERS = {
    "limits.h": "#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n",
    "float.h": "",
    "math.h": "template <class T> __device__ bool isnormal(T x) { return isfinite(x) && "
    "fabs(x) >= (sizeof(T) == 4 ? 0x1p-126 : 0x1p-1022); }\n",
    "cmath": "namespace std { using ::sqrt; using ::abs; using ::pow; using ::max; }\n",
    "string.h": "__device__ inline void* memmove(void* t, const void* f, size_t n) { char* a = (char*)t;"
    " const char* b = (const char*)f; if (a < b) for (size_t i = 0; i < n; ++i) a[i] = b[i];"
    " else for (size_t i = n; i > 0; --i) a[i - 1] = b[i - 1]; return t; }\n"
    "__device__ inline int memcmp(const void* a, const void* b, size_t n) { for (size_t i = 0; i < n;"
    " ++i) if (((char*)a)[i] != ((char*)b)[i]) return 1; return 0; }\n",
    "assert.h": "",
}


def compile_case(case: Case, architecture: str, stubs: str) -> tuple[bytes | None, str]:
    nvrtc = ctypes.CDLL("libnvrtc.so.13")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), case.source.encode(), b"case.cu", 0, None, None)
    options = [
        f"--gpu-architecture={architecture}", f"-I{stubs}", f"-I{TOOLKIT}/include",
        f"-I{TOOLKIT}/include/cccl", "--device-int128", *case.options,
    ]  # fmt: skip
    texts = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), texts)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if status:
        return None, log.value.decode()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw, ""


class Gpu:
    """The first device, by the driver's C functions."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name, major, minor = ctypes.create_string_buffer(100), ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetName", name, 100, device)
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
        self.name = name.value.decode()
        self.architecture = f"sm_{major.value}{minor.value}"

    def call(self, function: str, *arguments: object) -> None:
        status = getattr(self.cuda, function)(*arguments)
        if status:
            raise RuntimeError(f"{function}: CUDA error {status}")

    def run(self, case: Case, cubin: bytes) -> list[np.ndarray]:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"f")
        arguments: list = []
        for array in case.arrays:
            address = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes or 1))
            self.call("cuMemcpyHtoD_v2", address, array.tobytes(), ctypes.c_size_t(array.nbytes))
            arguments.append(address)
        for scalar in case.scalars:
            data = np.asarray(scalar).tobytes()
            arguments.append((ctypes.c_char * len(data)).from_buffer_copy(data))
        table = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        shape = [*case.grid, *[1] * (3 - len(case.grid)), *case.block, *[1] * (3 - len(case.block))]
        launch = ["cuLaunchKernel", "cuLaunchCooperativeKernel"][case.cooperative]
        tail = (None, table) if case.cooperative else (None, table, None)
        self.call(launch, function, *shape, case.shared, *tail)
        self.call("cuCtxSynchronize")
        results = []
        for array, address in zip(case.arrays, arguments, strict=False):
            data = ctypes.create_string_buffer(array.nbytes)
            self.call("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(array.nbytes))
            self.call("cuMemFree_v2", address)
            results.append(np.frombuffer(data.raw, array.dtype))
        self.call("cuModuleUnload", module)
        return results


def main() -> int:
    wanted = set(sys.argv[2:])
    cases = [case for case in CASES if not wanted or case.name in wanted]
    gpu = Gpu()
    recorded: dict[str, list[str]] = {}
    refused = wrong = 0
    with tempfile.TemporaryDirectory() as stubs:
        for name, text in HOST_HEADERS.items():
            Path(stubs, name).write_text(text)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            images = list(pool.map(lambda c: compile_case(c, gpu.architecture, stubs), cases))
    for case, (cubin, log) in zip(cases, images, strict=True):
        if cubin is None:
            refused += 1
            print(f"REFUSED {case.name}: {log[:400]}")
            continue
        results = gpu.run(case, cubin)
        recorded[case.name] = [r.tobytes().hex() for r in results]
        lines = differences(case, results)
        if lines:
            wrong += 1
            print(f"DIFFERS {case.name}: " + "; ".join(lines))
    print(f"{gpu.name}: {len(recorded)} recorded, {wrong} differ, {refused} refused")
    Path(sys.argv[1]).write_text(json.dumps({"device": gpu.name, "cases": recorded}, indent=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
