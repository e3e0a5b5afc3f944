"""Runs a learner's file to trace its kernel: the only process in which a learner's line of Python ever runs.

What it is given: the file's text, the factory's name, and for each case the arguments. No seed, no input, no
expectation, no GPU. What it sends back is data that nobody trusts: capsules, or what went wrong and on which line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tlpuzzles.border import stand_ins
from tlpuzzles.border.learners_file import NotAKernel, a, describe, find, load, parameters

Emit = Callable[[dict[str, Any]], None]


def trace(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: path (as the learner names it), text (a file holding the snapshot to run), factory, arch, cases: a list of
    {"id", "arguments"}. Emits "loaded", then for each case "capsule" or "error"; an error before that has no case."""
    path = str(job["path"])
    questions = stand_ins.install(job["arch"])
    try:
        module = load(path, Path(job["text"]).read_text(encoding="utf-8"))
        factory = find(module, job["factory"])
    except BaseException as error:  # noqa: BLE001 - a learner's file may raise anything, SystemExit included
        emit({"kind": "error", "case": None, **describe(error, path, "load")})
        return
    emit({"kind": "loaded", "takes_arch": "arch" in parameters(factory)})
    for case in job["cases"]:
        emit({"kind": "tracing", "case": case["id"]})
        try:
            capsule = _capsule(factory, {**case["arguments"], "arch": job["arch"]})
        except BaseException as error:  # noqa: BLE001 - as above
            emit({"kind": "error", "case": case["id"], **describe(error, path, "call")})
        else:
            emit({"kind": "capsule", "case": case["id"], "asked_gpu": questions.asked, **capsule})


def _capsule(factory: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return written(_traced(factory, arguments))


def written(kernel: stand_ins.TracedKernel) -> dict[str, Any]:
    """A kernel as what leaves this process. Raises NotAKernel."""
    from tilelang import tvm

    func = kernel.prim_func
    if not isinstance(func, tvm.tirx.PrimFunc):
        raise NotAKernel(f"The factory returned {a(func)}; it must return the kernel (a T.prim_func).")
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
        known = parameters(made)
        rest = {name: value for name, value in arguments.items() if name in known}
        return stand_ins.traced(made, made.get_tir(**(_accepted(made, arguments) if _tensors(made) else rest)))
    if isinstance(made, stand_ins.TracedKernel):
        return made
    if isinstance(made, tvm.tirx.PrimFunc):
        return stand_ins.TracedKernel(made)
    reason = " Does it end in `return`?" if made is None else ""
    raise NotAKernel(f"The factory returned {a(made)}; it must return the kernel (a T.prim_func).{reason}")


def _accepted(factory: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the factory takes. `arch` and `dtype` may be left out of its signature, sizes may not."""
    known = parameters(factory)
    tensors = _tensors(factory)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
    missing = [n for n in arguments if n not in known and n not in ("arch", "dtype") and not takes_all]
    # In the eager style, sizes are named in the body (T.const) and may be passed without being parameters.
    if missing and not tensors:
        raise NotAKernel(f"The factory has no parameter {_names(missing)}. Keep the parameters of the skeleton.")
    required = [
        name
        for name, p in known.items()
        if p.default is p.empty
        and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        and name not in arguments
        and name not in tensors
    ]
    if required:
        raise NotAKernel(
            f"The factory requires {_names(required)}, which the exercise does not pass. Give it a default value."
        )
    return {n: v for n, v in arguments.items() if takes_all or n in known or (tensors and n not in ("arch", "dtype"))}


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
