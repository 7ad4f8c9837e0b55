"""Types of a genuine numba in kernels and signatures: the installed package's, and look-alikes."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from trilane.numba import cuda, types
from trilane.numba.genuine import is_genuine, numpy_dtype, own
from trilane.testing.child import child_environment


class _Base:
    def __init__(self, name, **attributes):
        self.name = name
        self.__dict__.update(attributes)

    def __str__(self):
        return self.name


def _kind(name, base, module="numba.core.types.scalars"):
    return type(name, (base,), {"__module__": module})


# Classes with the names and the modules of numba's, where numba is not installed.
Type = _kind("Type", _Base, "numba.core.types.abstract")
Integer, Float, Boolean = (_kind(name, Type) for name in ("Integer", "Float", "Boolean"))
Array, Tuple_, CPointer, NoneType, Date = (
    _kind(name, Type) for name in ("Array", "BaseTuple", "CPointer", "NoneType", "NPDatetime")
)
IntegerLiteral = _kind("IntegerLiteral", Type)
Signature = _kind("Signature", _Base, "numba.core.typing.templates")

int32, bool_ = Integer("int32", bitwidth=32, signed=True), Boolean("bool")
float32, float64 = Float("float32", bitwidth=32), Float("float64", bitwidth=64)
none = NoneType("none")


def array_of(dtype, ndim, layout):
    return Array("array", dtype=dtype, ndim=ndim, layout=layout, mutable=True, aligned=True)


def test_types_become_ours():
    assert own(int32) is types.int32 and own(float64) is types.float64 and own(bool_) is types.bool_
    assert own(none) is types.none
    assert own(array_of(float32, 2, "C")) == types.float32[:, ::1]
    assert own(array_of(int32, 1, "A")) == types.int32[:]
    assert own(Tuple_("tuple", types=(int32, float32))) == types.Tuple((types.int32, types.float32))
    assert own(CPointer("float32*", dtype=float32)) == types.CPointer(types.float32)
    assert own(IntegerLiteral("Literal[int](3)", bitwidth=32, signed=True)) is types.int32
    sig = own(Signature("sig", return_type=none, args=(int32, array_of(float32, 1, "C"))))
    assert sig == types.void(types.int32, types.float32[::1])
    assert numpy_dtype(float32) == np.float32 and numpy_dtype("f8") == np.float64


def test_what_is_not_a_type_of_numba_stays():
    for value in (3, "float32", types.float32, np.float32, SimpleNamespace(name="float32")):
        assert own(value) is value and not is_genuine(value)
    with pytest.raises(NotImplementedError, match=r"datetime64\[s\]"):
        own(Date("datetime64[s]"))


def test_ours_are_made_of_theirs():
    assert types.Tuple((int32, types.int32)) == types.UniTuple(types.int32, 2)
    assert types.void(int32) == types.void(types.int32)
    assert types.Array(float32, 1, "C") == types.float32[::1]
    assert types.CPointer(int32) == types.CPointer(types.int32)


def test_kernels_take_them():
    @cuda.jit(device=True)
    def half(x):
        return float32(x) / 2

    @cuda.jit((array_of(float32, 1, "A"), int32))
    def kernel(out, n):
        shared, local = cuda.shared.array(4, int32), cuda.local.array(shape=2, dtype=float64)
        i = cuda.grid(1)
        shared[i], local[0] = n + i, 0.5
        cuda.syncthreads()
        out[i] = half(shared[3 - i]) + float32(local[0])

    out = np.zeros(4, np.float32)
    kernel[1, 4](out, 10)
    np.testing.assert_array_equal(out, [7, 6.5, 6, 5.5])
    assert kernel.signatures == [(types.float32[:], types.int32)]
    assert cuda.device_array(3, float32).dtype == np.float32
    assert cuda.pinned_array(3, int32).dtype == np.int32


def _genuine_numba() -> bool:
    try:
        return importlib.metadata.version("numba") != ""
    except importlib.metadata.PackageNotFoundError:
        return False


GENUINE = """
import numpy as np
from numba.core import types
from numba import boolean, complex64, float32, float64, int32, njit, typeof, uint8, uint64, void
from trilane.numba import types as own_types
from trilane.numba import cuda
from trilane.numba.genuine import own

record = np.dtype([("a", "f4"), ("b", "i4", (2,))])
for theirs, ours in [
    (int32, "int32"), (uint64, "uint64"), (complex64, "complex64"), (boolean, "bool"),
    (types.float16, "float16"), (void, "none"), (types.unicode_type, "str"),
    (uint8[:, ::1], "A(uint8,2,C,0,0)"), (float32[::1, :], "A(float32,2,F,0,0)"),
    (types.Array(float32, 1, "C", readonly=True), "A(float32,1,C,1,0)"),
    (types.CPointer(float32), "P(float32)"), (types.UniTuple(int32, 2), "T(int32,int32)"),
    (types.Tuple((int32, float32)), "T(int32,float32)"), (types.literal(3), "int64"),
    (typeof(np.zeros(1, record)).dtype, own_types.from_dtype(record).code),
]:
    assert own(theirs).code == ours, (theirs, own(theirs).code)

@cuda.jit(void(float64[:], int32))
def kernel(out, n):
    tile = cuda.shared.array(4, float32)
    i = cuda.grid(1)
    tile[i] = float32(i) / float64(4)
    cuda.syncthreads()
    out[i] = tile[3 - i] + int32(1.75) * n

out = np.zeros(4)
kernel[1, 4](out, 2)
assert out.tolist() == [2.75, 2.5, 2.25, 2.0], out
assert njit(lambda x: x + 1)(1) == 2
print("ok")
"""


# Types that were ours are the genuine ones as soon as numba's own compilers are asked for.
LATER = """
import sys
import numba
import numpy as np
from numba import cuda, float64
from numba import types, float32 as single
assert "numba.core" not in sys.modules and types.int32 is not None

@cuda.jit((float64[:],))
def kernel(out):
    out[cuda.grid(1)] = single(1.5)

out = np.zeros(4)
kernel[1, 4](out)
assert "numba.core" not in sys.modules
assert numba.njit(float64(float64))(lambda x: x + 1)(out[0]) == 2.5
assert numba.vectorize([single(single)])(lambda x: -x)(np.float32(2)) == -2
types.ListType(types.int32)
kernel[1, 4](out)
print("ok")
"""


@pytest.mark.skipif(not _genuine_numba(), reason="the genuine numba is not installed")
def test_the_installed_numba_is_loaded_when_it_is_needed():
    done = subprocess.run(
        [sys.executable, "-m", "trilane", "run", "-c", LATER], env=child_environment(),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.strip() == "ok", done.stderr


@pytest.mark.skipif(not _genuine_numba(), reason="the genuine numba is not installed")
def test_types_of_the_installed_numba():
    done = subprocess.run(
        [sys.executable, "-c", GENUINE], env=child_environment(), capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.stdout.strip() == "ok", done.stderr
