#!/usr/bin/env bash
# One dialect for both compilers: NVRTC, from its wheels and without a GPU, compiles every text that
# the Python tests left in build/texts (TRILANE_DUMP), within limits. The kernel cases and the headers
# are tests/parity, among those tests where the wheels are there (TRILANE_SETUP_NVRTC=1 bin/test).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.venv/bin/python -m tests.parity build/texts --seconds "${PARITY_SECONDS:-150}"
