"""Arguments of launches: hints, records, half-precision numbers, functions that no file holds."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from trilane.numba import cuda
from trilane.numba.core.errors import TypingError
from trilane.numba.cuda.args import wrap_arg
from trilane.numba.cuda.cudadrv import devicearray
from trilane.numba.cuda.cudadrv.linkable_code import CUSource, LinkableCode
from trilane.numba.cuda.kernels.transpose import transpose

RECORD = np.dtype([("a", np.int32), ("b", np.float64, (2,))], align=True)


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1


@pytest.mark.parametrize("step", [1, 2])
def test_in_leaves_the_host_array_alone(step):
    a = np.arange(8.0)
    add_one[1, 8](cuda.In(a[::step]))
    assert a.tolist() == list(range(8))
    add_one[1, 8](cuda.InOut(a[::step]))
    assert a[::step].tolist() == [v + 1 for v in range(0, 8, step)]


def test_extensions_prepare_arguments():
    class TakeIn:
        def prepare_args(self, ty, value, **kwargs):
            return ty, wrap_arg(value, default=cuda.In)

    @cuda.jit
    def kernel(a):
        a[0] = 3

    kernel.extensions.append(TakeIn())
    a = np.zeros(1)
    kernel[1, 1](a)
    assert a[0] == 0


def test_records_are_read_and_written_where_they_are():
    @cuda.jit
    def kernel(r, factor):
        r.a = r.a * factor
        r.b[1] = r.b[0] + factor

    whole = np.zeros(2, RECORD)
    whole[1] = (7, (1.5, 0))
    kernel[1, 1](whole[1], 3)
    assert whole[1]["a"] == 21 and whole[1]["b"].tolist() == [1.5, 4.5]
    assert whole[0]["a"] == 0
    kernel[1, 1](cuda.In(whole[1]), 3)
    assert whole[1]["a"] == 21


def test_half_precision_scalars_and_functions():
    @cuda.jit
    def kernel(out, a, b):
        out[0] = cuda.fp16.hfma(a, b, a)
        out[1] = cuda.fp16.hmax(a, b)
        out[2] = cuda.fp16.hsqrt(b)
        out[3] = cuda.fp16.hrint(a)
        out[4] = abs(cuda.fp16.hneg(b))
        out[5] = cuda.fp16.hmin(a, cuda.fp16.hlog(cuda.fp16.hneg(b)))
        out[6] = a < b and cuda.fp16.hlt(a, b)

    out = np.zeros(7, np.float16)
    a, b = np.float16(2.5), np.float16(3.25)
    kernel[1, 1](out, a, b)
    assert out[:5].tolist() == [
        float(np.float16(2.5 * 3.25 + 2.5)), 3.25, float(np.float16(math.sqrt(3.25))), 2.0, 3.25,
    ]  # fmt: skip
    assert out[5] == a and out[6] == 1


def test_reshape_finds_an_extent_that_is_known_when_running():
    @cuda.jit
    def kernel(a, out, n):
        b = a.reshape((n, 2))
        out[0], out[1], out[2] = b.shape[0], b.shape[1], b[1, 0]

    out = np.zeros(3, np.int64)
    kernel[1, 1](np.arange(6), out, -1)
    assert out.tolist() == [3, 2, 2]


def made_by_exec(expression):
    """The text is gone when this returns."""
    scope = {"cuda": cuda}
    exec(f"def kernel(out):\n    out[0] = {expression}\n", scope)
    return cuda.jit(scope["kernel"])


def test_functions_made_by_exec():
    kernels = [made_by_exec("1 + 2"), made_by_exec("cuda.grid(1) + 5")]
    out = np.zeros(1)
    for kernel, expected in zip(kernels, [3, 5], strict=True):
        kernel[1, 1](out)
        assert out[0] == expected


def test_functions_given_to_the_interpreter():
    program = (
        "from trilane.numba import cuda\n@cuda.jit\ndef hello(): print('hello', cuda.grid(1))\n"
        "hello[1, 1]()\ncuda.synchronize()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "hello 0", done.stderr


def test_contiguity():
    for shape, order in (((2, 3), "C"), ((2, 3), "F"), ((1, 3), "F"), ((0, 3), "C")):
        a = cuda.to_device(np.zeros(shape, order=order))
        assert devicearray.is_contiguous(a) == a.flags["C_CONTIGUOUS"]
    a = cuda.to_device(np.zeros((4, 6)))
    with pytest.raises(ValueError, match="non-contiguous"):
        a[:, 2].copy_to_device(np.zeros(4))


def test_absent_parts_are_refused_by_name():
    with pytest.raises(NotImplementedError, match="numba.cuda.compile_ptx"):
        cuda.compile_ptx(lambda: 0, ())
    with pytest.raises(AttributeError, match="no_such_name"):
        cuda.no_such_name  # noqa: B018


def test_types_of_ones_own_are_refused_in_kernels():
    class Mine(cuda.types.Type):
        def __init__(self):
            super().__init__(name="Mine")

    mine = Mine()

    @cuda.jit
    def kernel(out):
        box = cuda.local.array(1, mine)
        out[0] = box.shape[0]

    with pytest.raises((TypingError, TypeError), match="Mine"):
        kernel[1, 1](np.zeros(1))


def test_linkable_code(tmp_path):
    (tmp_path / "f.cu").write_text("__device__ int f();")
    code = LinkableCode.from_path(str(tmp_path / "f.cu"))
    assert isinstance(code, CUSource) and code.data == "__device__ int f();"
    with pytest.raises(RuntimeError, match="no extension"):
        LinkableCode.from_path("f")


def test_transpose():
    a = np.arange(6.0).reshape(2, 3)
    assert transpose(cuda.to_device(a)).copy_to_host().tolist() == (a.T.tolist())


def test_a_configured_kernel_is_kept_by_its_shape() -> None:
    @cuda.jit
    def fill(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 1

    assert fill[2, 4] is fill[2, 4]
    assert fill[(2,), 4] is not fill[2, 8]
    assert fill[[2], [4]].griddim == (2, 1, 1)  # cannot be a key
    for wrong in ((1,), (1, 2, 3, 4, 5), 3):
        with pytest.raises(ValueError, match="griddim and blockdim"):
            fill[wrong]
    with pytest.raises(TypeError):
        fill["2", 4]
    out = np.zeros(8, np.int32)
    fill[2, 4](out)
    assert out.all()


def test_arrays_of_many_dimensions_and_many_arguments() -> None:
    @cuda.jit
    def gather(a, b, c, d, e, out):
        out[0] = a[1, 0, 0, 0, 0, 0, 1] + b[1] + c[1, 1] + d + e[0]

    deep = cuda.to_device(np.arange(4, dtype=np.float32).reshape(2, 1, 1, 1, 1, 1, 2))
    row = cuda.to_device(np.arange(4, dtype=np.float32))
    square = cuda.to_device(np.arange(4, dtype=np.float32).reshape(2, 2))
    out = cuda.to_device(np.zeros(1, np.float32))
    gather[1, 1](deep, row[::2], square.T, 10, (np.float32(5),), out)
    assert out.copy_to_host()[0] == 3 + 2 + 3 + 10 + 5


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("place", ["device", "host"])
@pytest.mark.parametrize("name", INTEGERS)
def test_numbers_that_an_explicit_signature_does_not_hold(name, place) -> None:
    """Not even by the way of device arrays and numbers, which is the short one."""

    @cuda.jit(f"void({name}, {name}[:])")
    def keep(value, out):
        out[0] = value

    bits = np.iinfo(name).bits
    host = np.zeros(1, name)
    out = cuda.to_device(host) if place == "device" else host
    # Whatever is a pattern of so many bits is taken, as C does.
    for value in (-(2 ** (bits - 1)), -1, 0, 1, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1):
        wide = np.int64(value) if value < 2**63 else np.uint64(value)
        for number in (value, wide):
            keep[1, 1](number, out)
            stored = (out.copy_to_host() if place == "device" else out)[0]
            assert int(stored) % 2**bits == value % 2**bits
    limits = rf"expected {-(2 ** (bits - 1))} to {2**bits - 1}"
    for value in (-(2 ** (bits - 1)) - 1, 2**bits, 2**33 + 5, -(2**40), -(2**63), 2**64 - 1):
        if -(2 ** (bits - 1)) <= value < 2**bits:
            continue
        if not -(2**63) <= value < 2**64:
            with pytest.raises(TypeError, match="Int value is too large"):
                keep[1, 1](value, out)
            continue
        wide = np.int64(value) if value < 2**63 else np.uint64(value)
        for number in (value, wide):
            told = rf"argument 0: .* {name} .* got {value}, {limits}"
            with pytest.raises(OverflowError, match=told):
                keep[1, 1](number, out)
    for real in (1.5, np.float32(2), np.float64(2)):
        with pytest.raises(TypeError, match=rf"No conversion from float\d+ to {name}"):
            keep[1, 1](real, out)
    keep[1, 1](True, out)
    assert (out.copy_to_host() if place == "device" else out)[0] == 1


def test_numbers_in_tuples_are_checked_too() -> None:
    @cuda.jit("void(UniTuple(int16, 2), int16[:])")
    def keep(pair, out):
        out[0] = pair[0] + pair[1]

    out = np.zeros(1, np.int16)
    keep[1, 1]((3, np.int64(4)), out)
    assert out[0] == 7
    with pytest.raises(OverflowError, match="int16 does not hold: got 65536, expected -32768"):
        keep[1, 1]((3, 2**16), out)
    assert out[0] == 7


@pytest.mark.parametrize(
    "dtype", ["M8[D]", "m8[s]", "O", ">f4", "U3", "S3", "g", "V3", [("t", "M8[s]")]]
)
@pytest.mark.parametrize("hint", [lambda a: a, cuda.In, cuda.Out, cuda.InOut])
def test_arrays_of_elements_that_kernels_lack_are_refused(dtype, hint):
    """Dates went round between the two sides until the stack was full."""
    array = np.zeros(3, dtype)
    with pytest.raises(NotImplementedError, match=r"cannot be represented as a Numba type"):
        add_one[1, 3](hint(array))
    whole = np.zeros(3)
    add_one[1, 3](whole)
    np.testing.assert_array_equal(whole, 1)
