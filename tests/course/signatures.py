"""Whether calls in a piece of text, a lesson's table or the cheat sheet, are such as the installed TileLang takes."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import tilelang
import tilelang.language
from tilelang.autotuner import AutoTuner
from tilelang.jit import JITImpl, JITKernel
from tilelang.profiler import Profiler

_ROOTS: dict[str, Any] = {"T": tilelang.language, "tilelang": tilelang}
_METHODS = (JITKernel, JITImpl, Profiler, AutoTuner)
"""Classes whose methods are called on a kernel, a factory, a profiler and a tuner, whatever a text calls those."""


def problems(code: str) -> list[str]:
    """What is wrong with the calls of TileLang in a line or a block of Python, in words; empty if nothing is."""
    return [problem for call in _calls(code) for problem in _problems(call)]


def invented_defaults(code: str) -> list[str]:
    """Parameters that a line of a table gives a value, as a signature does, where TileLang has no default for them."""
    return [
        f"{ast.unparse(call.func)} has no default for {keyword.arg}"
        for call in _calls(code)
        for keyword in call.keywords
        if ast.unparse(keyword.value) != "..." and _has_no_default(call.func, keyword.arg or "")
    ]


def _has_no_default(function: ast.expr, name: str) -> bool:
    found = _resolve(function)
    parameter = None if found is None else inspect.signature(found[0]).parameters.get(name)
    return parameter is not None and parameter.default is parameter.empty


def spans(markdown: str) -> list[str]:
    """The code in backquotes of a text, in its order."""
    return re.findall(r"`([^`\n]+)`", markdown)


def _calls(code: str) -> Iterator[ast.Call]:
    for completed in (code, f"{code} ...", f"{code}\ndef f(): ...", f"{code}\n    ..."):
        try:
            tree = ast.parse(completed)
        except SyntaxError:
            continue
        return (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return iter(())


def _problems(call: ast.Call) -> Iterator[str]:
    function = ast.unparse(call.func)
    try:
        found = _resolve(call.func)
    except AttributeError:
        yield f"{function} does not exist"
        return
    if found is None:
        return
    called, bound = found
    parameters = list(inspect.signature(called).parameters.values())[bound:]
    kinds = {parameter.kind for parameter in parameters}
    names = {parameter.name for parameter in parameters}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg not in names:
                yield f"{function} has no parameter {keyword.arg}"
    by_position = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if inspect.Parameter.VAR_POSITIONAL not in kinds and len(call.args) > by_position:
        yield f"{function} takes {by_position} arguments by position, not {len(call.args)}"


def _resolve(node: ast.expr) -> tuple[Callable[..., Any], int] | None:
    """What is called, and how many of its parameters are bound already; None for what is not TileLang's."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in _ROOTS:
        found = _ROOTS[node.id]
        for name in reversed(names):
            found = getattr(found, name)
        return (found, 0) if callable(found) and not isinstance(found, type) else None
    if names:
        for owner in _METHODS:
            if inspect.isfunction(inspect.getattr_static(owner, names[0], None)):
                return getattr(owner, names[0]), 1
    return None
