"""Updates in place in which every index counts: what `ufunc.at` and the scatter family do."""

from __future__ import annotations

import functools

import numpy as np

from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import SCALARS

# name -> the element's next value from `a` (there) and `b` (given), for every dtype or integers.
_ANY = {
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "maximum": "(a != a || a > b) ? a : b",
    "minimum": "(a != a || a < b) ? a : b",
}
_REAL_DIVISION = {"true_divide": "a / b", "divide": "a / b"}
_INTEGER = {"bitwise_and": "a & b", "bitwise_or": "a | b", "bitwise_xor": "a ^ b"}

# A compare-and-swap loop on the 32- or 64-bit word that holds the element.
_PREAMBLE = """
template <typename T> __device__ inline T combined(T a, T b) { return static_cast<T>(@EXPRESSION@); }

template <typename T> __device__ inline void update(T* place, T value) {
    if (sizeof(T) == 8) {
        unsigned long long* word = reinterpret_cast<unsigned long long*>(place);
        unsigned long long seen = *reinterpret_cast<volatile unsigned long long*>(word), before;
        do {
            before = seen;
            T next;
            memcpy(&next, &before, sizeof(T));
            next = combined<T>(next, value);
            unsigned long long bits = 0;
            memcpy(&bits, &next, sizeof(T));
            seen = atomicCAS(word, before, bits);
        } while (seen != before);
    } else {
        const unsigned long long address = reinterpret_cast<unsigned long long>(place);
        unsigned* word = reinterpret_cast<unsigned*>(address & ~3ull);
        const unsigned shift = static_cast<unsigned>(address & 3ull);
        unsigned seen = *reinterpret_cast<volatile unsigned*>(word), before;
        do {
            before = seen;
            T next;
            memcpy(&next, reinterpret_cast<char*>(&before) + shift, sizeof(T));
            next = combined<T>(next, value);
            unsigned bits = before;
            memcpy(reinterpret_cast<char*>(&bits) + shift, &next, sizeof(T));
            seen = atomicCAS(word, before, bits);
        } while (seen != before);
    }
}
"""


@functools.cache
def _kernel(op: str):
    from trilane.cupy._kernel import ElementwiseKernel

    expression = {**_ANY, **_REAL_DIVISION, **_INTEGER}[op]
    return ElementwiseKernel(
        "int64 place, T value", "raw T target", "update<T>(&target[place], value)",
        f"trilane_scatter_{op}", preamble=_PREAMBLE.replace("@EXPRESSION@", expression),
        no_return=True,
    )  # fmt: skip


def scatter(a: ndarray, slices, value, op: str, casting: str = "same_kind") -> None:
    """Combine values into an array in place at indices; each index counts as often as it occurs.

    Parameters
    ----------
    a : ndarray
    slices : index
        Anything that indexes `a`.
    value : ndarray or scalar
        Broadcast to what the index picks.
    op : str
        Name of the ufunc.
    casting : str
        How values may change to the array's type.

    Raises
    ------
    NotImplementedError
        The ufunc or the dtype has no atomic form here.
    """
    known = _ANY | (_INTEGER if a.dtype.kind in "biu" else {})
    known |= _REAL_DIVISION if a.dtype.kind in "fc" else {}
    if op not in known:
        raise NotImplementedError(f"ufunc.at of {op!r} for {a.dtype}")
    if a.dtype.kind == "c":
        if op not in ("add", "subtract"):
            raise NotImplementedError(f"ufunc.at of {op!r} for {a.dtype}")
        value = value if isinstance(value, SCALARS) else value.astype(a.dtype, copy=False)
        scatter(a.real, slices, value.real, op, casting)
        scatter(a.imag, slices, value.imag, op, casting)
        return
    positions = engine.arange(0, a.size, 1, np.dtype(np.int64)).reshape(a.shape)[slices]
    if not isinstance(value, (ndarray, *SCALARS)):
        from trilane.cupy._creation import array

        value = array(value)
    if isinstance(value, ndarray):
        if not np.can_cast(value.dtype, a.dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc {op!r} output from {value.dtype!r} to {a.dtype!r} "
                f"with casting rule {casting!r}"
            )
        value = engine.broadcast_to(value.astype(a.dtype, copy=False), positions.shape)
    else:
        value = a.dtype.type(value)
    if positions.size:
        _kernel(op)(positions, value, a)


def at(self, a, indices, b=None) -> None:
    """Apply the ufunc in place at indices; each index counts as often as it occurs."""
    if b is None:
        raise NotImplementedError(f"ufunc.at of {self.name!r} with one operand")
    scatter(a, indices, b, self.name)
