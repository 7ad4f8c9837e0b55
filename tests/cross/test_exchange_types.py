"""Which type results have where faces meet, and what NumPy makes of each face's arrays."""

from __future__ import annotations

import operator
import subprocess
import sys

import numpy as np
import pytest

from trilane import cupy as cp
from trilane.numba import cuda
from trilane.numba.cuda.devicearray import DeviceNDArray
from trilane.pycuda import gpuarray
from trilane.testing.child import child_environment

VALUES = np.arange(1, 9, dtype=np.float32)
MAKERS = {"pycuda": gpuarray.to_gpu, "numba": cuda.to_device, "cupy": cp.asarray}
TYPES = {"pycuda": gpuarray.GPUArray, "numba": DeviceNDArray, "cupy": cp.ndarray}


@pytest.mark.parametrize("right", MAKERS)
@pytest.mark.parametrize("left", MAKERS)
def test_the_left_operand_decides_the_type(left, right):
    a, b = MAKERS[left](VALUES), MAKERS[right](VALUES)
    for operation in (operator.add, operator.mul, operator.matmul, operator.floordiv):
        result = operation(a, b)
        assert type(result) is TYPES[left]
        np.testing.assert_array_equal(cp.asnumpy(result), operation(VALUES, VALUES))
    assert type(a + 1) is type(2 * a) is type(-a) is type(a**2) is TYPES[left]
    compared = a == b
    assert type(compared) is (TYPES[left] if "cupy" not in (left, right) else cp.ndarray)
    assert cp.asnumpy(compared).all()
    a += b
    assert type(a) is TYPES[left]
    np.testing.assert_array_equal(cp.asnumpy(a), 2 * VALUES)


def test_a_users_subclass_wins():
    class Mine(cp.ndarray):
        pass

    mine = cp.asarray(VALUES).view(Mine)
    for other in (cp.asarray(VALUES), cuda.to_device(VALUES)):
        assert type(mine + other) is Mine
        assert type(cp.add(other, mine)) is Mine
    assert type(cp.asarray(VALUES) + mine) is Mine


FUNCTIONS = """abs add argmax argsort asarray ascontiguousarray asfortranarray atleast_2d broadcast_to
    ceil clip concatenate copy cos count_nonzero cumsum diff dot einsum exp expand_dims flip fmod frexp
    full_like isfinite isnan linalg.norm log logical_not matmul max mean median meshgrid minimum
    moveaxis nan_to_num nonzero ones_like outer pad percentile prod ravel repeat reshape roll rot90
    round searchsorted sort split sqrt square squeeze stack std sum swapaxes take tensordot tile
    transpose tril unique var vdot where zeros_like""".split()
ARGUMENTS = {
    "add": lambda a: (a, a),
    "broadcast_to": lambda a: (a, (2, 8)),
    "clip": lambda a: (a, 2, 5),
    "concatenate": lambda a: ([a, a],),
    "dot": lambda a: (a, a),
    "einsum": lambda a: ("i,j->ij", a, a),
    "expand_dims": lambda a: (a, 0),
    "fmod": lambda a: (a, 3),
    "full_like": lambda a: (a, 7),
    "matmul": lambda a: (a, a),
    "meshgrid": lambda a: (a, a),
    "minimum": lambda a: (a, a),
    "moveaxis": lambda a: (a, 0, 0),
    "outer": lambda a: (a, a),
    "pad": lambda a: (a, 1),
    "percentile": lambda a: (a, 50),
    "repeat": lambda a: (a, 2),
    "reshape": lambda a: (a, (2, 4)),
    "roll": lambda a: (a, 1),
    "rot90": lambda a: (cp.reshape(a, (2, 4)),),
    "searchsorted": lambda a: (a, a),
    "split": lambda a: (a, 2),
    "stack": lambda a: ([a, a],),
    "swapaxes": lambda a: (a, 0, 0),
    "take": lambda a: (a, 3),
    "tensordot": lambda a: (a, a, 0),
    "tile": lambda a: (a, 2),
    "tril": lambda a: (cp.reshape(a, (2, 4)),),
    "vdot": lambda a: (a, a),
    "where": lambda a: (a > 3, a, a),
}


@pytest.mark.parametrize("face", ["pycuda", "numba"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_cupy_return_arrays_of_cupy(name, face):
    function = operator.attrgetter(name)(cp)
    arguments = ARGUMENTS.get(name, lambda a: (a,))
    result = function(*arguments(MAKERS[face](VALUES)))
    expected = function(*arguments(cp.asarray(VALUES)))
    if not isinstance(result, (list, tuple)):
        result, expected = [result], [expected]
    for got, wanted in zip(result, expected):
        assert type(got) is cp.ndarray
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(got.get(), wanted.get())


def test_functions_of_pycuda_return_arrays_of_pycuda():
    for make in MAKERS.values():
        array = make(VALUES)
        for result in (
            gpuarray.sum(array), gpuarray.dot(array, array), gpuarray.minimum(array, 3),
            gpuarray.to_gpu(array), gpuarray.zeros_like(array), gpuarray.concatenate([array] * 2),
        ):  # fmt: skip
            assert type(result) is gpuarray.GPUArray


def test_numpy_takes_numbas_arrays_to_the_host():
    array = cuda.to_device(VALUES)
    for result, expected in (
        (np.sin(array), np.sin(VALUES)),
        (VALUES + array, 2 * VALUES),
        (array * VALUES, VALUES * VALUES),
        (np.concatenate([array, VALUES]), np.concatenate([VALUES, VALUES])),
        (np.sum(array), np.sum(VALUES)),
    ):
        assert type(result) is type(expected)
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_allclose(array, VALUES)
    grid = np.transpose(np.reshape(array, (2, 4)))
    assert type(grid) is DeviceNDArray and grid.ptr == array.ptr
    np.testing.assert_array_equal(grid.copy_to_host(), VALUES.reshape(2, 4).T)
    assert (np.shape(grid), np.ndim(grid), np.size(grid)) == ((4, 2), 2, 8)
    for refused in (
        lambda: np.copyto(array, VALUES),
        lambda: np.add(VALUES, 1, out=array),
        lambda: np.cumsum(VALUES, out=array),
    ):
        with pytest.raises(TypeError):
            refused()


def test_numpy_leaves_mixed_arrays_to_cupy():
    ours, theirs = cp.asarray(VALUES), cuda.to_device(VALUES)
    for result in (np.add(ours, theirs), np.add(theirs, ours), np.concatenate([ours, theirs])):
        assert type(result) is cp.ndarray


def test_nothing_copies_a_gpuarray_to_the_host_by_itself():
    array = gpuarray.to_gpu(VALUES)
    for refused in (np.asarray, np.sin, lambda a: VALUES + a, lambda a: np.add(VALUES, a)):
        with pytest.raises(TypeError):
            refused(array)
    np.testing.assert_array_equal((np.float32(2) * array).get(), 2 * VALUES)


class _OnlyDlpack:
    """Somebody else's array: it shows the protocol and nothing more."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)


def test_dlpack_lends_memory_of_every_face(device):
    if device != "cpu":
        for make in MAKERS.values():
            array = make(VALUES)
            taken = cp.from_dlpack(_OnlyDlpack(array))
            assert type(taken) is cp.ndarray and taken.ptr == array.ptr
            taken[0] = 50
            assert cp.asnumpy(array)[0] == 50
            apart = cp.from_dlpack(_OnlyDlpack(array), copy=True)
            assert apart.ptr != array.ptr and cp.asnumpy(apart)[0] == 50
        with pytest.raises(ValueError, match="stream"):
            cp.asarray(VALUES).__dlpack__(stream=0)
        with pytest.raises(BufferError, match="DLPack type"):
            cp.zeros(3, dtype=[("a", "i4"), ("b", "f4")]).__dlpack__()
        with pytest.raises(BufferError, match="device"):
            cp.asarray(VALUES).__dlpack__(dl_device=(1, 0))
        assert cp.from_dlpack(_OnlyDlpack(cp.zeros((0, 3)))).shape == (0, 3)
        return
    for make in MAKERS.values():
        array = make(VALUES)
        host = np.from_dlpack(array)
        assert host.__array_interface__["data"][0] == array.ptr
        host[0] = 50
        assert cp.asnumpy(array)[0] == 50
        taken = cp.from_dlpack(array)
        assert type(taken) is cp.ndarray and taken.ptr == array.ptr
    lent = VALUES.copy()
    taken = cuda.as_cuda_array(cp.from_dlpack(lent))
    assert taken.ptr == lent.ctypes.data
    taken[1] = 9
    assert lent[1] == 9


def test_cupys_interface_is_for_cuda_devices_only(device):
    array = cp.asarray(VALUES)
    assert hasattr(array, "__cuda_array_interface__") == (device == "cuda")
    for other in (gpuarray.to_gpu(VALUES), cuda.to_device(VALUES)):
        interface = other.__cuda_array_interface__
        assert interface["data"] == (other.ptr, False) and interface["shape"] == other.shape


_PROGRAM = """
import sys
if "cupy" in sys.argv:
    import trilane.cupy
import numpy as np
from trilane.numba import cuda
from trilane.pycuda import gpuarray, cumath
import trilane.pycuda.autoinit
host = np.arange(4, dtype=np.float32)
def show(name, function):
    for array in (cuda.to_device(host), gpuarray.to_gpu(host)):
        try:
            result = function(array)
            told = type(result).__name__, getattr(result, "dtype", None), str(result)
        except Exception as error:
            told = type(error).__name__, str(error).split("(")[0]
        print(name, type(array).__name__, *told)
for name, function in {
    "sin": np.sin, "sum": np.sum, "asarray": np.asarray, "add": lambda a: a + host,
    "radd": lambda a: host + a, "scalar": lambda a: np.float32(2) * a, "dlpack": np.from_dlpack,
    "method": lambda a: a.sum(), "slice": lambda a: a[1:3], "item": lambda a: a[2],
    "fill": lambda a: a.fill(1), "astype": lambda a: a.astype("i4"), "copy": lambda a: a.copy(),
    "shape": np.shape, "format": lambda a: f"{a[1]}", "namespace": lambda a: a.__array_namespace__(),
    "interface": lambda a: sorted(a.__cuda_array_interface__), "flags": lambda a: type(a.flags).__name__,
    "equal": np.array_equal, "stack": lambda a: np.stack([a, a]), "repr": repr, "pickle": lambda a: a.__reduce__()[0].__name__,
}.items():
    show(name, function)
"""


def test_importing_cupy_changes_nothing_for_other_faces(device):
    environment = child_environment(TRILANE_DEVICE=device)

    def output(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments],
            env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    alone, together = output(), output("cupy")
    assert len(alone) > 40
    assert together == alone
