"""Each header of device_lib/include compiles alone and twice on the cpu device (tests/parity: NVRTC)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernels.devices import context_of

INCLUDE = Path(__file__).resolve().parents[2] / "device_lib" / "include"
# A header that exists to say what cannot be had.
REFUSED = {"pycuda-helpers.hpp": "texture references"}
HEADERS = sorted(
    path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*") if path.is_file()
)
pytestmark = pytest.mark.cpu_only(reason="the headers of this folder stand in for CUDA's there")
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


@pytest.mark.parametrize("name", ["tex2DSparse<float>(0)", "curand_mrg32k3a()"])
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(RuntimeError, match=name.split("<")[0].split("(")[0]):
        compile_text(f'extern "C" __global__ void f(float* p) {{ p[0] = {name}; }}')
