"""The suite runner's own logic: ids, merging of results, ledger."""

from __future__ import annotations

import ast
import json

import pytest

from tests.suites import ids, ledger, run
from tests.suites.peers import PEERS


def test_function_ids_cover_modules_classes_and_conditions():
    text = """
def test_a(): pass
def helper(): pass
class TestB:
    def test_c(self): pass
    def setUp(self): pass
if True:
    def test_d(): pass
"""
    assert ids._functions(ast.parse(text).body) == ["test_a", "TestB::test_c", "test_d"]


@pytest.mark.parametrize("name", ["numba", "cupy"])
def test_denominators_are_committed_and_have_no_duplicates(name):
    found = ledger.read_ids(PEERS[name])
    assert len(found) == len(set(found)) > 1000


def results_file(tmp_path, rows):
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_an_id_passes_only_if_all_its_items_pass(tmp_path):
    rows = []
    for item, outcome in [("f::t[1]", "passed"), ("f::t[2]", "skipped"), ("f::u[1]", "passed")]:
        rows.append({"event": "start", "item": item, "id": item.split("[")[0]})
        rows.append({"event": "end", "item": item, "outcome": outcome, "reason": ""})
    outcomes = run.outcomes_by_id(PEERS["numba"], [results_file(tmp_path, rows)])
    assert outcomes == {"f::t": "skipped", "f::u": "passed"}


def test_an_item_that_never_ended_has_crashed(tmp_path):
    rows = [{"event": "start", "item": "f::t", "id": "f::t"}]
    found, errors = run.read_results(results_file(tmp_path, rows))
    assert found["f::t"]["outcome"] == "crashed" and errors == []


def test_compare_fails_only_for_what_is_lost(monkeypatch, capsys):
    monkeypatch.setattr(ledger, "read_ledger", lambda peer, device: {"a::t", "b::t"})
    peer = PEERS["cupy"]
    assert ledger.compare(peer, "cpu", ["a::t", "b::t", "c::t"], False, []) == 0
    assert ledger.compare(peer, "cpu", ["a::t"], False, []) == 1
    assert "NEWLY FAILS: b::t" in capsys.readouterr().out
    assert ledger.compare(peer, "cpu", ["a::t"], True, ["a"]) == 0


def test_classes_made_by_parameterize_count_for_the_class_in_the_file(tmp_path):
    item = "tests/test_pad.py::TestPad_param_0_{array=array([[0, 1],\n [2, 3]]), mode='edge'}::test_pad"
    rows = [
        {"event": "start", "item": item, "id": "tests/test_pad.py::TestPad_param_0_{array=array("},
        {"event": "end", "item": item, "outcome": "passed", "reason": ""},
    ]
    found, _errors = run.read_results(results_file(tmp_path, rows))
    assert found[item]["id"] == "tests/test_pad.py::TestPad::test_pad"
    assert run.definition("a.py::T::f[x_param_1]", "b.py::T::f") == "b.py::T::f"
