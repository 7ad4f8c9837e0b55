"""A kernel with its launch configuration, ``kernel[grid, block]``: what its calls leave to Python."""

from __future__ import annotations

import inspect
import math
import pickle
import warnings
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from trilane import _core
from trilane._calls import CalledInC, CallSignature, stands_for
from trilane.numba import types
from trilane.numba.core import config
from trilane.numba.core.errors import NumbaPerformanceWarning
from trilane.numba.cuda.cudadrv.error import CudaAPIError, as_api_error
from trilane.numba.cuda.devicearray import is_cuda_array
from trilane.numba.cuda.launchconfig import LaunchConfig, current_launch_config, launching
from trilane.numba.cuda.untyped import UntypedMemoryError, as_declared

if TYPE_CHECKING:
    from trilane.numba.cuda.dispatcher import CUDADispatcher

__all__ = ["ForwardConfigured"]

_jit = _core.jit


def _configured(dispatcher: Any, grid: Any, block: Any, sharedmem: int) -> ForwardConfigured:
    return dispatcher.configure(grid, block, 0, sharedmem)


def _type_or_none(value: Any) -> Any:
    try:
        return types.typeof(value)
    except (TypeError, NotImplementedError):
        return None


class ForwardConfigured(_jit.ConfiguredCall, metaclass=CalledInC):
    """A kernel with grid, block, stream and dynamic shared memory: call it to launch."""

    __slots__ = (
        "_call", "_callbacks", "blockdim", "dispatcher", "griddim", "sharedmem", "stream",
    )  # fmt: skip

    def __init__(
        self, dispatcher: CUDADispatcher, grid: Any, block: Any, stream: Any, sharedmem: int
    ) -> None:
        self.dispatcher = dispatcher
        self._callbacks: list[Any] | None = None
        self.griddim, self.blockdim = (dim + (1,) * (3 - len(dim)) for dim in (grid, block))
        self.stream, self.sharedmem = stream, sharedmem
        if sharedmem < 0:
            raise CudaAPIError(
                1,
                "Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE: dynamic shared memory: "
                f"got {sharedmem} bytes, expected 0 or more",
            )
        try:
            self._call = _jit.Configured(dispatcher._dispatcher, grid, block, stream, sharedmem)
        except _core.TrilaneError as error:
            raise as_api_error(error, "cuLaunchKernel") from None
        self._bind(self._call, dispatcher._extensions)
        if config.CUDA_LOW_OCCUPANCY_WARNINGS:
            _warn_of_few_blocks(grid)

    __signature__ = CallSignature("_launch")

    # ConfiguredCall.__call__ launches with device arrays and numbers whose types were met before;
    # the rest, and what is wrong, comes here.
    @stands_for("ForwardConfigured.__call__")
    def _launch(self, *args: Any, **kwargs: Any) -> None:
        """Launch with `args`; NumPy arrays travel to the device and, if written, back."""
        if kwargs:
            args = _bound(self.dispatcher.py_func, args, kwargs)
        if config.CUDA_WARN_ON_IMPLICIT_COPY:
            _warn_of_copies(args)
        if self.dispatcher._extensions:
            return self._extended(args)
        if self._callbacks:
            kernel = self.dispatcher.kernel_for(args)
            for callback in self._callbacks:
                callback(kernel, self)
        try:
            with launching(self._config(args)):
                self._call(*args)
        except _core.TrilaneError as error:
            raise self._explained(error, args) from None
        except UntypedMemoryError:
            typed = self._typed(args)
            if typed is None:
                raise
            self(*typed)

    def _typed(self, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Memory without a type as arrays of the type that the one signature says, or None."""
        signatures = self.dispatcher._explicit
        if len(signatures) != 1 or len(signatures[0].args) != len(args):
            return None
        return tuple(as_declared(a, kind) for a, kind in zip(args, signatures[0].args))

    def _extended(self, args: tuple[Any, ...]) -> None:
        """Launch with what the extensions make of the arguments, and do then what they ask for."""
        retrievals: list[Any] = []
        prepared = []
        for value in args:
            kind = None
            for extension in reversed(self.dispatcher._extensions):
                if kind is None:
                    kind = _type_or_none(value)
                kind, value = extension.prepare_args(
                    kind, value, stream=self.stream or 0, retr=retrievals
                )
            prepared.append(value)
        try:
            with launching(self._config(tuple(prepared))):
                self._call(*prepared)
        except _core.TrilaneError as error:
            raise self._explained(error, tuple(prepared)) from None
        for retrieve in retrievals:
            retrieve()

    @property
    def pre_launch_callbacks(self) -> list[Any]:
        """Called before each launch with the compiled kernel and this object."""
        if self._callbacks is None:
            self._callbacks = []
            self._bind(self._call, [self])  # launches come through Python from now on
        return self._callbacks

    def __reduce__(self) -> Any:
        if self._callbacks:
            raise pickle.PicklingError(
                "Cannot pickle configured launches with pre-launch callbacks"
            )
        stream = self.stream if self.stream is not None else 0
        if stream:
            raise pickle.PicklingError("Cannot pickle a configured launch on a stream")
        return _configured, (self.dispatcher, self.griddim, self.blockdim, self.sharedmem)

    def _config(self, args: tuple[Any, ...]) -> LaunchConfig:
        return LaunchConfig(
            self.dispatcher, self.griddim, self.blockdim, self.stream, self.sharedmem, args
        )

    @property
    def args(self) -> tuple[Any, ...] | None:
        """The arguments of the launch that this thread is making, None outside of one."""
        launch = current_launch_config()
        same = launch is not None and launch.dispatcher is self.dispatcher
        return launch.args if same else None

    def _launch_error(self, error: _core.TrilaneError) -> Exception:
        return self._explained(error, ())

    def _explained(self, error: _core.TrilaneError, args: tuple[Any, ...]) -> Exception:
        code = self.dispatcher.py_func.__code__
        if error.kind == "TypeMismatch" and "wrong number" in str(error):
            defaults = self.dispatcher.py_func.__defaults__ or ()
            if len(args) < code.co_argcount and len(args) + len(defaults) >= code.co_argcount:
                return NotImplementedError("default arguments at a launch of a specialised kernel")
            return TypeError(str(error))
        return as_api_error(error, "cuLaunchKernel")

    @property
    def max_cooperative_grid_blocks(self) -> Any:
        raise NotImplementedError("max_cooperative_grid_blocks: ask the compiled overload")


def _warn_of_few_blocks(grid: Any) -> None:
    blocks = math.prod(grid)
    if blocks < 128:
        warnings.warn(
            NumbaPerformanceWarning(
                f"Grid size {blocks} will likely result in GPU under-utilization due to low "
                "occupancy."
            ),
            stacklevel=5,
        )


def _warn_of_copies(args: tuple[Any, ...]) -> None:
    """Warn of a NumPy array that the launch copies to the device and back."""
    for value in args:
        if isinstance(value, np.ndarray) and not is_cuda_array(value):
            warnings.warn(
                NumbaPerformanceWarning(
                    "Host array used in CUDA kernel will incur copy overhead to/from device."
                ),
                stacklevel=4,
            )


def _bound(
    function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args
