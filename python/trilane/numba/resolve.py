"""What a name of a kernel stands for outside of it: constants, types, functions, device objects."""

from __future__ import annotations

import builtins
import cmath
import enum
import functools
import math
import operator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from trilane.numba import types
from trilane.numba.genuine import own

__all__ = ["MISSING", "array_method", "describe", "global_value", "is_namespace"]

MISSING: Any = type("MISSING", (), {"__repr__": lambda self: "MISSING"})()

_BUILTINS = {
    getattr(builtins, name): name
    for name in (
        "abs", "bool", "complex", "divmod", "enumerate", "float", "int", "len", "max", "min", "pow",
        "print", "range", "reversed", "round", "slice", "sum", "tuple", "zip",
    )
}  # fmt: skip
_NUMPY_FUNCTIONS = {
    getattr(np, name): "np." + name
    for name in (
        "zeros", "empty", "ones", "zeros_like", "empty_like", "ones_like", "array", "full",
        "arange", "ndindex", "ndenumerate", "where", "real", "imag",
    )
}  # fmt: skip


def global_value(function: FunctionType, name: str) -> Any:
    """Value of a global or built-in name of `function`."""
    if name in function.__globals__:
        return function.__globals__[name]
    scope = function.__globals__.get("__builtins__", builtins)
    if isinstance(scope, ModuleType):
        return getattr(scope, name, MISSING)
    return scope.get(name, MISSING)


def is_namespace(value: Any) -> bool:
    """Whether attributes of `value` are looked up while compiling."""
    return (
        isinstance(value, (ModuleType, type))
        or getattr(value, "__trilane_namespace__", False)
        or _is_ffi(value)
    )


def _is_ffi(value: Any) -> bool:
    return type(value).__module__ == "cffi.api" and type(value).__name__ == "FFI"


def describe(value: Any, unit: Any) -> tuple[str, Any, list]:
    """``(kind, text, kids)`` of the node that stands for `value`.

    Raises
    ------
    TypeError
        `value` can be no part of a kernel.
    """
    if value is None:
        return ("None", "", [])
    if value is Ellipsis:
        return ("Ellipsis", "", [])
    if isinstance(value, bool):
        return ("Bool", "1" if value else "0", [])
    if isinstance(value, enum.Enum):
        return describe(value.value, unit)
    if type(value) is int or isinstance(value, int):
        return ("Int", str(int(value)), [])
    if type(value) is float:
        return ("Float", repr(value), [])
    if type(value) is complex:
        return ("Complex", f"{value.real!r},{value.imag!r}", [])
    if isinstance(value, str):
        return ("Str", value, [])
    if isinstance(value, np.generic):
        return _numpy_scalar(value, unit)
    if isinstance(value, tuple):
        return _tuple(value, unit)
    builtin = getattr(value, "__trilane_builtin__", None)
    if isinstance(builtin, str):
        return ("Builtin", builtin, [])
    external = getattr(value, "__trilane_external__", None)
    if isinstance(external, str):
        unit.externals.append(value)
        return ("Builtin", "external:" + external, [])
    if _is_ffi(getattr(value, "__self__", None)):
        return ("Builtin", f"cffi.{value.__name__}", [])
    value = own(value)
    if isinstance(value, types.Type):
        return ("DType", value.code, [])
    return _object(value, unit)


def _tuple(value: tuple, unit: Any) -> tuple[str, Any, list]:
    kids = [describe(item, unit) for item in value]
    fields = getattr(value, "_fields", None)
    if fields is None:
        return ("Tuple", "", kids)
    maker = ("NamedTupleClass", type(value).__name__, [("Str", f, []) for f in fields])
    return ("Call", "", [maker, *kids])


def _numpy_scalar(value: np.generic, unit: Any) -> tuple[str, Any, list]:
    if isinstance(value, np.bool_):
        return describe(bool(value), unit)
    if value.dtype.names is not None or value.dtype.kind not in "iufc":
        raise TypeError(f"a constant of type {value.dtype} is not supported in a kernel")
    plain = describe(value.item(), unit)
    if value.dtype in (np.int64, np.float64, np.complex128):
        return plain
    return ("Call", "", [("DType", types.from_dtype(value.dtype).code, []), plain])


def _object(value: Any, unit: Any) -> tuple[str, Any, list]:
    if isinstance(value, FunctionType):
        # Numba wants @cuda.jit here; a plain function has one meaning only, so it is taken.
        return ("Function", str(unit.function_index(value)), [])
    function = getattr(value, "py_func", None)
    if isinstance(function, FunctionType):
        inline = getattr(value, "inline_mode", "")
        signatures = getattr(value, "device_signatures", ())
        return ("Function", str(unit.function_index(function, inline, signatures)), [])
    if isinstance(value, np.ndarray):
        return _host_array(value)
    if isinstance(value, np.ufunc):
        return ("Builtin", "np." + value.__name__, [])
    if isinstance(value, np.dtype):
        return ("DType", types.from_dtype(value).code, [])
    if isinstance(value, type):
        return _class(value)
    try:
        reduction = _array_functions().get(value)
        if reduction is not None:
            return ("Function", str(unit.function_index(reduction)), [])
        if value in _NUMPY_FUNCTIONS:
            return ("Builtin", _NUMPY_FUNCTIONS[value], [])
        if value in _BUILTINS:
            return ("Builtin", _BUILTINS[value], [])
    except TypeError:
        pass
    if isinstance(value, BuiltinFunctionType):
        for module, prefix in ((math, "math"), (cmath, "cmath"), (operator, "operator")):
            if getattr(module, value.__name__, None) is value:
                return ("Builtin", f"{prefix}.{value.__name__}", [])
    if hasattr(value, "__cuda_array_interface__") or hasattr(value, "_address"):
        return _device_array(value, unit)
    if getattr(value, "__module__", "").startswith("numpy") and callable(value):
        return ("Builtin", f"np.{value.__name__}", [])
    if isinstance(value, ModuleType) or is_namespace(value):
        return ("Builtin", getattr(value, "__name__", repr(value)), [])
    raise TypeError(
        f"Cannot determine Numba type of {type(value)}: it can be no constant of a kernel"
    )


@functools.cache
def _array_functions() -> dict[Any, FunctionType]:
    """NumPy's functions of whole arrays that are Python functions, compiled into the kernels."""
    from trilane.numba.cuda import array_functions

    return {
        getattr(np, name): getattr(array_functions, f"array_{name}")
        for name in array_functions.FUNCTIONS
    }


def array_method(name: str) -> FunctionType | None:
    """The function that is an array's method `name`, if it is one of these."""
    if name not in _ARRAY_METHODS:
        return None
    return _array_functions()[getattr(np, name)]


_ARRAY_METHODS = frozenset(
    ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var")
)


def _class(value: type) -> tuple[str, Any, list]:
    if value in _BUILTINS:
        return ("Builtin", _BUILTINS[value], [])
    if value in _NUMPY_FUNCTIONS:
        return ("Builtin", _NUMPY_FUNCTIONS[value], [])
    if issubclass(value, np.generic):
        return ("DType", types.from_dtype(np.dtype(value)).code, [])
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return ("NamedTupleClass", value.__name__, [("Str", f, []) for f in value._fields])
    return ("Builtin", value.__qualname__, [])


def _ints(values: Any) -> tuple[str, str, list]:
    return ("Tuple", "", [("Int", str(int(v)), []) for v in values])


def _host_array(value: np.ndarray) -> tuple[str, Any, list]:
    element = types.from_dtype(value.dtype)
    return ("Array", value.tobytes(), [("Str", element.code, []), _ints(value.shape)])


def _device_array(value: Any, unit: Any) -> tuple[str, Any, list]:
    from trilane.numba.cuda.devicearray import as_cuda_array

    array = as_cuda_array(value)
    unit.keep_alive.append(array)
    kind = types.typeof(array)
    code = types.Array(kind.dtype, kind.ndim, kind.layout, readonly=False).code
    return ("DeviceArray", str(array.__cuda_array_interface__["data"][0]),
            [("Str", code, []), _ints(array.shape), _ints(array.strides)])  # fmt: skip
