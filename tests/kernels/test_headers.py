"""Each header of device_lib/include compiles alone and twice; those for both devices in NVRTC too."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from pathlib import Path

import pytest

from tests.kernels.devices import context_of

INCLUDE = Path(__file__).resolve().parents[2] / "device_lib" / "include"
# A header that exists to say what cannot be had.
REFUSED = {"pycuda-helpers.hpp": "texture references"}
HEADERS = sorted(
    path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*") if path.is_file()
)
SHARED = sorted(path.name for path in (INCLUDE / "trilane").glob("*.h"))
KERNEL = 'extern "C" __global__ void f(int* p) { p[0] = 1; }\n'


def compile_text(text: str, *options: str) -> None:
    from trilane import _core

    _core.compile_image(text, list(options), context=context_of("cpu"))


@pytest.mark.parametrize("header", HEADERS)
def test_header_stands_alone(header: str) -> None:
    text = f"#include <{header}>\n#include <{header}>\n{KERNEL}"
    if header in REFUSED:
        with pytest.raises(RuntimeError, match=REFUSED[header]):
            compile_text(text)
        return
    compile_text(text)


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
def test_all_headers_together_in_every_language_version(standard: str) -> None:
    lines = [f"#include <{header}>" for header in HEADERS if header not in REFUSED]
    compile_text("\n".join(lines) + "\n" + KERNEL, f"--std={standard}")


def test_headers_inside_extern_c() -> None:
    """PyCUDA wraps whole texts so; C headers must stand it."""
    names = ["math.h", "stdio.h", "stdint.h", "cuComplex.h", "assert.h", "float.h"]
    lines = "\n".join(f"#include <{name}>" for name in names)
    compile_text(f'extern "C" {{\n{lines}\n__global__ void f(float* p) {{ p[0] = sqrtf(2); }}\n}}')


@pytest.mark.parametrize(
    "name", ["tex2D<float>(0, 0, 0)", "curand_mrg32k3a()", "__cluster_dims__(2)"]
)
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(RuntimeError, match=name.split("<")[0].split("(")[0]):
        compile_text(f'extern "C" __global__ void f(float* p) {{ p[0] = {name}; }}')


def nvrtc() -> ctypes.CDLL | None:
    root = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", f"{root}/lib64/libnvrtc.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC on this machine")
@pytest.mark.parametrize("header", SHARED)
def test_shared_header_compiles_in_nvrtc(header: str) -> None:
    library = nvrtc()
    assert library is not None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    text = f"#include <trilane/{header}>\n{KERNEL}".encode()
    library.nvrtcCreateProgram(ctypes.byref(program), text, b"t.cu", 0, None, None)
    # only trilane/ is on the path: nothing of the cpu device's may be needed
    holder = INCLUDE / "trilane"
    headers = {f"trilane/{path.name}": path.read_text() for path in holder.glob("*.h")}
    headers |= {path.name: path.read_text() for path in holder.glob("*.h")}
    library.nvrtcDestroyProgram(ctypes.byref(program))
    names = (ctypes.c_char_p * len(headers))(*(n.encode() for n in headers))
    texts = (ctypes.c_char_p * len(headers))(*(t.encode() for t in headers.values()))
    library.nvrtcCreateProgram(ctypes.byref(program), text, b"t.cu", len(headers), texts, names)
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_75")
    status = library.nvrtcCompileProgram(program, 1, options)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
