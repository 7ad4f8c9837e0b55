"""Kernels that are ready to use."""
