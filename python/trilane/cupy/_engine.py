"""The one door to the engine: the array type and functions of the compiled core."""

from __future__ import annotations

from trilane import _core

engine = _core.array

ndarray = engine.ndarray
UFunc = engine.UFunc
ufuncs = engine.ufuncs

# The engine's own methods, before the face puts its own in their place.
engine_take = ndarray.take
engine_put = ndarray.put
engine_get = ndarray.get
engine_set = ndarray.set
engine_astype = ndarray.astype
engine_fill = ndarray.fill
engine_round = ndarray.round

empty = engine.empty
full = engine.full
from_host = engine.from_host
from_buffer = engine.from_buffer
as_strided = engine.as_strided
where = engine.where
copyto = engine.copyto
reduce = engine.reduce
accumulate = engine.accumulate
concatenate = engine.concatenate
plain = engine.plain  # arrays of other faces as this face's type, with no copy
