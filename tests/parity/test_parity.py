"""NVRTC takes the headers that the cuda device gives it, and the kernel cases of tests/kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernels.all_cases import CASES
from tests.parity.__main__ import is_ruled
from tests.parity.texts import ARCHITECTURES, CPU_ONLY, Text, absent, complaint

pytestmark = pytest.mark.skipif(absent() is not None, reason=str(absent()))
DEVICE_LIB = Path(__file__).resolve().parents[2] / "device_lib"
KERNEL = 'extern "C" __global__ void f(int* p) { p[0] = 1; }\n'
# A header that exists to say what cannot be had.
REFUSED = {"pycuda-helpers.hpp": "texture references"}
# Parts of cuRAND's that do not stand alone there.
PARTS = {"curand_normal.h", "curand_uniform.h"}
HEADERS = sorted(
    path.relative_to(DEVICE_LIB / "include").as_posix()
    for path in (DEVICE_LIB / "include").rglob("*")
    if path.is_file()
)
# Words that an architecture knows from there on: CUDA's rule, which the cpu device does not check.
SINCE = {"__reduce_": 80, "__cluster_dims__": 90}


@pytest.mark.parametrize("header", [h for h in HEADERS if h not in CPU_ONLY])
def test_header(header):
    whole = "#include <curand_kernel.h>\n" if header in PARTS else ""
    text = Text("header", f"{whole}#include <{header}>\n#include <{header}>\n{KERNEL}")
    said = complaint(text, 90)
    if header in REFUSED:
        assert said and REFUSED[header] in said
    else:
        assert said is None, said


@pytest.mark.parametrize("header", sorted(CPU_ONLY))
def test_headers_of_the_cpu_device_alone_are_a_rule(header):
    """Texts of tests may include them too, alone or among others: tests.parity leaves them out."""
    assert header in HEADERS
    text = Text("header", f"#include <stdint.h>\n#include <{header}>\n{KERNEL}")
    assert is_ruled(complaint(text, 90) or "")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_headers_together(architecture):
    names = [h for h in HEADERS if h not in CPU_ONLY | REFUSED.keys() | PARTS]
    for order in (names, names[::-1]):
        includes = "".join(f"#include <{name}>\n" for name in order)
        assert complaint(Text("headers", includes + KERNEL), architecture) is None


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++20"])
@pytest.mark.parametrize(
    "header", sorted(p.name for p in (DEVICE_LIB / "include" / "trilane").glob("*.h"))
)
def test_header_of_generated_kernels_in_every_language_version(header, standard):
    text = Text("header", f"#include <trilane/{header}>\n{KERNEL}", [f"--std={standard}"])
    assert complaint(text, 90) is None


def test_tuples_of_both_libraries_stand_side_by_side():
    """The toolkit's <cuda/std/tuple> declares std::tuple_size too, for structured bindings."""
    use = """extern "C" __global__ void f(int* p) {
        std::tuple<int, float> ours(1, 2.0f);
        auto [a, b] = cuda::std::make_tuple(1, 2);
        p[0] = std::get<0>(ours) + std::tuple_size<std::array<int, 3>>::value + a + b; }"""
    heads = ["<utility>", "<tuple>", "<array>", "<cuda/std/tuple>", "<cooperative_groups/reduce.h>"]
    for order in (heads, heads[::-1]):
        includes = "".join(f"#include {head}\n" for head in order)
        assert complaint(Text("tuples", includes + use, ["--std=c++17"]), 90) is None


# Ten at a time: a test costs more than a compile.
@pytest.mark.parametrize("start", range(0, len(CASES), 10), ids=lambda i: CASES[i].name)
def test_kernel_cases(start):
    failed = []
    for number, case in enumerate(CASES[start : start + 10], start):
        if "cuda" in case.refused:
            continue
        architecture = ARCHITECTURES[number % len(ARCHITECTURES)]
        known = (since for word, since in SINCE.items() if word in case.source)
        architecture = max([architecture, *known])
        said = complaint(Text(case.name, case.source, list(case.options)), architecture)
        if said is not None:
            failed.append(f"{case.name} sm_{architecture}: {said}")
    assert not failed, "\n".join(failed)
