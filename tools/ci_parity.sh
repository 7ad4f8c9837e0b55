#!/usr/bin/env bash
# One dialect for both compilers: NVRTC, from its wheels and without a GPU, compiles the kernel cases,
# the headers, and every text that the Python tests left in build/texts (TRILANE_DUMP), within limits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.venv/bin/python -m pip install -q --disable-pip-version-check -r requirements-parity.txt
.venv/bin/python -m pytest tests/parity
.venv/bin/python -m tests.parity build/texts --seconds "${PARITY_SECONDS:-150}"
