"""Decompositions and solvers against NumPy, by the library and by the kernels of our own."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.cupyx as cupyx
from trilane.cupy._library import Library, _library, library_of
from trilane.cupy.linalg import _solve

TOLERANCE = {"f": 2e-4, "F": 2e-4, "d": 1e-10, "D": 1e-10, "i": 1e-10, "?": 1e-10, "B": 1e-10}
SHAPES = [(4, 4), (5, 3), (3, 5), (2, 4, 3), (2, 1, 3, 3), (0, 3), (3, 0), (2, 0, 0), (0, 3, 3)]
SQUARES = [(5, 5), (2, 3, 4, 4), (0, 0), (0, 3, 3), (1, 1)]


def values(shape, dtype="d", seed=0) -> np.ndarray:
    generator = np.random.RandomState(seed)
    real = generator.randint(-9, 10, shape)
    if np.dtype(dtype).kind == "c":
        return (real + 1j * generator.randint(-9, 10, shape)).astype(dtype)
    return np.abs(real).astype(dtype) if np.dtype(dtype).kind in "ub" else real.astype(dtype)


def close(own, peer, dtype="d", of_type=True):
    peer = np.asarray(peer)
    assert isinstance(own, cp.ndarray)
    assert own.shape == peer.shape
    if of_type:
        assert own.dtype == peer.dtype
    tolerance = TOLERANCE[np.dtype(dtype).char]
    np.testing.assert_allclose(own.get(), peer, rtol=tolerance, atol=tolerance * 50)


def layouts(host):
    """The same values in several layouts of memory."""
    yield cp.asarray(host)
    yield cp.asarray(np.asfortranarray(host))
    wide = np.zeros(host.shape[:-1] + (2 * host.shape[-1],), host.dtype)
    wide[..., ::2] = host
    yield cp.asarray(wide)[..., ::2]
    yield cp.asarray(host[..., ::-1, :].copy())[..., ::-1, :]


@pytest.mark.parametrize("dtype", "?Bifd" + "FD")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("full", [True, False])
def test_svd(shape, dtype, full):
    host = values(shape, dtype)
    peer = np.linalg.svd(host, full)
    for a in layouts(host):
        own = cp.linalg.svd(a, full_matrices=full)
        for mine, theirs in zip(own, peer):
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        close(own.S, peer.S, dtype)
        k = peer.S.shape[-1]
        again = (own.U[..., :k] * own.S[..., None, :]) @ own.Vh[..., :k, :]
        close(again, host.astype(again.dtype), dtype)
        close(cp.linalg.svd(a, compute_uv=False), peer.S, dtype)
        close(cp.linalg.svdvals(a), peer.S, dtype)


@pytest.mark.parametrize("dtype", "fdFD")
def test_svd_of_hermitian(dtype):
    host = values((2, 5, 5), dtype)
    host = host + host.conj().swapaxes(-1, -2)
    a = cp.asarray(host)
    u, s, vh = cp.linalg.svd(a, hermitian=True)
    close(s, np.linalg.svd(host, hermitian=True)[1], dtype)
    close((u * s[..., None, :]) @ vh, host, dtype)
    close(cp.linalg.svd(a, compute_uv=False, hermitian=True), s.get(), dtype)


@pytest.mark.parametrize("dtype", "?Bifd" + "FD")
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, dtype):
    host = values(shape, dtype)
    a = cp.asarray(host)
    for mode in ("reduced", "complete"):
        q, r = cp.linalg.qr(a, mode)
        peer = np.linalg.qr(host, mode)
        close(q, peer.Q, dtype)
        close(r, peer.R, dtype)
    close(cp.linalg.qr(a, "r"), np.linalg.qr(host, "r"), dtype)
    for mine, theirs in zip(cp.linalg.qr(a, "raw"), np.linalg.qr(host, "raw")):
        close(mine, theirs, dtype)


def test_qr_modes():
    a = cp.ones((2, 2))
    with pytest.raises(ValueError, match="deprecated mode 'full'"):
        cp.linalg.qr(a, "full")
    with pytest.raises(ValueError, match="Unrecognized mode 'x'"):
        cp.linalg.qr(a, "x")


@pytest.mark.parametrize("dtype", "?Bifd" + "FD")
@pytest.mark.parametrize("shape", SQUARES)
@pytest.mark.parametrize("uplo", ["L", "U", "l"])
def test_eigh(shape, dtype, uplo):
    host = values(shape, dtype)
    full = np.tril(host) if uplo.upper() == "L" else np.triu(host)
    diagonal = np.einsum("...ii->...i", full).real
    full = full.astype(np.result_type(full, "f" if dtype in "fF" else "d"))
    full = full + full.conj().swapaxes(-1, -2)
    np.einsum("...ii->...i", full)[...] = diagonal
    for a in layouts(host):
        w, v = cp.linalg.eigh(a, uplo)
        close(w, np.linalg.eigh(host, uplo)[0], dtype)
        assert v.dtype == full.dtype
        close(cp.asarray(full) @ v, (v * w[..., None, :]).get(), dtype)
        close(cp.linalg.eigvalsh(a, uplo), np.linalg.eigvalsh(host, uplo), dtype)


def test_eigh_refuses_other_triangles():
    with pytest.raises(ValueError, match="UPLO"):
        cp.linalg.eigh(cp.eye(2), "M")


@pytest.mark.parametrize("dtype", "?Bifd" + "FD")
@pytest.mark.parametrize("shape", SQUARES)
def test_eig(shape, dtype):
    host = values(shape, dtype, 3)
    for a in layouts(host):
        w, v = cp.linalg.eig(a)
        peer = np.linalg.eigvals(host)
        complex_type = np.result_type(peer, np.complex64)
        assert w.dtype == v.dtype == (complex_type if host.size else peer.dtype)
        close(a.astype(v.dtype) @ v, (v * w[..., None, :]).get(), dtype)
        key = lambda x: np.sort(np.round(x, 3), axis=-1)  # noqa: E731
        np.testing.assert_allclose(key(w.get()), key(peer.astype(w.dtype)), atol=2e-3)
        close(cp.linalg.eigvals(a), w.get(), dtype)


@pytest.mark.parametrize("name", ["eig", "eigh", "eigvals", "eigvalsh", "inv", "det", "cholesky"])
def test_shapes_are_checked(name):
    call = getattr(cp.linalg, name)
    for shape in [(), (3,), (2, 3), (2, 2, 3), (4, 0)]:
        with pytest.raises(np.linalg.LinAlgError):
            call(cp.zeros(shape))
    with pytest.raises(TypeError, match="float16 is unsupported"):
        call(cp.eye(2, dtype="e"))
    with pytest.raises(TypeError, match="expected cupy.ndarray"):
        call(np.eye(2))


@pytest.mark.parametrize("name", ["svd", "qr", "pinv"])
def test_matrices_are_asked_for(name):
    with pytest.raises(np.linalg.LinAlgError):
        getattr(cp.linalg, name)(cp.zeros(3))
    with pytest.raises(TypeError, match="float16"):
        getattr(cp.linalg, name)(cp.zeros((2, 2), "e"))


@pytest.mark.parametrize("dtype", "ifdFD")
@pytest.mark.parametrize("m,n", [(3, 3), (5, 3), (3, 5), (0, 0), (3, 0), (0, 4)])
@pytest.mark.parametrize("columns", [None, 0, 1, 4])
@pytest.mark.parametrize("rcond", [None, -1, 0.5])
def test_lstsq(m, n, columns, rcond, dtype):
    a = values((m, n), dtype, 1)
    b = values((m,) if columns is None else (m, columns), dtype, 2)
    own = cp.linalg.lstsq(cp.asarray(a), cp.asarray(b), rcond)
    peer = np.linalg.lstsq(a, b, rcond)
    for i, (mine, theirs) in enumerate(zip(own, peer)):
        close(mine, theirs, dtype, of_type=i != 2)


def test_lstsq_of_deficient_rank():
    a = values((5, 2), seed=1) @ values((2, 4), seed=2)
    b = values((5, 2), seed=3)
    own = cp.linalg.lstsq(cp.asarray(a), cp.asarray(b))
    for mine, theirs in zip(own, np.linalg.lstsq(a, b, None)):
        close(mine, theirs, of_type=False)
    assert int(own[2]) == 2


@pytest.mark.parametrize("a,b", [((4, 3), (3,)), ((3, 3, 3), (3, 3)), ((3, 3), (3, 3, 3))])
def test_lstsq_checks_shapes(a, b):
    with pytest.raises(np.linalg.LinAlgError):
        cp.linalg.lstsq(cp.zeros(a), cp.zeros(b))


@pytest.mark.parametrize("dtype", "ifdFD")
@pytest.mark.parametrize("shape", SHAPES)
def test_pinv(shape, dtype):
    host = values(shape, dtype)
    close(cp.linalg.pinv(cp.asarray(host)), np.linalg.pinv(host), dtype, of_type=host.size > 0)
    own, peer = cp.linalg.pinv(cp.asarray(host), rcond=0.4), np.linalg.pinv(host, rcond=0.4)
    close(own, peer, dtype, of_type=host.size > 0)


def test_pinv_with_limits_per_matrix_and_hermitian():
    host = values((2, 4, 4))
    host = host + host.swapaxes(-1, -2)
    limits = np.array([0.1, 0.6])
    close(
        cp.linalg.pinv(cp.asarray(host), rtol=cp.asarray(limits)), np.linalg.pinv(host, rtol=limits)
    )
    close(cp.linalg.pinv(cp.asarray(host), hermitian=True), np.linalg.pinv(host, hermitian=True))
    with pytest.raises(ValueError, match="both"):
        cp.linalg.pinv(cp.asarray(host), 0.1, rtol=0.1)


@pytest.mark.parametrize("dtype", "?Bifd" + "FD")
def test_matrix_rank(dtype):
    for host in (values((3, 4), dtype), np.ones((4, 4), dtype), np.zeros((2, 2), dtype)):
        for options in ({}, {"tol": 1.0}, {"rtol": 0.5}):
            own = cp.linalg.matrix_rank(cp.asarray(host), **options)
            close(own, np.linalg.matrix_rank(host, **options))
    for host in (values((3,), dtype), np.zeros(3, dtype), np.ones((), dtype)):
        close(cp.linalg.matrix_rank(cp.asarray(host)), np.linalg.matrix_rank(host))
    stack = np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3))]).astype(dtype)
    close(cp.linalg.matrix_rank(cp.asarray(stack)), np.linalg.matrix_rank(stack))
    close(cp.linalg.matrix_rank(cp.asarray(stack), hermitian=True), [3, 1, 0])
    limits = np.array([0.5, 4.0, 0.0])
    close(
        cp.linalg.matrix_rank(cp.asarray(stack), cp.asarray(limits)),
        np.linalg.matrix_rank(stack, limits),
    )


@pytest.mark.parametrize("dtype", "ifdFD")
@pytest.mark.parametrize("ord", [2, -2, "nuc"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_singular_values(ord, keepdims, dtype):
    host = values((3, 4), dtype)
    close(
        cp.linalg.norm(cp.asarray(host), ord, keepdims=keepdims),
        np.linalg.norm(host, ord, keepdims=keepdims),
        dtype,
    )
    host = values((3, 2, 4), dtype)
    close(
        cp.linalg.norm(cp.asarray(host), ord, (0, 2), keepdims),
        np.linalg.norm(host, ord, (0, 2), keepdims),
        dtype,
    )


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, np.inf, -np.inf, "fro"])
def test_cond(p):
    host = np.stack([values((3, 3)), np.zeros((3, 3)), np.full((3, 3), np.nan)])
    if p in (None, 2, -2):
        host = host[:2]
    close(cp.linalg.cond(cp.asarray(host), p), np.linalg.cond(host, p))
    with pytest.raises(np.linalg.LinAlgError):
        cp.linalg.cond(cp.zeros((0, 3)), p)


def test_multi_dot():
    shapes = [(4,), (4, 3), (3, 7), (7, 2), (2,)]
    for slice_ in (slice(0, 5), slice(1, 5), slice(0, 4), slice(1, 3), slice(2, 4)):
        hosts = [values(s, seed=i) for i, s in enumerate(shapes)][slice_]
        close(cp.linalg.multi_dot([cp.asarray(h) for h in hosts]), np.linalg.multi_dot(hosts))
    with pytest.raises(ValueError, match="at least two"):
        cp.linalg.multi_dot([cp.ones((2, 2))])


@pytest.fixture(params=["library", "kernels"])
def way(request, monkeypatch):
    """Solvers run by the device's library, or by the kernels that a device without one uses."""
    if request.param == "kernels":
        monkeypatch.setattr(_solve, "library_of", lambda a: Library("some"))


@pytest.mark.parametrize("dtype", "ifdFD")
@pytest.mark.parametrize("shape", SQUARES)
def test_solvers(way, shape, dtype):
    host = values(shape, dtype, 5) + 9 * np.eye(shape[-1], dtype=dtype)
    right = values(shape[:-1] + (2,), dtype, 6)
    positive = host @ host.conj().swapaxes(-1, -2)
    for a in layouts(host):
        close(cp.linalg.inv(a), np.linalg.inv(host), dtype)
        close(cp.linalg.solve(a, cp.asarray(right)), np.linalg.solve(host, right), dtype)
        if right.size:
            vector = right.reshape(-1)[: shape[-1]]
            close(cp.linalg.solve(a, cp.asarray(vector)), np.linalg.solve(host, vector), dtype)
        sign, log = cp.linalg.slogdet(a)
        close(sign, np.linalg.slogdet(host)[0], dtype)
        close(log, np.linalg.slogdet(host)[1], dtype)
        np.testing.assert_allclose(cp.linalg.det(a).get(), np.linalg.det(host), rtol=1e-4)
    for a in layouts(positive):
        close(cp.linalg.cholesky(a), np.linalg.cholesky(positive), dtype)
        close(cp.linalg.cholesky(a, upper=True), np.linalg.cholesky(positive, upper=True), dtype)


@pytest.mark.parametrize("dtype", "fdFD")
def test_what_has_no_answer(way, dtype):
    """By default NaN in the matrices concerned, an error where the state asks for it."""
    stack = np.stack([np.eye(3), np.zeros((3, 3)), 2 * np.eye(3)]).astype(dtype)
    a, right = cp.asarray(stack), cp.ones((3, 3, 2), dtype)
    for call in (cp.linalg.inv, cp.linalg.cholesky, lambda x: cp.linalg.solve(x, right)):
        result = call(a).get()
        assert np.isnan(result[1]).all()
        assert np.isfinite(result[[0, 2]]).all()
        with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
            call(a)
    np.testing.assert_allclose(cp.linalg.det(a).get(), [1, 0, 8], rtol=1e-5)
    np.testing.assert_allclose(cp.linalg.slogdet(a)[0].get(), [1, 0, 1])


@pytest.mark.cpu_only(reason="only the cpu device has a library")
def test_decompositions_that_fail():
    bad = cp.asarray(np.stack([np.eye(3), np.full((3, 3), np.nan)]))
    w, v = cp.linalg.eigh(bad)
    assert w.get()[0].tolist() == [1, 1, 1]
    assert np.isnan(w.get()[1]).all() and np.isnan(v.get()[1]).all()
    assert np.isnan(cp.linalg.svdvals(bad).get()[1]).all()
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cp.linalg.eigvals(bad)


@pytest.mark.cpu_only(reason="only the cpu device has a library")
def test_results_are_ordered_with_the_stream():
    with cp.cuda.Stream(non_blocking=True):
        a = cp.eye(64)
        for _ in range(50):
            a = a + 0.5 * cp.eye(64)
        inverse = cp.linalg.inv(a)
        a *= 2
        twice = cp.linalg.inv(a)
    np.testing.assert_allclose(inverse.get(), np.eye(64) / 26)
    np.testing.assert_allclose(twice.get(), np.eye(64) / 52)


def test_a_device_without_a_library_names_what_it_lacks():
    lacking, a = _library("cuda"), cp.eye(2)
    calls = {
        "svd": (a, True), "eigh": (a, "L"), "eigvalsh": (a, "L"), "eig": (a,), "eigvals": (a,),
        "qr": (a, "r"),
    }  # fmt: skip
    for name, arguments in calls.items():
        with pytest.raises(NotImplementedError, match=f"cupy.linalg.{name} on the cuda device"):
            getattr(lacking, name)(*arguments)
    assert library_of(a) is library_of(a.T)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (2, 2, 3)), ((3,), (5, 3)), ((), (4,))]
)
def test_inner(shapes):
    a, b = (np.arange(float(np.prod(s))).reshape(s) + 1 for s in shapes)
    got, want = cp.inner(cp.asarray(a), cp.asarray(b)), np.inner(a, b)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got.get(), want)
    with pytest.raises(ValueError, match="mismatch"):
        cp.inner(cp.ones(3), cp.ones(2))
