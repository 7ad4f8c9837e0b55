"""Shim: `import numba` gives the genuine numba with `numba.cuda` replaced, or `trilane.numba`."""

from trilane.aliases import become_numba

become_numba()
