"""Read the public names of a peer from the files of its release, and write them as data.

Run as ``python tools/peer_names.py PEER ARCHIVE``: the source package of PyCUDA or CuPy, the wheel of
numba-cuda (``tests/suites`` fetches them). Nothing of the peer is imported or copied but names.
Writes python/trilane/_peer_names/PEER.txt, which the faces and tools/gen_compat.py read.
"""

from __future__ import annotations

import argparse
import ast
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

OUTPUT = Path(__file__).resolve().parent.parent / "python" / "trilane" / "_peer_names"


class Release:
    """The text files of an archive below one folder, by their dotted names."""

    def __init__(self, archive: Path, roots: dict[str, str]) -> None:
        """`roots`: import name -> its folder in the archive."""
        self.texts: dict[str, str] = {}
        for path, data in _members(archive):
            for name, folder in roots.items():
                if path.startswith(folder):
                    self.texts[f"{name}/{path[len(folder) :]}"] = data

    def source(self, module: str) -> str | None:
        """The Python text of a module, None if it has none."""
        path = module.replace(".", "/")
        return self.texts.get(f"{path}.py") or self.texts.get(f"{path}/__init__.py")

    def is_package(self, module: str) -> bool:
        return f"{module.replace('.', '/')}/__init__.py" in self.texts


def _members(archive: Path) -> Iterator[tuple[str, str]]:
    suffixes = (".py", ".pyx", ".pxi", ".cpp", ".hpp")
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                if name.endswith(suffixes):
                    yield name, opened.read(name).decode("utf-8", "replace")
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(suffixes) else None
            if file is not None:
                yield member.name, file.read().decode("utf-8", "replace")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from _statements(node.body)
            yield from _statements(node.orelse)


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        for part in ast.walk(target) if isinstance(target, (ast.Name, ast.Tuple)) else ():
            if isinstance(part, ast.Name):
                yield part.id


def _imported_from(module: str, package: bool, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) - node.level + package]
    return ".".join([*base, *([node.module] if node.module else [])])


def public_names(release: Release, module: str, imports: bool) -> set[str]:
    """Names that a module makes; with `imports`, those that it re-exports from its own package."""
    text = release.source(module)
    if text is None:
        return set()
    found: set[str] = set()
    root = module.split(".")[0]
    for node in _statements(ast.parse(text).body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names = set(_assigned(node))
            if "__all__" in names and isinstance(node.value, (ast.List, ast.Tuple)):
                listed = {e.value for e in node.value.elts if isinstance(e, ast.Constant)}
                return {name for name in listed if not name.startswith("_")}
            found |= names
        elif isinstance(node, ast.ImportFrom):
            source = _imported_from(module, release.is_package(module), node)
            ours = source.split(".")[0].startswith(root) or source == "numpy"
            if not ours:
                continue
            if node.names[0].name == "*":
                found |= public_names(release, source, imports)
            elif imports:
                found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import) and imports:
            found |= {a.asname for a in node.names if a.asname and a.name.startswith(root)}
    return {name for name in found if not name.startswith("_")}


def class_members(release: Release, module: str, name: str) -> set[str]:
    """Public methods and attributes of a class, those of its bases in the same module too."""
    classes = {
        node.name: node
        for node in ast.walk(ast.parse(release.source(module) or ""))
        if isinstance(node, ast.ClassDef)
    }
    found: set[str] = set()
    if name not in classes:
        return found
    for node in classes[name].body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found |= set(_assigned(node))
    for base in classes[name].bases:
        if isinstance(base, ast.Name) and base.id in classes:
            found |= class_members(release, module, base.id)
    return {member for member in found if not member.startswith("_")}


# --- PyCUDA
_BOOST = re.compile(
    r'class_<[^;{}]*?>\s*(?:\w+\s*)?\(\s*"(?P<type>\w+)"|enum_<[^;{}]*?>\s*(?:\w+\s*)?\(\s*"(?P<enum>\w+)"'
    r'|py::def\(\s*"(?P<function>\w+)"|DEF_SIMPLE_FUNCTION(?:_WITH_ARGS)?\(\s*(?P<simple>\w+)'
    r'|\.(?:def|add_property|def_readonly|def_readwrite|value|staticmethod)\(\s*"(?P<member>\w+)"'
    r"|\.DEF_SIMPLE_(?:METHOD|RO_MEMBER|RW_MEMBER)(?:_WITH_ARGS)?\(\s*(?P<method>\w+)"
    r'|DECLARE_EXC\((?P<error>\w+)|cls\.attr\("(?P<flag>\w+)"\)'
)


_MACRO = re.compile(r"^#define (WRAP_\w+) ((?:[^\n]*\\\n)+[^\n]*)$", re.MULTILINE)


def _boost_names(text: str) -> dict[str, set[str]]:
    """What wrap_cudadrv.cpp declares: "" is the module, others are its classes and enums."""
    found: dict[str, set[str]] = {"": set()}
    current = ""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    macros = {m[1]: m[2] for m in _MACRO.finditer(text)}
    text = re.sub(r"^#define[^\n]*", "", _MACRO.sub("", text), flags=re.MULTILINE)
    for _ in range(2):  # one stands in another
        for name, body in macros.items():
            text = re.sub(rf"\b{name}\b", lambda _, body=body: body, text)
    for match in _BOOST.finditer(text):
        kind, name = match.lastgroup, match[match.lastgroup or 0]
        if kind in ("type", "enum"):
            current = name
            found[""].add(name)
            found.setdefault(current, set())
        elif kind in ("function", "simple", "error"):
            found[""].add(name)
        elif current and not name.startswith("_"):
            found[current].add(name)
    found[""] = {name for name in found[""] if not name.startswith("_")}
    return {name: members for name, members in found.items() if members}


_PYCUDA = """compiler gpuarray cumath curandom elementwise reduction scan tools characterize autoinit
    autoprimaryctx debug gl sparse gl.autoinit""".split()


def pycuda(archive: Path, version: str) -> dict[str, set[str]]:
    """Sections for PyCUDA's source package."""
    top = f"pycuda-{version}/"
    release = Release(archive, {"pycuda": f"{top}pycuda/", "src": f"{top}src/"})
    boost = _boost_names(release.texts["src/wrapper/wrap_cudadrv.cpp"])
    memory = _boost_names(release.texts["src/wrapper/mempool.cpp"])
    sections = {"pycuda.driver": public_names(release, "pycuda.driver", False) | boost.pop("")}
    sections.update({f"pycuda.driver.{name}": members for name, members in boost.items()})
    for name in _PYCUDA:
        sections[f"pycuda.{name}"] = public_names(release, f"pycuda.{name}", False)
    sections["pycuda.tools"] |= memory[""]
    sections["pycuda.gpuarray.GPUArray"] = class_members(release, "pycuda.gpuarray", "GPUArray")
    return sections


# --- numba-cuda
_NUMBA = "cg random libdevice extending types fp16 bf16 cudadrv.driver cudadrv.nvvm".split()
_NUMBA_CLASSES = {
    "cudadrv.devicearray.DeviceNDArray": ("cudadrv.devicearray", "DeviceNDArray"),
    "dispatcher.CUDADispatcher": ("dispatcher", "CUDADispatcher"),
    "cudadrv.driver.Stream": ("cudadrv.driver", "Stream"),
    "cudadrv.driver.Event": ("cudadrv.driver", "Event"),
    "cudadrv.driver.Device": ("cudadrv.driver", "Device"),
    "cudadrv.driver.Context": ("cudadrv.driver", "Context"),
    "atomic": ("stubs", "atomic"),
    "shared": ("stubs", "shared"),
    "local": ("stubs", "local"),
    "const": ("stubs", "const"),
}


def _vector_types(stubs: str) -> set[str]:
    """Names such as float32x4 and float4, which the stubs make in loops."""
    constants = {
        name: node.value
        for node in ast.walk(ast.parse(stubs))
        if isinstance(node, ast.Assign)
        for name in _assigned(node)
    }
    plain = [e.value for e in constants["vector_type_prefix"].elts]
    aliases = [key.value for key in constants["base_type_to_alias"].keys]
    return {f"{t}x{n}" for t in plain for n in range(1, 5)} | {
        f"{t}{n}" for t in aliases for n in range(1, 5)
    }


def numba(archive: Path, version: str) -> dict[str, set[str]]:
    """Sections for the wheel of numba-cuda."""
    release = Release(archive, {"numba/cuda": "numba_cuda/numba/cuda/"})
    cuda = "numba.cuda"
    exported = public_names(release, cuda, True)
    sections = {cuda: exported | _vector_types(release.source(f"{cuda}.stubs") or "")}
    for name in _NUMBA:
        sections[f"{cuda}.{name}"] = public_names(release, f"{cuda}.{name}", False)
    for shown, (module, name) in _NUMBA_CLASSES.items():
        sections[f"{cuda}.{shown}"] = class_members(release, f"{cuda}.{module}", name)
    return sections


# --- CuPy
_CUPY = """cupy cupy.linalg cupy.fft cupy.random cupy.cuda cupy.testing cupy.exceptions cupy.polynomial
    cupyx cupyx.profiler cupyx.jit cupyx.linalg cupyx.optimizing cupyx.distributed cupyx.scipy
    cupyx.scipy.fft cupyx.scipy.fftpack cupyx.scipy.interpolate cupyx.scipy.linalg
    cupyx.scipy.ndimage cupyx.scipy.signal cupyx.scipy.sparse cupyx.scipy.sparse.linalg
    cupyx.scipy.spatial cupyx.scipy.special cupyx.scipy.stats""".split()
_CYTHON = re.compile(r"^(?: {4})?(?:def|cpdef|property)\b(?P<rest>[^(:\n]*)", re.MULTILINE)


def _cython_names(text: str, indented: bool) -> set[str]:
    found = set()
    for match in _CYTHON.finditer(text):
        words = match["rest"].split()
        if words and match[0].startswith(" ") == indented and re.fullmatch(r"\w+", words[-1]):
            found.add(words[-1])
    return {name for name in found if not name.startswith("_")}


def cupy(archive: Path, version: str) -> dict[str, set[str]]:
    """Sections for CuPy's source package."""
    top = f"cupy-{version}/"
    release = Release(archive, {n: f"{top}{n}/" for n in ("cupy", "cupyx", "cupy_backends")})
    sections = {name: public_names(release, name, True) for name in _CUPY}
    core = release.texts["cupy/_core/core.pyx"]
    array = core[core.index("cdef class _ndarray_base") :]
    end = re.search(r"^(?:cdef|cpdef|def) (?!class)", array, re.MULTILINE)
    sections["cupy.ndarray"] = _cython_names(array[: end.start() if end else None], True)
    kernel = release.texts["cupy/_core/_kernel.pyx"]
    sections["cupy.ufunc"] = _cython_names(kernel[kernel.index("cdef class ufunc") :], True)
    runtime = release.texts["cupy_backends/cuda/api/runtime.pyx"]
    sections["cupy.cuda.runtime"] = _cython_names(runtime, False)
    return sections


PEERS = {"pycuda": pycuda, "numba": numba, "cupy": cupy}


def main() -> int:
    """Write the names of one peer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("archive", type=Path)
    options = parser.parse_args()
    found = re.search(r"-(\d[\d.]*\d)", options.archive.name)
    if found is None:
        parser.error(f"no version in the file's name: {options.archive.name}")
    sections = PEERS[options.peer](options.archive, found[1])
    lines = [f"# {options.archive.name.split('-')[0].replace('_', '-')} {found[1]}"]
    for name, members in sections.items():
        if members:
            lines += ["", f"[{name}]", *wrap(" ".join(sorted(members)), 98)]
    OUTPUT.mkdir(exist_ok=True)
    (OUTPUT / f"{options.peer}.txt").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
