"""Numba's type objects: how signatures are written, and what arguments are.

Every type has ``code``, the compact text in which types cross to the translator.
"""

from __future__ import annotations

import builtins
import enum
from typing import Any

import numpy as np

from trilane._missing import missing_attributes as _missing_attributes
from trilane.numba.genuine import own as _own

__all__ = [
    "Array", "Boolean", "CPointer", "Complex", "Float", "Integer", "NamedTuple", "NamedUniTuple",
    "NestedArray", "Number", "Record", "Signature", "Tuple", "Type", "UniTuple", "b1", "bool_",
    "boolean", "byte", "c16", "c8", "char", "complex128", "complex64", "double", "f2", "f4", "f8",
    "float16", "float32", "float64", "float_", "from_dtype", "i1", "i2", "i4", "i8", "int16",
    "int32", "int64", "int8", "int_", "intc", "intp", "long_", "longlong", "none", "short",
    "signature", "size_t", "ssize_t", "typeof", "u1", "u2", "u4", "u8", "uchar", "uint", "uint16",
    "uint32", "uint64", "uint8", "uintc", "uintp", "ulong", "ulonglong", "ushort", "void",
]  # fmt: skip


class Type:
    """A type of a value in a kernel.

    ``float32[:]`` is an array type, ``void(float32[:], int32)`` a signature.
    """

    def __init__(self, name: str, code: str = "") -> None:
        self.name = name
        # A type of the user's own has no code: a kernel with it is refused by its name.
        self.code = code or name

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__

    @property
    def key(self) -> str:
        return self.code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Type):
            other = _own(other)
        return isinstance(other, Type) and self.code == other.code

    def __hash__(self) -> int:
        return hash(self.code)

    def __reduce__(self) -> tuple:
        return (from_code, (self.code,))

    def __call__(self, *args: Any) -> Any:
        args = tuple(_own(arg) for arg in args)
        if len(args) == 1 and not isinstance(args[0], Type):
            return self.cast_python_value(args[0])
        return Signature(self, args)

    def cast_python_value(self, value: Any) -> Any:
        raise TypeError(f"{self} cannot convert {value!r}")

    def __getitem__(self, key: Any) -> Array:
        keys = key if isinstance(key, tuple) else (key,)
        if any(not isinstance(k, slice) or (k.start, k.stop) != (None, None) for k in keys):
            raise KeyError(
                f"Can only index numba types with slices with no start or stop, got {key!r}."
            )
        steps = [k.step for k in keys]
        layout = "A"
        if steps[-1] == 1:
            layout = "C"
        elif steps[0] == 1:
            layout = "F"
        return Array(self, len(keys), layout)

    @property
    def is_precise(self) -> builtins.bool:
        return True


class Number(Type):
    """A number of one machine type."""

    def __init__(self, name: str) -> None:
        super().__init__(name, name)
        self.dtype = np.dtype(name)
        self.bitwidth = self.dtype.itemsize * 8

    def cast_python_value(self, value: Any) -> Any:
        return self.dtype.type(value)


class Integer(Number):
    """An integer."""

    @property
    def signed(self) -> builtins.bool:
        return self.dtype.kind == "i"

    @property
    def minval(self) -> builtins.int:
        return builtins.int(np.iinfo(self.dtype).min)

    @property
    def maxval(self) -> builtins.int:
        return builtins.int(np.iinfo(self.dtype).max)


class Float(Number):
    """A floating-point number."""


class Complex(Number):
    """A complex number."""

    @property
    def underlying_float(self) -> Type:
        """The type of its real part."""
        return float32 if self.bitwidth == 64 else float64


class Boolean(Number):
    """True or False."""


class Array(Type):
    """An array of `ndim` dimensions; layout "C", "F" or "A" (any)."""

    def __init__(
        self, dtype: Type, ndim: int, layout: str, readonly: bool = False, name: str | None = None,
        aligned: bool = True, narrow: bool = False,
    ) -> None:  # fmt: skip
        dtype = _own(dtype)
        if isinstance(dtype, Array):
            raise TypeError("Array dtype cannot be Array")
        if layout not in ("C", "F", "A"):
            raise ValueError(f"unknown layout {layout!r}")
        if ndim == 0 or (ndim == 1 and layout == "F"):
            layout = "C"
        self.dtype = dtype
        self.ndim = ndim
        self.layout = layout
        self.mutable = not readonly
        self.aligned = aligned
        self.narrow = narrow
        code = f"A({dtype.code},{ndim},{layout},{int(readonly)},{int(narrow)})"
        text = f"{'readonly ' if readonly else ''}array({dtype}, {ndim}d, {layout})"
        super().__init__(text, code)

    def __repr__(self) -> str:
        return f"Array({self.dtype!r}, {self.ndim}, {self.layout!r}, {not self.mutable}, aligned={self.aligned})"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and (self.dtype, self.ndim, self.layout, self.mutable) == (
            other.dtype, other.ndim, other.layout, other.mutable,
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((self.dtype, self.ndim, self.layout, self.mutable))

    @property
    def is_contig(self) -> builtins.bool:
        return self.layout in "CF"

    @property
    def is_c_contig(self) -> builtins.bool:
        return self.layout == "C"

    @property
    def is_f_contig(self) -> builtins.bool:
        return self.layout == "F" or (self.layout == "C" and self.ndim <= 1)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None) -> Array:
        return Array(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
            not self.mutable if readonly is None else readonly,
        )


class BaseTuple(Type):
    """A tuple."""

    def __init__(self, types: Any, name: str, code: str) -> None:
        self.types = tuple(types)
        super().__init__(name, code)

    def __len__(self) -> int:
        return len(self.types)

    def __iter__(self) -> Any:
        return iter(self.types)

    @property
    def count(self) -> int:
        return len(self.types)

    def __getitem__(self, i: Any) -> Any:
        return self.types[i]


def _tuple_code(types: Any) -> str:
    return "T(" + ",".join(t.code for t in types) + ")"


class UniTuple(BaseTuple):
    """`count` items of one type."""

    def __init__(self, dtype: Type, count: int) -> None:
        self.dtype = dtype = _own(dtype)
        items = (dtype,) * count
        super().__init__(items, f"UniTuple({dtype}, {count})", _tuple_code(items))

    def __str__(self) -> str:
        return f"UniTuple({self.dtype} x {len(self.types)})"


class Tuple(BaseTuple):
    """Items of several types. With one type for all, a UniTuple is made."""

    def __new__(cls, types: Any) -> Any:
        types = tuple(map(_own, types))
        if types and all(t == types[0] for t in types):
            return UniTuple(types[0], len(types))
        return object.__new__(cls)

    def __init__(self, types: Any) -> None:
        types = tuple(map(_own, types))
        super().__init__(types, f"Tuple({', '.join(map(str, types))})", _tuple_code(types))


class NamedTuple(BaseTuple):
    """A named tuple of the class `cls`."""

    def __init__(self, types: Any, cls: Any) -> None:
        types = tuple(map(_own, types))
        self.instance_class = cls
        self.fields = tuple(cls._fields)
        name = getattr(cls, "__name__", str(cls))
        inner = ", ".join(f"{f}: {t}" for f, t in zip(self.fields, types, strict=True))
        code = f"N({name};{','.join(self.fields)};{','.join(t.code for t in types)})"
        super().__init__(types, f"{name}({inner})", code)


class NamedUniTuple(NamedTuple):
    """A named tuple with items of one type."""

    def __init__(self, dtype: Type, count: int, cls: Any) -> None:
        self.dtype = _own(dtype)
        super().__init__((dtype,) * count, cls)


class NestedArray(Array):
    """A field of a record that is an array."""

    def __init__(self, dtype: Type, shape: tuple) -> None:
        super().__init__(dtype, len(shape), "C")
        self.shape = tuple(shape)


class Record(Type):
    """A structured scalar: NumPy's void with fields."""

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype
        self.size = dtype.itemsize
        parts, texts, self.fields = [], [], {}
        for name in dtype.names or ():
            field, offset = dtype.fields[name][:2]
            element = from_dtype(field.base)
            shape = ":" + ",".join(map(str, field.shape)) if field.shape else ""
            parts.append(f";{name}:{offset}:{element.code}{shape}")
            texts.append(f"{name}[type={element};offset={offset}]")
            self.fields[name] = NestedArray(element, field.shape) if field.shape else element
        code = f"R({dtype.itemsize}{''.join(parts)})"
        super().__init__(
            f"Record({', '.join(texts)};{dtype.itemsize};{dtype.isalignedstruct})", code
        )


class CPointer(Type):
    """An address of elements of `dtype`, passed as an integer."""

    def __init__(self, dtype: Type) -> None:
        self.dtype = dtype = _own(dtype)
        super().__init__(f"{dtype}*", f"P({dtype.code})")


class Signature:
    """A result type and argument types."""

    def __init__(self, return_type: Type, args: Any) -> None:
        self.return_type = _own(return_type)
        self.args = tuple(_own(arg) for arg in args)
        for arg in self.args:
            if not isinstance(arg, Type):
                raise TypeError(f"{arg!r} is no type")

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self.args))}) -> {self.return_type}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return self.args == other
        return isinstance(other, Signature) and (self.return_type, self.args) == (
            other.return_type, other.args,
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((self.return_type, self.args))


def signature(return_type: Type, *args: Type) -> Signature:
    """The signature of a function from `args` to `return_type`."""
    return Signature(return_type, args)


void = none = Type("none", "none")
boolean = bool_ = b1 = Boolean("bool")
int8, int16, int32, int64 = (Integer(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{n}") for n in (8, 16, 32, 64))
float16, float32, float64 = (Float(f"float{n}") for n in (16, 32, 64))
complex64, complex128 = Complex("complex64"), Complex("complex128")
unicode_type = Type("unicode_type", "str")
i1 = char = int8
i2 = short = int16
i4 = intc = int32
i8 = int_ = intp = long_ = longlong = ssize_t = int64
u1 = byte = uchar = uint8
u2 = ushort = uint16
u4 = uintc = uint32
u8 = uint = uintp = ulong = ulonglong = size_t = uint64
f2, f4, f8 = float16, float32, float64
float_ = double = float64
c8, c16 = complex64, complex128

signed_domain = frozenset([int8, int16, int32, int64])
unsigned_domain = frozenset([uint8, uint16, uint32, uint64])
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset([float32, float64])
complex_domain = frozenset([complex64, complex128])
number_domain = real_domain | integer_domain | complex_domain

_BY_DTYPE = {t.dtype: t for t in (
    boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64,
    complex64, complex128,
)}  # fmt: skip


def from_dtype(dtype: Any) -> Type:
    """The type of an array's element.

    Raises
    ------
    NotImplementedError
        Kernels have no such type.
    """
    if isinstance(dtype, Type):
        return dtype
    dtype = _own(dtype)
    if isinstance(dtype, Type):
        return dtype
    dtype = np.dtype(dtype)
    found = _BY_DTYPE.get(dtype)
    if found is not None:
        return found
    if dtype.names is not None:
        return Record(dtype)
    raise NotImplementedError(f"{dtype!r} cannot be represented as a Numba type")


def typeof(value: Any) -> Type:
    """The type that `value` has as an argument of a kernel.

    Raises
    ------
    TypeError
        It can be none.
    """
    if isinstance(value, np.ndarray) or (
        hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "strides")
    ):
        if not isinstance(value, np.generic):
            return _array_type(value)
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    if value is None:
        return none
    if isinstance(value, builtins.bool):
        return boolean
    if isinstance(value, enum.Enum):
        return typeof(value.value)
    if isinstance(value, builtins.int):
        if -(2**63) <= value < 2**63:
            return int64
        if value < 2**64:
            return uint64
        raise ValueError(f"Int value is too large: {value}")
    if isinstance(value, builtins.float):
        return float64
    if isinstance(value, builtins.complex):
        return complex128
    if isinstance(value, tuple):
        items = [typeof(v) for v in value]
        return NamedTuple(items, type(value)) if hasattr(value, "_fields") else Tuple(items)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        from trilane.numba.cuda.devicearray import as_cuda_array

        return _array_type(as_cuda_array(value))
    raise TypeError(f"Cannot determine Numba type of {type(value)}")


def _array_type(array: Any) -> Array:
    element = from_dtype(array.dtype)
    return Array(element, array.ndim, layout_of(array), readonly=not _writable(array))


def _writable(array: Any) -> bool:
    flags = getattr(array, "flags", None)
    if isinstance(array, np.ndarray):
        return flags.writeable
    return True


def layout_of(array: Any) -> str:
    """ "C", "F" or "A"."""
    shape, strides, item = array.shape, array.strides, array.dtype.itemsize
    if _contiguous(shape[::-1], strides[::-1], item):
        return "C"
    return "F" if _contiguous(shape, strides, item) else "A"


def _contiguous(shape: Any, strides: Any, itemsize: int) -> bool:
    if 0 in shape:
        return True
    expected = itemsize
    for extent, stride in zip(shape, strides, strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


class _CodeReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def until(self, stops: str) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in stops:
            self.at += 1
        return self.text[start : self.at]

    def items(self) -> list[Type]:
        out: list[Type] = []
        while not self.take(")"):
            if out:
                self.take(",")
            out.append(self.one())
        return out

    def one(self) -> Type:
        if self.take("A("):
            element = self.one()
            ndim, layout, readonly, narrow = self.until(")")[1:].split(",")
            self.take(")")
            return Array(element, builtins.int(ndim), layout, readonly == "1", narrow=narrow == "1")
        if self.take("T("):
            return Tuple(self.items())
        if self.take("N("):
            from collections import namedtuple

            name = self.until(";")
            self.take(";")
            fields = self.until(";").split(",")
            self.take(";")
            return NamedTuple(self.items(), namedtuple(name, fields))
        if self.take("R("):
            return self.record()
        if self.take("P("):
            element = self.one()
            self.take(")")
            return CPointer(element)
        name = self.until(",;:)")
        if name == "none":
            return none
        if name == "str":
            return unicode_type
        return from_dtype(name)

    def record(self) -> Record:
        size = builtins.int(self.until(";)"))
        names, formats, offsets = [], [], []
        while self.take(";"):
            names.append(self.until(":"))
            self.take(":")
            offsets.append(builtins.int(self.until(":")))
            self.take(":")
            element = self.one()
            shape = ()
            if self.take(":"):
                shape = tuple(builtins.int(n) for n in self.until(";)").split(","))
            formats.append((element.dtype, shape))
        self.take(")")
        return Record(
            np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})
        )


def from_code(code: str) -> Type:
    """The type that `code` stands for."""
    return _CodeReader(code).one()


def parse_signature(text: str) -> Any:
    """What a signature string stands for: ``"void(float32[:], int32)"``.

    Source
    ------
    Numba's signature strings: an expression over the names of this module.
    """
    names = {name: value for name, value in globals().items() if isinstance(value, Type)}
    names |= {"Tuple": Tuple, "UniTuple": UniTuple, "CPointer": CPointer, "Array": Array}
    names |= {"int": int64, "float": float64, "bool": boolean, "complex": complex128}
    try:
        return eval(text, {"__builtins__": {}}, names)  # noqa: S307  only names of types are in reach
    except NameError as error:
        raise TypeError(f"invalid signature {text!r}: {error}") from None


__getattr__ = _missing_attributes("trilane.numba.cuda.types")
