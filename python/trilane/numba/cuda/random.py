"""Random numbers in kernels: xoroshiro128+, one state per thread.

Source
------
Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2018): the generator, its
jump of 2^64 steps, and seeding by splitmix64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane._missing import no_attribute
from trilane.numba.cuda.api import to_device
from trilane.numba.cuda.stubs import Builtin

__all__ = [
    "create_xoroshiro128p_states", "init_xoroshiro128p_states", "xoroshiro128p_dtype",
    "xoroshiro128p_jump", "xoroshiro128p_next", "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64", "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]  # fmt: skip

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

xoroshiro128p_uniform_float32 = Builtin("random.xoroshiro128p_uniform_float32")
xoroshiro128p_uniform_float64 = Builtin("random.xoroshiro128p_uniform_float64")
xoroshiro128p_normal_float32 = Builtin("random.xoroshiro128p_normal_float32")
xoroshiro128p_normal_float64 = Builtin("random.xoroshiro128p_normal_float64")
xoroshiro128p_next = Builtin("random.xoroshiro128p_next")
xoroshiro128p_jump = Builtin("random.xoroshiro128p_jump")


def __getattr__(name: str) -> Any:
    if name == "xoroshiro128p_type":
        from trilane.numba.types import from_dtype

        return from_dtype(xoroshiro128p_dtype)
    raise no_attribute(__name__, name)


def _fill(states, n, skip, s0, s1):  # noqa: ANN001  a kernel of one thread: each state follows the last
    states[0]["s0"] = s0
    states[0]["s1"] = s1
    for _ in range(skip):
        xoroshiro128p_jump(states, 0)
    for i in range(1, n):
        states[i] = states[i - 1]
        xoroshiro128p_jump(states, i)


_kernel: Any = None


def _splitmix64(state: int) -> int:
    mask = (1 << 64) - 1
    z = (state + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def init_xoroshiro128p_states(
    states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Seed an array of states: each starts 2^64 steps behind the one before it.

    Parameters
    ----------
    states : (n,) xoroshiro128p_dtype device array
    seed : int
        The first state is splitmix64 of it.
    subsequence_start : int
        How many subsequences to leave out first.
    """
    global _kernel
    if _kernel is None:
        from trilane.numba.cuda.dispatcher import jit

        _kernel = jit(_fill)
    first = _splitmix64(int(seed) & ((1 << 64) - 1))
    _kernel[1, 1, stream](
        states, states.size, subsequence_start, np.uint64(first), np.uint64(_splitmix64(first))
    )


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> Any:
    """A device array of `n` seeded states."""
    states = to_device(np.zeros(n, xoroshiro128p_dtype), stream=stream)
    if n:
        init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states
