"""Names of Numba's compiler internals that have no meaning here: importable, refused at use."""

from __future__ import annotations

from typing import Any

from trilane._missing import no_attribute

__all__ = ["absent", "absent_attributes"]


def _refuse(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name} belongs to Numba's own compiler; kernels are compiled through CUDA C++ here, "
        "which has no such part"
    )


class _AbsentType(type):
    """Classes that can be named and derived from, and not used."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise _refuse(cls._absent_name)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise _refuse(f"{cls._absent_name}.{name}")


def absent(name: str) -> Any:
    """A stand-in for `name` (dotted) that raises NotImplementedError when it is called or read."""
    leaf = name.rpartition(".")[2]
    return _AbsentType(leaf, (), {"_absent_name": name, "__doc__": f"{name}: not there."})


def absent_attributes(module: str, names: str) -> Any:
    """A module's ``__getattr__`` that answers each of `names` (blank-separated) by a stand-in."""
    known = frozenset(names.split())
    public = module.replace("trilane.", "", 1)

    def attribute(name: str) -> Any:
        if name not in known:
            raise no_attribute(module, name)
        return absent(f"{public}.{name}")

    return attribute
