"""In a child that sees the GPU: times kernels beside their baselines. The GPU may stop it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from tlpuzzles.course import catalog
from tlpuzzles.course.timings import Timing, Unavailable
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda import machine, rates, resources
from tlpuzzles.device.cuda.bench import Candidate, GpuBench
from tlpuzzles.device.cuda.compiling import Compiled, Source, compile_kernels
from tlpuzzles.device.cuda.racing import race
from tlpuzzles.device.cuda.run import uses_atomics
from tlpuzzles.grading.explained import in_words
from tlpuzzles.grading.stages import fetch
from tlpuzzles.kernel.capsule import read
from tlpuzzles.kernel.cost import launch_costs
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.verdict import roofline, timing
from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL, Estimate, Limits, Measurement, NotTimed
from tlpuzzles.verdict.timing import Edges, Rule

Emit = Callable[[dict[str, Any]], None]

BEAT = 1.0
"""Seconds."""
_NO_MEMORY = re.compile("out of memory|ALLOC_FAILED|NOT_INITIALIZED")
"""What torch, cuBLAS and the driver say of a GPU whose memory others hold."""


class WrongOutput(Exception):
    """A timed call gave another result than it must."""


def measure(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: exercise, arch, seed, edges: {case: {baseline: [pass_at, full_at]}}, limits: whether to measure those of the
    GPU, cases: a list of {"id", "sizes", "capsule", "parameters"}.

    Emits "limits"; then for each case "timing" before it is begun, "launching" before its kernel is launched, now and
    then a "beat", and one of "timed" (measurement, gpu, compiled, grid, multiprocessors) and "not timed" (reason, why).
    """
    exercise = catalog.find(job["exercise"])
    # The first look comes before this process opens the GPU: who has it open now is somebody else.
    watching = machine.Watching()
    watching.look()
    sources = {}
    for case in job["cases"]:
        capsule = fetch(case["capsule"])
        sources[case["id"]] = Source(read(capsule), capsule.pass_configs)
    compiled = compile_kernels(sources, job["arch"], emit)
    watching.look()
    device = torch.device("cuda")
    torch.cuda.init()  # type: ignore[no-untyped-call]
    watching.begin()
    if job["limits"]:
        emit({"kind": "limits", **_limits(device, watching, job["arch"]).model_dump(mode="json")})
    for case in job["cases"]:
        emit({"kind": "timing", "case": case["id"]})
        kernel = compiled[case["id"]]
        if not isinstance(kernel, Compiled):
            emit(_not_timed(case, NotTimed.WRONG, in_words(kernel).message))
            continue
        one = next(timed for timed in exercise.timings if timed.case.id == case["id"])
        candidate = Candidate(kernel, tuple(case["parameters"]), uses_atomics(sources[case["id"]].document.func))
        try:
            measured = _race(exercise, one, case, candidate, job, device, watching, emit)
        except WrongOutput as error:
            emit(_not_timed(case, NotTimed.WRONG, str(error)))
            continue
        except Unavailable as error:
            emit(_not_timed(case, NotTimed.UNAVAILABLE, str(error)))
            continue
        except RuntimeError as error:  # OutOfMemoryError is one; cuBLAS and launches have words of their own for it
            if not _NO_MEMORY.search(str(error)):
                raise
            emit(_not_timed(case, NotTimed.NO_MEMORY, "the GPU had not enough free memory for it"))
            continue
        emit(
            {
                "kind": "timed",
                "case": case["id"],
                "measurement": measured.model_dump(mode="json"),
                "gpu": watching.seen().model_dump(mode="json"),
                "grid": _grid(sources[case["id"]]),
                "multiprocessors": torch.cuda.get_device_properties(device).multi_processor_count,
                "compiled": resources.compiled(kernel.call, job["arch"], sources[case["id"]].pass_configs).model_dump(
                    mode="json"
                ),
            }
        )


def _race(
    exercise: Exercise,
    one: Timing,
    case: Mapping[str, Any],
    candidate: Candidate,
    job: Mapping[str, Any],
    device: torch.device,
    watching: machine.Watching,
    emit: Emit,
) -> Measurement:
    bench = GpuBench(
        exercise,
        one,
        case["sizes"],
        candidate,
        device,
        job["seed"],
        watching.sample,
        launching=lambda: emit({"kind": "launching", "case": one.case.id}),
        beat=_Beat(emit),
    )
    pass_at, full_at = job["edges"].get(case["id"], {}).get(bench.baseline.id, (None, None))
    # A copy moves another number of bytes: its ratio is per byte.
    share = 1.0
    if bench.baseline.moves is not None:
        share = exercise.bytes(case["sizes"], one.case.dtype) / bench.baseline.moves
    edges = Edges(*(None if edge is None else edge / share for edge in (pass_at, full_at)))
    raced = race(bench, edges, Rule(), rests=one is not exercise.timings[0])
    if raced.wrong is not None:
        raise WrongOutput(f"At this size the kernel is wrong: {raced.wrong}.")
    blocks = raced.blocks
    milliseconds = {arm: timing.milliseconds(blocks, arm) for arm in bench.arms}
    ratio = timing.ratio(blocks, BASELINE, KERNEL)
    return Measurement(
        case=one.case.id,
        baseline=bench.baseline.id,
        milliseconds={**milliseconds, BASELINE: share * milliseconds[BASELINE], AGAIN: share * milliseconds[AGAIN]},
        ratio=Estimate(value=share * ratio.value, low=share * ratio.low, high=share * ratio.high),
        again=timing.ratio(blocks, AGAIN, BASELINE),
        beside={baseline.id: timing.ratio(blocks, baseline.id, KERNEL) for baseline in bench.beside},
        blocks=len(blocks),
        rounds=1 + blocks[-1].round,
        stopped=raced.stopped,
    )


def _limits(device: torch.device, watching: machine.Watching, arch: str) -> Limits:
    properties = torch.cuda.get_device_properties(device)
    clocks = watching.limits()
    return Limits(
        copy_gbps=rates.copy_gbps(device),
        matrix_tflops=rates.matrix_tflops(device),
        peak_gbps=None
        if clocks.memory_clock_mhz is None or clocks.bus_width_bits is None
        else roofline.peak_gbps(clocks.memory_clock_mhz, clocks.bus_width_bits),
        peak_tflops=None
        if clocks.sm_clock_mhz is None
        else roofline.peak_tflops(arch, properties.multi_processor_count, clocks.sm_clock_mhz),
    )


def _grid(source: Source) -> list[int]:
    """Blocks along each axis; none where that is not known."""
    grid = launch_costs(Kernel(source.document.func), {})[0].grid
    return [extent for extent in grid if extent is not None] if None not in grid else []


def _not_timed(case: Mapping[str, Any], reason: NotTimed, why: str) -> dict[str, Any]:
    return {"kind": "not timed", "case": case["id"], "reason": reason.value, "why": why}


class _Beat:
    """Tells that there is progress, for a process that says nothing for long is taken to hang."""

    def __init__(self, emit: Emit) -> None:
        self._emit, self._last = emit, time.monotonic()

    def __call__(self) -> None:
        if time.monotonic() - self._last > BEAT:
            self._last = time.monotonic()
            self._emit({"kind": "beat"})
