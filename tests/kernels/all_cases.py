"""All kernel cases: importing the modules fills the table."""

from __future__ import annotations

from tests.kernels import (  # noqa: F401
    cases_atomic,
    cases_barrier,
    cases_conversion,
    cases_float,
    cases_integer,
    cases_library,
    cases_program,
    cases_random,
    cases_sync,
    cases_warp,
)
from tests.kernels.case import CASES

__all__ = ["CASES"]
