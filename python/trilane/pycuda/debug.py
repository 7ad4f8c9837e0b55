"""`python -m pycuda.debug script.py`: run a program with every access of its kernels checked.

PyCUDA runs the program so that cuda-gdb can look into its kernels. Here it runs on the cpu device
with the checks of `trilane check`, which name kernel, source line, block, thread and array; set
TRILANE_DEVICE to run it elsewhere, compiled with ``-G``.
"""

from __future__ import annotations

import os
import runpy
import sys

from trilane._missing import missing_attributes as _missing_attributes

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the program that `arguments` name; returns its exit status.

    Parameters
    ----------
    arguments : list of str, optional
        The script and its own arguments; default: those of the process.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given or given[0] in ("-h", "--help"):
        print("usage: python -m pycuda.debug SCRIPT-TO-RUN [SCRIPT-ARGUMENTS]", file=sys.stderr)
        return 0 if given else 2
    if not os.path.exists(given[0]):
        print(f"Error: {given[0]} does not exist")
        return 1
    from .driver import set_debugging

    os.environ["CUDA_DEBUGGING"] = "1"  # child processes debug too
    set_debugging()
    # As the command would be started: a face knows no more of it than its name.
    sys.argv = ["trilane", "check", *given]
    runpy.run_module("trilane", run_name="__main__", alter_sys=False)
    return 0


__getattr__ = _missing_attributes(__name__)


if __name__ == "__main__":
    sys.exit(main())
