"""The file of recorded results: xz of one line of JSON, then the values of all cases in its order."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.bitcompare.case import Case
from tests.bitcompare.inputs import NUMPY

FILE = Path(__file__).with_name("data") / "h200.xz"


def write(path: Path, cases: Sequence[Case], results: dict[str, np.ndarray], about: dict) -> None:
    """`about` says what made the results: device, driver, compiler."""
    head = {
        "about": about,
        "cases": [[case.name, case.digest, case.result, len(case.rows), case.columns]
                  for case in cases],
    }  # fmt: skip
    values = b"".join(results[case.name].tobytes() for case in cases)
    data = json.dumps(head).encode() + b"\n" + values
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def read(path: Path) -> tuple[dict, dict[str, tuple[str, np.ndarray]]]:
    """What made the results, and name -> digest of the case and its result."""
    line, _, values = lzma.decompress(path.read_bytes()).partition(b"\n")
    head = json.loads(line)
    stored, at = {}, 0
    for name, digest, kind, rows, columns in head["cases"]:
        array = np.frombuffer(values, NUMPY[kind], rows * columns, at).reshape(rows, columns)
        stored[name] = (digest, array)
        at += array.nbytes
    if at != len(values):
        raise ValueError(f"{path}: {len(values)} bytes of values, {at} expected")
    return head["about"], stored
