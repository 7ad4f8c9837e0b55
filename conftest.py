"""Which device the tests run on, and the marker of those that are about the cpu device alone.

The whole set runs on the device that TRILANE_DEVICE names, or on the best one there is. A test that
is about clang, the checks, the counters or the library of the cpu device says
`@pytest.mark.cpu_only(reason="...")` and is left out elsewhere.
"""

from __future__ import annotations

import os

import pytest


def selected_device() -> str:
    """ "cpu" or "cuda", of device 0; "none" without a device. Starts no device."""
    named = os.environ.get("TRILANE_DEVICE", "").split(":")[0]
    if named:
        return named
    from trilane import _core

    return next((kind for kind, count, _reason in _core.device_types() if count), "none")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cpu_only(reason): about the cpu device itself; left out on other devices"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("cpu_only")
    if marker is None:
        return
    reason = marker.kwargs["reason"]  # a KeyError here: give the marker its reason
    if selected_device() != "cpu":
        pytest.skip(f"cpu device only: {reason}")


@pytest.fixture
def refused_as_by_numpy():
    """Asserts that an action on a module raises for the face of CuPy what it raises for NumPy."""
    import numpy

    from trilane import cupy

    def check(action) -> None:
        with pytest.raises(Exception) as expected:
            action(numpy)
        with pytest.raises(type(expected.value)):
            action(cupy)

    return check


@pytest.fixture(scope="session")
def device_kind() -> str:
    """The kind of device that this run of the tests is about, for child processes and names."""
    return selected_device()
