"""The `trilane` command: run, check, info, cache.

`run` and `check` start users' programs, so nothing that they do not need is imported here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    import argparse

    from trilane import __version__

    parser = argparse.ArgumentParser(
        prog="trilane",
        description="CUDA from Python in three ways, on an NVIDIA GPU or with none.",
    )
    parser.add_argument("--version", action="version", version=f"trilane {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")

    for name, text in (
        ("run", "run a PyCUDA, Numba or CuPy program unmodified"),
        ("check", "run it on the cpu device with every access checked"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument(
            "--device",
            metavar="NAME",
            help="cpu, cuda or cpu:N (N virtual devices); default: a GPU if there is one",
        )
        command.add_argument(
            "--times", action="store_true", help="print compile and run times when the program ends"
        )
        start = command.add_mutually_exclusive_group()
        start.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m")
        start.add_argument("-c", dest="code", metavar="CODE", help="run a string, as python -c")
        command.add_argument("script", nargs="?", metavar="script.py [args]", help="the program")
    info = commands.add_parser("info", help="devices, compilers, cache, and what is missing")
    info.add_argument("--json", action="store_true", help="as JSON")
    cache = commands.add_parser("cache", help="where compiled kernels are kept; --clear empties it")
    cache.add_argument("--clear", action="store_true", help="remove all of them")
    return parser


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our arguments, and the program's own: all that stands behind script.py, -m X or -c X."""
    if not argv or argv[0] not in ("run", "check"):
        return argv, []
    index = 1
    while index < len(argv):
        word = argv[index]
        if word in ("-m", "-c"):
            return argv[: index + 2], argv[index + 2 :]
        if not word.startswith("-"):
            return argv[: index + 1], argv[index + 1 :]
        index += 2 if word == "--device" else 1
    return argv, []


def main(argv: list[str] | None = None) -> int:
    """Entry point of the command; returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    if len(argv) > 1 and argv[0] == "run" and not argv[1].startswith("-"):
        # Without the parser, which takes a tenth of the time to a program's first line.
        from types import SimpleNamespace

        from trilane.cli.run import run_program

        return run_program(
            SimpleNamespace(
                command="run", device=None, times=False, module=None, code=None, rest=argv[1:]
            )
        )
    parser = _parser()
    own, rest = _split(argv)
    options = parser.parse_args(own)
    if options.command in ("run", "check"):
        from trilane.cli.run import run_program

        options.rest = ([options.script] if options.script else []) + rest
        if not (options.script or options.module or options.code is not None):
            parser.error(f"no program given: trilane {options.command} script.py")
        return run_program(options)
    if options.command == "info":
        from trilane.cli.info import print_info

        return print_info(as_json=options.json)
    if options.command == "cache":
        from trilane.cli.cache import run_cache

        return run_cache(clear=options.clear)
    parser.print_help(sys.stderr)
    return 2
