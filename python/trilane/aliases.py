"""Make `pycuda`, `numba.cuda`, `cupy` and `cupyx` importable names of Trilane's faces.

The aliases are real packages in a directory (`_aliases/`) that is put first on `sys.path` and on
`PYTHONPATH`, so that child processes, workers and pickles find them too. Alias and face are the
same module objects: `import cupy.cuda` binds `trilane.cupy.cuda`, it does not load it again.
Where a genuine `numba` is installed it stays, and only `numba.cuda` is replaced.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import CodeType, ModuleType

__all__ = ["ALIAS_DIRECTORY", "FACES", "become_face", "become_numba", "install"]

ALIAS_DIRECTORY = os.path.join(os.path.dirname(os.path.realpath(__file__)), "_aliases")

# Alias -> face. Submodules follow: "cupy.cuda" -> "trilane.cupy.cuda".
FACES = {
    "pycuda": "trilane.pycuda",
    "cupy": "trilane.cupy",
    "cupyx": "trilane.cupyx",
    "cupy_backends": "trilane.cupy._backends",
    "numba": "trilane.numba",
}


class _FaceLoader:
    """Gives the face's own module object under the alias's name."""

    def __init__(self, face_name: str) -> None:
        self.face_name = face_name
        self._own: tuple[object, object] | None = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.face_name)
        # The import system is about to overwrite these; the face keeps its own.
        self._own = (module.__spec__, getattr(module, "__loader__", None))
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self._own is not None:
            module.__spec__, module.__loader__ = self._own  # type: ignore[assignment]

    def get_code(self, fullname: str) -> CodeType | None:
        """The face's code, for `python -m`."""
        spec = importlib.util.find_spec(self.face_name)
        loader = spec.loader if spec is not None else None
        return loader.get_code(self.face_name) if hasattr(loader, "get_code") else None


class _FaceFinder:
    """Resolves every submodule of an alias to the face's submodule of the same name."""

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}

    def find_spec(self, fullname, path=None, target=None):  # noqa: ANN001, ANN201
        for alias, face in self.prefixes.items():
            if fullname == alias or fullname.startswith(alias + "."):
                face_name = face + fullname[len(alias) :]
                try:
                    found = importlib.util.find_spec(face_name)
                except ModuleNotFoundError:
                    found = None
                if found is None:
                    if fullname.startswith("numba.cuda."):
                        from trilane.numba._own_modules import end_search

                        end_search(fullname)
                    return None
                return importlib.machinery.ModuleSpec(
                    fullname,
                    _FaceLoader(face_name),
                    origin=found.origin,
                    is_package=found.submodule_search_locations is not None,
                )
        return None


_finder = _FaceFinder()


def _map(alias: str, face: str) -> None:
    _finder.prefixes[alias] = face
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def install() -> None:
    """Put the aliases on this process's path and on that of its children."""
    if ALIAS_DIRECTORY not in sys.path:
        sys.path.insert(0, ALIAS_DIRECTORY)
    parts = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    if ALIAS_DIRECTORY not in parts:
        # A Trilane found through PYTHONPATH or the working directory must be found by children too.
        package_root = os.path.dirname(os.path.dirname(ALIAS_DIRECTORY))
        extra = [] if package_root in parts else [package_root]
        os.environ["PYTHONPATH"] = os.pathsep.join([ALIAS_DIRECTORY, *parts, *extra])


def become_face(alias: str) -> None:
    """Called by a shim package while it is imported: the face takes its place."""
    face = importlib.import_module(FACES[alias])
    _map(alias, FACES[alias])
    sys.modules[alias] = face


class _GenuineNumba(ModuleType):
    """A genuine numba that is executed, in place, when something is asked of it that is not ours.

    Programs say ``from numba import cuda, float32``: both are the face's, and the genuine package
    would take half a second to load.
    """

    def __getattr__(self, name: str) -> object:
        face = importlib.import_module(FACES["numba"])
        given = _lazy_types if name == "types" else face.__dict__.get(name)
        if given is _lazy_types or isinstance(given, face.types.Type):
            _lent.append((sys._getframe(1).f_globals, name, given))
            return given
        _load_genuine(self)
        return getattr(self, name)


class _LazyTypes(ModuleType):
    """`numba.types` before the genuine package is there."""

    def __getattr__(self, name: str) -> object:
        ours = importlib.import_module(FACES["numba"]).types.__dict__
        if name in ours and not name.startswith("__"):
            return ours[name]
        _load_genuine(sys.modules["numba"])
        return getattr(sys.modules["numba.types"], name)


_lazy_types = _LazyTypes("numba.types")
# Which globals got types of ours: numba's own compilers want the genuine ones, once it is there.
_lent: list[tuple[dict[str, object], str, object]] = []


def _exchange_lent(module: ModuleType) -> None:
    for namespace, name, given in _lent:
        if namespace is module.__dict__:
            continue
        for key, value in list(namespace.items()):
            if value is given:
                namespace[key] = getattr(module, name, given)
    _lent.clear()


class _GenuineFinder:
    """Executes the genuine numba before one of its submodules is imported."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def find_spec(self, fullname, path=None, target=None):  # noqa: ANN001, ANN201
        if fullname.startswith("numba.") and not (fullname + ".").startswith("numba.cuda."):
            _load_genuine(self.module)
        return None


def _load_genuine(module: ModuleType) -> None:
    if type(module) is ModuleType:
        return  # it is there, or being loaded
    module.__class__ = ModuleType
    assert module.__spec__ is not None and module.__spec__.loader is not None
    try:
        module.__spec__.loader.exec_module(module)
    except BaseException:
        module.__class__ = _GenuineNumba  # the next use tells it again
        raise
    module.cuda = importlib.import_module("numba.cuda")
    _exchange_lent(module)


def become_numba() -> None:
    """Called by the `numba` shim: the genuine package if there is one, else the face."""
    search = [p for p in sys.path if os.path.abspath(p or os.curdir) != ALIAS_DIRECTORY]
    spec = importlib.machinery.PathFinder.find_spec("numba", search)
    if spec is None or spec.loader is None:
        become_face("numba")
        return
    genuine = importlib.util.module_from_spec(spec)
    genuine.__class__ = _GenuineNumba
    sys.modules["numba"] = genuine
    _map("numba.cuda", "trilane.numba.cuda")
    sys.meta_path.insert(0, _GenuineFinder(genuine))
    genuine.cuda = importlib.import_module("numba.cuda")
