"""`python -m trilane`: the same as the `trilane` command."""

from __future__ import annotations

import sys

from trilane.cli import main

if __name__ == "__main__":
    sys.exit(main())
