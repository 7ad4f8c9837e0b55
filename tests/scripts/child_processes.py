"""The names of the originals in child processes: subprocess, multiprocessing by spawn."""

import multiprocessing
import subprocess
import sys


def total(n):
    import cupy as cp

    return int(cp.arange(n).sum())


if __name__ == "__main__":
    text = "from numba import cuda; print(cuda.is_available())"
    assert subprocess.check_output([sys.executable, "-c", text], text=True).strip() == "True"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(total, (10,)) == 45
    print("ok")
