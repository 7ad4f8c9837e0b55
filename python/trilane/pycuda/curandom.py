"""Random GPUArrays: pseudo-random and quasi-random generators."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from trilane import _core
from trilane._missing import missing_attributes as _missing_attributes

from . import _random_text as text
from ._context import Context
from ._enums import device_attribute
from ._gpuarray import GPUArray, _as_gpu, _on
from ._gpuarray_create import to_gpu
from ._sobol import direction_vectors
from .compiler import SourceModule
from .tools import context_dependent_memoize

_array = _core.array

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]


def get_curand_version() -> tuple[int, int, int]:
    """The version of cuRAND whose interface is offered; no cuRAND is needed."""
    return (10, 3, 0)


def rand(shape: Any, dtype: Any = np.float32, stream: Any = None) -> GPUArray:
    """Uniform numbers from [0, 1), or of all values of an integer type.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
        float32, float64, int32 or uint32.

    Raises
    ------
    NotImplementedError
        If the dtype is another.
    """
    dtype = np.dtype(dtype)
    seed = secrets.randbits(63)
    with _on(stream):
        if dtype in (np.float32, np.float64):
            return _as_gpu(_array.random_uniform(shape, dtype, 0.0, 1.0, seed, 0)[0])
        if dtype in (np.int32, np.uint32):
            return _as_gpu(_array.random_bits(shape, np.dtype(np.uint32), seed, 0)[0]).view(dtype)
    raise NotImplementedError(f"pycuda.curandom.rand: numbers of {dtype}")


# --- seeds and direction vectors


def seed_getter_uniform(count: int) -> GPUArray:
    """The same random seed for each of `count` generators."""
    value = secrets.randbits(31)
    return to_gpu(np.full(count, value, np.int32))


def seed_getter_unique(count: int) -> GPUArray:
    """A random seed for each of `count` generators."""
    words = np.frombuffer(secrets.token_bytes(4 * count), np.uint32) >> 1
    return to_gpu(words.astype(np.int32))


class direction_vector_set:  # noqa: N801  PyCUDA's name
    """Which direction vectors: of 32 or 64 bits; Trilane has one set of each."""

    VECTOR_32 = 101
    SCRAMBLED_VECTOR_32 = 102
    VECTOR_64 = 103
    SCRAMBLED_VECTOR_64 = 104


def generate_direction_vectors(
    count: int, direction: int = direction_vector_set.VECTOR_32
) -> GPUArray:
    """Direction vectors of Sobol sequences, shape (count, 32) or (count, 64).

    Notes
    -----
    Made from primitive polynomials in order; the free first numbers are not those of cuRAND's
    tables, so sequences after dimension 0 differ from cuRAND's.
    """
    wide = direction in (
        direction_vector_set.VECTOR_64,
        direction_vector_set.SCRAMBLED_VECTOR_64,
    )
    return to_gpu(direction_vectors(count, 64 if wide else 32).copy())


def generate_scramble_constants32(count: int) -> GPUArray:
    """A random uint32 for each of `count` sequences."""
    return to_gpu(np.frombuffer(secrets.token_bytes(4 * count), np.uint32).copy())


def generate_scramble_constants64(count: int) -> GPUArray:
    """A random uint64 for each of `count` sequences."""
    return to_gpu(np.frombuffer(secrets.token_bytes(8 * count), np.uint64).copy())


# --- generators


@context_dependent_memoize
def _module(state: str, normal: str) -> SourceModule:
    return SourceModule(
        f"#include <curand_kernel.h>\n{state}{normal}{text.KERNELS}", no_extern_c=True
    )


_KEYS = {"f4": "f4", "f8": "f8", "u4": "u4", "i4": "u4", "u8": "u8", "i8": "u8"}


class _Generator:
    """Generators of one kind, one per device thread.

    Each keeps its state on the device, so that successive fills continue the sequences.
    """

    generators_per_block = 64
    _state_text = ""
    _normal_text = text.BOX_MULLER
    _word_bits = 32

    def __init__(self) -> None:
        count = Context.get_device().get_attribute(device_attribute.MULTIPROCESSOR_COUNT)
        self.block_count = max(2, min(64, 2 * count))
        self._kernels = _module(self._state_text, self._normal_text)

    @property
    def _count(self) -> int:
        return self.block_count * self.generators_per_block

    def _launch(self, name: str, stream: Any, *args: Any) -> None:
        grid, block = (self.block_count, 1), (self.generators_per_block, 1, 1)
        self._kernels.get_function(name)._loose(grid, block, stream, args)

    def _fill(self, name: str, data: GPUArray, stream: Any, *parameters: float) -> None:
        code = data.dtype.str[1:]
        known = ["f4", "f8"]
        if name.startswith("poisson"):
            known.append("u4")
        elif name == "uniform":
            known += ["i4", "u4"] if self._word_bits == 32 else ["i4", "u4", "i8", "u8"]
        if code not in known:
            raise NotImplementedError(f"{type(self).__name__}: {name} numbers of {data.dtype}")
        if not (data.c_contiguous or data.f_contiguous):
            raise ValueError(f"{type(self).__name__}: {name}: the array must be contiguous")
        if data.size:
            self._launch(f"{name}_{_KEYS[code]}", stream, self.state, data, data.size, *parameters)

    def fill_uniform(self, data: GPUArray, stream: Any = None) -> None:
        """Fill with uniform numbers from (0, 1], or with random bits if integers."""
        self._fill("uniform", data, stream)

    def fill_normal(self, data: GPUArray, stream: Any = None) -> None:
        """Fill with normal numbers of mean 0 and deviation 1."""
        self._fill("normal", data, stream)

    def fill_log_normal(
        self, data: GPUArray, log_mean: float, log_stddev: float, stream: Any = None
    ) -> None:
        """Fill with numbers whose logarithms are normal with the given mean and deviation."""
        self._fill("log_normal", data, stream, float(log_mean), float(log_stddev))

    def fill_poisson(
        self, data: GPUArray, lambda_value: float | None = None, stream: Any = None
    ) -> None:
        """Fill with Poisson numbers of mean `lambda_value`; None: of the means in `data`."""
        if lambda_value is None:
            self._fill("poisson_each", data, stream)
        else:
            self._fill("poisson", data, stream, float(lambda_value))

    def gen_uniform(self, shape: Any, dtype: Any, stream: Any = None) -> GPUArray:
        """A new array, filled as by `fill_uniform`."""
        return self._new(shape, dtype, stream, self.fill_uniform)

    def gen_normal(self, shape: Any, dtype: Any, stream: Any = None) -> GPUArray:
        """A new array, filled as by `fill_normal`."""
        return self._new(shape, dtype, stream, self.fill_normal)

    def gen_log_normal(
        self, shape: Any, dtype: Any, log_mean: float, log_stddev: float, stream: Any = None
    ) -> GPUArray:
        """A new array, filled as by `fill_log_normal`."""
        return self._new(shape, dtype, stream, self.fill_log_normal, log_mean, log_stddev)

    def gen_poisson(
        self, shape: Any, dtype: Any, lambda_value: float, stream: Any = None
    ) -> GPUArray:
        """A new array, filled as by `fill_poisson`."""
        return self._new(shape, dtype, stream, self.fill_poisson, lambda_value)

    def _new(
        self, shape: Any, dtype: Any, stream: Any, fill: Callable[..., None], *parameters: float
    ) -> GPUArray:
        with _on(stream):
            result = GPUArray(shape, dtype)
        fill(result, *parameters, stream=stream)
        return result

    def _counts(self, given: Any) -> np.ndarray:
        values = given.get() if isinstance(given, GPUArray) else np.asarray(given)
        if np.any(values < 0):
            raise ValueError(f"{type(self).__name__}: cannot skip a negative count")
        return np.broadcast_to(values.astype(np.uint64), (self._count,)).copy()

    def call_skip_ahead(self, i: int, stream: Any = None) -> None:
        """Each generator goes `i` numbers on."""
        self._skip(self._counts(i), stream)

    def call_skip_ahead_array(self, i: GPUArray, stream: Any = None) -> None:
        """Generator k goes ``i[k]`` numbers on."""
        self._skip(self._counts(i), stream)

    def _skip(self, counts: np.ndarray, stream: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__}.call_skip_ahead")


def _seeds(seed_getter: Callable[[int], GPUArray] | None, count: int) -> np.ndarray:
    seeds = (seed_getter_uniform if seed_getter is None else seed_getter)(count)
    if not isinstance(seeds, GPUArray) or seeds.dtype not in (np.int32, np.uint32):
        raise TypeError("seed must be GPUArray of integers of right length")
    if seeds.shape != (count,):
        raise TypeError("seed must be GPUArray of integers of right length")
    return seeds.get().view(np.uint32)


class XORWOWRandomNumberGenerator(_Generator):
    """cuRAND's XORWOW: Marsaglia's generator, 2**67 numbers between sequences.

    Parameters
    ----------
    seed_getter : callable, optional
        Gives an int32 GPUArray of that many seeds; default `seed_getter_uniform`.
    offset : int
        Numbers to skip.
    """

    _state_text = text.XORWOW_STATE
    _state_bytes = 48

    def __init__(self, seed_getter: Any = None, offset: int = 0) -> None:
        super().__init__()
        seeds = to_gpu(_seeds(seed_getter, self._count))
        self.state = GPUArray((self._count * self._state_bytes,), np.uint8)
        self._launch("start", None, self.state, seeds, offset)

    def _skip(self, counts: np.ndarray, stream: Any) -> None:
        self._launch("skip", stream, self.state, to_gpu(counts))

    def call_skip_ahead_sequence(self, i: int, stream: Any = None) -> None:
        """Each generator goes `i` sequences on."""
        self._launch("skip_sequence", stream, self.state, to_gpu(self._counts(i)))

    def call_skip_ahead_sequence_array(self, i: GPUArray, stream: Any = None) -> None:
        """Generator k goes ``i[k]`` sequences on."""
        self.call_skip_ahead_sequence(i, stream)  # type: ignore[arg-type]


_M1, _M2 = 4294967087, 4294944443
_A1 = ((0, 1, 0), (0, 0, 1), (_M1 - 810728, 1403580, 0))
_A2 = ((0, 1, 0), (0, 0, 1), (_M2 - 1370589, 0, 527612))


def _product(a: Any, b: Any, modulus: int) -> Any:
    columns = list(zip(*b, strict=True))
    return tuple(
        tuple(sum(x * y for x, y in zip(row, column, strict=True)) % modulus for column in columns)
        for row in a
    )


def _matrix_power(a: Any, exponent: int, modulus: int) -> Any:
    result: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    while exponent:
        if exponent & 1:
            result = _product(result, a, modulus)
        a = _product(a, a, modulus)
        exponent >>= 1
    return result


def _advanced(state: Any, count: int) -> list[int]:
    """The six words of a generator, `count` steps on."""
    words = [[int(word)] for word in state]
    first = _product(_matrix_power(_A1, count, _M1), words[:3], _M1)
    second = _product(_matrix_power(_A2, count, _M2), words[3:], _M2)
    return [row[0] for row in first + second]


class MRG32k3aRandomNumberGenerator(_Generator):
    """L'Ecuyer's MRG32k3a, 2**67 numbers between sequences.

    Parameters
    ----------
    seed_getter : callable, optional
        Gives an int32 GPUArray of that many seeds; default `seed_getter_uniform`.
    offset : int
        Numbers to skip.
    """

    _state_text = text.MRG_STATE

    def __init__(self, seed_getter: Any = None, offset: int = 0) -> None:
        super().__init__()
        states = []
        for number, seed in enumerate(_seeds(seed_getter, self._count)):
            drawn = np.random.RandomState(int(seed)).randint(1, _M2, 6)
            states.append(_advanced(drawn, (number << 67) + offset))
        self.state = to_gpu(np.array(states, np.uint32))

    def _skip(self, counts: np.ndarray, stream: Any) -> None:
        states = self.state.get(stream=stream)
        moved = [_advanced(s, int(n)) for s, n in zip(states, counts, strict=True)]
        self.state.set(np.array(moved, np.uint32), stream=stream)

    def call_skip_ahead_sequence(self, i: int, stream: Any = None) -> None:
        """Each generator goes `i` sequences on."""
        states = self.state.get(stream=stream)
        moved = [_advanced(s, int(n) << 67) for s, n in zip(states, self._counts(i), strict=True)]
        self.state.set(np.array(moved, np.uint32), stream=stream)

    def call_skip_ahead_sequence_array(self, i: GPUArray, stream: Any = None) -> None:
        """Generator k goes ``i[k]`` sequences on."""
        self.call_skip_ahead_sequence(i, stream)  # type: ignore[arg-type]


class _Sobol(_Generator):
    """A Sobol sequence per generator, each of a dimension of its own, in Gray code order."""

    _normal_text = text.INVERSE_NORMAL

    def __init__(self, dir_vector: Any, scramble: Any, offset: int) -> None:
        super().__init__()
        bits = self._word_bits
        self._dtype = np.dtype(np.uint32 if bits == 32 else np.uint64)
        if dir_vector is None:
            vectors = direction_vectors(self._count, bits)
        else:
            vectors = dir_vector.get().view(self._dtype).reshape(-1, bits)
        if len(vectors) < self._count:
            raise TypeError(
                f"{type(self).__name__}: got {len(vectors)} direction vectors, expected "
                f"{self._count}"
            )
        states = np.zeros((self._count, 2 + bits), self._dtype)
        states[:, 2:] = vectors[: self._count]
        if scramble is not None:
            states[:, 0] = scramble.get().view(self._dtype)[: self._count]
        self.state = to_gpu(states)
        if offset:
            self.call_skip_ahead(offset)

    def _skip(self, counts: np.ndarray, stream: Any) -> None:
        states = self.state.get(stream=stream)
        before = states[:, 1]
        after = before + counts.astype(self._dtype)
        changed = before ^ before >> 1 ^ after ^ after >> 1
        for bit in range(self._word_bits):
            chosen = (changed >> self._dtype.type(bit) & self._dtype.type(1)).astype(bool)
            states[chosen, 0] ^= states[chosen, 2 + bit]
        states[:, 1] = after
        self.state.set(states, stream=stream)


class Sobol32RandomNumberGenerator(_Sobol):
    """Sobol sequences of 32 bits; `dir_vector` of `generate_direction_vectors`."""

    _state_text = text.sobol_state(32)

    def __init__(self, dir_vector: Any = None, offset: int = 0) -> None:
        super().__init__(dir_vector, None, offset)


class ScrambledSobol32RandomNumberGenerator(_Sobol):
    """Sobol sequences of 32 bits, each shifted by a random constant."""

    _state_text = text.sobol_state(32)

    def __init__(
        self, dir_vector: Any = None, scramble_vector: Any = None, offset: int = 0
    ) -> None:
        count = 64 * _core.current_context().properties.max_threads_per_block
        constants = generate_scramble_constants32(count)
        super().__init__(
            dir_vector, constants if scramble_vector is None else scramble_vector, offset
        )


class Sobol64RandomNumberGenerator(_Sobol):
    """Sobol sequences of 64 bits; `dir_vector` of `generate_direction_vectors`."""

    _state_text = text.sobol_state(64)
    _word_bits = 64

    def __init__(self, dir_vector: Any = None, offset: int = 0) -> None:
        super().__init__(dir_vector, None, offset)


class ScrambledSobol64RandomNumberGenerator(_Sobol):
    """Sobol sequences of 64 bits, each shifted by a random constant."""

    _state_text = text.sobol_state(64)
    _word_bits = 64

    def __init__(
        self, dir_vector: Any = None, scramble_vector: Any = None, offset: int = 0
    ) -> None:
        count = 64 * _core.current_context().properties.max_threads_per_block
        constants = generate_scramble_constants64(count)
        super().__init__(
            dir_vector, constants if scramble_vector is None else scramble_vector, offset
        )


__getattr__ = _missing_attributes(__name__)
