"""Write python/trilane/_core.pyi, the type stub of the extension's core part, from the extension.

python tools/gen_stubs.py [--check]: --check only says whether the file is up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "python" / "trilane" / "_core.pyi"


def text() -> str:
    """The stub that belongs to the extension as it is built."""
    sys.path.insert(0, str(ROOT / "python"))
    from nanobind.stubgen import StubGen

    from trilane import _core

    generator = StubGen(_core, recursive=False, include_docstrings=True)
    generator.put(_core)
    lines = [line.rstrip() for line in generator.get().splitlines()]
    # `testing` is in builds with tests only.
    kept = "\n".join(line for line in lines if "testing" not in line)
    # The exception classes live in the extension; `trilane` only forwards to them.
    kept = re.sub(r"^from trilane import \(\n.*?\n\)\n", "", kept, flags=re.S | re.M)
    kept = re.sub(r"^from trilane\._core import \(\n.*?\n\)\n", "", kept, flags=re.S | re.M)
    return _callable_classes(kept).rstrip() + "\n" + _error_classes(_core)


# What the generator cannot see of types that are not nanobind's: their methods' arguments.
_METHODS = {
    "RawCall": "    def _bind(self, device: int, function: Function, cooperative: bool, /) -> None: ...\n",
    "FunctionCall": """\
    def _bind(self, function: Function, /) -> None: ...
    def _expect_arguments(self, count: int, /) -> None: ...
    def prepared_call(self, grid: tuple[int, ...], block: tuple[int, ...], *args: object,
                      shared_size: int = 0) -> None: ...
    def prepared_async_call(self, grid: tuple[int, ...], block: tuple[int, ...], stream: object,
                            *args: object, shared_size: int = 0) -> None: ...
""",
}


def _callable_classes(stub: str) -> str:
    stub = re.sub(r"^    \w+: types\.\w+DescriptorType = \.\.\.\n*", "", stub, flags=re.M)
    stub = stub.replace("import types\n", "", 1)
    for name, methods in _METHODS.items():
        before = f"class {name}:\n"
        start = stub.index(before)
        end = stub.find("\nclass ", start + 1)
        end = len(stub) if end < 0 else end
        body = stub[start:end].rstrip() + "\n\n" + methods
        stub = stub[:start] + body + stub[end:]
    return stub


def _error_classes(core: Any) -> str:
    base = core.TrilaneError
    result = (
        f"\nclass {base.__name__}(Exception):\n    kind: str\n    message: str\n    detail: str\n"
    )
    for value in vars(core).values():
        if isinstance(value, type) and issubclass(value, base) and value is not base:
            bases = ", ".join(parent.__name__ for parent in value.__bases__)
            result += f"\nclass {value.__name__}({bases}):"
            fields = [(n, v) for n, v in vars(value).items() if isinstance(v, (int, str))]
            own = [
                f"    {n}: {type(v).__name__}\n" for n, v in fields if n[0] != "_" and n != "kind"
            ]
            result += "\n" + "".join(own) if own else " ...\n"
    return result


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    wanted = text()
    if parser.parse_args().check:
        return 0 if STUB.is_file() and STUB.read_text() == wanted else 1
    STUB.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
