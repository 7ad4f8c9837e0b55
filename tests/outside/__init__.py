"""Kernels of programs that are not ours: their device text is cut out, run and compared."""
