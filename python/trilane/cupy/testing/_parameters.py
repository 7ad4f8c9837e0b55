"""Parameters of test classes and functions."""

from __future__ import annotations

import itertools

import pytest


def product(parameter: dict | list) -> list[dict]:
    """Return all combinations: of a dict's lists, or of a list of dicts' lists."""
    if isinstance(parameter, dict):
        keys = sorted(parameter)
        return [
            dict(zip(keys, values)) for values in itertools.product(*(parameter[k] for k in keys))
        ]
    return [
        {key: value for part in parts for key, value in part.items()}
        for parts in itertools.product(*parameter)
    ]


def product_dict(*parameters: list[dict]) -> list[dict]:
    """Return all combinations of lists of dicts, merged."""
    return [
        {key: value for part in parts for key, value in part.items()}
        for parts in itertools.product(*parameters)
    ]


def parameterize(*params: dict):
    """Make a decorator for a test class: its tests run once per dict, whose items are attributes."""

    def decorate(cls):
        @pytest.fixture(autouse=True, params=list(params), ids=[str(p) for p in params])
        def _parameters(self, request):
            for name, value in request.param.items():
                setattr(self, name, value)

        cls._trilane_parameters = _parameters
        return cls

    return decorate
