"""Kernels whose results on an H200 are kept, and compared bit by bit with the device under test."""
