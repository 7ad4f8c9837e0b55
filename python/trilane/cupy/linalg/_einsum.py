"""einsum: parsing of subscripts and contraction by pairs."""

from __future__ import annotations

import string

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import to_array

_ELLIPSIS = "."


def _label(index) -> str:
    letters = string.ascii_letters
    if not 0 <= index < len(letters):
        raise ValueError(f"subscript is not within the valid range [0, {len(letters)})")
    return letters[index]


def _interleaved(operands) -> tuple[str, list]:
    """``a, [0, 1], b, [1, 2], [0, 2]`` as text and arrays."""
    arrays, terms = [], []
    items = list(operands)
    while len(items) >= 2:
        arrays.append(items.pop(0))
        terms.append(_sublist(items.pop(0)))
    text = ",".join(terms)
    if items:
        text += "->" + _sublist(items[0])
    return text, arrays


def _sublist(items) -> str:
    return "".join("..." if item is Ellipsis else _label(int(item)) for item in items)


def _parse(text: str, arrays) -> tuple[list[str], str]:
    """One label per axis of every operand and of the output; broadcast axes get capital digits."""
    text = text.replace(" ", "")
    if text.count("->") > 1 or ("-" in text or ">" in text) and "->" not in text:
        raise ValueError(
            "einstein sum subscript string does not contain proper '->' output specified"
        )
    inputs_text, arrow, output = text.partition("->")
    inputs = inputs_text.split(",")
    if len(inputs) != len(arrays):
        raise ValueError(
            "fewer operands provided to einstein sum function than specified in the subscripts string"
            if len(inputs) > len(arrays)
            else "more operands provided to einstein sum function than specified in the subscripts string"
        )
    allowed = set(string.ascii_letters)
    widest = 0
    terms: list[tuple[str, int, str]] = []
    for term, a in zip(inputs, arrays):
        if "." in term:
            if term.count("...") != 1 or term.count(".") != 3:
                raise ValueError(
                    "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...')"
                )
            head, tail = term.split("...")
            extra = a.ndim - len(head) - len(tail)
            if extra < 0:
                raise ValueError(
                    "einstein sum subscripts string contains too many subscripts for operand"
                )
        else:
            head, tail, extra = term, "", 0
            if len(term) != a.ndim:
                kind = "too many" if len(term) > a.ndim else "not enough"
                raise ValueError(
                    f"einstein sum subscripts: {kind} subscripts for an operand of {a.ndim} axes"
                )
        if not set(head + tail) <= allowed:
            raise ValueError(f"invalid subscript in {term!r}: subscripts must be letters")
        widest = max(widest, extra)
        terms.append((head, extra, tail))
    broadcast = "".join(chr(0x100 + i) for i in range(widest))
    labels = [head + broadcast[widest - extra :] + tail for head, extra, tail in terms]
    if arrow:
        output = _parse_output(output, broadcast, labels, allowed)
    else:
        used = "".join(labels)
        single = sorted(x for x in set(used) if x in allowed and used.count(x) == 1)
        output = broadcast + "".join(single)
    return labels, output


def _parse_output(output, broadcast, labels, allowed) -> str:
    if "." in output:
        if output.count("...") != 1 or output.count(".") != 3:
            raise ValueError(
                "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...')"
            )
        output = output.replace("...", broadcast)
    elif broadcast:
        raise ValueError("output has no ellipsis, but the operands have axes under one")
    everything = set("".join(labels))
    for x in output:
        if x in broadcast:
            continue
        if x not in allowed or x not in everything:
            raise ValueError(
                f"einstein sum subscripts string included output subscript {x!r} which never appeared in an input"
            )
        if output.count(x) > 1:
            raise ValueError(
                f"einstein sum subscripts string includes output subscript {x!r} multiple times"
            )
    return output


def _take_diagonals(a: ndarray, labels: str) -> tuple[ndarray, str]:
    """Join repeated labels of one operand into their diagonal; a view."""
    while len(set(labels)) != len(labels):
        twice = next(x for x in labels if labels.count(x) > 1)
        first = labels.index(twice)
        second = labels.index(twice, first + 1)
        if a.shape[first] != a.shape[second]:
            if 1 not in (a.shape[first], a.shape[second]):
                raise ValueError(
                    f"dimensions in operand for collapsing index {twice!r} don't match "
                    f"({a.shape[first]} != {a.shape[second]})"
                )
            longer = first if a.shape[first] > a.shape[second] else second
            shorter = second if longer == first else first
            a, labels = a.squeeze(shorter), labels[:shorter] + labels[shorter + 1 :]
            continue
        a = engine.diag_view(a, 0, first, second)
        labels = "".join(x for i, x in enumerate(labels) if i not in (first, second)) + twice
    return a, labels


def _sum_out(a: ndarray, labels: str, keep: set) -> tuple[ndarray, str]:
    """Sum axes whose label nobody else needs."""
    axes = tuple(i for i, x in enumerate(labels) if x not in keep)
    if not axes:
        return a, labels
    a = engine.reduce("any", a, axes) if a.dtype.kind == "b" else a.sum(axis=axes, dtype=a.dtype)
    return a, "".join(x for x in labels if x in keep)


def _contract_pair(a, la, b, lb, keep: set) -> tuple[ndarray, str]:
    """The product of two operands, summed over labels that are not kept, by one matmul."""
    a, la = _sum_out(a, la, keep | set(lb))
    b, lb = _sum_out(b, lb, keep | set(la))
    extents: dict[str, int] = {}
    for x, e in [*zip(la, a.shape), *zip(lb, b.shape)]:
        if extents.get(x, 1) == 1:
            extents[x] = e
    # Labels of length 1 in one operand only are broadcast: no axis of the product there.
    shared = [x for x in la if x in lb]
    summed = [x for x in shared if x not in keep]
    batch = [x for x in shared if x in keep]
    only_a = [x for x in la if x not in lb]
    only_b = [x for x in lb if x not in la]
    plain = all(a.shape[la.index(x)] == b.shape[lb.index(x)] for x in shared)
    if not plain or a.dtype.kind == "b" or not summed:
        order = batch + only_a + only_b + summed
        wide = uf.multiply(_spread(a, la, order), _spread(b, lb, order))
        return _sum_out(wide, "".join(order), keep)

    def group(x, labels, *groups):
        axes = [labels.index(name) for g in groups for name in g]
        shape = []
        for position, g in enumerate(groups):
            lengths = [extents[name] for name in g]
            shape += lengths if position == 0 else [int(np.prod(lengths, dtype=np.int64))]
        return x.transpose(axes).reshape(tuple(shape))

    result = engine.matmul(group(a, la, batch, only_a, summed), group(b, lb, batch, summed, only_b))
    order = batch + only_a + only_b
    return result.reshape(tuple(extents[x] for x in order)), "".join(order)


def _spread(a, labels: str, order) -> ndarray:
    """Axes in the given order, with length 1 where the operand has no such label."""
    present = [x for x in order if x in labels]
    a = a.transpose([labels.index(x) for x in present])
    extents = dict(zip(present, a.shape))
    return a.reshape(tuple(extents.get(x, 1) for x in order))


def contract(operands, out, optimize, dtype, casting) -> ndarray:
    """Evaluate; see `einsum`."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        text, arrays = operands[0], list(operands[1:])
    else:
        text, arrays = _interleaved(operands)
    if not arrays:
        raise ValueError("must provide at least an operand to einsum")
    arrays = [to_array(a, "einsum") for a in arrays]
    labels, output = _parse(text, arrays)
    _check_extents(arrays, labels)
    computed = np.result_type(*(a.dtype for a in arrays)) if dtype is None else np.dtype(dtype)
    for i, a in enumerate(arrays):
        if not np.can_cast(a.dtype, computed, casting):
            raise TypeError(
                f"Iterator operand {i} dtype could not be cast from {a.dtype!r} to {computed!r} "
                f"according to the rule {casting!r}"
            )
    single = len(arrays) == 1
    pairs = [_take_diagonals(a, x) for a, x in zip(arrays, labels)]
    if not (single and set(pairs[0][1]) <= set(output)):
        pairs = [(a.astype(computed, copy=False), x) for a, x in pairs]
    for step in _path(text, arrays, optimize):
        chosen = [pairs.pop(i) for i in sorted(step, reverse=True)][::-1]
        keep = set(output).union(*(x for _, x in pairs))
        while len(chosen) > 1:
            (a, la), (b, lb) = chosen[0], chosen[1]
            later = keep.union(*(x for _, x in chosen[2:]))
            chosen[:2] = [_contract_pair(a, la, b, lb, later)]
        pairs.append(chosen[0])
    result, found = _sum_out(*pairs[0], set(output))
    result = result.transpose([found.index(x) for x in output])
    if out is not None:
        engine.copyto(out, result, casting)
        return out
    return result if result.dtype == computed else result.astype(computed)


def _path(text, arrays, optimize) -> list[tuple[int, ...]]:
    if len(arrays) > 2 and optimize not in (False, None):
        stand_ins = [np.broadcast_to(np.float32(0), a.shape) for a in arrays]
        return [tuple(s) for s in np.einsum_path(text, *stand_ins, optimize=optimize)[0][1:]]
    if len(arrays) == 1:
        return []
    return [(0, 1)] + [(0, len(arrays) - 2 - i) for i in range(len(arrays) - 2)]


def _check_extents(arrays, labels) -> None:
    extents: dict[str, int] = {}
    for a, names in zip(arrays, labels):
        for x, e in zip(names, a.shape):
            known = extents.setdefault(x, e)
            if known == 1:
                extents[x] = e
            elif e not in (1, known):
                raise ValueError(
                    f"operands could not be broadcast together: index {x!r} is {known} and {e} long"
                )
