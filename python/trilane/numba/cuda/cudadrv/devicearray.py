"""Where Numba's own tree has its device arrays."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes
from trilane.numba.cuda.devicearray import (
    DeviceNDArray,
    array_core,
    as_cuda_array,
    auto_device,
    errmsg_contiguous_buffer,
    from_array_like,
    is_contiguous,
    is_cuda_ndarray,
    verify_cuda_ndarray_interface,
)  # fmt: skip

DeviceNDArrayBase = DeviceNDArray
DeviceRecord = DeviceNDArray

__all__ = [
    "DeviceNDArray", "DeviceNDArrayBase", "DeviceRecord", "array_core", "as_cuda_array", "auto_device",
    "errmsg_contiguous_buffer", "from_array_like", "is_contiguous", "is_cuda_ndarray",
    "verify_cuda_ndarray_interface",
]  # fmt: skip

__getattr__ = absent_attributes(__name__, "from_record_like")
