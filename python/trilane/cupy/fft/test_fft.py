"""Transforms against NumPy: lengths, axes, norms, dtypes, layouts and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy._library import Library

ALL = "?bBhiqQefdFD"
NORMS = [None, "backward", "ortho", "forward"]
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]


def values(shape, dtype="d") -> np.ndarray:
    generator = np.random.RandomState(len(shape))
    host = generator.randint(0, 9, shape)
    return (host + 1j * generator.rand(*shape) if dtype in "FD" else host).astype(dtype)


def compare(name, host, *args, **kwargs):
    peer = getattr(np.fft, name)(host, *args, **kwargs)
    own = getattr(cp.fft, name)(cp.asarray(host), *args, **kwargs)
    assert own.shape == peer.shape
    single = host.dtype.char in "efF"
    assert own.dtype == np.dtype(("F" if peer.dtype.kind == "c" else "f") if single else peer.dtype)
    tolerance = 2e-3 if host.dtype.char == "e" else 1e-4 if single else 1e-12
    np.testing.assert_allclose(own.get(), peer, rtol=tolerance, atol=tolerance * 20)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ONE)
def test_dtypes(name, dtype):
    if dtype in "FD" and name in ("rfft", "ihfft"):
        with pytest.warns(np.exceptions.ComplexWarning):
            own = getattr(cp.fft, name)(cp.asarray(values((3, 8), dtype)))
        peer = getattr(np.fft, name)(values((3, 8), dtype).real)
        assert own.dtype == np.dtype(dtype)
        np.testing.assert_allclose(own.get(), peer, rtol=1e-4, atol=1e-4)
    else:
        compare(name, values((3, 8), dtype))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 1, 4, 5, 12])
@pytest.mark.parametrize("name", ONE)
def test_lengths_axes_and_norms(name, n, norm):
    for dtype in "fd":
        for axis in (0, 1, -1, -3):
            compare(name, values((4, 6, 5), dtype), n, axis, norm)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", MANY)
def test_several_axes(name, norm):
    host = values((4, 6, 5), "d")
    for s, axes in [
        (None, (0, 2)), ((3, 8), (1, 0)), ((5, 7), (-1, -2)), (None, (-1,)), ((2, 2, 9), (2, 0, 1)),
    ]:  # fmt: skip
        compare(name, host, s, axes, norm)
    compare(name, host, norm=norm)
    compare(name, values((3, 4), "f"), norm=norm)


def test_default_axes_of_given_lengths():
    host = values((3, 4, 5))
    own = cp.fft.fftn(cp.asarray(host), (2, 6))
    np.testing.assert_allclose(own.get(), np.fft.fftn(host, (2, 6), (-2, -1)))
    own = cp.fft.fftn(cp.asarray(host), (-1, 6), (0, 1))
    np.testing.assert_allclose(own.get(), np.fft.fftn(host, (-1, 6), (0, 1)))


def test_layouts():
    host = values((4, 6))
    for a in (cp.asarray(host), cp.asarray(np.asfortranarray(host)), cp.asarray(host.T.copy()).T):
        for axis in (0, 1):
            np.testing.assert_allclose(
                cp.fft.fft(a, axis=axis).get(), np.fft.fft(host, axis=axis), atol=1e-12
            )
    wide = cp.asarray(np.arange(24.0).reshape(4, 6))
    np.testing.assert_allclose(
        cp.fft.rfftn(wide[::2, ::-3]).get(), np.fft.rfftn(wide.get()[::2, ::-3]), atol=1e-12
    )
    before = wide.get()
    cp.fft.fftn(wide)
    np.testing.assert_array_equal(wide.get(), before)


def test_no_elements():
    assert cp.fft.fft(cp.zeros((0, 4))).shape == (0, 4)
    assert cp.fft.rfft(cp.zeros((0, 4))).shape == (0, 3)
    for name in ONE:
        with pytest.raises(ValueError, match="number of FFT data points"):
            getattr(cp.fft, name)(cp.zeros((3, 0)))


def test_no_axes():
    a = cp.ones((2, 3))
    assert cp.fft.fftn(a, axes=()) is a
    for name in ("rfftn", "irfftn", "rfft2"):
        with pytest.raises(IndexError):
            getattr(cp.fft, name)(a, axes=())


def test_refusals():
    a = cp.ones((2, 3))
    for name in ONE:
        with pytest.raises(np.exceptions.AxisError):
            getattr(cp.fft, name)(a, axis=2)
        with pytest.raises(ValueError, match="Invalid norm"):
            getattr(cp.fft, name)(a, norm="other")
        with pytest.raises(ValueError, match="data points"):
            getattr(cp.fft, name)(a, 0)
        with pytest.raises(TypeError, match="expected cupy.ndarray"):
            getattr(cp.fft, name)(a.get())
    with pytest.raises(ValueError, match="different lengths"):
        cp.fft.fftn(a, (2,), (0, 1))
    with pytest.raises(NotImplementedError, match="cupy.fft.fftn on the cuda device"):
        Library("cuda").fft("fftn", a, [2], (0,), "ortho")


def test_results_are_ordered_with_the_stream():
    with cp.cuda.Stream(non_blocking=True):
        a = cp.zeros(512)
        for _ in range(40):
            a = a + 1
        own = cp.fft.fft(a)
        a *= 0
    assert own.get()[0] == 40 * 512


def test_settings():
    config = cp.fft.config
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        before = config.enable_nd_planning
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        config.enable_nd_planning = not before
    with pytest.warns(DeprecationWarning):
        assert config.enable_nd_planning is (not before)
    with pytest.warns(DeprecationWarning):
        config.enable_nd_planning = before
    assert config.use_multi_gpus is False
    with pytest.raises(NotImplementedError):
        config.use_multi_gpus = True
    with pytest.raises(NotImplementedError):
        config.set_cufft_gpus([0, 1])
    assert config.clear_plan_cache() is None
