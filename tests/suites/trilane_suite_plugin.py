"""pytest plug-in of a suite run: aliases, the peer's own helpers, one JSON line per event.

Lives in the private environment's path; told what to do by TRILANE_SUITE (JSON): `results` (file
to append to), `overlays` (importable name -> path), `skip_done` (ids not to run again),
`memory` (bytes that the process may address; 0: no limit).
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import resource
import sys
from pathlib import Path

import pytest

from trilane import aliases

_settings = json.loads(os.environ["TRILANE_SUITE"])
_work = Path(_settings["work"])


class _Overlay(importlib.abc.MetaPathFinder):
    """Serves the peer's released helper modules under their own names, before the faces."""

    def find_spec(self, fullname, path=None, target=None):  # noqa: ANN001, ANN201
        for name, place in _settings["overlays"].items():
            if fullname != name and not fullname.startswith(name + "."):
                continue
            file = Path(place).joinpath(*fullname[len(name) + 1 :].split("."))
            if file.is_dir():
                init = file / "__init__.py"
                location = str(init) if init.exists() else None
                if location is None:
                    spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
                    spec.submodule_search_locations = [str(file)]
                    return spec
                return importlib.util.spec_from_file_location(
                    fullname, location, submodule_search_locations=[str(file)]
                )
            for candidate in (file, file.with_suffix(".py")):
                if candidate.is_file():
                    return importlib.util.spec_from_file_location(fullname, str(candidate))
        return None


# An item that asks for more memory than there is fails, instead of ending the machine.
if _settings.get("memory"):
    resource.setrlimit(resource.RLIMIT_AS, (_settings["memory"], resource.RLIM_INFINITY))
aliases.install()
# The first import of an alias puts the faces' finder first: these go before it.
for _name in {name.split(".")[0] for name in _settings["overlays"]}:
    importlib.import_module(_name)
sys.meta_path.insert(0, _Overlay())
for _name in _settings["overlays"]:
    _parent, _, _leaf = _name.rpartition(".")
    sys.modules.pop(_name, None)
    try:
        setattr(importlib.import_module(_parent), _leaf, importlib.import_module(_name))
    except Exception as _error:  # the peer's helper needs what the face lacks: its tests fail
        print(f"suite: {_name} does not import: {_error!r}", file=sys.stderr)


@pytest.fixture
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """What the peer's own pytest configuration, no part of its release, sets on test classes."""
    if request.cls is not None:
        request.cls._dump_failed_filechecks = False


def _write(**row: object) -> None:
    with open(_settings["results"], "a") as stream:
        stream.write(json.dumps(row) + "\n")


def _definition(item: pytest.Item) -> str:
    """file::Class::function of where the test function stands (a base class may hold it)."""
    function = getattr(item, "function", None)
    if function is None:
        return item.nodeid.split("[")[0]
    function = getattr(function, "__wrapped__", function)
    name = item.nodeid.split("[")[0].split("::")
    try:
        file = Path(sys.modules[function.__module__].__file__).resolve()
        file_name = file.relative_to(_work.resolve()).as_posix()
    except (KeyError, TypeError, ValueError, AttributeError):
        file_name = name[0]
    return "::".join([file_name, *name[1:]])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    done = set(_settings["skip_done"])
    items[:] = [item for item in items if item.nodeid not in done]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item):  # noqa: ANN201
    _write(event="start", item=item.nodeid, id=_definition(item))
    yield


_outcomes: dict[str, str] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call):  # noqa: ANN001, ANN201
    report = (yield).get_result()
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    if report.when == "setup" or outcome != "passed":
        _outcomes[item.nodeid] = outcome
    if report.when == "teardown":
        text = "" if _outcomes[item.nodeid] == "passed" else _last_reason.pop(item.nodeid, "")
        _write(event="end", item=item.nodeid, outcome=_outcomes.pop(item.nodeid), reason=text)
    elif outcome != "passed":
        text = str(report.longrepr)
        _last_reason[item.nodeid] = text.strip().splitlines()[-1][:300] if text else ""


_last_reason: dict[str, str] = {}


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        text = str(report.longrepr).strip().splitlines()
        _write(event="collect-error", file=report.nodeid, reason=text[-1][:300] if text else "")
