"""numba.np."""
