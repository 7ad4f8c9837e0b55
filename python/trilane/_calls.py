"""Classes whose calls are C++: what makes them look and fail like those with a Python `__call__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def stands_for(name: str) -> Callable[[F], F]:
    """Make a method, which deals with the calls that C++ leaves to it, say it is `name`.

    Parameters
    ----------
    name : str
        Qualified, as in ``RawKernel.__call__``: messages about wrong arguments show it.
    """

    def rename(function: F) -> F:
        function.__qualname__ = name
        function.__name__ = name.rpartition(".")[2]
        return function

    return rename


class CallSignature:
    """Of instances of a class that C++ calls, the signature of the method that stands for it.

    `inspect.signature` asks classes and instances alike for ``__signature__``; the class answers
    as if there were none.
    """

    def __init__(self, method: str) -> None:
        self._method = method

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            raise AttributeError("__signature__")
        import inspect

        return inspect.signature(getattr(instance, self._method))


class CalledInC(type):
    """The type of classes whose instances C++ calls: their ``__call__`` is the method that stands
    for it, with its text and signature.

    A method of that name would end the short way, and what Python has in its place says no more
    than "Call self as a function."
    """

    def __getattribute__(cls, name: str) -> Any:
        if name == "__call__":
            for base in type.__getattribute__(cls, "__mro__"):
                if name in base.__dict__:
                    break
                signature = base.__dict__.get("__signature__")
                if isinstance(signature, CallSignature):
                    return type.__getattribute__(cls, signature._method)
        return type.__getattribute__(cls, name)
