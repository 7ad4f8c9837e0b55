"""`trilane cache`: where compiled kernels are kept, how much there is, and emptying it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = ["cache_lines", "clear_cache", "collect_cache", "run_cache"]


def collect_cache() -> dict[str, Any]:
    """The disk cache as plain data: directory, state, limit, files and bytes."""
    from trilane import _core

    directory = _core.cache_directory()
    files = nbytes = 0
    for path in _entries(directory):
        try:
            nbytes += path.stat().st_size
        except OSError:  # another process removed it
            continue
        files += 1
    return {
        "directory": directory,
        "state": _core.cache_state(),
        "limit": _core.cache_limit(),
        "files": files,
        "bytes": nbytes,
    }


def _entries(directory: str) -> list[Path]:
    """The files that the cache made, of this and of earlier formats; nothing else."""
    if not directory:
        return []
    found = []
    for folder in ("images-*", "preludes*"):
        for place in Path(directory).glob(folder):
            if place.is_symlink() or not place.is_dir():
                continue
            with os.scandir(place) as entries:
                found += [
                    Path(entry.path)
                    for entry in entries
                    if entry.is_file(follow_symlinks=False)
                    and (entry.name.endswith(".image") or entry.name.startswith(".new-"))
                ]
    return found


def cache_lines(cache: dict[str, Any]) -> list[str]:
    """Two lines for people."""
    limit = cache["limit"] / 2**20
    return [
        f"{cache['directory']} ({cache['state']})",
        f"{cache['files']} files, {cache['bytes'] / 2**20:.1f} MiB; beyond {limit:.0f} MiB "
        "(TRILANE_CACHE_MIB) the least used go",
    ]


def clear_cache() -> tuple[int, int]:
    """Remove every entry; returns how many files went and how many could not be removed.

    Processes that run now go on: what they read is in their memory.
    """
    from trilane import _core

    gone = kept = 0
    for path in _entries(_core.cache_directory()):
        try:
            path.unlink(missing_ok=True)
        except OSError:
            kept += 1
        else:
            gone += 1
    return gone, kept


def run_cache(clear: bool = False) -> int:
    """Print what there is, or remove it; status 1 if something could not be removed."""
    cache = collect_cache()
    if not clear:
        print("\n".join(cache_lines(cache)))
        return 0
    gone, kept = clear_cache()
    print(f"{cache['directory']}: {gone} files removed")
    if kept:
        print(
            f"{kept} files could not be removed: they belong to another user, or so does the folder"
        )
    return 1 if kept else 0
