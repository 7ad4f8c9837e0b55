"""Names of Numba's driver layer that programs import."""
