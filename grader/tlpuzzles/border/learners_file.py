"""Loading a learner's file in a process of its own, and telling what went wrong in it.

Everything here runs only in children that run a learner's Python. What they send back is data that nobody trusts.
"""

from __future__ import annotations

import inspect
import linecache
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tlpuzzles.border import pointing

MODULE = "learners_file"
MAX_MESSAGE = 4000


class NotAKernel(Exception):
    """What the exercise asks for cannot be found or used in the file; the message is for the learner."""


def load(path: str, text: str) -> ModuleType:
    """Runs the file. `path`: as the learner names it; `text`: the snapshot to run. Raises whatever the file raises."""
    # Both the logger and Python's last-resort handler would print TileLang's instrumented source.
    logging.getLogger("tilelang").setLevel(logging.CRITICAL + 1)
    lines = text.splitlines(keepends=True)
    # Everyone who asks for the file's source (TileLang's tracer, a traceback) gets the text that runs, even if the file
    # is saved again meanwhile: an entry without a modification time is never checked against the disk.
    linecache.cache[path] = (len(text), None, lines, path)
    module = ModuleType(MODULE)
    module.__file__ = path
    sys.modules[MODULE] = module
    # At the end: nothing beside the learner's file may stand in for an installed package.
    sys.path.append(str(Path(path).parent))
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    return module


def find(module: ModuleType, name: str) -> Any:
    """The function of that name. Raises NotAKernel."""
    factory = getattr(module, name, None)
    if factory is None:
        others = [name for name, value in vars(module).items() if _is_own_function(value)]
        found = f" It defines {', '.join(sorted(others)[:6])}." if others else ""
        raise NotAKernel(f"The file defines no function named {name}.{found} The exercise calls {name}.")
    if not callable(factory):
        raise NotAKernel(f"{name} is {a(factory)}, not a function.")
    return factory


def _is_own_function(value: object) -> bool:
    """Whether it is a function or class of the file, or what TileLang's decorators make of one."""
    return callable(value) and (getattr(value, "__module__", "") == MODULE or pointing.is_tilelangs(value))


def parameters(factory: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, a jit or an autotuned jit, by name."""
    target = getattr(factory, "jit_impl", factory)
    signature = getattr(target, "signature", None) or inspect.signature(target)
    return dict(signature.parameters)


def a(value: object) -> str:
    """How a value is named in a sentence."""
    return "None" if value is None else f"an object of type {type(value).__name__}"


def describe(error: BaseException, path: str, stage: str) -> dict[str, Any]:
    """What went wrong, for the parent. `stage`: "load" or "call"."""
    message = _text(error if not isinstance(error, SystemExit) else error.code)
    where = pointing.place(error, path)
    return {
        "stage": stage,
        "type": type(error).__name__,
        "message": message[:MAX_MESSAGE],
        "line": where.line,
        "statement": where.statement,
        "near": pointing.near(error),
        "takes": pointing.takes(error),
        "raw": f"{type(error).__name__}: {message}"[:MAX_MESSAGE],
        "module": getattr(error, "name", None) if isinstance(error, ImportError) else None,
    }


def _text(value: object) -> str:
    """The value as text; a learner's class may refuse even that."""
    try:
        return str(value)
    except BaseException as error:  # noqa: BLE001 - whatever it raises is no message
        return f"(it has no message: its __str__ raised {type(error).__name__})"
