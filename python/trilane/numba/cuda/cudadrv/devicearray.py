"""Where Numba's own tree has its device arrays."""

from __future__ import annotations

from trilane.numba.cuda.devicearray import (
    DeviceNDArray,
    as_cuda_array,
    auto_device,
    is_cuda_ndarray,
    verify_cuda_ndarray_interface,
)  # fmt: skip

DeviceNDArrayBase = DeviceNDArray
DeviceRecord = DeviceNDArray

__all__ = [
    "DeviceNDArray", "DeviceNDArrayBase", "DeviceRecord", "as_cuda_array", "auto_device",
    "is_cuda_ndarray", "verify_cuda_ndarray_interface",
]  # fmt: skip
