"""Runs a learner's file to trace its kernel: the only process in which a learner's line of Python ever runs.

What it is given: the file's text, the factory's name, and for each case the arguments. No seed, no input, no
expectation, no GPU. What it sends back is data that nobody trusts: capsules, or what went wrong and on which line.
"""

from __future__ import annotations

import inspect
import linecache
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tlpuzzles.border import stand_ins

Emit = Callable[[dict[str, Any]], None]

MODULE = "learners_file"
MAX_MESSAGE = 4000


class NotAKernel(Exception):
    """The factory, or what it returned, cannot be traced; the message is for the learner."""


def trace(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: path (as the learner names it), text (a file holding the snapshot to run), factory, arch, cases: a list of
    {"id", "arguments"}. Emits "loaded", then for each case "capsule" or "error"; an error before that has no case."""
    path = str(job["path"])
    # Both the logger and Python's last-resort handler would print TileLang's instrumented source.
    logging.getLogger("tilelang").setLevel(logging.CRITICAL + 1)
    questions = stand_ins.install(job["arch"])
    try:
        module = _load(path, Path(job["text"]).read_text(encoding="utf-8"))
        factory = _find(module, job["factory"])
    except BaseException as error:  # noqa: BLE001 - a learner's file may raise anything, SystemExit included
        emit({"kind": "error", "case": None, **_describe(error, path, "load")})
        return
    emit({"kind": "loaded", "takes_arch": "arch" in _parameters(factory)})
    for case in job["cases"]:
        emit({"kind": "tracing", "case": case["id"]})
        try:
            capsule = _capsule(factory, {**case["arguments"], "arch": job["arch"]})
        except BaseException as error:  # noqa: BLE001 - as above
            emit({"kind": "error", "case": case["id"], **_describe(error, path, "call")})
        else:
            emit({"kind": "capsule", "case": case["id"], "asked_gpu": questions.asked, **capsule})


def _load(path: str, text: str) -> ModuleType:
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


def _find(module: ModuleType, name: str) -> Any:
    factory = getattr(module, name, None)
    if factory is None:
        others = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == MODULE]
        found = f" It defines {', '.join(sorted(others)[:6])}." if others else ""
        raise NotAKernel(f"The file defines no function named {name}.{found} The exercise calls {name}.")
    if not callable(factory):
        raise NotAKernel(f"{name} is {_a(factory)}, not a function.")
    return factory


def _parameters(factory: Any) -> Mapping[str, inspect.Parameter]:
    target = getattr(factory, "jit_impl", factory)
    signature = getattr(target, "signature", None) or inspect.signature(target)
    return dict(signature.parameters)


def _capsule(factory: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    from tilelang import tvm

    kernel = _traced(factory, arguments)
    func = kernel.prim_func
    if not isinstance(func, tvm.tirx.PrimFunc):
        raise NotAKernel(f"The factory returned {_a(func)}; it must return the kernel (a T.prim_func).")
    return {
        "ir": tvm.ir.save_json(func),
        "out_idx": _out_idx(kernel.out_idx, func),
        "pass_configs": {_config_name(key): value for key, value in dict(kernel.pass_configs or {}).items()},
    }


def _traced(factory: Any, arguments: dict[str, Any]) -> stand_ins.TracedKernel:
    from tilelang import tvm
    from tilelang.autotuner.tuner import AutoTuneImpl
    from tilelang.jit import JITImpl

    target = factory.jit_impl if isinstance(factory, AutoTuneImpl) else factory
    accepted = _accepted(target, arguments)
    if isinstance(target, JITImpl):
        return stand_ins.traced(target, target.get_tir(**accepted))
    made = target(**accepted)
    if isinstance(made, AutoTuneImpl):
        made = made.jit_impl
    if isinstance(made, JITImpl):
        known = _parameters(made)
        rest = {name: value for name, value in arguments.items() if name in known}
        return stand_ins.traced(made, made.get_tir(**(_accepted(made, arguments) if _tensors(made) else rest)))
    if isinstance(made, stand_ins.TracedKernel):
        return made
    if isinstance(made, tvm.tirx.PrimFunc):
        return stand_ins.TracedKernel(made)
    reason = " Does it end in `return`?" if made is None else ""
    raise NotAKernel(f"The factory returned {_a(made)}; it must return the kernel (a T.prim_func).{reason}")


def _accepted(factory: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the factory takes. `arch` and `dtype` may be left out of its signature, sizes may not."""
    parameters = _parameters(factory)
    tensors = _tensors(factory)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    missing = [n for n in arguments if n not in parameters and n not in ("arch", "dtype") and not takes_all]
    # In the eager style, sizes are named in the body (T.const) and may be passed without being parameters.
    if missing and not tensors:
        raise NotAKernel(f"The factory has no parameter {_names(missing)}. Keep the parameters of the skeleton.")
    required = [
        name
        for name, p in parameters.items()
        if p.default is p.empty
        and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        and name not in arguments
        and name not in tensors
    ]
    if required:
        raise NotAKernel(
            f"The factory requires {_names(required)}, which the exercise does not pass. Give it a default value."
        )
    return {
        n: v for n, v in arguments.items() if takes_all or n in parameters or (tensors and n not in ("arch", "dtype"))
    }


def _tensors(factory: Any) -> set[str]:
    """The parameters of an eager-style kernel that stand for tensors; none in the lazy style."""
    return set(getattr(getattr(factory, "func", None), "tensor_args", ()))


def _out_idx(declared: Any, func: Any) -> list[int] | None:
    if declared is None and func.attrs is not None and "tilelang_out_idx" in func.attrs:
        declared = [int(i) for i in func.attrs["tilelang_out_idx"]]
    if declared is None:
        return None
    return [int(i) for i in declared] if isinstance(declared, (list, tuple)) else [int(declared)]


def _config_name(key: Any) -> str:
    return str(getattr(key, "value", key))


def _names(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _a(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _describe(error: BaseException, path: str, stage: str) -> dict[str, Any]:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    message = str(error) if not isinstance(error, SystemExit) else str(error.code)
    return {
        "stage": stage,
        "type": type(error).__name__,
        "message": message[:MAX_MESSAGE],
        "line": frames[-1].lineno if frames else None,
        "raw": "".join(traceback.format_exception_only(error))[:MAX_MESSAGE],
        "module": getattr(error, "name", None) if isinstance(error, ImportError) else None,
    }
