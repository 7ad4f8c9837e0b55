"""The examples of docs/coming-from-pycuda.md run."""

from __future__ import annotations

import doctest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_for_pycudas_users():
    page = ROOT / "docs" / "coming-from-pycuda.md"
    options = doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert tried > 20 and not failed
