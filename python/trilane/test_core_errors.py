"""Errors of the core as Python sees them: class, kind and the compiler's text."""

from __future__ import annotations

import re

import pytest

from trilane import _core


def test_a_compile_error_carries_the_line_and_a_caret():
    with pytest.raises(_core.CompileError) as caught:
        _core.Module.compile("__global__ void f(float *a) {\n    a[0] = wrong;\n}")
    assert caught.value.kind == "CompileError"
    assert re.search(r"kernel\.cu(:2:12|\(2\)): error", str(caught.value))
    line, caret = caught.value.detail.splitlines()[1:3]
    assert line.endswith("    a[0] = wrong;")
    assert caret.index("^") == line.index("wrong")


@pytest.mark.parametrize(
    ("call", "builtin", "kind"),
    [
        (lambda: _core.context_of(99), ValueError, "InvalidArgument"),
        (lambda: _core.Buffer.allocate(1 << 60), MemoryError, "OutOfMemory"),
        (lambda: _core.Module.compile("").function("f"), LookupError, "NotFound"),
    ],
)
def test_kinds_are_also_the_built_in_classes(call, builtin, kind):
    with pytest.raises(builtin) as caught:
        call()
    assert isinstance(caught.value, _core.TrilaneError)
    assert caught.value.kind == kind and caught.value.detail == ""
