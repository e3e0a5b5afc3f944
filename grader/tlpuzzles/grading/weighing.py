"""Which of many kernels will not fit into a GPU's shared memory, as far as their IR tells: worth asking the compiler.

To lower every kernel for every GPU would take a minute; to add up its tiles takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.device.limits import Architecture
from tlpuzzles.grading.submission import Problem

ByArch = Mapping[str, "Path | Problem"]
"""A kernel, by architecture: a file with the capsule, or why there is none."""

LIMITS = Limits(seconds=60)

MARGIN = 4 << 10
"""Bytes that lowering may add to what the tiles take: alignment, and what reductions exchange."""


def too_large(
    warm: Warm, kernels: Sequence[ByArch], asked: Sequence[ByArch], architectures: Sequence[Architecture], folder: Path
) -> dict[str, int]:
    """By architecture, which of the kernels asks for most, if that may be more than there is and is more than any of
    those do that the compiler is `asked` about anyway. One that could not be traced for an architecture is too large.
    """
    files = {str(one) for by_arch in (*kernels, *asked) for one in by_arch.values() if isinstance(one, Path)}
    report = warm.run("weigh", {"capsules": sorted(files)}, LIMITS, folder)
    weights = {m["capsule"]: m["bytes"] for m in report.of("weighed") if isinstance(m["bytes"], int)}

    def weight(capsule: Path | Problem) -> float:
        return inf if isinstance(capsule, Problem) else weights.get(str(capsule), 0)

    found: dict[str, int] = {}
    for arch in architectures:
        most, heaviest = max((weight(by_arch[arch.name]), number) for number, by_arch in enumerate(kernels))
        enough = max(arch.shared_bytes - MARGIN, *(weight(by_arch[arch.name]) for by_arch in asked))
        if most > enough:
            found[arch.name] = heaviest
    return found
