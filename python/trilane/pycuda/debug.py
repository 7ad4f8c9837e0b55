"""`python -m pycuda.debug script.py`: run a program with every access of its kernels checked.

PyCUDA runs the program so that cuda-gdb can look into its kernels. Here it runs on the cpu device
with the checks of `trilane check`, which name kernel, source line, block, thread and array; set
TRILANE_DEVICE to run it elsewhere, compiled with ``-G``.
"""

from __future__ import annotations

import os
import sys

from trilane._missing import missing_attributes as _missing_attributes

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Become a process that runs the program that `arguments` name.

    Parameters
    ----------
    arguments : list of str, optional
        The script and its own arguments; default: those of the process.

    Returns
    -------
    int
        The exit status where no program can be run.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given or given[0] in ("-h", "--help"):
        print("usage: python -m pycuda.debug SCRIPT-TO-RUN [SCRIPT-ARGUMENTS]", file=sys.stderr)
        return 0 if given else 2
    if not os.path.exists(given[0]):
        print(f"Error: {given[0]} does not exist")
        return 1
    sys.stdout.flush()
    environment = {**os.environ, "CUDA_DEBUGGING": "1"}
    command = [sys.executable, "-m", "trilane", "check", *given]
    os.execve(sys.executable, command, environment)


__getattr__ = _missing_attributes(__name__)


if __name__ == "__main__":
    sys.exit(main())
