"""The parameter language of ElementwiseKernel and ReductionKernel: ``'T x, raw U y, float32 z'``."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from trilane.cupy._dtypes import c_name

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_RESERVED = frozenset({"i", "n"})


@dataclass(frozen=True)
class Parameter:
    """One declared parameter.

    Attributes
    ----------
    name : str
        The variable in the kernel's text.
    placeholder : str or None
        A one-letter type variable, or None where `dtype` says the type.
    dtype : numpy.dtype or None
        The fixed type, or None where `placeholder` is set.
    raw : bool
        The array is indexed by the text itself and takes no part in broadcasting.
    mutable : bool
        ``_non_const`` input: the text may write to it.
    """

    name: str
    placeholder: str | None
    dtype: np.dtype | None
    raw: bool
    mutable: bool


def parse_parameter(text: str) -> Parameter:
    """Read one declaration such as ``'raw T x'``.

    Raises
    ------
    ValueError
        The declaration is malformed, or uses a reserved name.
    TypeError
        The type is not one of the face's dtypes.
    """
    words = text.split()
    if len(words) < 2:
        raise ValueError(f"Syntax error: {text!r}: expected '[raw] TYPE NAME'")
    *qualifiers, type_name, name = words
    raw = mutable = False
    for qualifier in qualifiers:
        if qualifier == "raw":
            raw = True
        elif qualifier == "_non_const":
            mutable = True
        else:
            raise ValueError(f"Unknown keyword {qualifier!r} in parameter {text!r}: expected 'raw'")
    if not _NAME.match(name):
        raise ValueError(f"Invalid parameter name {name!r} in {text!r}")
    if name in _RESERVED or name.startswith("_"):
        raise ValueError(
            f"Parameter name {name!r} is reserved (i, n and names that start with '_')"
        )
    if len(type_name) == 1:
        if not type_name.isalpha():
            raise ValueError(f"Invalid type placeholder {type_name!r} in {text!r}")
        return Parameter(name, type_name, None, raw, mutable)
    try:
        dtype = np.dtype(type_name)
    except TypeError:
        dtype = _extension_dtype(type_name)
        if dtype is None:
            raise TypeError(f"Wrong type {type_name!r} in parameter {text!r}") from None
    if dtype.name != type_name:
        raise ValueError(
            f"Wrong type {type_name!r} in parameter {text!r}: did you mean {dtype.name!r}?"
        )
    c_name(dtype)
    return Parameter(name, None, dtype, raw, mutable)


def _extension_dtype(type_name: str) -> np.dtype | None:
    if type_name != "bfloat16":
        return None
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """Read a comma-separated list of declarations; an empty text is an empty list."""
    if not text.strip():
        return ()
    parameters = tuple(parse_parameter(part) for part in text.split(","))
    return parameters


def check_names(parameters: tuple[Parameter, ...]) -> None:
    """Refuse a name that is declared twice.

    Raises
    ------
    ValueError
        Two parameters have the same name.
    """
    seen: set[str] = set()
    for parameter in parameters:
        if parameter.name in seen:
            raise ValueError(f"Parameter {parameter.name!r} is declared twice")
        seen.add(parameter.name)


def check_kernel_name(name: str) -> None:
    """Refuse a kernel name that is no identifier of C.

    Raises
    ------
    ValueError
        The name cannot be the name of a C function.
    """
    if not _NAME.match(name):
        raise ValueError(f"Invalid kernel name: {name!r}")


def resolve_types(
    in_params: tuple[Parameter, ...],
    out_params: tuple[Parameter, ...],
    in_dtypes: list[np.dtype | None],
    out_dtypes: list[np.dtype | None],
    weak_dtypes: list[np.dtype | None],
) -> tuple[list[np.dtype], list[np.dtype], dict[str, np.dtype]]:
    """Find the dtype of every parameter from the dtypes of the arguments.

    Parameters
    ----------
    in_params, out_params : tuple of Parameter
    in_dtypes : list of numpy.dtype or None
        One per input; None for a Python scalar, which takes the type that the others give.
    out_dtypes : list of numpy.dtype or None
        One per output; None where the output is to be made.
    weak_dtypes : list of numpy.dtype or None
        One per input: what a Python scalar counts as where nothing else says the type.

    Returns
    -------
    in_types, out_types : list of numpy.dtype
    bindings : dict
        Placeholder to dtype.

    Raises
    ------
    TypeError
        A placeholder is bound to two types, or to none; a fixed type does not fit its argument.
    """
    bindings: dict[str, np.dtype] = {}

    def bind(parameter: Parameter, dtype: np.dtype | None) -> None:
        if dtype is None:
            return
        if parameter.placeholder is None:
            if parameter.dtype != dtype:
                raise TypeError(
                    f"Type is mismatched. {parameter.name}: got {dtype}, expected {parameter.dtype}"
                )
            return
        bound = bindings.setdefault(parameter.placeholder, dtype)
        if bound != dtype:
            raise TypeError(
                f"Type is mismatched. {parameter.name} ({parameter.placeholder}): "
                f"got {dtype}, expected {bound}"
            )

    for parameter, dtype in zip(in_params, in_dtypes):
        bind(parameter, dtype)
    for parameter, dtype in zip(out_params, out_dtypes):
        bind(parameter, dtype)
    for parameter, dtype in zip(in_params, weak_dtypes):
        if parameter.placeholder is not None and parameter.placeholder not in bindings:
            bind(parameter, dtype)

    def type_of(parameter: Parameter) -> np.dtype:
        if parameter.placeholder is None:
            assert parameter.dtype is not None
            return parameter.dtype
        dtype = bindings.get(parameter.placeholder)
        if dtype is None:
            raise TypeError(
                f"The type {parameter.placeholder!r} of parameter {parameter.name!r} is undetermined:"
                " no array argument has it"
            )
        return dtype

    return [type_of(p) for p in in_params], [type_of(p) for p in out_params], bindings
