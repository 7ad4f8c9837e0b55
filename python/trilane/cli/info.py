"""`trilane info`: devices, compilers, versions, cache, and what is missing with how to get it."""

from __future__ import annotations

import json
import os
import platform
import sys
from typing import Any

from trilane.cli.cache import cache_lines, collect_cache

__all__ = ["collect_info", "describe_run", "print_info"]

# Packages that matter to somebody who reports a fault, in the order shown.
_PACKAGES = (
    "numpy",
    "nanobind-backend",
    "ml_dtypes",
    "numba",
    "llvmlite",
    "cupy",
    "pycuda",
    "torch",
)


def collect_info() -> dict[str, Any]:
    """Everything that `trilane info` shows, as plain data; never raises for a missing device."""
    from trilane import __version__
    from trilane._missing import peer_names

    info: dict[str, Any] = {
        "trilane": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}, "
        f"glibc {platform.libc_ver()[1] or 'unknown'}",
        "packages": _package_versions(),
        "faces": {face: peer_names(face)[0] for face in ("pycuda", "numba", "cupy")},
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("TRILANE_")},
        "devices": [],
        "missing": [],
    }
    try:
        from trilane import _core
    except ImportError as error:
        info["missing"].append(f"the extension does not load: {error}")
        return info
    info["cache"] = collect_cache()
    for kind, count, why_not in _core.device_types():
        if count == 0:
            info["missing"].append(f"{kind}: {why_not}")
    for index in range(_core.device_count()):
        info["devices"].append(_device(index))
    return info


def _device(index: int) -> dict[str, Any]:
    from trilane import _core

    try:
        context = _core.context_of(index)
    except _core.TrilaneError as error:
        return {"index": index, "error": str(error)}
    properties = context.properties
    free, total = context.memory_info()
    return {
        "index": index,
        "type": properties.type,
        "name": properties.name,
        "compute capability": ".".join(map(str, properties.compute_capability)),
        "memory": f"{total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB free",
        "multiprocessors": properties.multiprocessor_count,
        **dict(context.describe()),
    }


def _package_versions() -> dict[str, str]:
    from importlib import metadata

    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def print_info(as_json: bool = False) -> int:
    """Print it; status 1 if there is no device at all."""
    info = collect_info()
    if as_json:
        print(json.dumps(info, indent=2))
    else:
        for line in _lines(info):
            print(line)
    return 0 if any("error" not in device for device in info["devices"]) else 1


def _lines(info: dict[str, Any]) -> list[str]:
    lines = [f"Trilane {info['trilane']}"]
    lines += [f"  python    {info['python']}", f"  system    {info['system']}"]
    packages = ", ".join(f"{name} {version}" for name, version in info["packages"].items())
    lines.append(f"  packages  {packages}")
    lines.append("  faces     as of " + ", ".join(info["faces"].values()))
    if "cache" in info:
        place, use = cache_lines(info["cache"])
        lines += [f"  cache     {place}", f"            {use}"]
    lines += [f"  set       {name}={value}" for name, value in info["environment"].items()]
    for device in info["devices"]:
        lines.append(f"Device {device['index']}")
        width = max(len(key) for key in device)
        lines += [f"  {key:<{width}}  {value}" for key, value in device.items() if key != "index"]
    if info["missing"]:
        lines.append("Not available")
        lines += [f"  {text}" for text in info["missing"]]
    return lines


def describe_run() -> str:
    """One line on what this process did: devices used, compile time, where the code came from."""
    from trilane import _core

    parts = []
    for context in _core.live_contexts():
        statistics = context.cache_statistics()
        sources = [f"{statistics['compiled']} compiled in {statistics['compile_ns'] / 1e6:.0f} ms"]
        if statistics["disk_hits"]:
            sources.append(f"{statistics['disk_hits']} from the disk cache")
        if statistics["memory_hits"]:
            sources.append(f"{statistics['memory_hits']} from memory")
        parts.append(f"ran on {context.properties.name}; programs: {', '.join(sources)}")
    return "; ".join(parts) or "no device was used"
