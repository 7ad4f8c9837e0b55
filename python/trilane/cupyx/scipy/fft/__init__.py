"""Fourier, cosine and sine transforms by SciPy's names."""

from __future__ import annotations

from trilane._missing import missing_attributes as _missing_attributes
from trilane.cupyx.scipy.fft._fft import (
    fft,
    fft2,
    fftn,
    get_fft_plan,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    next_fast_len,
    rfft,
    rfft2,
    rfftn,
)
from trilane.cupyx.scipy.fft._real import dct, dctn, dst, dstn, idct, idctn, idst, idstn

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftn", "get_fft_plan", "hfft", "hfft2", "hfftn",
    "idct", "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ihfft", "ihfft2", "ihfftn", "irfft",
    "irfft2", "irfftn", "next_fast_len", "rfft", "rfft2", "rfftn",
]  # fmt: skip

__getattr__ = _missing_attributes(__name__)
