"""ElementwiseKernel: a kernel made from the text of one element's computation."""

from __future__ import annotations

import numpy as np

from trilane import _core
from trilane.cupy._kernel import arguments, source
from trilane.cupy._kernel.parameters import (
    Parameter,
    check_kernel_name,
    check_names,
    parse_parameters,
    resolve_types,
)


class ElementwiseKernel:
    """A kernel that runs a piece of CUDA C++ for every element of its broadcast arguments.

    Parameters
    ----------
    in_params, out_params : str
        Declarations such as ``'T x, raw U y, float32 z'``. One letter is a type variable. ``raw``
        arrays are not broadcast; the text indexes them (``y[i]``).
    operation : str
        Statements for one element. ``i`` is its position in C order, ``n`` the number of
        elements, ``_ind.get()`` the index per axis.
    name : str
        Name of the kernel function.
    reduce_dims : bool
        Join axes where all arrays allow it.
    preamble : str
        Text ahead of the kernel.
    no_return : bool
        Return None.
    return_tuple : bool
        Return a tuple even of one output.
    loop_prep, after_loop : str
        Statements of a thread before its first and after its last element.
    options : sequence of str
        Options of the compiler.
    doc : str
        The docstring of the object.

    Notes
    -----
    Stream-ordered: the call returns before the kernel has run on a CUDA device.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        doc: str = "",
        loop_prep: str = "",
        after_loop: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        check_kernel_name(name)
        self.in_params = parse_parameters(in_params)
        self.out_params = parse_parameters(out_params)
        self.params = self.in_params + self.out_params
        check_names(self.params)
        self.nin = len(self.in_params)
        self.nout = len(self.out_params)
        self.nargs = self.nin + self.nout
        self.operation = operation
        self.name = name
        self.__name__ = name
        self.reduce_dims = reduce_dims
        self.preamble = preamble
        self.no_return = no_return
        self.return_tuple = return_tuple
        self.loop_prep = loop_prep
        self.after_loop = after_loop
        self.options = tuple(options)
        self.__doc__ = doc or type(self).__doc__
        self._cached_codes: dict = {}
        self._functions: dict = {}

    @property
    def cached_codes(self) -> dict:
        """The text of each specialisation made so far, by the types of its arguments."""
        return dict(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """The text, where there is one specialisation only."""
        if len(self._cached_codes) != 1:
            raise ValueError(f"cached_code: {len(self._cached_codes)} specialisations, expected 1")
        return next(iter(self._cached_codes.values()))

    def __call__(self, *args, size: int | None = None, stream=None, block_size: int = 128):
        """Run the kernel.

        Parameters
        ----------
        *args : ndarray, scalar, TextureObject or SurfaceObject
            The inputs, and the outputs if all of them are given. A texture is of a type variable
            (``'T x, U tex'``), as ``cudaTextureObject_t``.
        size : int, optional
            Number of iterations; only where no argument is broadcast.
        stream : Stream, optional
        block_size : int
            Threads per block.

        Returns
        -------
        ndarray or tuple of ndarray or None

        Raises
        ------
        TypeError
            Wrong number or types of arguments.
        ValueError
            The shapes do not broadcast; `size` is missing or not allowed.
        """
        if block_size <= 0:
            raise ValueError(f"block_size must be greater than zero: got {block_size}")
        inputs, outputs = arguments.split(self.name, args, self.nin, self.nout, self.params)
        in_types, out_types, bindings = resolve_types(
            self.in_params,
            self.out_params,
            [arguments.dtype_of(x) for x in inputs],
            [arguments.dtype_of(x) for x in outputs] or [None] * self.nout,
            [arguments.weak_dtype_of(x) for x in inputs],
        )
        shape = self._loop_shape(inputs, outputs, size)
        if not outputs:
            outputs = [
                arguments.new_output(shape, dtype, parameter, self.name)
                for parameter, dtype in zip(self.out_params, out_types)
            ]
        self._run(inputs, outputs, in_types + out_types, bindings, shape, stream, block_size)
        if self.no_return:
            return None
        if self.nout == 1 and not self.return_tuple:
            return outputs[0]
        return tuple(outputs)

    def _loop_shape(self, inputs, outputs, size) -> tuple[int, ...]:
        looped = [
            x.shape
            for x, parameter in zip(inputs + outputs, self.params)
            if not parameter.raw and arguments.is_array(x)
        ]
        if size is not None:
            if any(
                arguments.is_array(x) and not parameter.raw
                for x, parameter in zip(inputs, self.in_params)
            ):
                raise ValueError(
                    "Specified 'size' can be used only if all of the ndarray are 'raw'."
                )
            size = int(size)
            if size < 0:
                raise ValueError(f"size must not be negative: got {size}")
            shape = (size,)
        elif not looped:
            if any(arguments.is_array(x) for x in inputs + outputs) or not inputs:
                raise ValueError("Loop size is undecided.")
            return ()
        else:
            in_looped = looped[
                : sum(
                    1 for x, p in zip(inputs, self.in_params) if not p.raw and arguments.is_array(x)
                )
            ]
            shape = np.broadcast_shapes(*(in_looped or looped))
        for x, parameter in zip(outputs, self.out_params):
            if not parameter.raw and x.shape != shape:
                raise ValueError(f"Out shape is mismatched: got {x.shape}, expected {shape}")
        return shape

    def _run(self, inputs, outputs, types, bindings, shape, stream, block_size) -> None:
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            return
        values = arguments.convert_scalars(inputs + outputs, types)
        loop_strides = [
            arguments.broadcast_strides(x, shape)
            if arguments.is_array(x) and not parameter.raw
            else None
            for x, parameter in zip(values, self.params)
        ]
        if self.reduce_dims:
            loop_shape, loop_strides = source.collapse(shape, loop_strides)
        else:
            loop_shape = shape
        operands = tuple(
            self._operand(parameter, x, dtype, strides, loop_shape, index < self.nin)
            for index, (parameter, x, dtype, strides) in enumerate(
                zip(self.params, values, types, loop_strides)
            )
        )
        key = (operands, len(loop_shape), _core.current_device_index())
        function = self._functions.get(key)
        if function is None:
            function = self._compile(key, operands, types, bindings, len(loop_shape))
        packed = []
        for operand, x, strides in zip(operands, values, loop_strides):
            packed.append(x)
            if operand.mode == "strided":
                packed.append(source.layout_bytes(loop_shape, strides))
            elif operand.mode == "raw":
                packed.append(source.layout_bytes(x.shape, x.strides))
        packed.append(source.layout_bytes(loop_shape, (0,) * len(loop_shape)))
        blocks = -(-count // block_size)
        if self._loops:
            blocks = min(blocks, 65535)
        function.launch(blocks, block_size, tuple(packed), 0, arguments.core_stream(stream))

    @property
    def _loops(self) -> bool:
        return bool(self.loop_prep or self.after_loop)

    def _operand(self, parameter: Parameter, x, dtype, strides, loop_shape, is_input):
        constant = is_input and not parameter.mutable
        if not arguments.is_array(x):
            return source.Operand(parameter.name, dtype, "value", 0, False, True)
        if parameter.raw:
            return source.Operand(
                parameter.name, dtype, "raw", x.ndim, arguments.is_c_contiguous(x), constant
            )
        if arguments.is_linear(loop_shape, strides, dtype.itemsize):
            return source.Operand(parameter.name, dtype, "linear", 0, False, constant)
        return source.Operand(parameter.name, dtype, "strided", len(loop_shape), False, constant)

    def _compile(self, key, operands, types, bindings, ndim) -> _core.Function:
        text = self._source(operands, types, bindings, ndim)
        self._cached_codes[key[:2]] = text
        function = source.compile_function(text, self.name, self.options)
        self._functions[key] = function
        return function

    def _source(self, operands, types, bindings, ndim) -> str:
        everything = "\n".join((self.preamble, self.operation, self.loop_prep, self.after_loop))
        declarations = [d for operand in operands for d in operand.declarations()]
        declarations.append(f"const CLayout<{ndim}> _l_loop")
        before = "".join(operand.before_loop() for operand in operands)
        inside = "".join(operand.in_loop("_ind.get()", "i") for operand in operands)
        if self._loops:
            head = (
                "    const ptrdiff_t _step = static_cast<ptrdiff_t>(gridDim.x) * blockDim.x;\n"
                "    for (ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;"
                " i < n; i += _step) {\n"
            )
            tail = "    }\n"
        else:
            head = (
                "    const ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
                "    if (i < n) do {\n"
            )
            tail = "    } while (false);\n"
        return (
            source.prelude(everything, types, bindings)
            + self.preamble
            + f'\nextern "C" __global__ void {self.name}({", ".join(declarations)}) {{\n'
            + f"    CIndexer<{ndim}> _ind(_l_loop);\n"
            + "    const ptrdiff_t n = _ind.size();\n"
            + before
            + f"    {self.loop_prep};\n"
            + head
            + "        _ind.set(i);\n"
            + inside
            + f"        {self.operation};\n"
            + tail
            + f"    {self.after_loop};\n}}\n"
        )
