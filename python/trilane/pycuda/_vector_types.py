"""CUDA's vector types as NumPy records: ``vec.float4``, ``vec.make_float4(x, y, z, w)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dtypes import get_or_register_dtype

_KINDS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "char": (np.int8, (1, 2, 3, 4)),
    "uchar": (np.uint8, (1, 2, 3, 4)),
    "short": (np.int16, (1, 2, 3, 4)),
    "ushort": (np.uint16, (1, 2, 3, 4)),
    "int": (np.int32, (1, 2, 3, 4)),
    "uint": (np.uint32, (1, 2, 3, 4)),
    "long": (np.int64, (1, 2, 3, 4)),
    "ulong": (np.uint64, (1, 2, 3, 4)),
    "longlong": (np.int64, (1, 2)),
    "ulonglong": (np.uint64, (1, 2)),
    "float": (np.float32, (1, 2, 3, 4)),
    "double": (np.float64, (1, 2)),
}

types: dict[tuple[np.dtype, int], np.dtype] = {}
type_to_scalar_and_count: dict[np.dtype, tuple[np.dtype, int]] = {}


def _maker(name: str, dtype: np.dtype, count: int) -> Any:
    def make(*args: Any) -> np.ndarray:
        if len(args) > count:
            raise TypeError(f"make_{name}: got {len(args)} arguments, expected at most {count}")
        return np.array(tuple(args) + (0,) * (count - len(args)), dtype)

    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"A `{name}` to pass to a kernel by value."
    return make


for _base, (_scalar, _counts) in _KINDS.items():
    for _n in _counts:
        _name = f"{_base}{_n}"
        _dtype = np.dtype([(field, _scalar) for field in "xyzw"[:_n]])
        if _base not in ("longlong", "ulonglong"):
            _dtype = get_or_register_dtype(_name, _dtype)
        types.setdefault((np.dtype(_scalar), _n), _dtype)
        type_to_scalar_and_count[_dtype] = (np.dtype(_scalar), _n)
        globals()[_name] = _dtype
        globals()[f"make_{_name}"] = _maker(_name, _dtype, _n)
