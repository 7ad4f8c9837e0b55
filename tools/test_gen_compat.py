"""The pages of docs/compat agree with the faces; missing names say so and can be probed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tools.gen_compat import TITLES, owner_of, refuses, state_of
from trilane._missing import peer_names

TOOL = Path(__file__).with_name("gen_compat.py")


def test_the_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(TOOL), "--all", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("peer", TITLES)
def test_names_are_of_the_release_that_the_face_follows(peer):
    release, sections = peer_names(peer)
    module = importlib.import_module("trilane.numba.cuda" if peer == "numba" else f"trilane.{peer}")
    version = getattr(module, "VERSION_TEXT", None) or module.__version__
    assert release.split()[1].split(".")[:2] == str(version).split(".")[:2]
    assert sum(map(len, sections.values())) > 500


@pytest.mark.parametrize("peer", TITLES)
def test_missing_names_can_be_probed_and_say_that_they_are_missing(peer):
    checked = 0
    for section, names in peer_names(peer)[1].items():
        owner = owner_of(section)
        if not isinstance(owner, ModuleType):
            continue
        for name in names:
            if state_of(owner, name) != "missing":
                continue
            assert not hasattr(owner, name)
            with pytest.raises(NotImplementedError) as caught:
                getattr(owner, name)
            assert isinstance(caught.value, AttributeError)
            assert f"{section}.{name} " in str(caught.value)
            checked += 1
        with pytest.raises(AttributeError) as plain:
            owner.no_such_name  # noqa: B018
        assert not isinstance(plain.value, NotImplementedError)
    assert checked > 10


def test_states_are_found_by_looking():
    from trilane.pycuda import driver

    assert state_of(driver, "mem_alloc") == "here"
    assert state_of(driver, "matrix_to_texref") == "refused"
    with pytest.raises(NotImplementedError):
        driver.matrix_to_texref(None, None, "C")
    assert state_of(driver, "no_such_name") == "missing"
    assert owner_of("pycuda.no_such_module") is None

    def works(x):
        """Raises only sometimes."""
        if x:
            raise NotImplementedError("x")

    assert not refuses(works)
