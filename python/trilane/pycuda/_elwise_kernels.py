"""The kernels behind PyCUDA's arrays, for programs that launch them themselves.

Arrays here do without them: they are lines of C for `get_elwise_kernel`, whose last parameter is the
number of elements.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ._module import Function
from .tools import context_dependent_memoize, dtype_to_ctype


@context_dependent_memoize
def _kernel(arguments: str, operation: str, name: str) -> Function:
    from .elementwise import get_elwise_kernel

    return get_elwise_kernel(arguments, operation, name)


# Arguments and operation, with the C types of dtype parameters in braces.
_PLAIN = {
    "get_copy_kernel(dtype_dest, dtype_src)": (
        "{dtype_dest} *dest, {dtype_src} *src", "dest[i] = src[i]"),
    "get_axpbz_kernel(dtype_x, dtype_z)": (
        "{dtype_z} a, {dtype_x} *x, {dtype_z} b, {dtype_z} *z", "z[i] = a * x[i] + b"),
    "get_rdivide_elwise_kernel(dtype_x, dtype_z)": (
        "{dtype_x} *x, {dtype_z} y, {dtype_z} *z", "z[i] = y / x[i]"),
    "get_binary_func_kernel(func, dtype_x, dtype_y, dtype_z)": (
        "{dtype_x} *x, {dtype_y} *y, {dtype_z} *z", "z[i] = {func}(x[i], y[i])"),
    "get_binary_func_scalar_kernel(func, dtype_x, dtype_y, dtype_z)": (
        "{dtype_x} *x, {dtype_y} y, {dtype_z} *z", "z[i] = {func}(x[i], y)"),
    "get_fill_kernel(dtype)": ("{dtype} a, {dtype} *z", "z[i] = a"),
    "get_reverse_kernel(dtype)": ("{dtype} *y, {dtype} *z", "z[i] = y[n - 1 - i]"),
    "get_real_kernel(dtype, real_dtype)": (
        "{dtype} *y, {real_dtype} *z", "z[i] = pycuda::real(y[i])"),
    "get_imag_kernel(dtype, real_dtype)": (
        "{dtype} *y, {real_dtype} *z", "z[i] = pycuda::imag(y[i])"),
    "get_conj_kernel(dtype, conj_dtype)": (
        "{dtype} *y, {conj_dtype} *z", "z[i] = pycuda::conj(y[i])"),
    "get_arange_kernel(dtype)": (
        "{dtype} *z, {dtype} start, {dtype} step", "z[i] = start + ({dtype})i * step"),
    "get_fmod_kernel()": ("float *arg, float *mod, float *z", "z[i] = fmodf(arg[i], mod[i])"),
    "get_modf_kernel()": (
        "float *x, float *intpart, float *fracpart", "fracpart[i] = modff(x[i], &intpart[i])"),
    "get_frexp_kernel()": (
        "float *x, float *significand, float *exponent",
        "int power = 0; significand[i] = frexpf(x[i], &power); exponent[i] = power"),
    "get_ldexp_kernel()": (
        "float *sig, float *expt, float *z", "z[i] = ldexpf(sig[i], (int)expt[i])"),
    "get_if_positive_kernel(crit_dtype, dtype)": (
        "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
        "result[i] = crit[i] > 0 ? then_[i] : else_[i]"),
    "get_where_kernel(crit_dtype, dtype)": (
        "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
        "result[i] = crit[i] != 0 ? then_[i] : else_[i]"),
    "get_scalar_op_kernel(dtype_x, dtype_a, dtype_y, operator)": (
        "{dtype_x} *x, {dtype_a} a, {dtype_y} *y", "y[i] = x[i] {operator} a"),
    "get_logical_not_kernel(dtype_x, dtype_out)": (
        "{dtype_x} *x, {dtype_out} *out", "out[i] = x[i] == 0"),
}  # fmt: skip


def _ctypes(given: dict[str, Any]) -> dict[str, Any]:
    return {k: dtype_to_ctype(np.dtype(v)) if "dtype" in k else v for k, v in given.items()}


def _maker(declared: str, arguments: str, operation: str) -> Callable[..., Function]:
    name, parameters = declared.rstrip(")").split("(")
    signature = inspect.Signature(
        [
            inspect.Parameter(part.strip(), inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for part in parameters.split(",")
            if part
        ]
    )

    def make(*args: Any, **kwargs: Any) -> Function:
        given = _ctypes(dict(signature.bind(*args, **kwargs).arguments))
        return _kernel(arguments.format(**given), operation.format(**given), name[4:])

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The kernel ``{operation}`` of ``({arguments})``, prepared."
    make.__signature__ = signature  # type: ignore[attr-defined]
    return make


globals().update({d.split("(")[0]: _maker(d, *rows) for d, rows in _PLAIN.items()})


def _operand(name: str, dtype: Any, dtype_z: Any, is_scalar: bool) -> tuple[str, str]:
    """An operand in the result's type, and that type; a real one stays real beside complex ones."""
    dtype, dtype_z = np.dtype(dtype), np.dtype(dtype_z)
    if dtype_z.kind == "c" and dtype.kind != "c":
        dtype_z = np.empty(0, dtype_z).real.dtype
    ctype = dtype_to_ctype(dtype_z)
    return f"({ctype}) {name}[{0 if is_scalar else 'i'}]", ctype


def get_axpbyz_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, x_is_scalar: bool = False, y_is_scalar: bool = False
) -> Function:
    """The kernel ``z = a * x + b * y``; an operand that is a scalar is an array of one element."""
    x, x_type = _operand("x", dtype_x, dtype_z, x_is_scalar)
    y, y_type = _operand("y", dtype_y, dtype_z, y_is_scalar)
    t = _ctypes({"dtype_x": dtype_x, "dtype_y": dtype_y, "dtype_z": dtype_z})
    return _kernel(
        "{dtype_x} a, {dtype_x} *x, {dtype_y} b, {dtype_y} *y, {dtype_z} *z".format(**t),
        f"z[i] = ({x_type}) a * ({x}) + ({y_type}) b * ({y})",
        "axpbyz",
    )


def get_binary_op_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, operator: str,
    x_is_scalar: bool = False, y_is_scalar: bool = False,
) -> Function:  # fmt: skip
    """The kernel ``z = x operator y``; an operand that is a scalar is an array of one element."""
    x, _ = _operand("x", dtype_x, dtype_z, x_is_scalar)
    y, _ = _operand("y", dtype_y, dtype_z, y_is_scalar)
    t = _ctypes({"dtype_x": dtype_x, "dtype_y": dtype_y, "dtype_z": dtype_z})
    return _kernel(
        "{dtype_x} *x, {dtype_y} *y, {dtype_z} *z".format(**t),
        f"z[i] = ({t['dtype_z']}) (({x}) {operator} ({y}))",
        "binary_op",
    )


def get_binary_minmax_kernel(
    func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any, use_scalar: bool
) -> Function:
    """The kernel ``z = func(x, y)`` of "min" or "max", in the C function that fits the types."""
    dtypes = [np.dtype(dtype) for dtype in (dtype_x, dtype_y, dtype_z)]
    if any(dtype.kind == "f" for dtype in dtypes):
        func = f"f{func}" if np.dtype(np.float64) in dtypes[:2] else f"f{func}f"
    make = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel  # type: ignore[name-defined]  # noqa: F821
    return make(func, *dtypes)


def get_pow_array_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, is_base_array: bool, is_exp_array: bool
) -> Function:
    """The kernel ``z = x ** y``; base, exponent or both are arrays."""
    if not (is_base_array or is_exp_array):
        raise ValueError("get_pow_array_kernel: base and exponent are both numbers")
    func = "powf" if np.dtype(dtype_z) == np.float32 else "pow"
    t = _ctypes({"dtype_x": dtype_x, "dtype_y": dtype_y, "dtype_z": dtype_z})
    x, y = ("*x" if is_base_array else "x"), ("*y" if is_exp_array else "y")
    return _kernel(
        "{dtype_x} {x}, {dtype_y} {y}, {dtype_z} *z".format(x=x, y=y, **t),
        f"z[i] = {func}(x{'[i]' * is_base_array}, y{'[i]' * is_exp_array})",
        "pow_method",
    )


def get_unary_func_kernel(func_name: str, in_dtype: Any, out_dtype: Any = None) -> Function:
    """The kernel ``z = func_name(y)``."""
    t = _ctypes({"dtype_in": in_dtype, "dtype_out": in_dtype if out_dtype is None else out_dtype})
    name = "unary_" + "".join(c if c.isalnum() else "_" for c in func_name)
    return _kernel("{dtype_in} *y, {dtype_out} *z".format(**t), f"z[i] = {func_name}(y[i])", name)


def get_put_kernel(dtype: Any, idx_dtype: Any, vec_count: int = 1) -> Function:
    """The kernel ``destK[gmem_dest_idx[i]] = srcK[i]`` for each K below `vec_count`."""
    t, index = dtype_to_ctype(np.dtype(dtype)), dtype_to_ctype(np.dtype(idx_dtype))
    vectors = [f"{t} *{kind}{k}" for kind in ("dest", "src") for k in range(vec_count)]
    moves = "; ".join(f"dest{k}[to] = src{k}[i]" for k in range(vec_count))
    return _kernel(
        ", ".join([f"{index} *gmem_dest_idx", *vectors]),
        f"{index} to = gmem_dest_idx[i]; {moves}",
        "put",
    )


def _reads_textures(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"pycuda.elementwise.{name}: its kernel reads texture references, which CUDA 12 "
            "dropped: use gpuarray.take and its family, or a kernel that reads the arrays"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Gone: its kernel reads texture references, which CUDA 12 dropped."
    return refuse


for _name in ("get_take_kernel", "get_take_put_kernel", "get_linear_combination_kernel"):
    globals()[_name] = _reads_textures(_name)
