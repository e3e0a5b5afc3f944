"""Right kernels that TileLang 0.1.15 compiles into wrong ones for some GPU, without a word: worth a warning."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import TILE_OP, Kernel, region
from tlpuzzles.kernel.findings import Finding, Kind, Severity
from tlpuzzles.kernel.steps import Step


def left_factor_through_fragment(kernel: Kernel) -> Iterator[Finding]:
    """A pipelined loop that copies a shared tile into a fragment and gives that to T.gemm as its left factor.

    Measured on an H200 against a float64 product: relative errors of 0.92, 0.17, 0.13 and 0.08 with 1 to 4 stages, none
    with 0. No public report of it was found.
    """
    for loop, calls in _pipelines(kernel).items():
        copied = {}
        for step, call in calls:
            if call.op == f"{TILE_OP}copy":
                source, target = region(call.args[0]).buffer, region(call.args[1]).buffer
                if ir.Scope(source.scope).is_shared and target.scope == ir.Scope.FRAGMENT:
                    copied[target.data] = step
        for _, call in calls:
            if call.op == f"{TILE_OP}gemm" and (factor := region(call.args[0]).buffer).data in copied:
                yield Finding(
                    Kind.MISCOMPILED,
                    Severity.WARNS,
                    f"{factor.name} is copied from shared memory and then the left factor of T.gemm, within a "
                    "T.Pipelined with stages. TileLang 0.1.15 compiles that wrongly for H100 and H200. Give T.gemm "
                    "the shared tile itself, or use num_stages=0.",
                    copied[factor.data].line or loop.line,
                )


def _pipelines(kernel: Kernel) -> dict[ir.For, list[tuple[Step, ir.Call]]]:
    """The tile operations directly within each loop that has pipeline stages."""
    found: dict[ir.For, list[tuple[Step, ir.Call]]] = {}
    for step in kernel.steps:
        if step.call is not None and step.loops:
            stages = step.loops[-1].annotations.get("num_stages")
            if isinstance(stages, ir.IntImm) and stages.value > 0:
                found.setdefault(step.loops[-1], []).append((step, step.call))
    return found
