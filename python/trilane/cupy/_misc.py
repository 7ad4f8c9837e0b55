"""Memory questions, memoisation, fusion by name, configuration."""

from __future__ import annotations

import functools

import numpy as np

from trilane import _core
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import require_array

_memos: list[dict] = []


def memoize(for_each_device: bool = False):
    """Make a decorator that remembers a function's results by its positional arguments.

    Parameters
    ----------
    for_each_device : bool
        Remember per device.
    """

    def decorate(function):
        memo: dict = {}
        _memos.append(memo)

        @functools.wraps(function)
        def remembered(*args, **kwargs):
            device = _core.current_device_index() if for_each_device else -1
            key = (device, args, frozenset(kwargs.items()))
            try:
                return memo[key]
            except KeyError:
                result = memo[key] = function(*args, **kwargs)
                return result

        return remembered

    return decorate


def clear_memo() -> None:
    """Forget what all functions of `memoize` remember."""
    for memo in _memos:
        memo.clear()


class _Fused:
    """A function that `fuse` took: called as it is."""

    def __init__(self, function, kernel_name: str | None) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._kernel_name = kernel_name

    def __call__(self, *args, **kwargs):
        """Call the function."""
        return self._function(*args, **kwargs)

    def clear_cache(self) -> None:
        """Nothing is cached."""

    def __repr__(self) -> str:
        return f"<Fusion name={self._kernel_name or self._function.__name__!r}>"


def fuse(*args, **kwargs):
    """Decorate a function of element-wise operations.

    Parameters
    ----------
    kernel_name : str, optional
        Shown in ``repr``.

    Notes
    -----
    The function is called as it is: the result is the same, and joining operations into one
    kernel is the array engine's own work, with or without this decorator.
    """

    def decorate(function, kernel_name=None):
        return _Fused(function, kernel_name)

    if len(args) == 0:
        return lambda function: decorate(function, **kwargs)
    if len(args) == 1 and callable(args[0]):
        return decorate(args[0], **kwargs)
    raise TypeError(f"fuse: expected a function or keyword arguments: got {args!r}")


def may_share_memory(a, b, max_work=None) -> bool:
    """Whether the memory bounds of two arrays overlap."""
    a, b = require_array(a, "may_share_memory"), require_array(b, "may_share_memory")
    return bool(engine.may_share_bounds(a, b))


def shares_memory(a, b, max_work=None) -> bool:
    """Whether two arrays have a byte in common."""
    a, b = require_array(a, "shares_memory"), require_array(b, "shares_memory")
    if not engine.may_share_bounds(a, b):
        return False
    return bool(np.shares_memory(_stand_in(a, a, b), _stand_in(b, a, b)))


def _stand_in(a: ndarray, *both: ndarray) -> np.ndarray:
    """A NumPy array of the same addresses and strides; never read."""
    interface = {
        "shape": a.shape,
        "typestr": a.dtype.str,
        "strides": a.strides,
        "data": (a.ptr, False),
        "version": 3,
    }
    return np.asarray(type("_StandIn", (), {"__array_interface__": interface})())


def byte_bounds(a) -> tuple[int, int]:
    """Return the address of the first byte and the one after the last."""
    a = require_array(a, "byte_bounds")
    reach = [(e - 1) * s for e, s in zip(a.shape, a.strides)]
    if a.size == 0:
        return a.ptr, a.ptr
    low = sum(r for r in reach if r < 0)
    high = sum(r for r in reach if r > 0)
    return a.ptr + low, a.ptr + high + a.itemsize


def show_config(*, _full: bool = False) -> None:
    """Print versions and devices."""
    from trilane.cupy._version import __version__

    lines = [("API of CuPy", __version__), ("NumPy", np.__version__)]
    lines += [(name, version) for name, version in _core.library_versions().items()]
    for index in range(_core.device_count()):
        context = _core.context_of(index)
        lines.append((f"Device {index}", f"{context.properties.name} ({context.properties.type})"))
        lines += [(f"Device {index} {name}", value) for name, value in context.describe()]
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        print(f"{name:<{width}} : {value}")


def is_available() -> bool:
    """Whether there is a device; the embedded cpu device counts."""
    return _core.device_count() > 0


def result_type(*arrays_and_dtypes) -> np.dtype:
    """Return the dtype that NumPy's promotion gives; Python scalars are weak."""
    return np.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in arrays_and_dtypes))


def can_cast(from_, to, casting="safe") -> bool:
    """Whether values of one dtype can become another's under a casting rule."""
    from_ = from_.dtype if isinstance(from_, ndarray) else from_
    return np.can_cast(from_, to, casting)


def common_type(*arrays) -> np.dtype:
    """Return the floating dtype that holds the values of all arrays."""
    if not arrays:
        return np.float16
    kinds = []
    for a in arrays:
        if a.dtype.kind == "b":
            raise TypeError("can't get common type for non-numeric array")
        kinds.append(np.float64 if a.dtype.kind in "iu" else a.dtype)
    return np.result_type(*kinds).type


def min_scalar_type(a) -> np.dtype:
    """Return the smallest dtype that holds a scalar; the dtype of an array."""
    if isinstance(a, ndarray):
        return a.dtype
    return np.min_scalar_type(a)


def iterable(y) -> bool:
    """Whether a value can be iterated over."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def who(vardict=None) -> None:
    """Print the device arrays of a dictionary (the caller's globals by default)."""
    if vardict is None:
        import sys

        vardict = sys._getframe(1).f_globals
    rows, shown, total = [], set(), 0
    for name, value in vardict.items():
        if not isinstance(value, ndarray):
            continue
        first = value.data.mem.ptr not in shown
        shown.add(value.data.mem.ptr)
        total += value.nbytes if first else 0
        shape = " x ".join(map(str, value.shape))
        rows.append((name, shape, str(value.nbytes), value.dtype.name))
    if rows:
        headings = ("Name", "Shape", "Bytes", "Type")
        widths = [max(len(row[i]) for row in [headings, *rows]) + 4 for i in range(4)]
        line = "".join(h.ljust(w) for h, w in zip(headings, widths, strict=True))
        print(line.rstrip())
        print("=" * len(line))
        for row in rows:
            print("".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
    print(f"\nUpper bound on total bytes  =       {total}")
