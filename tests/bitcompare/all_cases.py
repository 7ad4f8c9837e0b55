"""All bit-compare cases: importing the modules fills the table."""

from __future__ import annotations

from tests.bitcompare import (  # noqa: F401
    cases_convert,
    cases_float,
    cases_integer,
    cases_math,
    cases_memory,
    cases_small_float,
    cases_warp,
)
from tests.bitcompare.case import CASES

__all__ = ["CASES"]
