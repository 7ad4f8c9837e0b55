"""Generalised ufuncs: a function of small arrays, looped over all further axes."""

from __future__ import annotations

import itertools
import re

import numpy as np

from trilane.cupy._creation import asarray
from trilane.cupy._engine import empty, engine, ndarray
from trilane.cupy._helpers import normalize_axis_index

__all__ = ["GeneralizedUFunc"]

_DIMENSION = re.compile(r"\A([A-Za-z_][A-Za-z_0-9]*|\d+)(\?)?(\|1)?\Z")
_LIST = re.compile(r"\A\([^()]*\)(,\([^()]*\))*\Z")

Dimension = tuple[str, bool, bool]  # name, may be absent, may be one


def _parse_gufunc_signature(signature: str):
    """Core dimensions of inputs and outputs, each (name, optional, broadcastable), and their number.

    Raises
    ------
    ValueError
        It is no signature such as ``'(i,j),(j,k)->(i,k)'``.
    """
    text = re.sub(r"\s+", "", signature)
    sides = text.split("->")
    if len(sides) != 2 or (sides[0] and not _LIST.match(sides[0])) or not _LIST.match(sides[1]):
        raise ValueError(f"Not a valid gufunc signature: {signature!r}")
    inputs, outputs = (_parse_side(side, signature) for side in sides)
    names = {dimension[0] for operand in inputs + outputs for dimension in operand}
    return inputs or [()], outputs, len(names)


def _parse_side(text: str, signature: str) -> list[tuple[Dimension, ...]]:
    operands = []
    for inside in re.findall(r"\(([^()]*)\)", text):
        dimensions = []
        for word in inside.split(",") if inside else ():
            match = _DIMENSION.match(word)
            if match is None:
                raise ValueError(f"Not a valid gufunc signature: {signature!r}")
            dimensions.append((match[1], match[2] is not None, match[3] is not None))
        operands.append(tuple(dimensions))
    return operands


class GeneralizedUFunc:
    """A function of small arrays that loops over all other axes of its arguments.

    Parameters
    ----------
    func : callable
        Takes one array per input, with the core dimensions; returns an array, or a tuple of them.
    signature : str
        Core dimensions, as ``'(m,n),(n)->(m)'``. ``n?`` may be absent, ``n|1`` may be one.
    name, doc : str
        Of the object.
    supports_batched : bool
        `func` takes arrays with all axes in front of the core dimensions and is called once.
    supports_out : bool
        `func` writes into the array that it gets as ``out``.
    signatures : sequence of (str, callable)
        Functions for types, as ``'ff->f'``, tried in this order before `func`.
    """

    def __init__(
        self, func, signature, name="", doc="", *, supports_batched=False, supports_out=False,
        signatures=(),
    ) -> None:  # fmt: skip
        self._func = func
        self._signature = signature
        self.__name__ = name or getattr(func, "__name__", "")
        self.__doc__ = doc or getattr(func, "__doc__", None)
        self._batched = supports_batched
        self._takes_out = supports_out
        self._inputs, self._outputs, _ = _parse_gufunc_signature(signature)
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs = self.nin + self.nout
        if supports_out and self.nout != 1:
            raise ValueError("supports_out: expected one output")
        self._loops = [self._loop(entry) for entry in signatures]

    def _loop(self, entry):
        try:
            types, function = entry
            sources, targets = types.split("->")
        except (ValueError, AttributeError):
            raise ValueError(f"signatures: got {entry!r}, expected ('ff->f', function)") from None
        if len(sources) != self.nin or len(targets) != self.nout:
            raise ValueError(f"signatures: {types!r} has not the operands of {self._signature!r}")
        return tuple(map(np.dtype, sources)), tuple(map(np.dtype, targets)), function

    def __call__(
        self, *args, out=None, axes=None, axis=None, keepdims=False, casting="same_kind",
        dtype=None, signature=None, order="K",
    ):  # fmt: skip
        """Apply the function.

        Parameters
        ----------
        *args : ndarray
            The inputs.
        out : ndarray or tuple of ndarray, optional
            Where the results go.
        axes : list, optional
            Per operand, the axes of its core dimensions; the last ones by default.
        axis : int, optional
            The axis of the only core dimension, of all operands that have it.
        keepdims : bool
            Outputs without core dimensions keep the inputs' with length 1.
        casting : str
            How inputs may change to the types of a loop, and results to those of `out`.
        dtype : data-type, optional
            Type of the results.
        signature : str or tuple of str, optional
            Types of the loop to use.
        order : {'K', 'C', 'F', 'A'}
            Layout of the results.
        """
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}: got {len(args)} arguments, expected {self.nin}")
        outs = (
            tuple(out) if isinstance(out, tuple) else (out,) * (1 if out is not None else self.nout)
        )
        if len(outs) != self.nout:
            raise ValueError(f"{self.__name__}: got {len(outs)} outputs, expected {self.nout}")
        inputs = [asarray(a) for a in args]
        in_types, out_types, function = self._choose(inputs, dtype, signature, casting)
        if in_types is not None:
            inputs = [a.astype(t, copy=False) for a, t in zip(inputs, in_types)]
        absent = self._absent(inputs)
        in_dims = [[d for d in dims if d[0] not in absent] for dims in self._inputs]
        out_dims = [[d for d in dims if d[0] not in absent] for dims in self._outputs]
        axes = self._axes(axes, axis, keepdims, in_dims, out_dims)
        moved = [_to_the_end(a, x) for a, x in zip(inputs, axes)]
        sizes, loop_shape = self._sizes(moved, in_dims)
        parts = [
            engine.broadcast_to(a, loop_shape + a.shape[a.ndim - len(dims) :])
            for a, dims in zip(moved, in_dims)
        ]
        parts = [_with_absent(a, dims, absent) for a, dims in zip(parts, self._inputs)]
        results = self._run(function, parts, loop_shape, outs, out_dims, axes, sizes, absent)
        finished = []
        order = _resolve_order(order, inputs)
        for k, (made, target) in enumerate(zip(results, outs)):
            made = made.reshape(
                loop_shape + _core_shape(made, loop_shape, self._outputs[k], absent)
            )
            if keepdims and not out_dims[k]:
                made = made.reshape(loop_shape + (1,) * len(axes[0]))
            made = _from_the_end(made, axes[self.nin + k])
            wanted = dtype if dtype is not None else out_types[k] if out_types else made.dtype
            finished.append(_deliver(made, target, np.dtype(wanted), casting, order))
        return finished[0] if self.nout == 1 else tuple(finished)

    def _choose(self, inputs, dtype, signature, casting):
        """Types of inputs and outputs, and the function; no types for the general function."""
        if signature is not None:
            wanted = (
                "".join(signature) if isinstance(signature, tuple) else signature.replace("->", "")
            )
            for loop in self._loops:
                chars = "".join(t.char for t in (*loop[0], *loop[1]))
                if wanted == chars or len(wanted) == 1 and wanted == chars[-1]:
                    _check_casts(inputs, loop[0], casting, self.__name__)
                    return loop
            raise TypeError(f"No loop matching the specified signature {signature!r} was found")
        for loop in self._loops:
            if dtype is not None and loop[1][0] != np.dtype(dtype):
                continue
            if all(np.can_cast(a.dtype, t, casting) for a, t in zip(inputs, loop[0])):
                return loop
        return None, None, self._func

    def _absent(self, inputs) -> set[str]:
        """Optional dimensions that an input has not; then no other may have them."""
        absent, present = set(), set()
        for a, dims in zip(inputs, self._inputs):
            short = len(dims) - a.ndim
            for name, optional, _ in dims:
                if optional and short > 0:
                    absent.add(name)
                    short -= 1
                else:
                    present.add(name)
            if short > 0:
                raise ValueError(
                    f"{self.__name__}: an input has {a.ndim} axes, {self._signature!r} needs more"
                )
        if absent & present:
            raise ValueError(
                f"{self.__name__}: dimension {min(absent & present)!r} is absent from one input only"
            )
        return absent

    def _axes(self, axes, axis, keepdims, in_dims, out_dims) -> list[tuple[int, ...]]:
        """The axes of core dimensions of every operand."""
        if keepdims and (any(out_dims) or len({len(d) for d in in_dims}) != 1):
            raise TypeError(
                f"{self.__name__} does not support keepdims: its outputs have dimensions"
            )
        lengths = [len(d) for d in in_dims]
        lengths += [len(in_dims[0]) if keepdims else len(d) for d in out_dims]
        if axes is not None and axis is not None:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        if axis is not None:
            names = {d[0] for dims in in_dims + out_dims for d in dims}
            if len(names) != 1 or max(lengths) > 1:
                raise ValueError("axis can only be used with a single shared core dimension")
            return [(axis,) if n else () for n in lengths]
        if axes is None:
            return [tuple(range(-n, 0)) for n in lengths]
        given = [(x,) if isinstance(x, int) else tuple(x) for x in axes]
        if len(given) == self.nin and not any(lengths[self.nin :]):
            given += [()] * self.nout
        if len(given) != self.nargs:
            raise ValueError(f"axes: got {len(given)} entries, expected {self.nargs}")
        for x, n in zip(given, lengths):
            if len(x) != n:
                raise ValueError(f"axes: got {x}, expected {n} axes")
        return given

    def _sizes(self, moved, in_dims):
        """Extent of every core dimension, and the shape of the loop."""
        sizes: dict[str, int] = {}
        for a, dims in zip(moved, in_dims):
            for (name, _, may_be_one), extent in zip(dims, a.shape[a.ndim - len(dims) :]):
                if name.isdigit() and extent != int(name):
                    raise ValueError(f"{self.__name__}: got extent {extent}, expected {name}")
                if extent == 1 and may_be_one:
                    sizes.setdefault(name, -1)
                elif sizes.get(name, -1) not in (-1, extent):
                    raise ValueError(
                        f"Dimension {name!r} with different lengths in arrays: "
                        f"{sizes[name]} and {extent}"
                    )
                else:
                    sizes[name] = extent
        sizes = {name: 1 if extent < 0 else extent for name, extent in sizes.items()}
        # What is not marked as broadcastable does not take part as a one.
        for a, dims in zip(moved, in_dims):
            for (name, _, may_be_one), extent in zip(dims, a.shape[a.ndim - len(dims) :]):
                if extent != sizes[name] and not may_be_one:
                    raise ValueError(f"Dimension {name!r} has extent {extent}, not {sizes[name]}")
        shapes = [a.shape[: a.ndim - len(dims)] for a, dims in zip(moved, in_dims)]
        return sizes, np.broadcast_shapes(*shapes)

    def _run(self, function, parts, loop_shape, outs, out_dims, axes, sizes, absent):
        """The results, core dimensions last."""
        target = None
        if self._takes_out and all(d[0] in sizes for d in out_dims[0]):
            wanted = loop_shape + tuple(sizes[d[0]] for d in out_dims[0])
            if outs[0] is not None:
                target = _to_the_end(outs[0], axes[self.nin])
                if target.ndim > len(wanted):
                    target = target.reshape(wanted)
        if self._batched:
            keywords = {} if target is None else {"out": target}
            made = function(*parts, **keywords)
            made = target if made is None else made
            return made if isinstance(made, tuple) else (made,)
        results: list[ndarray] | None = None
        for place in itertools.product(*map(range, loop_shape)):
            keywords = {} if target is None else {"out": target[place]}
            made = function(*(part[place] for part in parts), **keywords)
            if target is not None:
                continue
            made = made if isinstance(made, tuple) else (made,)
            if results is None:
                results = [empty(loop_shape + m.shape, m.dtype) for m in made]
            for result, m in zip(results, made):
                result[place] = m
        if target is not None:
            return (target,)
        if results is None:  # nothing to loop over
            shapes = [tuple(sizes[d[0]] for d in dims) for dims in out_dims]
            results = [empty(loop_shape + shape, parts[0].dtype) for shape in shapes]
        return results


def _check_casts(inputs, types, casting, name) -> None:
    for a, t in zip(inputs, types):
        if not np.can_cast(a.dtype, t, casting):
            raise TypeError(f"{name}: cannot cast {a.dtype} to {t} by the rule {casting!r}")


def _to_the_end(a, axes) -> ndarray:
    if not axes:
        return a
    axes = tuple(normalize_axis_index(x, a.ndim) for x in axes)
    return engine.moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))


def _from_the_end(a, axes) -> ndarray:
    if not axes:
        return a
    axes = tuple(normalize_axis_index(x, a.ndim) for x in axes)
    return engine.moveaxis(a, tuple(range(a.ndim - len(axes), a.ndim)), axes)


def _with_absent(a, dims, absent) -> ndarray:
    """`a` with an axis of length one for each dimension that is absent."""
    if not any(d[0] in absent for d in dims):
        return a
    present = sum(d[0] not in absent for d in dims)
    shape, core = list(a.shape[: a.ndim - present]), iter(a.shape[a.ndim - present :])
    shape += [1 if d[0] in absent else next(core) for d in dims]
    return a.reshape(tuple(shape))


def _core_shape(made, loop_shape, dims, absent) -> tuple[int, ...]:
    core = made.shape[len(loop_shape) :]
    if len(core) != len(dims):
        return core
    return tuple(e for e, d in zip(core, dims) if d[0] not in absent)


def _resolve_order(order: str, inputs) -> str:
    if order == "A":
        return "F" if all(a.f_contiguous and not a.c_contiguous for a in inputs) else "C"
    return order


def _deliver(made, target, dtype, casting, order) -> ndarray:
    if target is None:
        return made.astype(dtype, order=order, copy=False)
    if made is target:
        return target
    if target.shape != made.shape:
        raise ValueError(f"output has shape {target.shape}, expected {made.shape}")
    if not np.can_cast(made.dtype, target.dtype, casting):
        raise TypeError(f"cannot cast {made.dtype} to {target.dtype} by the rule {casting!r}")
    target[...] = made
    return target


_GUFunc = GeneralizedUFunc
