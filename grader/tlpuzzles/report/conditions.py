"""What a machine did while kernels were timed on it: the noise, and what held the clock down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.verdict.model import Speed
from tlpuzzles.verdict.speed import itself

MOVED = 1.05
"""A clock whose highest is so many times its lowest is told of."""
INDENT = 4

ORIGINS = {
    # The course's own: all were measured on one. A class measures by `tlpuzzles calibrate`.
    "measured": "measured on an H200",
    "calibrated": "calibrated on this GPU",
    "estimated": "estimated for this GPU: points, never a failure",
}


def conditions(
    speeds: Sequence[Speed], letters: Mapping[str, str], name: Callable[[str], str], page: Page, marks: Marks
) -> None:
    """Prints what `noted` tells."""
    separator = Text(f" {marks.separator} ", style="dim")
    parts = [Text(marks.clean(part), style="dim") for part in noted(speeds, letters, name)]
    page.flow(parts, lead=" " * INDENT, separator=separator)


def noted(speeds: Sequence[Speed], letters: Mapping[str, str], name: Callable[[str], str]) -> list[str]:
    """Where the marks are from, and what matters of the machine, over all cases. `letters` are those of cases, `name`
    shortens that of a baseline."""
    noisiest = max(speeds, key=lambda speed: abs(speed.self_ratio - 1))
    among = f"; worst of {len(speeds)} cases" if len(speeds) > 1 else ""
    baseline = name(noisiest.baseline)
    noise = f"noise: {baseline} beside {itself(baseline)} {noisiest.self_ratio:.4f} (1 is perfect{among})"
    blocks, rounds = _span([speed.blocks for speed in speeds]), _span([speed.rounds for speed in speeds])
    parts = [*_origins(speeds, letters), noise, f"{blocks} measurements in {rounds} rounds"]
    seen = [speed.gpu for speed in speeds if speed.gpu is not None]
    clocks = [gpu.sm_clock_mhz for gpu in seen if gpu.sm_clock_mhz is not None]
    if clocks:
        low, high = min(low for low, _ in clocks), max(high for _, high in clocks)
        parts += [f"clock from {low} to {high} MHz"] if high > MOVED * low else []
    throttled = dict.fromkeys(reason for gpu in seen for reason in gpu.throttled)
    parts += [f"clock held down: {', '.join(throttled)}"] if throttled else []
    parts += [_others(max(gpu.others or 0 for gpu in seen))] if any(gpu.others for gpu in seen) else []
    parts += ["GPU busy with other work"] if any(gpu.busy for gpu in seen) else []
    return parts


def _origins(speeds: Sequence[Speed], letters: Mapping[str, str]) -> list[str]:
    """Where the marks came from: once if all from the same, else for the cases that share it."""
    alike: dict[str, list[str]] = {}
    for speed in speeds:
        if speed.origin is not None:
            alike.setdefault(speed.origin, []).append(letters.get(speed.case, speed.title))
    if len(alike) == 1:
        return [f"marks {ORIGINS[origin]}" for origin in alike]
    return [f"marks of {' '.join(cases)} {ORIGINS[origin]}" for origin, cases in alike.items()]


def every_condition(speeds: Sequence[Speed], page: Page, marks: Marks) -> None:
    """Prints all that was seen, case by case."""
    for number, speed in enumerate(speeds):
        if number:
            page.blank()
        page.line(" " * INDENT, (f"How it was measured: {marks.clean(speed.title)}", "bold dim"))
        rows = [(name, Text(marks.clean(value), style="dim")) for name, value in all_noted(speed)]
        page.pairs(rows, indent=INDENT)


def all_noted(speed: Speed) -> list[tuple[str, str]]:
    """All that was seen while a case was timed: names and values."""
    rows = [
        ("baseline", speed.baseline),
        ("ratio", f"{speed.ratio:.4f}, 95 % interval {_interval(speed.ci)}"),
        (f"beside {itself(speed.baseline)}", f"{speed.self_ratio:.4f}, 95 % interval {_interval(speed.self_ci)}"),
        ("measurements", f"{speed.blocks} in {speed.rounds} rounds; stopped: {speed.stopped.value}"),
    ]
    for other in speed.beside:
        beside = f"{other.baseline} {other.ratio:.4f}, 95 % interval {_interval(other.ci)}, {other.milliseconds:.4g} ms"
        rows.append(("beside", beside))
    rows += [("marks", ORIGINS[speed.origin])] if speed.origin is not None else []
    rows += [("their source", speed.threshold_from)] if speed.threshold_from is not None else []
    gpu = speed.gpu
    if gpu is None:
        return rows
    seen = []
    if gpu.sm_clock_mhz is not None:
        low, high = gpu.sm_clock_mhz
        seen.append(f"clock {low} MHz" if low == high else f"clock from {low} to {high} MHz")
    seen += [f"{gpu.temperature} degrees Celsius"] if gpu.temperature is not None else []
    seen += [f"{gpu.power_watts:.0f} W"] if gpu.power_watts is not None else []
    rows += [("GPU", ", ".join(seen))] if seen else []
    rows += [("held down by", ", ".join(gpu.throttled))] if gpu.throttled else []
    rows += [("besides", _others(gpu.others))] if gpu.others is not None else []
    rows += [("before", "the GPU was busy with other work")] if gpu.busy else []
    return rows


def _others(count: int) -> str:
    return f"{count or 'no'} other process{'' if count == 1 else 'es'} on the GPU"


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4f} to {ends[1]:.4f}"


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
