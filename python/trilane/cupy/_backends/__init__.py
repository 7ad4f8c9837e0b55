"""CuPy's package `cupy_backends`: the names of it by which other libraries reach the runtime."""
