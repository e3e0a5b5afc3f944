"""Looks at a kernel before anything is compiled: is it the kernel that was asked for, allowed, and sane on a GPU?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tlpuzzles.course.vocabulary import Case, Exercise, Sizes
from tlpuzzles.kernel import miscompiled, resources, writes
from tlpuzzles.kernel import pass_configs as configs
from tlpuzzles.kernel.capsule import Document
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding, Severity, worst_first
from tlpuzzles.kernel.parameters import MismatchError, Parameters, match, refusal
from tlpuzzles.kernel.permissions import not_allowed
from tlpuzzles.kernel.races import Races


@dataclass(frozen=True)
class Vetting:
    """What the vet has to say about one kernel."""

    findings: tuple[Finding, ...]
    """The worst first."""
    parameters: Parameters | None
    """Which parameter is which tensor; None where the parameters are not the exercise's."""

    @property
    def refusal(self) -> Finding | None:
        """Why the kernel is not run; None if it may be."""
        return self._first(Severity.REFUSED)

    @property
    def failure(self) -> Finding | None:
        """Why the kernel fails although it may be run; None if it does not."""
        return self._first(Severity.FAILS)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNS)

    def _first(self, severity: Severity) -> Finding | None:
        return next((finding for finding in self.findings if finding.severity is severity), None)


def vet(
    document: Document,
    exercise: Exercise,
    case: Case,
    sizes: Sizes,
    out_idx: int | Sequence[int] | None = None,
    pass_configs: Mapping[str, object] | None = None,
    *,
    for_cpu: bool = False,
) -> Vetting:
    """Vets the kernel traced for one case in these sizes. `for_cpu`: refuses what a CPU would not finish in minutes.

    Later rules rely on earlier ones: a kernel with something that is not allowed is looked at no further, and numbers
    of blocks and threads are computed only once the sizes of the tensors are known.
    """
    kernel = Kernel(document.func)
    foreign = list(not_allowed(kernel.func, kernel.steps))
    findings = [*foreign, *configs.check(pass_configs or {})]
    if foreign:
        return Vetting(worst_first(findings), None)
    parameters: Parameters | None = None
    try:
        parameters = match(kernel.func, exercise, case, sizes, out_idx)
    except MismatchError as mismatch:
        findings.append(refusal(mismatch))
    nothing = writes.nothing_done(kernel, exercise)
    if nothing is not None:
        findings.append(nothing)
    elif parameters is not None:
        findings += _of_work(kernel, parameters, for_cpu=for_cpu)
    return Vetting(worst_first(findings), parameters)


def _of_work(kernel: Kernel, parameters: Parameters, *, for_cpu: bool) -> Iterator[Finding]:
    races = Races(kernel, parameters.sizes)
    yield from writes.outside_launch(kernel)
    yield from writes.written(kernel, parameters)
    yield from resources.tiles(kernel)
    yield from resources.launches(kernel, parameters.sizes)
    yield from races.parallel_stores()
    yield from races.updates()
    yield from races.fragment_accesses()
    yield from miscompiled.left_factor_through_fragment(kernel)
    if for_cpu:
        too_much = resources.too_much_work(kernel, parameters.sizes)
        if too_much is not None:
            yield too_much
