"""Runs TileLang's autotuner on a learner's kernel: the one process with a learner's Python in it that sees the GPU.

What it says of times is never taken for a measurement: the winner leaves as a capsule, and the grader measures it.
"""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tlpuzzles.border import stand_ins
from tlpuzzles.border.caller import plain
from tlpuzzles.border.learners_file import NotAKernel, a, describe, find, load
from tlpuzzles.border.tracer import written

Emit = Callable[[dict[str, Any]], None]


def tune(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: path, text (a file), factory, sizes, ahead: how many configurations to compile at a time before the
    autotuner begins, 0 for none; share: [i, n] to compile every n-th configuration from the i-th on, and no more.

    Emits "loaded", then "tuned" with the winner's configuration, its capsule and whether it was `cached`: found among
    the autotuner's earlier results. Or "error".
    """
    path = str(job["path"])
    stage = "load"
    try:
        module = load(path, Path(job["text"]).read_text(encoding="utf-8"))
        factory = find(module, job["factory"])
        emit({"kind": "loaded"})
        stage = "tune"
        sizes = dict(job["sizes"])
        share = job.get("share")
        _count_outputs_from_the_front(factory, sizes)
        if job["ahead"]:
            _compile_ahead(factory, sizes, job["ahead"], *(share or (0, 1)))
        if share is None:
            emit({"kind": "tuned", **_winner(factory, job["factory"], sizes)})
    except BaseException as error:  # noqa: BLE001 - a learner's file may raise anything, SystemExit included
        emit({"kind": "error", **describe(error, path, stage)})


def _winner(factory: Any, name: str, sizes: dict[str, int]) -> dict[str, Any]:
    from tilelang.autotuner.tuner import AutoTuneImpl
    from tilelang.jit import JITImpl

    if not isinstance(factory, AutoTuneImpl):
        raise NotAKernel(
            f"{name} has {'@tilelang.jit, but no' if isinstance(factory, JITImpl) else 'neither @tilelang.jit nor'} "
            "@tilelang.autotune above it."
        )
    before = _results()
    kernel = factory(**sizes)
    config = getattr(kernel, "config", None)
    if not isinstance(config, dict):
        raise NotAKernel(f"Calling the autotuned function gave {a(kernel)}, which was not tuned.")
    jit = factory.jit_impl
    # Traced again: a kernel that came from the cache has no IR.
    tunables = {name: value for name, value in config.items() if name != "pass_configs"}
    traced = stand_ins.traced(jit, jit.get_tir(**sizes, **tunables))
    traced.pass_configs = {**traced.pass_configs, **config.get("pass_configs", {})}
    cached = bool(before) and _results() == before
    return {"config": plain(tunables, "the autotuner"), "cached": cached, **written(traced)}


def _results() -> set[str]:
    """The names of what the autotuner has kept: one for each question. None is added where its answer was found."""
    from tilelang.autotuner.tuner import AutoTuner

    try:
        return {entry.name for entry in AutoTuner._get_cache_dir().iterdir() if not entry.name.startswith(".")}
    except OSError:
        return set()


def _compile_ahead(factory: Any, sizes: dict[str, int], at_once: int, first: int, step: int) -> None:
    """Compiles a share of the configurations, so many at a time; the autotuner then finds them in TileLang's cache.

    The autotuner of TileLang 0.1.15 holds a lock while it compiles one: 20 of them take it 70 s on 16 cores. Whatever
    goes wrong here it will meet again, and tell.
    """
    import tilelang

    with contextlib.suppress(Exception), _muted():
        jit = factory.jit_impl
        funcs = []
        for config in _configs(factory, sizes)[first::step]:
            with contextlib.suppress(Exception):
                funcs.append(jit.get_tir(**sizes, **config))
        tilelang.par_compile(
            funcs,
            out_idx=jit.out_idx,
            execution_backend=jit.execution_backend,
            target=jit.target,
            target_host=jit.target_host,
            verbose=jit.verbose,
            pass_configs=jit.pass_configs,
            compile_flags=jit.compile_flags,
            num_workers=at_once,
            ignore_error=True,
        )


def _count_outputs_from_the_front(factory: Any, sizes: dict[str, int]) -> None:
    """Makes the positions of outputs those that TileLang would make of them on the way.

    When TileLang 0.1.15 takes a kernel from its cache, it writes into the factory's list what -1 stands for, and looks
    for the next one under another key than before: all but one would be lowered again.
    """
    with contextlib.suppress(Exception), _muted():
        jit = factory.jit_impl
        count = len(jit.get_tir(**sizes, **_configs(factory, sizes)[0]).params)
        if jit.out_idx is not None:
            positions = [jit.out_idx] if isinstance(jit.out_idx, int) else jit.out_idx
            jit.out_idx = [position + count if position < 0 else position for position in positions]


def _configs(factory: Any, sizes: dict[str, int]) -> list[dict[str, Any]]:
    """Those that are kernels of the factory's own settings."""
    listed = factory.configs(**sizes) if callable(factory.configs) else factory.configs
    return [config for config in listed if "pass_configs" not in config]


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """What is said here, by a learner's function or by TileLang, is said again when the autotuner is at work."""
    logging.disable()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)
