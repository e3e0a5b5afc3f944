"""What is said of a kernel's speed: the same on every kind of page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import ceil

from tlpuzzles.report.scale import two_places
from tlpuzzles.verdict.measured import Compiled
from tlpuzzles.verdict.model import Check, Result, Roofline, Speed, Verdict
from tlpuzzles.verdict.speed import passes_within


def short_name(baseline: str) -> str:
    """A baseline's name without what it is told apart by: "cuBLAS" of "cuBLAS (torch.mm, sums in float32)", "cuDNN" of
    "SDPA by cuDNN"."""
    return re.split(r" \(|, | in ", baseline, maxsplit=1)[0].rpartition(" by ")[2]


def is_slow(speed: Speed) -> bool:
    """Whether it falls short of the mark to pass."""
    return speed.pass_at is not None and speed.ratio < speed.pass_at


def too_slow(result: Result) -> set[str]:
    """Cases that fail for nothing but their speed, which the section tells."""
    slow = {speed.case for speed in result.speed or () if is_slow(speed)}
    failed = {check.id for check in result.checks if check.verdict is Verdict.FAILED and check.graded}
    return slow & failed


def speed_of(name: str) -> str:
    """ "cuBLAS's speed"; "the speed of torch's three kernels"."""
    return f"the speed of {name}" if "'" in name else f"{name}'s speed"


def letters_of(speeds: Sequence[Speed]) -> dict[str, str]:
    """By which cases are named below the first lines, where there are several."""
    return {speed.case: chr(ord("a") + n) for n, speed in enumerate(speeds)} if len(speeds) > 1 else {}


def ratio_of(speed: Speed, plus_minus: str) -> tuple[str, str]:
    """ "0.936 ± 0.001" and "of cuBLAS's speed"."""
    low, high = speed.ci
    half = ceil(round((high - low) / 2 * 1000, 6)) / 1000  # rounded up to the last digit that is shown
    name = short_name(speed.baseline)
    return f"{speed.ratio:.3f} {plus_minus} {half:.3f}", f"{unit(speed.ratio)} {speed_of(name)}"


def meaning(speed: Speed, check: Check | None) -> list[str]:
    """What the ratio gives; `check` is that of the case."""
    if check is not None and check.graded and check.verdict is Verdict.FAILED:
        return ["too slow to pass", *_points(speed)]
    if check is not None and check.verdict is Verdict.INCONCLUSIVE:
        return ["undecided"]
    if speed.pass_at is None:
        return ["shown only: no mark for this GPU"]
    if not is_slow(speed):
        return _points(speed)
    if not speed.graded:
        return [f"no points yet; they begin at {two_places(speed.pass_at)}"]
    return [f"{passes_within(speed.pass_at)}, no points below it"]


def times(speed: Speed) -> list[str]:
    """How long a call of the kernel and one of its baseline take, and how much is done in it."""
    name = short_name(speed.baseline)
    return [_time(speed, "kernel", speed.milliseconds), _time(speed, name, speed.baseline_milliseconds)]


def beside(speed: Speed) -> list[str]:
    """The further baselines."""
    return [
        f"beside {short_name(other.baseline)}: {other.ratio:.3f} {unit(other.ratio)} its speed"
        for other in speed.beside
    ]


def limits_of(roof: Roofline) -> str:
    arithmetic, memory = f"{roof.matrix_tflops:.0f} TFLOP/s of arithmetic", f"{roof.copy_gbps:.0f} GB/s of memory"
    return f"This GPU's limits: {arithmetic}, {memory}."


def compared(speeds: Iterable[Speed]) -> str:
    """What the baselines are called together that a roofline shows."""
    names = {short_name(s.baseline) for s in speeds if s.roofline and s.roofline.baseline_fraction}
    return names.pop() if len(names) == 1 else "the baseline"


def reaches(speed: Speed, roof: Roofline) -> str:
    """How much of the limit."""
    rate = _rate(speed, speed.milliseconds) or f"{tflops(roof, speed.milliseconds):.3g} TFLOP/s"
    limit = f"{roof.copy_gbps:.0f} GB/s" if roof.bound == "memory" else f"{roof.matrix_tflops:.0f} TFLOP/s"
    if speed.limit_fraction is None:
        return f"reaches {rate}"
    told = f"reaches {rate}, {_percent(speed.limit_fraction)} of the limit ({limit}, {roof.bound})"
    if roof.baseline_fraction is None:
        return told
    return f"{told}; {short_name(speed.baseline)} {_percent(roof.baseline_fraction)}"


def alike(said: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What is said, each with the letters of the cases that it is said of: none if that is all of them. `said` are
    letters and texts."""
    together: dict[str, list[str]] = {}
    for letter, text in said:
        together.setdefault(text, []).append(letter)
    return [("" if len(together) == 1 else " ".join(letters), text) for text, letters in together.items() if text]


def compiled_to(compiled: Compiled) -> str:
    """What the compiler made of a kernel, in a line; empty if nothing could be found out."""
    parts = []
    if compiled.registers is not None:
        parts.append(f"{compiled.registers} registers")
    if compiled.spill_bytes is not None:
        parts.append(f"{compiled.spill_bytes} bytes spilled" if compiled.spill_bytes else "no spills")
    if compiled.shared_bytes is not None:
        parts.append(f"{_size(compiled.shared_bytes)} shared memory")
    if compiled.threads is not None:
        parts.append(f"{compiled.threads} threads")
    if compiled.blocks_per_sm is not None:
        blocks = "block" if compiled.blocks_per_sm == 1 else "blocks"
        parts.append(f"{compiled.blocks_per_sm} {blocks} a multiprocessor")
    return "; ".join(filter(None, (", ".join(parts), ", ".join(compiled.instructions))))


def _time(speed: Speed, name: str, milliseconds: float) -> str:
    shown = f"{milliseconds:.4f}" if 0.01 <= milliseconds < 1 else _digits(milliseconds)
    rate = _rate(speed, milliseconds)
    return f"{name} {shown} ms" if rate is None else f"{name} {shown} ms, {rate}"


def tflops(roof: Roofline, milliseconds: float) -> float:
    return roof.flops / milliseconds / 1e9


def _rate(speed: Speed, milliseconds: float) -> str | None:
    """What is done in a call of so many milliseconds, by what limits it."""
    bound = speed.roofline.bound if speed.roofline is not None else None
    shown = []
    if speed.tflops is not None and bound != "memory":
        shown.append(f"{_digits(speed.tflops * speed.milliseconds / milliseconds, 3)} TFLOP/s")
    if speed.gbps is not None and bound != "arithmetic":
        shown.append(f"{_digits(speed.gbps * speed.milliseconds / milliseconds, 3)} GB/s")
    return ", ".join(shown) or None


def _digits(value: float, digits: int = 4) -> str:
    """So many digits that count, and all of those before the point."""
    return f"{value:.0f}" if value >= 10 ** (digits - 1) else f"{value:#.{digits}g}".rstrip(".")


def _points(speed: Speed) -> list[str]:
    """ "4.5 of 20 points"; nothing if they are not known. Only all of them are told as all."""
    if speed.score is None or speed.points is None:
        return []
    earned = speed.points if speed.score == 1 else min(speed.score * speed.points, speed.points - 0.1)
    return [f"{_short(earned)} of {_short(speed.points)} points"]


def _short(points: float) -> str:
    return f"{points:.1f}".removesuffix(".0")


def unit(ratio: float) -> str:
    return "times" if ratio >= 1 else "of"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _size(size: int) -> str:
    return f"{size / 1024:.4g} KiB of" if size >= 1024 else f"{size} bytes of" if size else "no"
