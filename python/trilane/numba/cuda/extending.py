"""Extension points of Numba's compiler that are named here and refused at use."""

from __future__ import annotations

from typing import Any

from trilane.numba.absent import absent_attributes

__all__ = ["register_jitable", "typeof_impl"]


def register_jitable(*args: Any, **options: Any) -> Any:
    """Mark a function as callable from kernels: every Python function is."""
    if args:
        return args[0]
    return lambda function: function


class _TypeofRegistry:
    """Types of classes of the user's own."""

    def register(self, cls: type) -> Any:
        raise NotImplementedError(
            f"numba.cuda.extending.typeof_impl.register: {cls.__name__}: types of classes of "
            "one's own need Numba's compiler"
        )


typeof_impl = _TypeofRegistry()

__getattr__ = absent_attributes(
    __name__,
    "NativeValue _Intrinsic core_models intrinsic lower_builtin make_attribute_wrapper overload "
    "overload_attribute overload_method register_model type_callable models",
)
