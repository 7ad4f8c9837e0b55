"""Texts of programs, and what NVRTC says of them as the cuda device gives them to it.

`python -m tests.parity FOLDER` takes a folder that TRILANE_DUMP filled. Needs NVRTC 13 and its
toolkit's headers (requirements-parity.txt), no GPU.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Headers of the cpu device alone: parts of our own files, and one that CCCL 3.0 has not.
CPU_ONLY = {
    "cuda/detail_atomic.h",
    "cuda/detail_copy.h",
    "cuda/std/detail_alias.h",
    "cuda/std/algorithm",
}
ARCHITECTURES = (75, 90, 100)
PROBE = 'extern "C" __global__ void f() {}'


@dataclass
class Text:
    """One program as it goes to a compiler."""

    name: str
    source: str
    options: list[str] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def complaint(text: Text, architecture: int) -> str | None:
    """None if NVRTC makes machine code of it, else what it says."""
    from trilane import _core

    try:
        _core.testing.compile_cuda(
            text.source, text.options, text.headers, text.names, f"{text.name}.cu", architecture
        )
    except (_core.TrilaneError, NotImplementedError, RuntimeError) as error:
        return getattr(error, "detail", None) or str(error)
    return None


def absent() -> str | None:
    """Why there is nothing to ask here: no NVRTC, or a build without the hook. None otherwise,
    also where NVRTC cannot be used: that is a fault."""
    from trilane import _core

    if not hasattr(_core, "testing"):
        return "this build has no test hooks (TRILANE_TESTS=OFF)"
    if not _core.testing.has_nvrtc():
        return "there is no NVRTC: pip install -r requirements-parity.txt"
    return None


def why_not() -> str | None:
    """None if NVRTC can be asked here, else why not."""
    return absent() or complaint(Text("probe", PROBE), 90)


def dumped(folder: Path) -> Iterator[Text]:
    """The programs that a run with TRILANE_DUMP=folder left, in the order of their keys."""
    for path in sorted(folder.glob("*.json")):
        source = path.with_suffix(".cu")
        if not source.exists():
            continue  # another process is at it
        data = json.loads(path.read_text())
        headers = [(name, (folder / file).read_text()) for name, file in data["headers"].items()]
        yield Text(
            path.stem, source.read_text(), data["options"], headers, data["name_expressions"]
        )
