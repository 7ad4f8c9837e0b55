"""GPUArray: PyCUDA's array interface over the array type that all faces share."""

from __future__ import annotations

from . import _vector_types as vec
from ._gpuarray import GPUArray, splay
from ._gpuarray_create import (
    arange,
    empty,
    empty_like,
    ones,
    ones_like,
    to_gpu,
    to_gpu_async,
    zeros,
    zeros_like,
)
from ._gpuarray_functions import (
    concatenate,
    if_positive,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multi_put,
    multi_take,
    multi_take_put,
    reshape,
    stack,
    take,
    transpose,
    where,
)
from ._gpuarray_reductions import (
    all,
    any,
    dot,
    max,
    min,
    subset_dot,
    subset_max,
    subset_min,
    subset_sum,
    sum,
)

__all__ = [
    "GPUArray",
    "all",
    "any",
    "arange",
    "concatenate",
    "dot",
    "empty",
    "empty_like",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "ones",
    "ones_like",
    "reshape",
    "splay",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
    "take",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "vec",
    "where",
    "zeros",
    "zeros_like",
]

# What pickles and messages name is the module that users import.
for _public in __all__:
    if _public != "vec":
        globals()[_public].__module__ = __name__
del _public
