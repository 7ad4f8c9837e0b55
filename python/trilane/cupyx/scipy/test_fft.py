"""Transforms of SciPy's names: real ones against their sums, the others against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupyx.scipy import fft, fftpack

NORMS = [None, "backward", "ortho", "forward"]


def values(shape, dtype="d") -> np.ndarray:
    generator = np.random.RandomState(0)
    host = generator.rand(*shape) * 9
    return (host + 1j * generator.rand(*shape) if dtype in "FD" else host).astype(dtype)


def matrix(kind: str, type: int, n: int, ortho: bool = False) -> np.ndarray:
    """The transform as a matrix, straight from its definition."""
    k, j = np.arange(n)[:, None], np.arange(n)[None, :]
    if kind == "dct":
        m = 2 * np.cos(
            {
                1: lambda: np.pi * k * j / (n - 1),
                2: lambda: np.pi * k * (2 * j + 1) / (2 * n),
                3: lambda: np.pi * (2 * k + 1) * j / (2 * n),
                4: lambda: np.pi * (2 * k + 1) * (2 * j + 1) / (4 * n),
            }[type]()
        )
        edges = {1: (0, n - 1), 3: (0,)}.get(type, ())
        rows = {1: (0, n - 1), 2: (0,)}.get(type, ())
    else:
        m = 2 * np.sin(
            {
                1: lambda: np.pi * (k + 1) * (j + 1) / (n + 1),
                2: lambda: np.pi * (k + 1) * (2 * j + 1) / (2 * n),
                3: lambda: np.pi * (2 * k + 1) * (j + 1) / (2 * n),
                4: lambda: np.pi * (2 * k + 1) * (2 * j + 1) / (4 * n),
            }[type]()
        )
        edges, rows = {3: (n - 1,)}.get(type, ()), {2: (n - 1,)}.get(type, ())
    m[:, edges] /= 2
    if ortho:
        m[:, edges] *= np.sqrt(2)
        m[rows, :] /= np.sqrt(2)
        m /= np.sqrt(period(kind, type, n))
        np.testing.assert_allclose(m @ m.T, np.eye(n), atol=1e-12)
    return m


def period(kind, type, n):
    return 2 * (n + {("dct", 1): -1, ("dst", 1): 1}.get((kind, type), 0))


@pytest.mark.parametrize("dtype", "?iefdFD")
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["dct", "dst"])
def test_cosine_and_sine_transforms(kind, type, dtype):
    host = values((3, 7), dtype)
    wide = host.astype(np.result_type(host, "d"))
    tolerance = 1e-12 if np.dtype(dtype).char in "?idD" else 2e-4
    expected_dtype = np.dtype({"e": "f", "?": "d", "i": "d"}.get(dtype, dtype))
    forward, backward = getattr(fft, kind), getattr(fft, "i" + kind)
    for n in (7, 2, 6, 10):
        padded = np.zeros((3, n), wide.dtype)
        padded[:, : min(n, 7)] = wide[:, :n]
        size = period(kind, type, n)
        for norm in NORMS:
            m = matrix(kind, type, n, norm == "ortho") / (size if norm == "forward" else 1)
            own = forward(cp.asarray(host), type, n, norm=norm)
            assert own.dtype == expected_dtype
            np.testing.assert_allclose(own.get(), padded @ m.T, rtol=tolerance, atol=tolerance * 50)
            again = backward(own, type, norm=norm)
            assert again.dtype == expected_dtype
            np.testing.assert_allclose(again.get(), padded, rtol=tolerance, atol=tolerance * 50)


@pytest.mark.parametrize("kind", ["dct", "dst"])
def test_cosine_and_sine_transforms_over_axes(kind):
    host = values((4, 5, 6))
    own = getattr(fft, kind + "n")(cp.asarray(host), 2, axes=(0, -1))
    first, last = matrix(kind, 2, 4), matrix(kind, 2, 6)
    np.testing.assert_allclose(own.get(), np.einsum("ai,ijk,ck->ajc", first, host, last))
    again = getattr(fft, f"i{kind}n")(own, 2, axes=(0, -1))
    np.testing.assert_allclose(again.get(), host)
    every = getattr(fft, kind + "n")(cp.asarray(host), 3, (3, 2), norm="ortho")
    cut = host[:, :3, :2]
    first, last = matrix(kind, 3, 3, True), matrix(kind, 3, 2, True)
    np.testing.assert_allclose(every.get(), np.einsum("bj,ijk,ck->ibc", first, cut, last))
    own = getattr(fft, kind)(cp.asarray(host), axis=1)
    np.testing.assert_allclose(own.get(), np.einsum("bj,ijk->ibk", matrix(kind, 2, 5), host))


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_refusals_of_real_transforms(name):
    call, a = getattr(fft, name), cp.ones((2, 3))
    with pytest.raises(ValueError, match="type"):
        call(a, 5)
    with pytest.raises(ValueError, match="Invalid norm"):
        call(a, norm="x")
    with pytest.raises(ValueError, match="data points"):
        call(a, n=0)
    with pytest.raises(np.exceptions.AxisError):
        call(a, axis=2)
    with pytest.raises(ValueError, match="same length"):
        getattr(fft, name + "n")(a, s=(2,), axes=(0, 1))
    if "c" in name:
        with pytest.raises(ValueError, match="data points"):
            call(a, 1, n=1)


@pytest.mark.parametrize("dtype", "ifdFD")
@pytest.mark.parametrize("norm", NORMS)
def test_fourier_transforms(norm, dtype):
    host = values((4, 5, 6), dtype)
    a = cp.asarray(host)
    tolerance = 1e-4 if dtype in "fF" else 1e-11
    for name in ("fft", "ifft", "hfft", "irfft"):
        own = getattr(fft, name)(a, 7, 1, norm, overwrite_x=True)
        peer = getattr(np.fft, name)(host, 7, 1, norm)
        np.testing.assert_allclose(own.get(), peer, rtol=tolerance, atol=tolerance)
    for name in ("fft2", "ifftn", "irfft2"):
        own = getattr(fft, name)(a, (3, 8), (0, 2), norm)
        peer = getattr(np.fft, name)(host, (3, 8), (0, 2), norm)
        np.testing.assert_allclose(own.get(), peer, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(a.get(), host)


@pytest.mark.parametrize("norm", NORMS)
def test_hermitian_transforms_over_axes(norm):
    host = values((4, 5), "D")
    own = fft.hfft2(cp.asarray(host), norm=norm)
    peer = np.fft.hfft(np.fft.fft(host, axis=0, norm=norm), norm=norm)
    np.testing.assert_allclose(own.get(), peer)
    real = values((4, 5))
    own = fft.ihfftn(cp.asarray(real), norm=norm)
    peer = np.fft.ifft(np.fft.ihfft(real, norm=norm), axis=0, norm=norm)
    np.testing.assert_allclose(own.get(), peer)


def test_plans():
    a = cp.asarray(values((4, 6), "D"))
    plan = fft.get_fft_plan(a, axes=1)
    peer = np.fft.fft(a.get())
    np.testing.assert_allclose(fft.fft(a, plan=plan).get(), peer)
    with plan:
        np.testing.assert_allclose(cp.fft.fft(a).get(), peer)
        with pytest.raises(ValueError, match="do not match"):
            cp.fft.fft(a, axis=0)
        with pytest.raises(ValueError, match="do not match"):
            cp.fft.fft(a, 5)
    cp.fft.fft(a, axis=0)
    with pytest.raises(ValueError, match="do not match"):
        fft.rfftn(a.real, plan=fft.get_fft_plan(a))
    both = fft.get_fft_plan(a, value_type="C2R")
    np.testing.assert_allclose(fft.irfftn(a, plan=both).get(), np.fft.irfftn(a.get()))
    half = fft.get_fft_plan(a.real, (3, 8), (0, 1), value_type="R2C")
    np.testing.assert_allclose(
        fft.rfftn(a.real, (3, 8), plan=half).get(), np.fft.rfftn(a.get().real, (3, 8), (0, 1))
    )
    with pytest.raises(ValueError, match="value_type"):
        fft.get_fft_plan(a, value_type="x")
    with pytest.raises(ValueError, match="repeated"):
        fft.fftn(a, axes=(0, 0))


def test_fast_lengths():
    assert [fft.next_fast_len(n) for n in (0, 1, 7, 11, 13, 17, 121, 2039)] == [
        0, 1, 7, 12, 14, 18, 125, 2048,
    ]  # fmt: skip
    with pytest.raises(ValueError):
        fft.next_fast_len(-1)


@pytest.mark.parametrize("dtype", "iefd")
@pytest.mark.parametrize("n", [None, 1, 2, 5, 8])
def test_fftpack(n, dtype):
    host = values((3, 5, 6), dtype)
    tolerance = 1e-12 if dtype in "id" else 2e-3
    for axis in (0, 1, -1):
        own = fftpack.rfft(cp.asarray(host), n, axis)
        terms = np.moveaxis(np.fft.rfft(host, n, axis), axis, -1)
        length = n or host.shape[axis]
        pairs = np.stack([terms.real, terms.imag], -1).reshape(*terms.shape[:-1], -1)
        packed = np.delete(pairs, 1, -1)[..., :length]
        assert own.dtype == np.dtype("f" if dtype in "ef" else "d")
        np.testing.assert_allclose(own.get(), np.moveaxis(packed, -1, axis), tolerance, tolerance)
        again = fftpack.irfft(own, axis=axis).get()
        peer = np.fft.irfft(np.fft.rfft(host.astype("d"), n, axis), length, axis)
        np.testing.assert_allclose(again, peer, tolerance, tolerance * 50)
    for name in ("fft", "ifft"):
        own = getattr(fftpack, name)(cp.asarray(host), n, 1)
        np.testing.assert_allclose(own.get(), getattr(np.fft, name)(host, n, 1), tolerance, 0.05)
    for name in ("fft2", "ifft2", "fftn", "ifftn"):
        own = getattr(fftpack, name)(cp.asarray(host))
        np.testing.assert_allclose(own.get(), getattr(np.fft, name)(host), tolerance, 0.05)
    with pytest.raises(TypeError, match="complex"):
        fftpack.rfft(cp.ones(3, "D"))
