"""Where in a learner's file an exception comes from, and which names would have been close: for `describe`.

Runs only in children that run a learner's Python; nobody trusts what it finds.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import linecache
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

MAX_STATEMENT = 400
_LANGUAGE = "tilelang.language"
_KEYWORD = re.compile(r"(?P<function>\w+)\(\) got an unexpected keyword argument '(?P<name>\w+)'")

_USUAL = {"axis": "dim", "stages": "num_stages", "message": "msg", "label": "msg", "text": "msg"}
"""What other libraries call a parameter."""


@dataclass(frozen=True)
class Place:
    """A line of a learner's file, and the statement there (of a compound one its head); "" if nothing was running."""

    line: int | None
    statement: str


def place(error: BaseException, path: str) -> Place:
    """The innermost line of `path` that the exception passed; else that of the factory that TileLang was tracing."""
    frames = [(frame, line) for frame, line in _frames(error.__traceback__) if frame.f_code.co_filename == path]
    if not frames:
        return Place(_factory_line(error, path), "")
    frame, line = frames[-1]
    # Where TileLang has put code of its own around the learner's, it has no line and so claims to be the first.
    builder: Any = frame.f_locals.get("__tb")
    if line == 1 and is_tilelangs(builder) and builder.current_file == path:
        line = int(builder.current_line)
    return Place(line, _statement(path, line))


def near(error: BaseException) -> list[str]:
    """Names like the one that the exception says does not exist, as the learner would write them; the best first."""
    if isinstance(error, AttributeError):
        return _attributes(error)
    if isinstance(error, NameError):
        return _variables(error)
    keyword = _KEYWORD.search(str(error)) if isinstance(error, TypeError) else None
    if keyword is None:
        return []
    parameters = takes(error)
    usual = _USUAL.get(keyword["name"])
    return [usual] if usual in parameters else _close(keyword["name"], parameters)


def takes(error: BaseException) -> list[str]:
    """The parameters of the function that was called with one that it does not have."""
    keyword = _KEYWORD.search(str(error)) if isinstance(error, TypeError) else None
    if keyword is None:
        return []
    for module in (_LANGUAGE, "tilelang", "learners_file"):
        function = getattr(sys.modules.get(module), keyword["function"], None)
        if inspect.isfunction(function):
            return list(inspect.signature(function).parameters)
    return []


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _factory_line(error: BaseException, path: str) -> int | None:
    for frame, _ in _frames(error.__traceback__):
        jit = frame.f_locals.get("self")
        function = getattr(getattr(jit, "func", None), "orig_func", None) if is_tilelangs(jit) else None
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType) and code.co_filename == path:
            # A function's code begins at its first decorator.
            begins = (n for n in _statements(path) if isinstance(n, ast.FunctionDef) and n.name == code.co_name)
            return next((n.lineno for n in begins if n.lineno >= code.co_firstlineno), code.co_firstlineno)
    return None


def is_tilelangs(value: object) -> bool:
    """Whether it is an object of TileLang's, whose attributes can be asked for without surprises."""
    return type(value).__module__.partition(".")[0] == "tilelang"


def _statements(path: str) -> Iterator[ast.stmt]:
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _statement(path: str, line: int) -> str:
    around = [node for node in _statements(path) if _first(node) <= line <= (node.end_lineno or node.lineno)]
    if not around:
        return linecache.getline(path, line).strip()
    inner = max(around, key=_first)
    if line < inner.lineno:  # in a decorator
        return linecache.getline(path, line).strip()
    body = getattr(inner, "body", None)
    last = body[0].lineno - 1 if body else inner.end_lineno or inner.lineno
    lines = linecache.getlines(path)[inner.lineno - 1 : max(last, inner.lineno)]
    return " ".join(part.strip() for part in lines)[:MAX_STATEMENT]


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _attributes(error: AttributeError) -> list[str]:
    name, owner = error.name, error.obj
    if not isinstance(name, str) or not isinstance(owner, ModuleType):
        return []
    prefix = "T." if owner.__name__ == _LANGUAGE else f"{owner.__name__}."
    found = [prefix + other for other in _close(name, _public(owner))]
    return found or ["T." + other for other in _close(name, _public(sys.modules.get(_LANGUAGE)))]


def _variables(error: NameError) -> list[str]:
    name = error.name
    if not isinstance(name, str):
        return []
    frames = list(_frames(error.__traceback__))
    known: set[str] = set(vars(builtins))
    if frames:
        known |= {*frames[-1][0].f_locals, *frames[-1][0].f_globals}
    exact = [f"T.{name}"] if name in _public(sys.modules.get(_LANGUAGE)) else []
    return [*exact, *_close(name, [other for other in known if not other.startswith("__")])]


def _public(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")] if module is not None else []


def _close(name: str, names: list[str]) -> list[str]:
    whole = [other for other in names if len(name) > 2 and len(other) > 2 and (name in other or other in name)]
    by_case = [other for other in names if other.lower() == name.lower()]
    alike = [*by_case, *difflib.get_close_matches(name, names, 2, 0.75), *sorted(whole, key=len)[:1]]
    # T.parallel is the same as T.Parallel, and who misspelt it wants to hear one name.
    return [other for other in dict.fromkeys(alike) if other.capitalize() not in alike or other[:1].isupper()][:3]
