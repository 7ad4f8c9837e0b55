"""How the shapes of a generalised ufunc's arguments divide into loop and core dimensions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilane._missing import missing_attributes

__all__ = ["GUFuncEngine", "GUFuncSchedule"]


@dataclass(frozen=True)
class GUFuncSchedule:
    """The division for the shapes of one call.

    Attributes
    ----------
    ishapes, oshapes : list of tuple
        Core dimensions of the inputs and outputs.
    loopdims : tuple
        Dimensions that the loop runs over.
    pinned : list of bool
        Inputs that are the same in every turn.
    """

    ishapes: list[tuple[int, ...]]
    oshapes: list[tuple[int, ...]]
    loopdims: tuple[int, ...]
    pinned: list[bool]

    @property
    def loopn(self) -> int:
        return int(np.prod(self.loopdims))


class GUFuncEngine:
    """The core dimensions that a layout such as ``"(m,n),(n,p)->(m,p)"`` names."""

    def __init__(self, inputs: list[tuple[str, ...]], outputs: list[tuple[str, ...]]) -> None:
        self.sin, self.sout = inputs, outputs
        self.nin, self.nout = len(inputs), len(outputs)

    @classmethod
    def from_signature(cls, signature: str) -> GUFuncEngine:
        """Read a layout.

        Raises
        ------
        ValueError
            It is none, or an output has a dimension that no input has.
        """
        text = re.sub(r"\s", "", signature)
        one = r"\((?:\w+(?:,\w+)*)?\)"
        if not re.fullmatch(rf"{one}(?:,{one})*->{one}(?:,{one})*", text):
            raise ValueError(f"invalid layout of a generalised ufunc: {signature!r}")
        sides = []
        for side in text.split("->"):
            groups = re.findall(r"\(([^)]*)\)", side)
            sides.append([tuple(name for name in group.split(",") if name) for group in groups])
        known = {name for group in sides[0] for name in group}
        for group in sides[1]:
            for name in group:
                if name not in known:
                    raise ValueError(f"undefined output symbols: {name}")
        return cls(*sides)

    def schedule(self, ishapes: Any) -> GUFuncSchedule:
        """The division for inputs of these shapes.

        Raises
        ------
        TypeError, ValueError
            An input has too few dimensions, or dimensions of one name differ.
        """
        if len(ishapes) != self.nin:
            raise TypeError(f"invalid number of input argument: got {len(ishapes)}")
        extents: dict[str, int] = {}
        loops, cores = [], []
        for shape, names in zip(ishapes, self.sin, strict=True):
            if len(shape) < len(names):
                raise ValueError(f"an input of shape {shape} has fewer dimensions than {names}")
            split = len(shape) - len(names)
            loops.append(tuple(shape[:split]))
            cores.append(tuple(shape[split:]))
            for name, extent in zip(names, cores[-1], strict=True):
                if extents.setdefault(name, extent) != extent:
                    raise ValueError(f"dimension {name} is {extents[name]} and {extent}")
        loopdims = np.broadcast_shapes(*loops)
        # An input that the loop does not move in is read in place, not repeated.
        pinned = [bool(loopdims) and int(np.prod(loop)) == 1 != np.prod(loopdims) for loop in loops]
        outputs = [tuple(extents[name] for name in names) for names in self.sout]
        return GUFuncSchedule(cores, outputs, tuple(loopdims), pinned)


__getattr__ = missing_attributes(__name__)
