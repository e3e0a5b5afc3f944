"""Calls plain functions of a learner's file, in a process like the tracer's: it holds no expectation and no seed.

Arguments come as JSON, and stand-ins for what a function must use (a way to measure, a kernel) are built from it. What
is returned leaves as JSON.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tlpuzzles.border import playing, stand_ins
from tlpuzzles.border.learners_file import NotAKernel, a, describe, find, load, parameters

Emit = Callable[[dict[str, Any]], None]

MAX_ITEMS = 100_000
"""Values in one answer."""


class NotPlain(Exception):
    """A function returned what cannot be written as JSON; the message is for the learner."""


def call(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: {"job": a JSON file} with path, text (a file), arch, calls: a list of {"id", "function", "arguments",
    "positional", "of", "arch"}, and real: whether the GPU is really there.

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
            function = find(file.on(item.get("arch") or job["arch"]), item["function"])
            arguments = {name: playing.build(value, uses) for name, value in item["arguments"].items()}
            value = _space(function, arguments) if item["of"] == "tuning space" else _value(function, item, arguments)
            answer = {"value": plain(value, item["function"]), "uses": plain(uses, "measure")}
        except BaseException as error:  # noqa: BLE001 - as above
            emit({"kind": "error", "id": item["id"], **describe(error, path, "function")})
        else:
            emit({"kind": "answer", "id": item["id"], **answer})


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


def _space(tuned: Any, arguments: Mapping[str, Any]) -> Any:
    from tilelang.autotuner.tuner import AutoTuneImpl

    if not isinstance(tuned, AutoTuneImpl):
        raise NotAKernel(
            f"The function is {a(tuned)}, which is not autotuned. Write @tilelang.autotune(configs=...) above "
            "@tilelang.jit."
        )
    space = tuned.configs(**arguments) if callable(tuned.configs) else tuned.configs
    known = {*parameters(tuned), "pass_configs"}
    for config in space if isinstance(space, (list, tuple)) else ():
        unused = [name for name in config if name not in known] if isinstance(config, dict) else []
        if unused:
            raise NotAKernel(
                f"The config {config} has {', '.join(map(str, unused))}, which is no parameter of the tuned function: "
                'the autotuner raises "Unused keys in config".'
            )
    return space


def plain(value: Any, whose: str) -> Any:
    """The value as JSON has it; numbers of NumPy and torch become Python's. Raises NotPlain."""
    left = [MAX_ITEMS]

    def convert(value: Any, depth: int) -> Any:
        left[0] -= 1
        if left[0] < 0 or depth > 20:
            raise NotPlain(f"{whose} returned more than can be read: over {MAX_ITEMS} values, or too deeply nested.")
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
