"""Conditions and marks of tests."""

from __future__ import annotations

import contextlib
import importlib.metadata
import warnings

import pytest

slow = pytest.mark.slow


def multi_gpu(gpu_num: int):
    """Make a mark: the test needs a number of devices."""
    from trilane import _core

    count = _core.device_count()
    return pytest.mark.skipif(count < gpu_num, reason=f"needs {gpu_num} devices, there are {count}")


def installed(*specifiers: str) -> bool:
    """Whether packages are installed in versions such as ``'numpy>=2.1'``."""
    from packaging.requirements import Requirement

    for text in specifiers:
        requirement = Requirement(text)
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if not requirement.specifier.contains(version, prereleases=True):
            return False
    return True


def numpy_satisfies(version_range: str) -> bool:
    """Whether NumPy's version is in a range such as ``'>=2.1'``."""
    return installed(f"numpy{version_range}")


def with_requires(*requirements: str):
    """Make a mark: the test needs packages in versions."""
    return pytest.mark.skipif(
        not installed(*requirements), reason=f"requires: {', '.join(requirements)}"
    )


@contextlib.contextmanager
def assert_warns(expected):
    """Fail unless the block warns with the class."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if not any(issubclass(w.category, expected) for w in caught):
        raise AssertionError(f"{expected.__name__} was not raised")
