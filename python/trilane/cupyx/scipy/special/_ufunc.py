"""Functions of numbers, element by element, by kernels of one text for float32 and float64."""

from __future__ import annotations

import numpy as np

from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import SCALARS, require_array
from trilane.cupy._kernel import ElementwiseKernel


class SpecialFunction:
    """One function: float32 where all arguments fit it, else float64; Python's numbers have no say.

    Parameters
    ----------
    name : str
    parameters : str
        Their names, with spaces between.
    expression : str
        The value, of arguments of type ``T``.
    doc : str
    preamble : str
        Text ahead of the kernel.
    defaults : dict, optional
        Values of parameters that may be left out.
    """

    def __init__(self, name, parameters, expression, doc, preamble="", defaults=None) -> None:
        self.__name__ = name
        self.__doc__ = doc
        self._names = parameters.split()
        self.nin, self.nout = len(self._names), 1
        self._defaults = defaults or {}
        self._kernel = ElementwiseKernel(
            ", ".join(f"T {p}" for p in self._names),
            "T result",
            f"result = (T)({expression})",
            f"special_{name}",
            preamble=preamble,
        )

    def __repr__(self) -> str:
        return f"<ufunc 'cupyx_scipy_special_{self.__name__}'>"

    def __call__(self, *args, out=None, dtype=None, **kwargs) -> ndarray:
        if kwargs:
            raise NotImplementedError(f"cupyx.scipy.special.{self.__name__}: {', '.join(kwargs)}=")
        args = list(args)
        if len(args) == self.nin + 1 and out is None:
            out = args.pop()
        args += [self._defaults[p] for p in self._names[len(args) :] if p in self._defaults]
        if len(args) != self.nin:
            raise TypeError(
                f"{self.__name__}: got {len(args)} arguments, expected {self.nin}: "
                f"{', '.join(self._names)}"
            )
        out = out[0] if isinstance(out, tuple) else out
        values = [a if isinstance(a, SCALARS) else require_array(a, self.__name__) for a in args]
        computed = self._type(values) if dtype is None else np.dtype(dtype)
        if computed.char not in "fd":
            raise TypeError(f"{self.__name__}: dtype: got {computed}, expected float32 or float64")
        values = self._converted(values, computed)
        if out is None:
            return self._kernel(*values)
        if out.dtype == computed:
            return self._kernel(*values, out)
        if not np.can_cast(computed, out.dtype, "same_kind"):
            raise TypeError(f"{self.__name__}: out: cannot cast {computed} to {out.dtype}")
        out[...] = self._kernel(*values)
        return out

    def _type(self, values) -> np.dtype:
        # By type: numpy.float64 is a float, and has a say.
        strong = [v.dtype for v in values if type(v) not in (bool, int, float, complex)]
        if any(type(v) is complex for v in values) or any(t.kind not in "biuf" for t in strong):
            raise TypeError(
                f"ufunc '{self.__name__}' not supported for the input types: expected real numbers"
            )
        narrow = strong and all(np.can_cast(t, np.float32) for t in strong)
        return np.dtype(np.float32 if narrow else np.float64)

    def _converted(self, values, computed):
        from trilane.cupy._creation import array

        arrays = [
            v.astype(computed, copy=False) if isinstance(v, ndarray) else computed.type(v)
            for v in values
        ]
        if not any(isinstance(v, ndarray) for v in arrays):
            arrays[0] = array(arrays[0])
        return arrays
