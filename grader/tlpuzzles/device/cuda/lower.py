"""Lowers a kernel for an architecture that need not be here: TileLang's passes alone, or nvcc after them."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import tilelang
from tilelang import tvm
from tilelang.cuda.backend import tilelang_callback_cuda_compile
from tilelang.transform.pass_config import normalize_pass_configs
from tvm.ir.instrument import pass_instrument
from tvm.target import Target

from tlpuzzles.catalogue.explanation import Explanation
from tlpuzzles.device.cuda.explain import explain, gpu_name
from tlpuzzles.device.cuda.footprint import footprint, too_big
from tlpuzzles.device.cuda.load import LoadError, load
from tlpuzzles.device.cuda.model import Footprint, Lowered, LowerOutcome, Note
from tlpuzzles.device.cuda.quiet import captured
from tlpuzzles.device.cuda.twins import TWINS
from tlpuzzles.kernel.capsule import NEUTRAL_SOURCE, Document
from tlpuzzles.kernel.facts import TILE_OP, Kernel

_UNINITIALISED = re.compile(
    rf"`(?P<buffer>\w+)` is read before anything writes it\n\s+--> {re.escape(NEUTRAL_SOURCE)}:(?P<line>\d+)"
)
_TENSOR_CORE = ("mma_sync", "wgmma", "tcgen05")


@dataclass
class Watch:
    """What `lower` leaves for who wants to see more than whether a kernel compiles."""

    passes: tuple[str, ...]
    """Passes of TileLang's after which the module is kept."""
    modules: dict[str, Any] = field(default_factory=dict)
    """By pass."""
    source: str | None = None
    """In CUDA C++; None if lowering did not come so far."""
    footprints: dict[str, Footprint] = field(default_factory=dict)
    """By kernel of that source."""


def lower(
    document: Document,
    pass_configs: Mapping[str, object],
    arch: str,
    *,
    nvcc: bool = False,
    watch: Watch | None = None,
) -> Lowered:
    """Whether a kernel compiles for `arch` ("sm_80"), why not, and what its blocks ask of the GPU. Prints nothing.

    With `nvcc` the CUDA source is compiled too (seconds; its results are cached in TILELANG_CACHE_DIR). `watch` is
    filled on the way.
    """
    start = time.monotonic()
    launches: tuple[Footprint, ...] = ()
    notes: tuple[Note, ...] = ()
    outcome, explanation = LowerOutcome.COMPILES, None
    with captured() as printed:
        try:
            configs = normalize_pass_configs(dict(pass_configs))
            artifact = _lowered(load(document), configs, arch, watch)
            asked = {str(var.name_hint): footprint(func) for var, func in artifact.device_mod.functions.items()}
            launches = tuple(asked.values())
            if watch is not None:
                watch.source, watch.footprints = artifact.kernel_source, asked
            explanation = next((found for one in launches if (found := too_big(one, arch, document.func))), None)
            if explanation is not None:
                outcome = LowerOutcome.TOO_BIG
            elif nvcc:
                outcome = LowerOutcome.NVCC_REFUSED
                tilelang_callback_cuda_compile(artifact.kernel_source, _target(arch), configs)
                outcome = LowerOutcome.COMPILES
            notes = _notes(artifact.kernel_source, arch, document)
        except LoadError as error:
            outcome, explanation = LowerOutcome.REFUSED, Explanation("not-loadable", str(error), "", str(error))
        except Exception as error:  # noqa: BLE001 - TileLang's passes raise whatever the bug they met makes them raise
            if outcome is LowerOutcome.COMPILES:
                outcome = LowerOutcome.REFUSED
            explanation = explain(f"{error}", arch, document.func)
    notes += tuple(
        Note(
            "uninitialised",
            f"{match['buffer']} is read before anything writes it: on a GPU it holds whatever was there before. "
            "Start with T.clear or T.fill",
            int(match["line"]),
        )
        for match in _UNINITIALISED.finditer(printed.text)
    )
    return Lowered(arch, outcome, launches, explanation, notes, time.monotonic() - start)


def for_twin(lowered: Lowered, document: Document) -> Lowered | None:
    """What lowering for the architecture's twin gives, without doing it; None if there is none or nvcc has the word."""
    twin = TWINS.get(lowered.arch)
    if twin is None or lowered.outcome is LowerOutcome.NVCC_REFUSED:
        return None
    if lowered.outcome is LowerOutcome.REFUSED and lowered.explanation is not None:
        return replace(lowered, arch=twin, explanation=explain(lowered.explanation.raw, twin, document.func))
    explanation = next((found for one in lowered.launches if (found := too_big(one, twin, document.func))), None)
    outcome = LowerOutcome.COMPILES if explanation is None else LowerOutcome.TOO_BIG
    return replace(lowered, arch=twin, outcome=outcome, explanation=explanation)


def cuda_source(func: Any, pass_configs: Mapping[str, object], arch: str) -> str:
    """The CUDA source of a TVM function; raises what TileLang raises."""
    source: str = _lowered(func, normalize_pass_configs(dict(pass_configs)), arch).kernel_source
    return source


def _target(arch: str) -> Any:
    return Target({"kind": "cuda", "arch": arch})


def _lowered(func: Any, configs: dict[str, object], arch: str, watch: Watch | None = None) -> Any:
    target = _target(arch)
    instruments = [] if watch is None else [_Watching(watch)]
    with tvm.transform.PassContext(opt_level=3, config=configs, instruments=instruments), target:
        return tilelang.lower(func, target=target, enable_device_compile=False)


@pass_instrument
class _Watching:
    """Keeps modules as they are after certain passes."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def run_after_pass(self, module: Any, info: Any) -> None:
        if info.name in self.watch.passes:
            self.watch.modules[info.name] = module


def _notes(source: str, arch: str, document: Document) -> tuple[Note, ...]:
    kernel = Kernel(document.func)
    if any(kernel.calls(f"{TILE_OP}gemm")) and not any(name in source for name in _TENSOR_CORE):
        return (
            Note(
                "no-tensor-cores",
                f"T.gemm runs without tensor cores on {gpu_name(arch)}: right, and slow. They take float16 "
                f"operands there",
            ),
        )
    return ()
