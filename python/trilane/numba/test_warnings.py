"""Warnings that settings ask for: few blocks, copied arrays, options that do not go together."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from trilane.numba import config, cuda
from trilane.numba.core.errors import NumbaInvalidConfigWarning, NumbaPerformanceWarning


@cuda.jit
def increment(a):
    a[0] += 1


def test_few_blocks(monkeypatch):
    monkeypatch.setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 1)
    with pytest.warns(NumbaPerformanceWarning, match="Grid size 3 .*low occupancy"):
        increment.configure(3, 32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        increment.configure(128, 32)


def test_host_arrays(monkeypatch):
    monkeypatch.setattr(config, "CUDA_WARN_ON_IMPLICIT_COPY", 1)
    with pytest.warns(NumbaPerformanceWarning, match="Host array used in CUDA kernel"):
        increment[1, 1](np.zeros(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        increment[1, 1](cuda.to_device(np.zeros(1)))
        increment[1, 1](cuda.mapped_array(1))


@pytest.mark.parametrize("options", [{"opt": True}, {}, {"lineinfo": True, "opt": False}])
def test_debug_with_what_it_excludes(options):
    with pytest.warns(NumbaInvalidConfigWarning):
        cuda.jit(debug=True, **options)


def test_debug_alone(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cuda.jit(debug=True, opt=False)
        monkeypatch.setattr(config, "OPT", config._OptLevel(0))
        cuda.jit(debug=True)
