"""The face as a whole: names, protocols, pickling, streams and pools, random numbers, cupyx."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.cupyx as cupyx
from trilane.testing.child import child_environment

ROOT = Path(__file__).resolve().parents[3]


def test_missing_names_say_so():
    with pytest.raises(NotImplementedError, match="cupyx.optimizing"):
        cupyx.optimizing  # noqa: B018
    with pytest.raises(NotImplementedError, match="cupyx.linalg"):
        cupyx.linalg  # noqa: B018
    with pytest.raises(NotImplementedError, match="cupy.nditer"):
        cp.nditer  # noqa: B018
    with pytest.raises(AttributeError):
        cp.no_such_name  # noqa: B018
    assert not hasattr(cupyx, "optimizing")
    assert cp.cuda.nccl.available is False


def test_import_touches_no_device():
    code = (
        "import trilane.cupy, trilane.cupyx; from trilane import _core; "
        "assert not _core.live_contexts()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def _environment():

    return child_environment()


def test_numpy_functions_and_ufuncs_run_on_the_device():
    a = cp.arange(6.0).reshape(2, 3)
    for made, expected in (
        (np.sum(a, axis=0), a.get().sum(0)),
        (np.concatenate((a, a)), np.concatenate((a.get(), a.get()))),
        (np.add(a, 1), a.get() + 1),
        (np.float64(2) * a, a.get() * 2),
        (np.linalg.norm(a), np.linalg.norm(a.get())),
        (np.add.reduce(a, axis=1), a.get().sum(1)),
        (np.matmul(a, a.T), a.get() @ a.get().T),
    ):
        assert isinstance(made, cp.ndarray)
        np.testing.assert_allclose(made.get(), expected)


def test_nothing_is_converted_by_itself():
    a = cp.ones(3)
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(a)
    with pytest.raises(TypeError):
        a + np.ones(3)
    with pytest.raises(TypeError):
        np.ones(3) + a
    with pytest.raises(TypeError):
        cp.add(a, [1, 2, 3])
    with pytest.raises(TypeError):
        cp.concatenate((np.ones(3), np.ones(3)))


def test_array_from_nested_device_arrays_and_lists():
    a = cp.array([cp.arange(3), [5, 6, 7]])
    assert a.get().tolist() == [[0, 1, 2], [5, 6, 7]]
    assert cp.array(5.0).shape == ()
    assert cp.array([1, 2], ndmin=3).shape == (1, 1, 2)
    assert cp.asarray(a) is a
    assert cp.array(a, order="F").flags.f_contiguous
    with pytest.raises(ValueError):
        cp.array(["a"])
    with pytest.raises(ValueError):
        cp.array(a, dtype="f", copy=False)


def test_pickle_copy_print_and_format():
    a = cp.arange(6.0).reshape(2, 3)
    b = pickle.loads(pickle.dumps(a))
    assert isinstance(b, cp.ndarray)
    np.testing.assert_array_equal(a.get(), b.get())
    assert repr(a) == repr(a.get()) and str(a) == str(a.get())
    assert f"{cp.array(1.5):.2f}" == "1.50"
    assert a.tobytes() == a.get().tobytes()


def test_flags_data_and_views():
    a = cp.zeros((3, 4), "f")
    assert a.flags.c_contiguous and not a.flags["F_CONTIGUOUS"] and not a.T.flags.c_contiguous
    view = cp.ndarray((2, 4), "f", a.data + 16)
    view.fill(7)
    assert a.get()[1:].min() == 7 and a.get()[0].max() == 0
    assert a.device.id == 0 and a.data.ptr == a.data.mem.ptr
    a.flat[2:5] = 3
    assert a.get().ravel()[:6].tolist() == [0, 0, 3, 3, 3, 7]


def test_dlpack_shares_memory_with_numpy():
    if cp.arange(1).__dlpack_device__()[0] != 1:
        pytest.skip("CUDA memory is not host memory")
    a = cp.arange(6.0)
    host = np.from_dlpack(a)
    host[0] = 9
    assert float(a[0]) == 9
    b = cp.from_dlpack(host)
    b[1] = 8
    assert float(a[1]) == 8
    assert not hasattr(a, "__cuda_array_interface__")


def test_ufunc_objects():
    a = cp.arange(5)
    assert isinstance(cp.add, cp.ufunc) and cp.add.nin == 2 and cp.add.nout == 1
    assert int(cp.add.reduce(a)) == 10
    assert cp.multiply.outer(a, a).shape == (5, 5)
    assert cp.add.accumulate(a).get().tolist() == [0, 1, 3, 6, 10]
    b = cp.zeros(3)
    cp.add.at(b, cp.array([0, 0, 2]), 1)
    assert b.get().tolist() == [2, 0, 1]


def test_streams_and_events():
    stream = cp.cuda.Stream()
    start, end = cp.cuda.Event(), cp.cuda.Event()
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    with stream:
        assert cp.cuda.get_current_stream() is stream
        start.record()
        a = cp.ones(1000) * 2
        end.record()
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    end.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    called = []
    stream.launch_host_func(called.append, 5)
    stream.synchronize()
    assert called == [5] and stream.done and float(a.sum()) == 2000


def test_devices_and_runtime():
    device = cp.cuda.Device()
    assert int(device) == 0 and device.compute_capability.isdigit()
    assert device.attributes["WarpSize"] == 32
    assert cp.cuda.runtime.getDeviceCount() >= 1
    properties = cp.cuda.runtime.getDeviceProperties(0)
    assert isinstance(properties["name"], bytes) and properties["warpSize"] == 32
    free, total = cp.cuda.runtime.memGetInfo()
    assert 0 < free <= total
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError):
        cp.cuda.Device(99).use()
    pointer = cp.cuda.runtime.malloc(16)
    host = np.arange(4, dtype="i")
    cp.cuda.runtime.memcpy(pointer, host.ctypes.data, 16, cp.cuda.runtime.memcpyHostToDevice)
    back = np.zeros(4, "i")
    cp.cuda.runtime.memcpy(back.ctypes.data, pointer, 16, cp.cuda.runtime.memcpyDeviceToHost)
    cp.cuda.runtime.free(pointer)
    assert back.tolist() == [0, 1, 2, 3]


def test_pool_statistics():
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    a = cp.empty(1 << 20, "B")
    assert pool.used_bytes() >= before + (1 << 20)
    del a
    assert pool.used_bytes() == before and pool.n_free_blocks() >= 1
    pool.free_all_blocks()
    assert pool.total_bytes() >= pool.used_bytes()
    pool.set_limit(size=1 << 30)
    assert pool.get_limit() == 1 << 30
    with pytest.raises(cp.cuda.memory.OutOfMemoryError):
        cp.empty(1 << 31, "B")
    pool.set_limit(size=0)
    with pytest.raises(NotImplementedError):
        cp.cuda.set_allocator(lambda size: None)
    cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)


def test_pinned_memory():
    a = cupyx.zeros_pinned((2, 3), "f")
    assert a.shape == (2, 3) and a.dtype == np.float32 and not a.any()
    memory = cp.cuda.alloc_pinned_memory(64)
    assert memory.size() >= 64


def test_random_is_reproducible_and_has_the_right_moments():
    rng = cp.random.RandomState(7)
    a = rng.normal(2.0, 3.0, 20000)
    assert abs(float(a.mean()) - 2) < 0.1 and abs(float(a.std()) - 3) < 0.1
    np.testing.assert_array_equal(cp.random.RandomState(7).normal(2.0, 3.0, 20000).get(), a.get())
    cp.random.seed(3)
    first = cp.random.rand(4).get()
    cp.random.seed(3)
    np.testing.assert_array_equal(cp.random.rand(4).get(), first)
    draws = cp.random.randint(3, 9, 10000)
    assert int(draws.min()) == 3 and int(draws.max()) == 8
    assert sorted(cp.random.permutation(50).get().tolist()) == list(range(50))


@pytest.mark.parametrize(
    ("name", "args", "mean", "variance"),
    [
        ("gamma", (2.5, 2.0), 5.0, 10.0),
        ("gamma", (0.3, 1.0), 0.3, 0.3),
        ("beta", (2.0, 3.0), 0.4, 0.04),
        ("beta", (0.5, 0.5), 0.5, 0.125),
        ("poisson", (3.0,), 3.0, 3.0),
        ("poisson", (50.0,), 50.0, 50.0),
        ("binomial", (20, 0.3), 6.0, 4.2),
        ("binomial", (200, 0.6), 120.0, 48.0),
        ("geometric", (0.25,), 4.0, 12.0),
        ("chisquare", (5.0,), 5.0, 10.0),
        ("exponential", (2.0,), 2.0, 4.0),
        ("laplace", (1.0, 2.0), 1.0, 8.0),
        ("logistic", (1.0, 1.0), 1.0, np.pi**2 / 3),
        ("gumbel", (0.0, 1.0), 0.5772, np.pi**2 / 6),
        ("rayleigh", (2.0,), 2.5066, 1.7168),
        ("weibull", (2.0,), 0.8862, 0.2146),
        ("triangular", (0.0, 1.0, 2.0), 1.0, 1 / 6),
        ("wald", (1.0, 3.0), 1.0, 1 / 3),
        ("hypergeometric", (30, 20, 10), 6.0, 1.959),
        ("negative_binomial", (5, 0.4), 7.5, 18.75),
        ("standard_t", (10.0,), 0.0, 1.25),
        ("uniform", (-1.0, 3.0), 1.0, 16 / 12),
        ("vonmises", (0.0, 4.0), 0.0, 0.2930),
    ],
)
def test_distributions_have_their_moments(name, args, mean, variance):
    count = 40000
    draws = getattr(cp.random.RandomState(11), name)(*args, size=count).get().astype("d")
    spread = np.sqrt(variance / count)
    assert abs(draws.mean() - mean) < 6 * spread
    assert abs(draws.var() - variance) < 0.12 * variance


def test_choice():
    rng = cp.random.default_rng(1)
    few = rng.choice(10, 10, replace=False).get()
    assert sorted(few.tolist()) == list(range(10))
    weighted = rng.choice(3, 8000, p=cp.array([0.5, 0.0, 0.5])).get()
    assert set(weighted.tolist()) == {0, 2}
    with pytest.raises(ValueError, match="larger sample"):
        rng.choice(3, 5, replace=False)


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_linear_solvers(dtype):
    generator = np.random.RandomState(0)
    host = generator.rand(2, 7, 7) + 1j * generator.rand(2, 7, 7)
    host = (host if np.dtype(dtype).kind == "c" else host.real).astype(dtype)
    tolerance = 1e-3 if dtype in "fF" else 1e-9
    a = cp.asarray(host)
    np.testing.assert_allclose(
        cp.linalg.inv(a).get(), np.linalg.inv(host), rtol=tolerance * 10, atol=tolerance
    )
    np.testing.assert_allclose(
        cp.linalg.det(a).get(), np.linalg.det(host), rtol=tolerance, atol=tolerance
    )
    right = host[..., :3]
    np.testing.assert_allclose(
        cp.linalg.solve(a, cp.asarray(right)).get(),
        np.linalg.solve(host, right),
        rtol=tolerance,
        atol=tolerance,
    )
    sign, logdet = cp.linalg.slogdet(a)
    np.testing.assert_allclose(
        logdet.get(), np.linalg.slogdet(host)[1], rtol=tolerance, atol=tolerance
    )
    positive = host @ host.conj().swapaxes(-1, -2) + np.eye(7, dtype=dtype)
    np.testing.assert_allclose(
        cp.linalg.cholesky(cp.asarray(positive)).get(),
        np.linalg.cholesky(positive),
        rtol=tolerance,
        atol=tolerance,
    )
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cp.linalg.inv(cp.zeros((2, 2), dtype))


def test_fuse_memoize_and_benchmark():
    @cp.fuse(kernel_name="f")
    def f(x, y):
        return x * y + 1

    assert f(cp.arange(3), 2).get().tolist() == [1, 3, 5]
    calls = []

    @cp.memoize(for_each_device=True)
    def g(x):
        calls.append(x)
        return x

    assert g(1) == g(1) == 1 and calls == [1]
    result = cupyx.profiler.benchmark(f, (cp.arange(3), 2), n_repeat=3, n_warmup=1)
    assert result.cpu_times.shape == (3,) and "CPU" in str(result)


def test_scatter_and_state():
    a = cp.zeros(4)
    cupyx.scatter_add(a, cp.array([1, 1, 3]), 2.0)
    assert a.get().tolist() == [0, 4, 0, 2]
    cupyx.scatter_max(a, cp.array([0, 1]), 3.0)
    assert a.get().tolist() == [3, 4, 0, 2]
    with cupyx.errstate(linalg="raise"):
        assert cupyx.geterr()["linalg"] == "raise"
    assert cupyx.geterr()["linalg"] == "ignore"


def test_save_and_load(tmp_path):
    a = cp.arange(6.0).reshape(2, 3)
    cp.save(tmp_path / "a.npy", a)
    np.testing.assert_array_equal(cp.load(tmp_path / "a.npy").get(), a.get())
    cp.savez(tmp_path / "b.npz", x=a)
    with cp.load(tmp_path / "b.npz") as archive:
        np.testing.assert_array_equal(archive["x"].get(), a.get())


@cp.testing.for_all_dtypes()
@cp.testing.numpy_cupy_array_equal()
def test_testing_decorators(xp, dtype):
    return cp.testing.shaped_arange((2, 3), xp, dtype)[:, ::-1] + xp.ones((), dtype)


def test_testing_decorator_finds_a_difference():
    @cp.testing.numpy_cupy_allclose()
    def differs(xp):
        return xp.ones(3) * (1 if xp is np else 2)

    with pytest.raises(AssertionError):
        differs()


def test_get_and_set_take_streams():
    stream = cp.cuda.Stream()
    a = cp.arange(6.0).reshape(2, 3)
    assert a.get(stream, order="F", blocking=True).flags.f_contiguous
    strided = np.zeros((2, 6))[:, ::2]
    assert a.get(out=strided) is strided and strided[1, 2] == 5
    a.set(np.ones((2, 3)), stream)
    stream.synchronize()
    assert float(a.sum()) == 6
    a.fill(np.array(2.0))
    assert float(cp.asnumpy(a, stream).sum()) == 12
    with pytest.raises(AttributeError):
        a.flags.c_contiguous = False


def test_array_type_reports_the_alias():
    code = (
        "from trilane import aliases; aliases.install(); import cupy, pickle; "
        "assert str(cupy.ndarray) == \"<class 'cupy.ndarray'>\"; "
        "assert pickle.loads(pickle.dumps(cupy.ndarray)) is cupy.ndarray"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def test_base_is_the_root_of_views_and_read_only():
    root = cp.arange(12)
    rows = root.reshape(3, 4)
    for view in (rows, rows[1:], rows[0], rows.T[1:, 0], root.view("i4"), root.view()):
        assert view.base is root and not view.flags.owndata
    assert cp.broadcast_to(root, (2, 12)).base is root
    for owner in (root, root.copy(), root + 1, root[[1, 2]], root.flatten()):
        assert owner.base is None and owner.flags.owndata
    with pytest.raises(AttributeError):
        rows.base = None
