"""Making arrays: from shapes, from data, ranges."""

from __future__ import annotations

import math

import numpy as np

from trilane import _core
from trilane._exchange import as_bytes, device_array_of, from_cuda_dlpack
from trilane.cupy._dtypes import check_dtype
from trilane.cupy._engine import copyto, engine, from_buffer, from_host, ndarray, plain
from trilane.cupy._engine import empty as _empty
from trilane.cupy._engine import full as _full
from trilane.cupy._helpers import SCALARS, normalize_shape, stack_arrays


def empty(shape, dtype=float, order="C") -> ndarray:
    """Return a new array of the given shape, not initialised.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : data-type
    order : {'C', 'F'}

    Returns
    -------
    ndarray
    """
    return _empty(normalize_shape(shape), check_dtype(dtype), _order(order))


def zeros(shape, dtype=float, order="C") -> ndarray:
    """Return a new array filled with zeros."""
    return _full(normalize_shape(shape), 0, check_dtype(dtype), _order(order))


def ones(shape, dtype=float, order="C") -> ndarray:
    """Return a new array filled with ones."""
    return _full(normalize_shape(shape), 1, check_dtype(dtype), _order(order))


def full(shape, fill_value, dtype=None, order="C") -> ndarray:
    """Return a new array filled with a value.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar or ndarray
        An array is broadcast to `shape`.
    dtype : data-type, optional
        By default that of `fill_value`.
    order : {'C', 'F'}
    """
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, ndarray) else np.array(fill_value).dtype
    result = empty(shape, dtype, order)
    if isinstance(fill_value, (ndarray, *SCALARS)):
        copyto(result, fill_value, "unsafe")
    else:
        result[...] = array(fill_value)
    return result


def empty_like(prototype, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """Return a new array of the shape and type of another, not initialised.

    Parameters
    ----------
    prototype : ndarray
    dtype : data-type, optional
    order : {'C', 'F', 'A', 'K'}
    subok : None
        Not supported.
    shape : int or tuple of int, optional
    """
    if subok is not None:
        raise TypeError("subok is not supported yet")
    prototype = _prototype(prototype)
    dtype = prototype.dtype if dtype is None else check_dtype(dtype)
    new_shape = prototype.shape if shape is None else normalize_shape(shape)
    order = _like_order(prototype, order, new_shape)
    if order != "K":
        return _empty(new_shape, dtype, order)
    axes = sorted(range(prototype.ndim), key=lambda a: (-abs(prototype.strides[a]), a))
    result = _empty(tuple(new_shape[a] for a in axes), dtype, "C")
    return result.transpose(tuple(int(a) for a in np.argsort(axes)))


def _prototype(prototype) -> ndarray:
    if isinstance(prototype, ndarray):
        return prototype
    return array(prototype)


def _like_order(prototype, order, shape) -> str:
    order = "K" if order is None else order.upper()
    if order in ("C", "F"):
        return order
    if order not in ("A", "K"):
        raise ValueError(f"order not understood: {order!r}")
    fortran = prototype.f_contiguous and not prototype.c_contiguous
    if order == "A":
        return "F" if fortran else "C"
    if len(shape) != prototype.ndim or prototype.c_contiguous:
        return "C"
    return "F" if fortran else "K"


def zeros_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """Return a new array of zeros of the shape and type of another."""
    result = empty_like(a, dtype, order, subok, shape)
    result.fill(0)
    return result


def ones_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """Return a new array of ones of the shape and type of another."""
    result = empty_like(a, dtype, order, subok, shape)
    result.fill(1)
    return result


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    """Return a new array of a value, of the shape and type of another."""
    result = empty_like(a, dtype, order, subok, shape)
    copyto(result, fill_value, "unsafe")
    return result


def eye(N, M=None, k=0, dtype=float, order="C") -> ndarray:
    """Return a 2-D array with ones on the k-th diagonal and zeros elsewhere."""
    M = N if M is None else M
    result = zeros((N, M), dtype, order)
    diagonal = engine.diag_view(result, k) if _has_diagonal(N, M, k) else None
    if diagonal is not None:
        diagonal.fill(1)
    return result


def _has_diagonal(rows: int, columns: int, k: int) -> bool:
    return k < columns if k >= 0 else -k < rows


def identity(n, dtype=float) -> ndarray:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def array(
    obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False
) -> ndarray:
    """Make an array from anything that holds values.

    Parameters
    ----------
    obj : array_like
        A device array of any face, a NumPy array, a scalar, nested sequences (of device arrays
        too), an object with one of the array protocols, or memory without a type (an allocation
        of PyCUDA), which becomes an array of its bytes.
    dtype : data-type, optional
    copy : bool or None
        None: share the memory of a device array where nothing has to change. False: raise
        ValueError where values would have to be copied.
    order : {'C', 'F', 'A', 'K'}
    subok : bool
        Pass subclasses of ndarray through.
    ndmin : int
        Axes of length 1 are put in front until there are so many.
    blocking : bool
        Accepted; the host's memory is read before the call returns in either case.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        The values have no dtype of the device.
    """
    order = "K" if order is None else order
    dtype = None if dtype is None else check_dtype(dtype)
    device_array = as_device_array(obj)
    if device_array is not None:
        result = _from_device(device_array, dtype, copy, order, subok)
    elif copy is False:
        raise ValueError("array(copy=False): values of the host have to be copied")
    elif isinstance(obj, (list, tuple)) and _holds_device_arrays(obj):
        result = _from_nested(obj, dtype, order)
    else:
        result = _upload(obj, dtype, order, ndmin)
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def as_device_array(obj) -> ndarray | None:
    """The device array that `obj` is or shows, without copying; None if it holds host values."""
    if isinstance(obj, ndarray):
        return plain(obj)
    if type(obj) is np.ndarray or isinstance(obj, (list, tuple, *SCALARS)):
        return None
    shown = device_array_of(obj)
    if shown is not None:
        return plain(shown)
    return None if isinstance(obj, np.ndarray) else as_bytes(obj)


def _from_device(a: ndarray, dtype, copy, order, subok) -> ndarray:
    dtype = a.dtype if dtype is None else dtype
    if engine.is_elsewhere(a):
        if copy is False:
            raise ValueError("array(copy=False): the array is on another device")
        a, copy = a.copy(order=order), None
    if not copy and a.dtype == dtype and _order_fits(a, order):
        result = a
    elif copy is False:
        raise ValueError("array(copy=False): the values have to be copied")
    else:
        result = a.astype(dtype, order=order, copy=True)
    if not subok and type(result) is not ndarray:
        result = result.as_type(ndarray)
    return result


def _order_fits(a: ndarray, order: str) -> bool:
    order = order.upper()
    if order == "C":
        return a.c_contiguous
    if order == "F":
        return a.f_contiguous
    return True


def _holds_device_arrays(obj) -> bool:
    for item in obj:
        if isinstance(item, (list, tuple)):
            if _holds_device_arrays(item):
                return True
        elif not isinstance(item, (np.ndarray, *SCALARS)) and as_device_array(item) is not None:
            return True
    return False


def _from_nested(obj, dtype, order) -> ndarray:
    parts = [array(item, dtype=dtype) for item in obj]
    shapes = {part.shape for part in parts}
    if len(shapes) != 1:
        raise ValueError(f"array: elements have different shapes: {sorted(shapes)}")
    result = stack_arrays(parts, 0)
    if dtype is not None and result.dtype != dtype:
        result = result.astype(dtype)
    if order.upper() == "F":
        result = result.copy(order="F")
    return result


def _upload(obj, dtype, order, ndmin) -> ndarray:
    if dtype is not None and dtype.kind != "V" and not isinstance(obj, np.ndarray):
        host = np.array(obj, dtype=dtype, order=order, ndmin=ndmin)
    else:
        host = np.array(obj, copy=None, order=order, ndmin=ndmin)
        if dtype is not None:
            host = host.astype(dtype, order=order, copy=False)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    check_dtype(host.dtype)
    return from_host(host, order=order)


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False) -> ndarray:
    """Make an array, sharing the memory of a device array where nothing has to change.

    Parameters
    ----------
    a : array_like
    dtype : data-type, optional
    order : {'C', 'F', 'A', 'K'}, optional
    copy : bool, optional
        True: always copy. False: raise ValueError where a copy is needed.
    blocking : bool
        As of `array`.
    """
    if copy is False:
        device_array = as_device_array(a)
        fits = (
            device_array is not None
            and (dtype is None or device_array.dtype == np.dtype(dtype))
            and _order_fits(device_array, order or "K")
            and not engine.is_elsewhere(device_array)
        )
        if not fits:
            raise ValueError("asarray(copy=False): the values have to be copied")
    return array(a, dtype, True if copy else None, "K" if order is None else order)


def asanyarray(a, dtype=None, order=None, *, blocking=False) -> ndarray:
    """As `asarray`, but subclasses of ndarray pass through."""
    return array(a, dtype, None, "K" if order is None else order, subok=True)


def ascontiguousarray(a, dtype=None) -> ndarray:
    """Return an array in C order with at least one axis."""
    return array(a, dtype, None, "C", ndmin=1)


def asfortranarray(a, dtype=None) -> ndarray:
    """Return an array in Fortran order with at least one axis."""
    return array(a, dtype, None, "F", ndmin=1)


def asarray_chkfinite(a, dtype=None, order=None) -> ndarray:
    """As `asarray`, but raise ValueError where a value is infinite or NaN."""
    result = asarray(a, dtype, order)
    if result.dtype.kind in "fc" and not bool(engine.ufuncs["isfinite"](result).all()):
        raise ValueError("array must not contain Infs or NaNs")
    return result


def copy(a, order="K") -> ndarray:
    """Return a copy of an array."""
    return array(a, order=order)


def frombuffer(buffer, dtype=float, count=-1, offset=0, *, like=None) -> ndarray:
    """Make a 1-D array of the bytes of a host buffer."""
    return array(np.frombuffer(buffer, dtype, count, offset))


def fromfile(file, dtype=float, count=-1, sep="", offset=0) -> ndarray:
    """Make an array of a file's values, read on the host."""
    return array(np.fromfile(file, dtype, count, sep, offset))


def fromfunction(function, shape, *, dtype=float, **kwargs) -> ndarray:
    """Call a function with the index arrays of a shape."""
    from trilane.cupy._indexing import indices

    return function(*indices(normalize_shape(shape), dtype=dtype), **kwargs)


def fromiter(iter, dtype, count=-1) -> ndarray:
    """Make a 1-D array of an iterable's values."""
    return array(np.fromiter(iter, dtype, count))


def fromstring(string, dtype=float, count=-1, *, sep) -> ndarray:
    """Make a 1-D array of a text's numbers."""
    return array(np.fromstring(string, dtype, count, sep=sep))


def loadtxt(fname, **kwargs) -> ndarray:
    """Load an array from a text file, read on the host; arguments as of `numpy.loadtxt`."""
    return array(np.loadtxt(fname, **kwargs))


def genfromtxt(fname, **kwargs) -> ndarray:
    """Load an array from a text file with missing values; arguments as of `numpy.genfromtxt`."""
    return array(np.genfromtxt(fname, **kwargs))


def from_dlpack(x, /, *, device=None, copy=None) -> ndarray:
    """Make an array of an object with ``__dlpack__``, without a copy where possible.

    Parameters
    ----------
    x : object
        Its memory is the host's or the current CUDA device's, whose current stream then waits for
        what the producer still does.
    device : None
        Only the current device.
    copy : bool, optional
        True: always copy. False: raise where a copy is needed.

    Raises
    ------
    NotImplementedError
        The memory is of another kind of device, or has elements of a type that is not here.
    ValueError
        The memory is on a device that is not the current one.
    """
    if isinstance(x, ndarray):
        x = plain(x)
        return x.copy() if copy else x.view()
    kind = x.__dlpack_device__()[0]
    if kind == 2:
        shown = plain(from_cuda_dlpack(x))
        return shown.copy() if copy else shown
    if kind not in (1, 3):
        raise NotImplementedError(f"from_dlpack: memory of DLPack device type {int(kind)}")
    host = np.from_dlpack(x)
    if copy or _core.current_context().properties.type != "cpu" or host.size == 0:
        if copy is False and host.size:
            raise ValueError("from_dlpack(copy=False): the memory is not on the current device")
        return array(host)
    return _adopt_host(host)


def _adopt_host(host: np.ndarray) -> ndarray:
    reach = [(e - 1) * s for e, s in zip(host.shape, host.strides)]
    low = sum(r for r in reach if r < 0)
    nbytes = sum(r for r in reach if r > 0) - low + host.itemsize
    buffer = _core.Buffer.adopt(host.__array_interface__["data"][0] + low, nbytes, host)
    return from_buffer(buffer, -low, host.shape, check_dtype(host.dtype), host.strides)


fromDlpack = from_dlpack


def arange(start, stop=None, step=1, dtype=None) -> ndarray:
    """Return evenly spaced values in the half-open interval [start, stop).

    Parameters
    ----------
    start, stop, step : number
        One number alone is `stop`.
    dtype : data-type, optional
        By default that of the arguments.

    Raises
    ------
    ValueError
        The step is zero, or a boolean array would have more than two values.
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        dtype = np.result_type(*(np.array(x).dtype for x in (start, stop, step)))
        if dtype.kind == "b":
            dtype = np.dtype(int)
    dtype = check_dtype(dtype)
    if step == 0:
        raise ZeroDivisionError("arange: the step is zero")
    size = max(0, _range_length(start, stop, step))
    if dtype.kind == "b":
        if size > 2:
            raise TypeError(
                "arange() is only supported for booleans when the result has at most length 2."
            )
        return array(np.arange(start, stop, step, dtype))
    if size == 0:
        return _empty((0,), dtype, "C")
    return engine.arange(_plain(start), _plain(stop), _plain(step), dtype)


def _plain(x):
    return x.item() if isinstance(x, (np.generic, ndarray)) else x


def _range_length(start, stop, step) -> int:
    if all(isinstance(x, (int, np.integer)) for x in (start, stop, step)):
        return -((int(start) - int(stop)) // int(step))
    length = (stop - start) / step
    return math.ceil(length.real if isinstance(length, complex) else length)


def tri(N, M=None, k=0, dtype=float) -> ndarray:
    """Return ones at and below the k-th diagonal, zeros above."""
    M = N if M is None else M
    rows = arange(0, N, 1, np.int64).reshape(-1, 1)
    columns = arange(-k, M - k, 1, np.int64)
    return (rows >= columns).astype(check_dtype(dtype))


def tril(m, k=0) -> ndarray:
    """Return an array with the elements above the k-th diagonal of the last two axes zeroed."""
    m = asarray(m)
    mask = tri(*(m.shape[-2:] if m.ndim > 1 else m.shape * 2), k=k, dtype=bool)
    return engine.where(mask, m, m.dtype.type(0))


def triu(m, k=0) -> ndarray:
    """Return an array with the elements below the k-th diagonal of the last two axes zeroed."""
    m = asarray(m)
    mask = tri(*(m.shape[-2:] if m.ndim > 1 else m.shape * 2), k=k - 1, dtype=bool)
    return engine.where(mask, m.dtype.type(0), m)


def diag(v, k=0) -> ndarray:
    """Return the k-th diagonal of a 2-D array, or make a 2-D array of a diagonal."""
    v = asarray(v)
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    result = zeros((n, n), v.dtype)
    if v.shape[0]:
        engine.diag_view(result, k)[...] = v
    return result


def diagflat(v, k=0) -> ndarray:
    """Make a 2-D array with the flattened input as its diagonal."""
    return diag(asarray(v).ravel(), k)


def vander(x, N=None, increasing=False) -> ndarray:
    """Return a Vandermonde matrix: powers of `x` in columns."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = len(x) if N is None else N
    powers = arange(0, N, 1, np.int64)
    if not increasing:
        powers = powers[::-1]
    dtype = np.promote_types(x.dtype, int)
    return engine.ufuncs["power"](x.astype(dtype).reshape(-1, 1), powers, dtype=dtype)


def _order(order) -> str:
    order = "C" if order is None else order.upper()
    if order in ("A", "K"):
        return "C"
    if order not in ("C", "F"):
        raise ValueError(f"order not understood: {order!r}")
    return order
