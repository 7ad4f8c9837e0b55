"""Files and printed forms, through NumPy on the host."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from trilane.cupy._convert import asnumpy
from trilane.cupy._creation import array


class NpzFile:
    """An archive of arrays; loads each on access. What `load` returns for ``.npz`` files."""

    def __init__(self, npz_file) -> None:
        self.npz_file = npz_file

    def __enter__(self) -> NpzFile:
        self.npz_file.__enter__()
        return self

    def __exit__(self, typ, val, traceback) -> None:
        self.npz_file.__exit__(typ, val, traceback)

    def __getitem__(self, key):
        return array(self.npz_file[key])

    def __contains__(self, key) -> bool:
        return key in self.npz_file

    def __iter__(self):
        return iter(self.npz_file)

    def keys(self):
        """Names of the arrays."""
        return self.npz_file.keys()

    @property
    def files(self) -> list[str]:
        """Names of the arrays."""
        return self.npz_file.files

    def close(self) -> None:
        """Close the file."""
        self.npz_file.close()


def load(file, mmap_mode=None, allow_pickle=None):
    """Load an array or an archive from a ``.npy`` or ``.npz`` file."""
    made = np.load(file, mmap_mode=mmap_mode, allow_pickle=bool(allow_pickle))
    if isinstance(made, np.ndarray):
        return array(made)
    return NpzFile(made) if isinstance(made, np.lib.npyio.NpzFile) else made


def save(file, arr, allow_pickle=None) -> None:
    """Save an array to a ``.npy`` file."""
    np.save(file, asnumpy(arr), allow_pickle=True if allow_pickle is None else allow_pickle)


def savez(file, *args, **kwds) -> None:
    """Save several arrays to an uncompressed ``.npz`` file."""
    np.savez(file, *map(asnumpy, args), **{k: asnumpy(v) for k, v in kwds.items()})


def savez_compressed(file, *args, **kwds) -> None:
    """Save several arrays to a compressed ``.npz`` file."""
    np.savez_compressed(file, *map(asnumpy, args), **{k: asnumpy(v) for k, v in kwds.items()})


def savetxt(fname, X, *args, **kwargs) -> None:
    """Save a 1-D or 2-D array to a text file; arguments as of `numpy.savetxt`."""
    np.savetxt(fname, asnumpy(X), *args, **kwargs)


@functools.wraps(np.array2string)
def array2string(a, *args, **kwargs) -> str:
    return np.array2string(asnumpy(a), *args, **kwargs)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    """Return the ``repr`` text of an array."""
    return np.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    """Return the ``str`` text of an array."""
    return np.array_str(asnumpy(arr), max_line_width, precision, suppress_small)


def format_float_positional(x, *args, **kwargs) -> str:
    """Format a number without an exponent; arguments as of NumPy's."""
    return np.format_float_positional(asnumpy(x), *args, **kwargs)


def format_float_scientific(x, *args, **kwargs) -> str:
    """Format a number with an exponent; arguments as of NumPy's."""
    return np.format_float_scientific(asnumpy(x), *args, **kwargs)


def base_repr(number, base=2, padding=0):
    """Return an integer's digits in a base up to 36, after `padding` zeros."""
    return np.base_repr(number, base, padding)


def binary_repr(num, width=None):
    """Return an integer's binary digits: two's complement of `width` bits if it is negative."""
    return np.binary_repr(num, width)


set_printoptions = np.set_printoptions
get_printoptions = np.get_printoptions


@contextlib.contextmanager
def printoptions(*args, **kwargs):
    """Set printing options inside a ``with`` block."""
    with np.printoptions(*args, **kwargs) as options:
        yield options
