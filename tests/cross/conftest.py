"""Every test here runs once per kind of device."""

from __future__ import annotations

import pytest

from tests.kernels.devices import context_of, device_types
from trilane import _core


@pytest.fixture(params=device_types(), autouse=True)
def device(request):
    """The kind of the current device: "cpu" or "cuda"."""
    before = _core.current_device_index()
    _core.set_current_device(context_of(request.param).index)
    yield request.param
    _core.set_current_device(before)
