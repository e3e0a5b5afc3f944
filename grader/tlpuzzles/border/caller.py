"""Calls plain functions of a learner's file, in a process like the tracer's: it holds no expectation and no seed.

Arguments come as JSON, and stand-ins for what a function must use (a way to measure, a kernel) are built from it. What
is returned leaves as JSON.
"""

from __future__ import annotations

import inspect
import json
import re
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tlpuzzles.border import playing, pointing, stand_ins
from tlpuzzles.border.learners_file import NotAKernel, a, describe, find, load, parameters

Emit = Callable[[dict[str, Any]], None]

_COMPARED = re.compile(r"'[<>]=?' not supported between instances of (?:'function' and|'.*' and 'function')")
_NAME_ALONE = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\b(?!\s*[(.])")

MAX_ITEMS = 100_000
"""Values in one answer."""


class NotPlain(Exception):
    """A function returned what cannot be written as JSON; the message is for the learner."""


def call(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: {"job": a JSON file} with path, text (a file), arch, calls: a list of {"id", "function", "arguments",
    "positional", "of", "beside", "arch"}, and real: whether the GPU is really there.

    Emits "loaded", then for each call "calling" and "answer" or "error"; an error before that has no id."""
    job = json.loads(Path(job["job"]).read_text(encoding="utf-8"))
    path = str(job["path"])
    file = _File(path, Path(job["text"]).read_text(encoding="utf-8"), bool(job["real"]))
    try:
        file.on(job["arch"])
    except BaseException as error:  # noqa: BLE001 - a learner's file may raise anything, SystemExit included
        emit({"kind": "error", "id": None, **describe(error, path, "load")})
        return
    emit({"kind": "loaded"})
    for item in job["calls"]:
        emit({"kind": "calling", "id": item["id"]})
        uses: list[Any] = []
        try:
            module = file.on(item.get("arch") or job["arch"])
            function = find(module, item["function"])
            arguments = {name: playing.build(value, uses) for name, value in item["arguments"].items()}
            value = _space(function, arguments) if item["of"] == "tuning space" else _value(function, item, arguments)
            if item.get("beside"):
                value = {"value": value, "parameters": _names(find(module, item["beside"]))}
            answer = {"value": plain(value, item["function"]), "uses": plain(uses, "measure")}
        except BaseException as error:  # noqa: BLE001 - as above
            emit({"kind": "error", "id": item["id"], **describe(_uncalled(error, path), path, "function")})
        else:
            emit({"kind": "answer", "id": item["id"], **answer})


def _uncalled(error: BaseException, path: str) -> BaseException:
    """The same error, in plain words if a function was compared in place of what it returns: `x <= smem_limit`."""
    if not isinstance(error, TypeError) or _COMPARED.search(str(error)) is None:
        return error
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    if not frames:
        return error
    known = {**frames[-1].f_globals, **frames[-1].f_locals}
    for name in _NAME_ALONE.findall(pointing.place(error, path).statement):
        if inspect.isroutine(known.get(name)):
            told = NotAKernel(f"{name} is a function: call it, {name}().")
            return told.with_traceback(error.__traceback__)
    return error


class _File:
    """The learner's file, loaded anew for each architecture: it may ask about the GPU as it loads."""

    def __init__(self, path: str, text: str, real: bool) -> None:
        self._path, self._text, self._real = path, text, real
        self._modules: dict[str, ModuleType] = {}
        self._arch: str | None = None

    def on(self, arch: str) -> ModuleType:
        """The file as it is on a GPU of that architecture. Raises whatever the file raises."""
        if arch != self._arch and not self._real:
            stand_ins.install(arch)
        self._arch = arch
        key = "real" if self._real else arch
        if key not in self._modules:
            self._modules[key] = load(self._path, self._text)
        return self._modules[key]


def _value(function: Any, item: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    if item["positional"]:
        return function(*arguments.values())
    _check_parameters(function, item["function"], arguments)
    return function(**arguments)


def _check_parameters(function: Any, name: str, arguments: Mapping[str, Any]) -> None:
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        raise NotAKernel(
            f"{name} cannot be called with the parameters {', '.join(arguments)}: {error}. Keep the parameters of the "
            "skeleton."
        ) from None
    except ValueError:  # a callable without a signature is called to see what happens
        return


def _names(function: Any) -> list[str] | None:
    """The names of a function's parameters; None if it takes any."""
    taken = parameters(function)
    anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
    return None if anything else list(taken)


def _space(tuned: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    from tilelang.autotuner.tuner import AutoTuneImpl
    from tilelang.jit import JITImpl

    if not isinstance(tuned, AutoTuneImpl):
        return {"autotuned": False, "decorated": isinstance(tuned, JITImpl), "configs": None}
    space = tuned.configs(**arguments) if callable(tuned.configs) else tuned.configs
    return {"autotuned": True, "decorated": True, "configs": space}


def plain(value: Any, whose: str) -> Any:
    """The value as JSON has it; numbers of NumPy and torch become Python's. Raises NotPlain."""
    left = [MAX_ITEMS]

    def convert(value: Any, depth: int) -> Any:
        left[0] -= 1
        if left[0] < 0 or depth > 20:
            raise NotPlain(f"{whose} returned more than can be read: over {MAX_ITEMS} values, or too deeply nested.")
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise NotPlain(f"{whose} returned an int of {value.bit_length()} bits, which is more than can be read.")
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, (list, tuple)):
            return [convert(item, depth + 1) for item in value]
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise NotPlain(f"{whose} returned a dict with {a(key)} as a key; its keys must be str.")
            return {str(key): convert(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (bool, int, float, str)) or hasattr(value, "item"):
            return convert(_number(value), depth + 1)
        raise NotPlain(
            f"{whose} returned {a(value)} where a number, a str, a list or a dict is expected"
            f"{'. Does it end in `return`?' if value is None else '.'}"
        )

    return convert(value, 0)


def _number(value: Any) -> Any:
    """The Python number, or str, that a value of another type stands for."""
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value.item()
