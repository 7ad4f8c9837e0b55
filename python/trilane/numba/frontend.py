"""From a Python function to the plain tree that the translator takes: source text, AST, names.

A node is ``(kind, line, column, end_line, end_column, text, kids)``; kinds are those of
``src/jit/tree.h``. Names are settled here, by the function's own closure and globals, because only
Python can look into them; everything else is the translator's.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from types import CodeType, FunctionType
from typing import Any

from trilane.numba import resolve
from trilane.numba.core.errors import TypingError, UnsupportedError
from trilane.numba.exec_source import recorded_texts, start_recording

__all__ = ["Unit", "build_unit"]

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_NOT_IN_KERNELS = {
    ast.Try: "try", ast.With: "with", ast.Import: "import", ast.ImportFrom: "import",
    ast.ClassDef: "class", ast.AsyncFunctionDef: "async def", ast.AsyncFor: "async for",
    ast.AsyncWith: "async with", ast.Yield: "yield", ast.YieldFrom: "yield from",
    ast.Await: "await", ast.ListComp: "a list comprehension", ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension", ast.GeneratorExp: "a generator expression",
    ast.Dict: "a dict", ast.Set: "a set", ast.List: "a list",
}  # fmt: skip

start_recording()


class Unit:
    """The trees of a kernel and of every function that it can reach.

    Attributes
    ----------
    functions : list
        Tuples as the translator takes them; the first is the kernel.
    raises : list of (class, args, description)
        What each raise site raises.
    uses_device_arrays : bool
        The tree holds addresses: the result is good for this process only.
    """

    def __init__(self) -> None:
        self.functions: list[tuple | None] = []
        self.raises: list[tuple[type, tuple, str]] = []
        self.keep_alive: list[Any] = []
        self.externals: list[Any] = []  # functions of linked code
        self._index: dict[Any, int] = {}
        self._pending: list[tuple[int, Any]] = []

    def function_index(
        self, function: FunctionType, inline: str = "", signatures: list | tuple = ()
    ) -> int:
        """Index of `function` among the unit's functions; its tree is built later.

        `signatures` are lists of type codes, the result's first, that its arguments convert to.
        """
        key = (function.__code__, id(function.__globals__), _cells(function), str(signatures))
        if key not in self._index:
            self._index[key] = len(self.functions)
            self.functions.append(None)
            self._pending.append((self._index[key], (function, inline, list(signatures))))
        return self._index[key]

    def add_inner(self, tree: tuple) -> int:
        self.functions.append(tree)  # replaced when it is built
        return len(self.functions) - 1

    def finish(self) -> None:
        while self._pending:
            index, (function, inline, signatures) = self._pending.pop()
            self.functions[index] = (*_Builder(self, function).build(inline), signatures)


def build_unit(function: FunctionType) -> Unit:
    """Trees of `function` and of the functions that it reaches.

    Raises
    ------
    TypingError, UnsupportedError
        With file, line and a caret.
    """
    unit = Unit()
    unit.function_index(function)
    unit.finish()
    return unit


def _cells(function: FunctionType) -> tuple:
    out = []
    for cell in function.__closure__ or ():
        try:
            out.append(id(cell.cell_contents))
        except ValueError:
            out.append(0)
    return tuple(out)


# --- source


def _source_lines(function: FunctionType) -> tuple[list[str], int, str]:
    """All lines of the file or cell, the first line of the function, the file's name."""
    code = function.__code__
    registered = getattr(function, "__trilane_source__", None)
    if registered is not None:
        return registered.splitlines(keepends=True), code.co_firstlineno, code.co_filename
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        try:
            lines = inspect.findsource(function)[0]
        except (OSError, TypeError):
            lines = _recovered_source(code)
    if not lines:
        raise UnsupportedError(
            f"the source of {function.__qualname__} cannot be found (file {code.co_filename!r}): "
            "kernels are compiled from source; functions made by exec need their text in linecache"
        )
    return lines, code.co_firstlineno, code.co_filename


def _recovered_source(code: CodeType) -> list[str]:
    """Text of a function made by exec, as recorded, or as a frame of the caller still holds it."""
    for text in recorded_texts(code):
        found = _matching_text(text, code)
        if found:
            return found
    frame = inspect.currentframe()
    while frame is not None:
        for value in [*frame.f_locals.values(), *frame.f_code.co_consts]:
            if isinstance(value, str) and code.co_name in value:
                found = _matching_text(value, code)
                if found:
                    return found
        frame = frame.f_back
    return []


def _matching_text(text: str, code: CodeType) -> list[str]:
    try:
        module = compile(text, code.co_filename, "exec")
    except (SyntaxError, ValueError):
        return []
    stack = [module]
    while stack:
        one = stack.pop()
        if (
            one.co_code == code.co_code
            and one.co_consts == code.co_consts
            and one.co_name == code.co_name
        ):
            if one.co_firstlineno == code.co_firstlineno and one.co_names == code.co_names:
                return text.splitlines(keepends=True)
        stack.extend(c for c in one.co_consts if isinstance(c, CodeType))
    return []


def _block_of(lines: list[str], first: int) -> list[str]:
    return inspect.getblock(lines[first - 1 :])


def _parse(function: FunctionType) -> tuple[ast.AST, list[str], int, str]:
    """The function's own AST node with line numbers of the file, its lines, first line, file."""
    lines, first, file = _source_lines(function)
    code = function.__code__
    if code.co_name == "<lambda>":
        return _parse_lambda(lines, code), lines, 1, file
    block = _block_of(lines, first)
    text = "".join(block)
    shift = first - 1
    try:
        if block and block[0][:1].isspace():
            tree = ast.parse("if 1:\n" + text)
            shift -= 1
        else:
            tree = ast.parse(text)
    except SyntaxError:
        tree = ast.parse(textwrap.dedent(text))
    ast.increment_lineno(tree, shift)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return node, block, first, file
    raise UnsupportedError(f"the source at {file}:{first} does not define {code.co_name}")


def _parse_lambda(lines: list[str], code: CodeType) -> ast.Lambda:
    """The lambda whose place in the text is that of `code`."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        first = code.co_firstlineno
        statement = "".join(_block_of(lines, first)).strip()
        tree = ast.parse(statement)
        ast.increment_lineno(tree, first - 1)
    candidates = [
        n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno
    ]
    if len(candidates) > 1 and hasattr(code, "co_positions"):
        places = {p for p in code.co_positions() if p[0] is not None and p[2] is not None}

        def inside(node: ast.Lambda) -> bool:
            body = node.body
            return (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in places

        candidates = [n for n in candidates if inside(n)] or candidates
    if len(candidates) > 1:
        candidates = [
            n for n in candidates
            if tuple(a.arg for a in n.args.args) == code.co_varnames[: code.co_argcount]
        ]  # fmt: skip
    if len(candidates) != 1:
        raise UnsupportedError(
            f"cannot tell the lambdas of {code.co_filename}:{code.co_firstlineno} apart: "
            "put them on separate lines"
        )
    return candidates[0]


# --- tree


class _Builder:
    def __init__(self, unit: Unit, function: FunctionType) -> None:
        self.unit = unit
        self.function = function
        self.name = function.__name__
        node, self.lines, self.first, self.file = _parse(function)
        self.root = node
        code = function.__code__
        self.scopes: list[set[str]] = [set(code.co_varnames) | set(code.co_cellvars)]
        self.values: dict[str, Any] = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.values[name] = cell.cell_contents
            except ValueError:
                continue
        self.inner: dict[str, int] = {}

    # -- frame

    def build(self, inline: str = "") -> tuple:
        node = self.root
        defaults = list(self.function.__defaults__ or ())
        return self._tree(node, self.name, defaults, inline, [])

    def _tree(
        self, node: Any, name: str, defaults: list, inline: str, captured: list[str]
    ) -> tuple:
        args = node.args
        if args.kwarg is not None:
            self.fail(node, f"**{args.kwarg.arg} is not supported in a kernel", UnsupportedError)
        plain = [a.arg for a in args.posonlyargs + args.args]
        values: list[Any] = [None] * (len(plain) - len(defaults))
        values += [self.constant(node, value) for value in defaults]
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if args.vararg is not None:
                self.fail(
                    node,
                    "keyword-only arguments behind *args are not supported in a kernel",
                    UnsupportedError,
                )
            plain.append(arg.arg)
            values.append(None if default is None else self.expr(default))
        if args.vararg is not None:
            plain.append(args.vararg.arg)
            values.append(None)
        if isinstance(node, ast.Lambda):
            body = [self.node("Return", node.body, "", [self.expr(node.body)])]
        else:
            body = self.block(node.body)
        lines = [line.rstrip("\n") for line in self.lines]
        return (
            name, self.file, self.first, lines, plain, values, args.vararg is not None, captured,
            inline, self.node("Block", node, "", body),
        )  # fmt: skip

    def fail(self, node: Any, message: str, kind: type = TypingError) -> None:
        line = getattr(node, "lineno", self.first)
        text = f'{message}\n\nFile "{self.file}", line {line}, in {self.name}:'
        index = line - self.first
        if 0 <= index < len(self.lines):
            source = self.lines[index].rstrip("\n")
            start = getattr(node, "col_offset", 0)
            end = node.end_col_offset if getattr(node, "end_lineno", 0) == line else len(source)
            text += f"\n{source}\n{' ' * start}{'^' * max(end - start, 1)}"
        raise kind(text)

    def node(self, kind: str, at: Any, text: str, kids: list) -> tuple:
        return (
            kind, getattr(at, "lineno", self.first), getattr(at, "col_offset", 0),
            getattr(at, "end_lineno", 0) or 0, getattr(at, "end_col_offset", 0) or 0, text, kids,
        )  # fmt: skip

    # -- statements

    def block(self, statements: list) -> list:
        out = []
        for statement in statements:
            tree = self.statement(statement)
            if tree is not None:
                out.append(tree)
        return out

    def body(self, at: Any, statements: list) -> tuple | None:
        return self.node("Block", at, "", self.block(statements)) if statements else None

    def statement(self, s: Any) -> tuple | None:
        method = getattr(self, "on_" + type(s).__name__, None)
        if method is None:
            self.unsupported(s)
        return method(s)

    def unsupported(self, node: Any) -> None:
        what = _NOT_IN_KERNELS.get(type(node), type(node).__name__)
        self.fail(node, f"{what} is not supported in a kernel", UnsupportedError)

    def on_Pass(self, s):
        return self.node("Pass", s, "", [])

    def on_Break(self, s):
        return self.node("Break", s, "", [])

    def on_Continue(self, s):
        return self.node("Continue", s, "", [])

    def on_Delete(self, s):
        for target in s.targets:
            if not isinstance(target, ast.Name):
                self.fail(
                    s, "del of anything but a name is not supported in a kernel", UnsupportedError
                )
        return None

    def on_Global(self, s):
        self.fail(s, "global is not supported in a kernel", UnsupportedError)

    def on_Nonlocal(self, s):
        self.fail(s, "nonlocal is not supported in a kernel", UnsupportedError)

    def on_Expr(self, s):
        if isinstance(s.value, ast.Constant):
            return None
        return self.node("Expr", s, "", [self.expr(s.value)])

    def on_Return(self, s):
        return self.node("Return", s, "", [self.expr(s.value)] if s.value is not None else [])

    def on_Assign(self, s):
        if (
            isinstance(s.value, ast.Lambda)
            and len(s.targets) == 1
            and isinstance(s.targets[0], ast.Name)
        ):
            return self.inner_function(s.value, s.targets[0].id)
        value = self.expr(s.value)
        return self.node("Assign", s, "", [value, *(self.target(t) for t in s.targets)])

    def on_AnnAssign(self, s):
        if s.value is None:
            return None
        return self.node("Assign", s, "", [self.expr(s.value), self.target(s.target)])

    def on_AugAssign(self, s):
        op = _BINARY[type(s.op)]
        return self.node("AugAssign", s, op, [self.target(s.target), self.expr(s.value)])

    def on_If(self, s):
        return self.node(
            "If", s, "", [self.expr(s.test), self.body(s, s.body), self.body(s, s.orelse)]
        )

    def on_While(self, s):
        return self.node(
            "While", s, "", [self.expr(s.test), self.body(s, s.body), self.body(s, s.orelse)]
        )

    def on_For(self, s):
        kids = [
            self.target(s.target),
            self.expr(s.iter),
            self.body(s, s.body),
            self.body(s, s.orelse),
        ]
        return self.node("For", s, "", kids)

    def on_Match(self, s):
        subject = ast.Name(id=f"$match{s.lineno}", ctx=ast.Load())
        self.scopes[-1].add(subject.id)
        ast.copy_location(subject, s.subject)
        chain: list = []
        for case in reversed(s.cases):
            test = self.pattern(case.pattern, subject)
            if case.guard is not None:
                test = ast.BoolOp(op=ast.And(), values=[test, case.guard])
            branch = ast.If(test=test, body=case.body, orelse=chain)
            ast.copy_location(branch, case.pattern)
            ast.fix_missing_locations(branch)
            chain = [branch]
        store = ast.Assign(targets=[ast.Name(id=subject.id, ctx=ast.Store())], value=s.subject)
        ast.copy_location(store, s)
        ast.fix_missing_locations(store)
        return self.node("Block", s, "", self.block([store, *chain]))

    def pattern(self, p: Any, subject: ast.Name) -> Any:
        if isinstance(p, ast.MatchValue):
            test: Any = ast.Compare(left=subject, ops=[ast.Eq()], comparators=[p.value])
        elif isinstance(p, ast.MatchSingleton):
            test = ast.Compare(left=subject, ops=[ast.Is()], comparators=[ast.Constant(p.value)])
        elif isinstance(p, ast.MatchOr):
            test = ast.BoolOp(op=ast.Or(), values=[self.pattern(q, subject) for q in p.patterns])
        elif isinstance(p, ast.MatchAs) and p.pattern is None and p.name is None:
            test = ast.Constant(True)
        else:
            self.fail(p, "only value patterns are supported in a kernel", UnsupportedError)
        return ast.copy_location(test, p)

    def on_Assert(self, s):
        args = self.static_args([s.msg]) if s.msg is not None else ()
        site = self.site(s, AssertionError, args)
        return self.node("Assert", s, site, [self.expr(s.test)])

    def on_Raise(self, s):
        if s.exc is None:
            self.fail(
                s, "raise without an exception is not supported in a kernel", UnsupportedError
            )
        call = s.exc if isinstance(s.exc, ast.Call) else None
        value = self.static(call.func if call else s.exc)
        args = self.static_args(call.args) if call else ()
        if isinstance(value, BaseException):
            value, args = type(value), value.args
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            self.fail(s, "exceptions must derive from BaseException")
        return self.node("Raise", s, self.site(s, value, args), [])

    def site(self, s: Any, kind: type, args: tuple) -> str:
        self.unit.raises.append((kind, args, f"{self.file}:{s.lineno} in {self.name}"))
        return str(len(self.unit.raises) - 1)

    def static_args(self, nodes: list) -> tuple:
        out = []
        for node in nodes:
            try:
                out.append(ast.literal_eval(node))
            except ValueError:
                value = self.static(node)
                # A value of the run cannot travel with an exception: its text stands for it.
                out.append(ast.unparse(node) if value is resolve.MISSING else value)
        return tuple(out)

    def on_FunctionDef(self, s):
        return self.inner_function(s, s.name)

    def inner_function(self, s: Any, name: str) -> None:
        """A function inside a kernel: its free variables become arguments of every call."""
        for parameter in list(s.args.defaults) + [d for d in s.args.kw_defaults if d is not None]:
            if not isinstance(parameter, ast.Constant):
                self.fail(
                    parameter, "defaults of inner functions must be literals", UnsupportedError
                )
        bound = _bound_names(s)
        outer = set().union(*self.scopes)
        captured = sorted((_read_names(s) & outer) - bound - set(self.inner))
        self.inner[name] = self.unit.add_inner(())
        self.scopes.append(bound | set(captured))
        defaults = [d.value for d in s.args.defaults]
        self.unit.functions[self.inner[name]] = (
            *self._tree(s, name, defaults, "", captured),
            [],
        )
        self.scopes.pop()
        return None

    # -- expressions

    def target(self, t: Any) -> tuple:
        if isinstance(t, ast.Name):
            return self.node("Local", t, t.id, [])
        if isinstance(t, (ast.Tuple, ast.List)):
            return self.node("Tuple", t, "", [self.target(e) for e in t.elts])
        if isinstance(t, ast.Starred):
            self.fail(t, "a starred target is not supported in a kernel", UnsupportedError)
        return self.expr(t)

    def expr(self, e: Any) -> tuple:
        if isinstance(e, (ast.Name, ast.Attribute)):
            return self.named(e)
        method = getattr(self, "on_" + type(e).__name__, None)
        if method is None:
            self.unsupported(e)
        return method(e)

    def is_local(self, name: str) -> bool:
        return name not in self.inner and any(name in scope for scope in self.scopes)

    def lookup(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        return resolve.global_value(self.function, name)

    def static(self, e: Any) -> Any:
        """The object that a dotted name stands for outside of the kernel, or MISSING."""
        if isinstance(e, ast.Name):
            return resolve.MISSING if self.is_local(e.id) else self.lookup(e.id)
        if isinstance(e, ast.Attribute):
            base = self.static(e.value)
            if base is resolve.MISSING or not resolve.is_namespace(base):
                return resolve.MISSING
            return getattr(base, e.attr, resolve.MISSING)
        return resolve.MISSING

    def named(self, e: Any) -> tuple:
        if isinstance(e, ast.Name):
            if e.id in self.inner:
                return self.node("Function", e, str(self.inner[e.id]), [])
            if self.is_local(e.id):
                return self.node("Local", e, e.id, [])
            value = self.lookup(e.id)
            if value is resolve.MISSING:
                self.fail(e, f"NameError: name '{e.id}' is not defined")
            return self.constant(e, value)
        value = self.static(e)
        if value is not resolve.MISSING:
            return self.constant(e, value)
        base = self.static(e.value)
        if base is not resolve.MISSING and resolve.is_namespace(base):
            name = getattr(base, "__name__", repr(base))
            self.fail(e, f"Unknown attribute '{e.attr}' of {name}")
        kids = [self.expr(e.value)]
        method = resolve.array_method(e.attr)
        if method is not None:
            kids.append(self.node("Function", e, str(self.unit.function_index(method)), []))
        return self.node("Attribute", e, e.attr, kids)

    def constant(self, at: Any, value: Any) -> tuple:
        try:
            found = resolve.describe(value, self.unit)
        except TypeError as error:
            name = f"Untyped global name '{at.id}': " if isinstance(at, ast.Name) else ""
            self.fail(at, f"{name}{error}")
        return self.placed(at, found)

    def placed(self, at: Any, described: tuple) -> tuple:
        kind, text, kids = described
        return self.node(kind, at, text, [self.placed(at, kid) for kid in kids])

    def on_Constant(self, e):
        return self.constant(e, e.value)

    def on_Tuple(self, e):
        if any(isinstance(x, ast.Starred) for x in e.elts):
            total = None
            for x in e.elts:
                part = (
                    self.expr(x.value)
                    if isinstance(x, ast.Starred)
                    else self.node("Tuple", x, "", [self.expr(x)])
                )
                total = part if total is None else self.node("BinOp", e, "+", [total, part])
            return total
        return self.node("Tuple", e, "", [self.expr(x) for x in e.elts])

    def on_BinOp(self, e):
        if isinstance(e.op, ast.MatMult):
            self.fail(e, "the operator @ is not supported in a kernel", UnsupportedError)
        return self.node("BinOp", e, _BINARY[type(e.op)], [self.expr(e.left), self.expr(e.right)])

    def on_UnaryOp(self, e):
        return self.node("UnaryOp", e, _UNARY[type(e.op)], [self.expr(e.operand)])

    def on_BoolOp(self, e):
        return self.node(
            "BoolOp",
            e,
            "and" if isinstance(e.op, ast.And) else "or",
            [self.expr(v) for v in e.values],
        )

    def on_Compare(self, e):
        ops = ",".join(_COMPARE[type(op)] for op in e.ops)
        return self.node("Compare", e, ops, [self.expr(v) for v in [e.left, *e.comparators]])

    def on_IfExp(self, e):
        return self.node(
            "IfExp", e, "", [self.expr(e.test), self.expr(e.body), self.expr(e.orelse)]
        )

    def on_Call(self, e):
        kids = [self.expr(e.func)]
        for arg in e.args:
            if isinstance(arg, ast.Starred):
                kids.append(self.node("Starred", arg, "", [self.expr(arg.value)]))
            else:
                kids.append(self.expr(arg))
        for keyword in e.keywords:
            if keyword.arg is None:
                self.fail(e, "**kwargs in a call is not supported in a kernel", UnsupportedError)
            kids.append(
                self.node("Keyword", keyword.value, keyword.arg, [self.expr(keyword.value)])
            )
        return self.node("Call", e, "", kids)

    def on_Subscript(self, e):
        return self.node("Subscript", e, "", [self.expr(e.value), self.expr(e.slice)])

    def on_Slice(self, e):
        parts = [self.expr(p) if p is not None else None for p in (e.lower, e.upper, e.step)]
        return self.node("Slice", e, "", parts)

    def on_NamedExpr(self, e):
        return self.node("NamedExpr", e, "", [self.target(e.target), self.expr(e.value)])

    def on_Lambda(self, e):
        name = f"$lambda{e.lineno}_{e.col_offset}"
        self.inner_function(e, name)
        return self.node("Function", e, str(self.inner[name]), [])

    def on_JoinedStr(self, e):
        parts = []
        for part in e.values:
            if isinstance(part, ast.FormattedValue):
                if part.format_spec is not None or part.conversion != -1:
                    self.fail(
                        e,
                        "format specifications in f-strings are not supported in a kernel",
                        UnsupportedError,
                    )
                parts.append(self.expr(part.value))
            else:
                parts.append(self.expr(part))
        return self.node("FormatString", e, "", parts)


def _bound_names(function: Any) -> set[str]:
    args = function.args
    names = {a.arg for a in args.posonlyargs + args.args + args.kwonlyargs}
    if args.vararg:
        names.add(args.vararg.arg)
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


def _read_names(function: Any) -> set[str]:
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    return {
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
