"""Tests of scans and of random arrays: distributions, sequences, skips."""

from __future__ import annotations

import numpy as np
import pytest

from trilane.pycuda import autoprimaryctx, curandom, gpuarray  # noqa: F401
from trilane.pycuda._sobol import direction_vectors
from trilane.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

GENERATORS = [
    curandom.XORWOWRandomNumberGenerator,
    curandom.MRG32k3aRandomNumberGenerator,
    curandom.Sobol32RandomNumberGenerator,
    curandom.ScrambledSobol32RandomNumberGenerator,
    curandom.Sobol64RandomNumberGenerator,
    curandom.ScrambledSobol64RandomNumberGenerator,
]
COUNT = 100_000


@pytest.mark.parametrize("n", [1, 63, 64, 65, 4097, 1_100_003])
def test_scans_agree_with_numpy(n: int) -> None:
    host = np.random.RandomState(n).randint(0, 10, n).astype(np.int32)
    ary = gpuarray.to_gpu(host)
    inclusive = InclusiveScanKernel(np.int32, "a+b")(ary, "new")
    exclusive = ExclusiveScanKernel(np.int32, "a+b", "0")(ary)
    assert (inclusive.get() == np.cumsum(host)).all()
    assert exclusive is ary
    assert (ary.get() == np.cumsum(host) - host).all()


def test_scan_keeps_the_order_of_operands() -> None:
    host = np.arange(1, 1000, dtype=np.int64)
    last = InclusiveScanKernel(np.int64, "b")(gpuarray.to_gpu(host), "new")
    first = InclusiveScanKernel(np.int64, "a")(gpuarray.to_gpu(host), "new")
    assert (last.get() == host).all()
    assert (first.get() == 1).all()


def test_scan_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(np.int32, "a+b")
    kernel = InclusiveScanKernel(np.int32, "a+b")
    with pytest.raises(TypeError, match="int32"):
        kernel(gpuarray.zeros(4, np.float32))
    with pytest.raises(ValueError, match="dimension"):
        kernel(gpuarray.zeros((2, 2), np.int32))


def _enough(generator: curandom._Generator) -> int:
    """Numbers to judge by: the first of every Sobol sequence lie alike, and a GPU has many."""
    return max(COUNT, 391 * generator._count)


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distributions(kind: type, dtype: type) -> None:
    generator = kind()
    count = _enough(generator)
    uniform = generator.gen_uniform(count, dtype).get().astype(float)
    assert uniform.min() >= 0 and uniform.max() <= 1
    counts = np.histogram(uniform, 20, (0, 1))[0]
    # The sequences of Sobol lie alike: what one misses, all of them miss.
    alike = generator._count if "Sobol" in kind.__name__ else 0
    state = generator.state.get().ravel().view(np.uint32)[:48]
    assert np.abs(counts - count / 20).max() < 6 * np.sqrt(count / 20) + alike, state
    normal = generator.gen_normal(count + 1, dtype).get().astype(float)
    assert abs(normal.mean()) < 0.02 and abs(normal.std() - 1) < 0.02
    assert abs((np.abs(normal) < 1).mean() - 0.6827) < 0.01
    logs = np.log(generator.gen_log_normal(count, dtype, 1.0, 0.5).get().astype(float))
    assert abs(logs.mean() - 1) < 0.02 and abs(logs.std() - 0.5) < 0.02


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("rate", [0.5, 13.0, 2000.0])
def test_poisson(kind: type, rate: float) -> None:
    generator = kind()
    count = _enough(generator)
    generator.call_skip_ahead(1)  # the first point of every Sobol sequence is 0: an outlier
    drawn = generator.gen_poisson(count, np.uint32, rate).get().astype(float)
    assert abs(drawn.mean() - rate) < 6 * np.sqrt(rate / count) + 0.002 * rate
    assert abs(drawn.var() / rate - 1) < 0.05


def test_poisson_takes_means_from_the_array() -> None:
    ary = gpuarray.zeros(COUNT, np.uint32).fill(10)
    curandom.XORWOWRandomNumberGenerator().fill_poisson(ary)
    assert abs((ary.get() == 9).mean() - 0.12511) < 0.006


def _fixed(count: int) -> gpuarray.GPUArray:
    return gpuarray.to_gpu(np.full(count, 7, np.int32))


@pytest.mark.parametrize("kind", GENERATORS)
def test_skipping_ahead_is_drawing(kind: type) -> None:
    random = kind in GENERATORS[:2]
    if "Scrambled" in kind.__name__:
        dtype = np.uint64 if "64" in kind.__name__ else np.uint32
        make = lambda **k: kind(None, gpuarray.zeros(65536, dtype).fill(12345), **k)  # noqa: E731
    else:
        make = lambda **k: kind(*([_fixed] if random else []), **k)  # noqa: E731
    drawn, skipped, begun = make(), make(), make(offset=5)
    threads = drawn.block_count * drawn.generators_per_block
    drawn.gen_uniform(5 * threads, np.uint32)
    skipped.call_skip_ahead(5)
    expected = drawn.gen_uniform(1000, np.uint32).get()
    assert (skipped.gen_uniform(1000, np.uint32).get() == expected).all()
    assert (begun.gen_uniform(1000, np.uint32).get() == expected).all()


def test_mrg_follows_its_recurrence() -> None:
    generator = curandom.MRG32k3aRandomNumberGenerator(_fixed)
    x = [int(v) for v in generator.state.get()[1]]
    p = (1403580 * x[1] - 810728 * x[0]) % 4294967087
    q = (527612 * x[5] - 1370589 * x[3]) % 4294944443
    z = (p - q - 1) % 4294967087 + 1
    assert generator.gen_uniform(2, np.float64).get()[1] == pytest.approx(z / 4294967088, abs=1e-15)


@pytest.mark.parametrize("bits", [32, 64])
def test_every_sobol_dimension_fills_each_interval_once(bits: int) -> None:
    vectors = direction_vectors(300, bits)
    assert len({row.tobytes() for row in vectors}) == 300
    for row in vectors[::17]:
        points = [0]
        for i in range(255):
            lowest = (~i & (i + 1)).bit_length() - 1
            points.append(points[-1] ^ int(row[lowest]))
        assert sorted(point >> (bits - 8) for point in points) == list(range(256))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint32])
def test_rand(dtype: type) -> None:
    values = curandom.rand((10, 1000), dtype).get()
    assert values.shape == (10, 1000) and values.dtype == dtype
    assert len(np.unique(values)) > 9000
    if np.dtype(dtype).kind == "f":
        assert values.min() >= 0 and values.max() < 1 and abs(values.mean() - 0.5) < 0.03


def test_dtypes_that_are_missing_say_so() -> None:
    with pytest.raises(NotImplementedError, match="int8"):
        curandom.rand(5, np.int8)
    with pytest.raises(NotImplementedError, match="normal numbers of int32"):
        curandom.XORWOWRandomNumberGenerator().gen_normal(5, np.int32)
