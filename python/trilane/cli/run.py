"""`trilane run` and `trilane check`: an existing program over the faces, in this process."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import time
from types import ModuleType, SimpleNamespace

from trilane import _early, aliases

__all__ = ["run_program"]


def run_program(options: SimpleNamespace) -> int:
    """Run the program that the options name, as `python` would; returns its exit status.

    The aliases are installed for it and for its child processes.
    """
    if options.device:
        os.environ["TRILANE_DEVICE"] = options.device
    if options.command == "check":
        os.environ["TRILANE_CHECK"] = "1"
        os.environ.setdefault("TRILANE_DEVICE", "cpu")
    aliases.install()
    # Handlers run last registered first: these come after the program's own.
    if options.times:
        atexit.register(_print_times, time.perf_counter())

    if options.code is not None:
        sys.argv = ["-c", *options.rest]
        sys.path.insert(0, "")
        status = _run_as_main(options.code, None)
        if status:
            return status
    elif options.module is not None:
        sys.argv = [options.module, *options.rest]
        sys.path.insert(0, os.getcwd())
        import runpy

        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
    else:
        script = options.rest[0]
        if not os.path.exists(script):
            print(f"trilane {options.command}: no such file: {script}", file=sys.stderr)
            return 2
        sys.argv = list(options.rest)
        if os.path.isdir(script) or script.endswith((".zip", ".pyz")):
            import runpy

            runpy.run_path(script, run_name="__main__")
        else:
            folder = os.path.dirname(os.path.realpath(script))
            sys.path.insert(0, folder)
            with open(script, "rb") as file:
                source = file.read()
            if options.command == "run" and _early.is_harmless(source, folder):
                _early.open_extension()
                # Nothing of the program exists yet. What does, NumPy above all, stays to the end,
                # where Python would search it for cycles several times: 9 of 15 ms.
                gc.freeze()
            status = _run_as_main(source, script)
            if status:
                return status
    return _check_status() if options.command == "check" else 0


def _run_as_main(source: str | bytes, file: str | None) -> int:
    """Execute as `__main__`, which stays in place: exit handlers and pickles refer to it.

    Returns 0, or the status after an exception whose traceback was shown as `python` shows it:
    from the program's own first line on.
    """
    main = ModuleType("__main__")
    if file is not None:
        main.__file__ = file
    main.__dict__["__builtins__"] = __builtins__
    main.__dict__["__spec__"] = None
    sys.modules["__main__"] = main
    try:
        exec(compile(source, file or "<string>", "exec"), main.__dict__)  # noqa: S102
    except SystemExit:
        raise
    except BaseException as error:
        own_frame = error.__traceback__
        error = error.with_traceback(own_frame.tb_next if own_frame else None)
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _check_status() -> int:
    """Say what the checks found; 0 if nothing."""
    from trilane import _core

    reports = _core.take_check_reports()
    if reports:
        faults = sum(report.count for report in reports)
        found = f"{faults} {'fault' if faults == 1 else 'faults'}"
        places = f"{len(reports)} {'place' if len(reports) == 1 else 'places'}"
        print(f"trilane check: {found} at {places}", file=sys.stderr)
        return 1
    print("trilane check: nothing found", file=sys.stderr)
    return 0


def _print_times(started: float) -> None:
    total_ms = (time.perf_counter() - started) * 1e3
    if "trilane._core" not in sys.modules:
        print(f"trilane: the program used no device, {total_ms:.0f} ms", file=sys.stderr)
        return
    from trilane.cli.info import describe_run

    print(f"trilane: {describe_run()}, whole program {total_ms:.0f} ms", file=sys.stderr)
