"""Link this tree's package into the virtual environment that runs this script.

`link_package.py ROOT` writes a path file, the `trilane` command and the package's metadata, so that
`.venv/bin/trilane` and `.venv/bin/python -c "import trilane"` use the tree and what CMake built
into it. `pip install .` is the way to install; this is the way to develop.
"""

from __future__ import annotations

import re
import stat
import sys
import sysconfig
from pathlib import Path


def write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    site = Path(sysconfig.get_path("purelib"))
    scripts = Path(sysconfig.get_path("scripts"))
    project = (root / "pyproject.toml").read_text()
    match = re.search(r'^version = "([^"]+)"', project, re.MULTILINE)
    if match is None:
        raise SystemExit("link_package: pyproject.toml has no version")
    version = match.group(1)

    write_if_changed(site / "trilane.pth", f"{root / 'python'}\n")
    info = site / f"trilane-{version}.dist-info"
    write_if_changed(
        info / "METADATA", f"Metadata-Version: 2.1\nName: trilane\nVersion: {version}\n"
    )
    write_if_changed(info / "INSTALLER", "link_package\n")
    write_if_changed(
        info / "RECORD",
        f"trilane.pth,,\n{info.name}/METADATA,,\n{info.name}/INSTALLER,,\n{info.name}/RECORD,,\n",
    )
    command = scripts / "trilane"
    write_if_changed(
        command,
        f"#!{sys.executable}\nimport sys\nfrom trilane.cli import main\nsys.exit(main())\n",
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return 0


if __name__ == "__main__":
    sys.exit(main())
