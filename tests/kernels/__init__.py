"""Small kernels for the corners of CUDA's semantics, and the runner that gives them to a device."""
