#!/usr/bin/env bash
# Formatting, lint, layers and sizes, as `make check`; installs clang-format 19 if it is missing.
set -euo pipefail
command -v clang-format-19 >/dev/null ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends clang-format-19 >/dev/null; }
make check
