"""Run every kernel case on the cpu device in this process; print what is wrong, one line each.

`TRILANE_LANES` and `TRILANE_CPU_FEATURES` are read once in a process: test_lanes.py starts one for
each of their values.
"""

from __future__ import annotations

import sys

from tests.kernels.all_cases import CASES
from tests.kernels.case import differences, run
from tests.kernels.devices import context_of


def main() -> int:
    """Return the number of wrong cases, 100 at most."""
    wrong = 0
    context = context_of("cpu")
    for case in CASES:
        if "cpu" in case.refused:
            continue
        try:
            found = differences(case, run(case, context))
        except RuntimeError as error:
            found = [str(error).splitlines()[0]]
        if found:
            wrong += 1
            print(f"{case.name}: {found[0]}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main())
