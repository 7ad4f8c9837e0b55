"""ReductionKernel: a reduction made from the texts of its map, its combination and its end."""

from __future__ import annotations

import numpy as np

from trilane import _core
from trilane.cupy._dtypes import c_name
from trilane.cupy._engine import empty
from trilane.cupy._kernel import arguments, source
from trilane.cupy._kernel.parameters import (
    check_kernel_name,
    check_names,
    parse_parameters,
    resolve_types,
)

_BLOCK = 128
# Outputs that are enough to keep a device busy with one thread each.
_ENOUGH_OUTPUTS = 4096
# Elements that one thread of the first stage reduces at least.
_CHUNK = 1024
_MAX_PARTS = 4096


class ReductionKernel:
    """A kernel that maps elements, combines the results and finishes each combined value.

    Parameters
    ----------
    in_params, out_params : str
        Declarations as for `ElementwiseKernel`.
    map_expr : str
        Expression for one element. ``_j`` is its position in C order (reduced axes last), ``_J``
        its position along the reduced axes, ``_i`` (also ``i``) the position of its output.
    reduce_expr : str
        Expression of ``a`` and ``b``, associative.
    post_map_expr : str
        Statement that sets the outputs from ``a``.
    identity : str or None
        Expression of the neutral value; None or '' if there is none.
    name : str
        Name of the kernel function.
    reduce_type : str, optional
        C type of ``a`` and ``b``; by default that of the first output.
    reduce_dims : bool
        Kept for compatibility; axes are always joined where possible.
    preamble : str
        Text ahead of the kernel.
    options : sequence of str
        Options of the compiler.

    Notes
    -----
    Deterministic: the order of combination depends on the shapes alone.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str | None,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        check_kernel_name(name)
        self.in_params = parse_parameters(in_params)
        self.out_params = parse_parameters(out_params)
        self.params = self.in_params + self.out_params
        check_names(self.params)
        if not self.out_params:
            raise ValueError("One or more output parameters are required")
        self.nin = len(self.in_params)
        self.nout = len(self.out_params)
        self.nargs = self.nin + self.nout
        self.map_expr = map_expr
        self.reduce_expr = reduce_expr
        self.post_map_expr = post_map_expr
        self.identity = identity
        self.name = name
        self.__name__ = name
        self.reduce_type = reduce_type
        self.reduce_dims = reduce_dims
        self.preamble = preamble
        self.options = tuple(options)
        self._cached_codes: dict = {}
        self._functions: dict = {}

    @property
    def cached_codes(self) -> dict:
        """The text of each specialisation made so far."""
        return dict(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """The text, where there is one specialisation only."""
        if len(self._cached_codes) != 1:
            raise ValueError(f"cached_code: {len(self._cached_codes)} specialisations, expected 1")
        return next(iter(self._cached_codes.values()))

    def __call__(self, *args, out=None, axis=None, keepdims: bool = False, stream=None):
        """Run the reduction.

        Parameters
        ----------
        *args : ndarray or scalar
            The inputs, and the outputs if all of them are given.
        out : ndarray, optional
            The output, where there is one.
        axis : int or tuple of int, optional
            Axes to reduce; all by default.
        keepdims : bool
            Keep reduced axes with length 1.
        stream : Stream, optional

        Returns
        -------
        ndarray or tuple of ndarray

        Raises
        ------
        TypeError
            Wrong number or types of arguments.
        ValueError
            The shapes do not broadcast, or an empty reduction has no identity.
        """
        inputs, outputs = arguments.split(self.name, args, self.nin, self.nout, self.params)
        if out is not None:
            if outputs or self.nout != 1:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            outputs = [out]
        in_types, out_types, bindings = resolve_types(
            self.in_params,
            self.out_params,
            [arguments.dtype_of(x) for x in inputs],
            [arguments.dtype_of(x) for x in outputs] or [None] * self.nout,
            [arguments.weak_dtype_of(x) for x in inputs],
        )
        shape = self._in_shape(inputs)
        reduced = _normalize_axes(axis, len(shape))
        kept = [a for a in range(len(shape)) if a not in reduced]
        out_shape = tuple(shape[a] for a in kept)
        full_shape = tuple(1 if a in reduced else e for a, e in enumerate(shape))
        result_shape = full_shape if keepdims else out_shape
        if not outputs:
            outputs = [empty(result_shape, dtype) for dtype in out_types]
        for x in outputs:
            if x.shape != result_shape:
                raise ValueError(f"Out shape is mismatched: got {x.shape}, expected {result_shape}")
        self._run(
            inputs, outputs, in_types, out_types, bindings, shape, kept, sorted(reduced), stream
        )
        return outputs[0] if self.nout == 1 else tuple(outputs)

    def _in_shape(self, inputs) -> tuple[int, ...]:
        shapes = [
            x.shape
            for x, parameter in zip(inputs, self.in_params)
            if arguments.is_array(x) and not parameter.raw
        ]
        if not shapes and any(arguments.is_array(x) for x in inputs):
            raise ValueError("Loop size is undecided.")
        return np.broadcast_shapes(*shapes)

    def _run(
        self, inputs, outputs, in_types, out_types, bindings, shape, kept, reduced, stream
    ) -> None:
        n_out = _product(shape[a] for a in kept)
        n_reduce = _product(shape[a] for a in reduced)
        if n_out == 0:
            return
        if n_reduce == 0 and not self.identity:
            raise ValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )
        values = arguments.convert_scalars(inputs, in_types)
        order = kept + reduced
        loop_shape = tuple(shape[a] for a in order)
        out_shape = tuple(shape[a] for a in kept)
        operands, packed = [], []
        loop_strides = [
            None
            if p.raw or not arguments.is_array(x)
            else tuple(arguments.broadcast_strides(x, shape)[a] for a in order)
            for x, p in zip(values, self.in_params)
        ]
        joined_shape, joined = source.collapse(loop_shape, loop_strides)
        for x, p, dtype, strides in zip(values, self.in_params, in_types, joined):
            _add(operands, packed, x, p, dtype, strides, joined_shape, constant=not p.mutable)
        for x, p, dtype in zip(outputs, self.out_params, out_types):
            strides = None
            if not p.raw:
                strides = [s for s, e in zip(x.strides, x.shape) if e != 1]
            flat_shape = tuple(e for e in (out_shape if not p.raw else x.shape) if e != 1 or p.raw)
            _add(
                operands,
                packed,
                x,
                p,
                dtype,
                strides and tuple(strides) or (None if p.raw else ()),
                flat_shape,
                constant=False,
            )
        ranks = (len(joined_shape), len([e for e in out_shape if e != 1]))
        squeezed = tuple(e for e in out_shape if e != 1)
        packed += [
            source.layout_bytes(joined_shape, (0,) * ranks[0]),
            source.layout_bytes(squeezed, (0,) * ranks[1]),
            np.int64(n_out),
            np.int64(n_reduce),
        ]
        operands = tuple(operands)
        types = (in_types + out_types, bindings, out_types)
        core_stream = arguments.core_stream(stream)
        parts = min(_MAX_PARTS, n_reduce // _CHUNK)
        if n_out >= _ENOUGH_OUTPUTS or parts < 2:
            function = self._function("direct", operands, ranks, types)
            function.launch(-(-n_out // _BLOCK), _BLOCK, tuple(packed), 0, core_stream)
            return
        parts = min(parts, max(2, _ENOUGH_OUTPUTS // n_out))
        first = self._function("parts", operands, ranks, types)
        partial = empty((n_out * parts * _partial_size(first, self.name),), np.uint8)
        packed += [np.int64(parts), partial]
        threads = n_out * parts
        first.launch(-(-threads // _BLOCK), _BLOCK, tuple(packed), 0, core_stream)
        last = self._function("finish", operands, ranks, types)
        last.launch(-(-n_out // _BLOCK), _BLOCK, tuple(packed), 0, core_stream)

    def _function(self, stage, operands, ranks, types) -> _core.Function:
        key = (operands, ranks, stage, _core.current_device_index())
        function = self._functions.get(key)
        if function is None:
            text = self._source(stage, operands, ranks, *types)
            if stage != "finish":
                self._cached_codes[tuple(o.dtype for o in operands)] = text
            function = source.compile_function(text, self.name, self.options)
            self._functions[key] = function
        return function

    def _source(self, stage, operands, ranks, types, bindings, out_types) -> str:
        texts = (
            self.preamble,
            self.map_expr,
            self.reduce_expr,
            self.post_map_expr,
            self.reduce_type or "",
            self.identity or "",
        )
        declarations = [d for operand in operands for d in operand.declarations()]
        declarations += [
            f"const CLayout<{ranks[0]}> _l_in",
            f"const CLayout<{ranks[1]}> _l_out",
            "const long long _n_out",
            "const long long _n_reduce",
        ]
        if stage != "direct":
            declarations += ["const long long _parts", "_type_reduce* _partial"]
        reduce_type = self.reduce_type or c_name(out_types[0])
        return (
            source.prelude("\n".join(texts), types, bindings)
            + self.preamble
            + f"\ntypedef {reduce_type} _type_reduce;\n"
            + f'extern "C" __device__ unsigned long long {self.name}_partial_size'
            + " = sizeof(_type_reduce);\n"
            + f'extern "C" __global__ void {self.name}({", ".join(declarations)}) {{\n'
            + "    const ptrdiff_t _t = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
            + f"    CIndexer<{ranks[0]}> _in_ind(_l_in);\n"
            + f"    CIndexer<{ranks[1]}> _out_ind(_l_out);\n"
            + "".join(operand.before_loop() for operand in operands)
            + self._body(stage, operands)
            + "}\n"
        )

    def _body(self, stage: str, operands) -> str:
        threads = "_n_out * _parts" if stage == "parts" else "_n_out"
        output = "_t / _parts" if stage == "parts" else "_t"
        head = f"    if (_t >= {threads}) return;\n    const ptrdiff_t _i = {output};\n"
        head += "    const ptrdiff_t i = _i;\n    (void)i;\n"
        if stage == "finish":
            return head + self._combine_partials() + self._finish(operands)
        if stage == "direct":
            return head + self._combine("0", "_n_reduce", operands) + self._finish(operands)
        head += (
            "    const ptrdiff_t _part = _t % _parts;\n"
            "    const ptrdiff_t _first = _n_reduce / _parts * _part"
            " + (_part < _n_reduce % _parts ? _part : _n_reduce % _parts);\n"
            "    const ptrdiff_t _last = _first + _n_reduce / _parts + (_part < _n_reduce % _parts);\n"
        )
        return head + self._combine("_first", "_last", operands) + "    _partial[_t] = _s;\n"

    def _combine(self, first: str, last: str, operands) -> str:
        inside = "".join(o.in_loop("_in_ind.get()", "_j") for o in operands[: self.nin])
        if self.identity:
            start = f"    _type_reduce _s = static_cast<_type_reduce>({self.identity});\n"
            keep = self._step()
        else:
            start = "    _type_reduce _s;\n    bool _empty = true;\n"
            keep = f"        if (_empty) {{ _s = _m; _empty = false; continue; }}\n{self._step()}"
        return (
            start
            + f"    for (ptrdiff_t _J = {first}; _J < {last}; ++_J) {{\n"
            + "        const ptrdiff_t _j = _i * _n_reduce + _J;\n        _in_ind.set(_j);\n"
            + inside
            + f"        const _type_reduce _m = static_cast<_type_reduce>({self.map_expr});\n"
            + keep
            + "    }\n"
        )

    def _combine_partials(self) -> str:
        return (
            "    _type_reduce _s = _partial[_i * _parts];\n"
            "    for (ptrdiff_t _p = 1; _p < _parts; ++_p) {\n"
            "        const _type_reduce _m = _partial[_i * _parts + _p];\n"
            + self._step()
            + "    }\n"
        )

    def _step(self) -> str:
        return (
            "        { const _type_reduce a = _s; const _type_reduce b = _m;\n"
            f"          _s = static_cast<_type_reduce>({self.reduce_expr}); }}\n"
        )

    def _finish(self, operands) -> str:
        outputs = "".join(o.in_loop("_out_ind.get()", "_i") for o in operands[self.nin :])
        return (
            "    _out_ind.set(_i);\n"
            + outputs
            + f"    {{ const _type_reduce a = _s; {self.post_map_expr}; }}\n"
        )


def _product(extents) -> int:
    count = 1
    for extent in extents:
        count *= extent
    return count


def _normalize_axes(axis, ndim: int) -> set[int]:
    if axis is None:
        return set(range(ndim))
    return set(np.lib.array_utils.normalize_axis_tuple(axis, ndim))


def _add(operands, packed, x, parameter, dtype, strides, shape, constant: bool) -> None:
    """Append one parameter and what is passed for it."""
    packed.append(x)
    if not arguments.is_array(x):
        operands.append(source.Operand(parameter.name, dtype, "value", 0, False, True))
    elif parameter.raw:
        contiguous = arguments.is_c_contiguous(x)
        operands.append(source.Operand(parameter.name, dtype, "raw", x.ndim, contiguous, constant))
        packed.append(source.layout_bytes(x.shape, x.strides))
    elif arguments.is_linear(shape, strides, dtype.itemsize):
        operands.append(source.Operand(parameter.name, dtype, "linear", 0, False, constant))
    else:
        operands.append(
            source.Operand(parameter.name, dtype, "strided", len(shape), False, constant)
        )
        packed.append(source.layout_bytes(shape, strides))


def _partial_size(function: _core.Function, name: str) -> int:
    address, nbytes = function.module.get_global(f"{name}_partial_size")
    value = np.zeros(1, np.uint64)
    _core.copy_to_host(value, address, nbytes)
    return int(value[0])
