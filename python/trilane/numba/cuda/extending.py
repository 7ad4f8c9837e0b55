"""Extension points of Numba's compiler.

Types, models and functions of one's own can be registered, so that modules which do so import; a
kernel that uses one is refused when it is compiled. What would change the meaning of a kernel that
compiles without it (`overload`, `intrinsic`) is refused at once.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from trilane.numba.absent import absent, absent_attributes

__all__ = [
    "core_models", "make_attribute_wrapper", "models", "register_jitable", "register_model",
    "type_callable", "typeof_impl",
]  # fmt: skip


def register_jitable(*args: Any, **options: Any) -> Any:
    """Mark a function as callable from kernels: every Python function is."""
    if args:
        return args[0]
    return lambda function: function


def _registered(*_keys: Any) -> Any:
    return lambda function: function


register_model = _registered
type_callable = _registered


def make_attribute_wrapper(typeclass: type, struct_attr: str, python_attr: str) -> None:
    """Name a member of a struct: kernels have no types of one's own that it could be read from."""
    if not isinstance(typeclass, type):
        raise TypeError(f"typeclass should be a Type subclass, got {typeclass!r}")


class _TypeofRegistry:
    """Types of classes of the user's own: arguments of such a class are refused at the launch."""

    def register(self, cls: type) -> Any:
        return _registered(cls)


typeof_impl = _TypeofRegistry()
core_models = models = SimpleNamespace(
    **{
        name: absent(f"numba.cuda.extending.models.{name}")
        for name in ("OpaqueModel", "PrimitiveModel", "StructModel", "TupleModel", "UniTupleModel")
    }
)

__getattr__ = absent_attributes(
    __name__,
    "NativeValue _Intrinsic intrinsic lower_builtin overload overload_attribute overload_method",
)
