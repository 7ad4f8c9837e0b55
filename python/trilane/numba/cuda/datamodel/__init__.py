"""Names of Numba's tree: `numba.cuda.datamodel`."""
