"""The flags of an array."""

from __future__ import annotations

_NAMES = {
    "C_CONTIGUOUS": "c_contiguous",
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "F_CONTIGUOUS": "f_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "OWNDATA": "owndata",
    "O": "owndata",
    "FNC": "fnc",
    "FORC": "forc",
    "WRITEABLE": "writeable",
    "W": "writeable",
    "ALIGNED": "aligned",
    "A": "aligned",
}


class Flags:
    """Memory layout: ``c_contiguous``, ``f_contiguous``, ``owndata``, also by NumPy's keys."""

    def __init__(self, c_contiguous: bool, f_contiguous: bool, owndata: bool) -> None:
        self._c_contiguous = c_contiguous
        self._f_contiguous = f_contiguous
        self._owndata = owndata

    c_contiguous = property(lambda self: self._c_contiguous, doc="In C order without gaps.")
    f_contiguous = property(lambda self: self._f_contiguous, doc="In Fortran order without gaps.")
    owndata = property(lambda self: self._owndata, doc="Whether the array owns its memory.")
    writeable = property(lambda self: True, doc="Device arrays are always writeable.")
    aligned = property(lambda self: True, doc="Whether elements are aligned.")

    @property
    def fnc(self) -> bool:
        """Fortran-contiguous and not C-contiguous."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """Contiguous in either order."""
        return self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        try:
            return getattr(self, _NAMES[name])
        except (KeyError, TypeError):
            raise KeyError(f"Unknown flag: {name!r}") from None

    def __eq__(self, other) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        return (self.c_contiguous, self.f_contiguous, self.owndata) == (
            other.c_contiguous,
            other.f_contiguous,
            other.owndata,
        )

    __hash__ = None

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n"
            f"  F_CONTIGUOUS : {self.f_contiguous}\n"
            f"  OWNDATA : {self.owndata}"
        )
