"""Every check of a grading in a line or less: what passed compactly, what failed one by one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import MEASURED, STYLES, WARNING, Marks, kind_of
from tlpuzzles.report.reported import Reported
from tlpuzzles.report.speed_words import too_slow
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict

GROUPS = {
    Kind.BUILD: "Build",
    Kind.REQUIREMENT: "Asked for",
    Kind.CORRECTNESS: "Results",
    Kind.FUNCTION: "Functions",
    Kind.TUNING: "Tuning",
    Kind.OUTPUT: "Output",
    Kind.ORDER: "Any order",
    Kind.PORTABILITY: "GPUs",
    Kind.SPEED: "Speed",
}
"""In the order of the report."""

HEADING = 11
"""Columns of a group's name."""

NARROW = 76
"""A page of fewer columns has the groups' names on lines of their own."""

SHORT = 72
"""A message of so few characters is said again where it is true again."""

MANY = 3
"""So many checks that fail for the same reason are put together."""


def in_order(checks: Iterable[Check]) -> list[Check]:
    """The checks in the order of the report."""
    checks = list(checks)
    order = list(GROUPS)
    if any(check.kind is Kind.TUNING for check in checks):
        # The kernels are made of what a function proposes: where it is wrong, that explains the rest.
        order.remove(Kind.FUNCTION)
        order.insert(0, Kind.FUNCTION)
    return sorted(checks, key=lambda check: order.index(check.kind))


def leading(result: Result) -> Check | None:
    """The check to explain in full: the first that failed or met our error, else the first that stayed open. Of the
    results, rather one with a mistake that is known: others fail for the same one and show it less plainly. Of speed,
    rather one that is more than slow."""
    slow = too_slow(result)
    checks = sorted(in_order(result.checks), key=lambda check: check.id in slow)
    for wanted in ((Verdict.FAILED, Verdict.ERROR), (Verdict.INCONCLUSIVE,)):
        found = [check for check in checks if check.verdict in wanted and check.graded]
        if found and found[0].kind is Kind.CORRECTNESS:
            known = (c for c in found if c.kind is Kind.CORRECTNESS and c.detail and c.detail.mistake and c.detail.hint)
            return next(known, found[0])
        if found:
            return found[0]
    return None


def compiles(*, nvcc: bool) -> str:
    """What a passed check of another GPU says. `nvcc`: whether that was asked, too."""
    return "TileLang and nvcc compile it" if nvcc else "TileLang compiles it"


def other_gpus_left_out(result: Result) -> bool:
    """Whether it was not asked which GPUs the kernel compiles for, by the user's wish."""
    return any(check.kind is Kind.PORTABILITY and check.verdict is Verdict.SKIPPED for check in result.checks)


def overview(
    checks: Iterable[Check],
    page: Page,
    marks: Marks,
    reported: Reported,
    subject: Check | None,
    *,
    nvcc: bool,
    below: Collection[str] = (),
) -> None:
    """Prints the checks by kind. `subject` is the one that is explained elsewhere; `nvcc`: whether what compiles for
    other GPUs has been through nvcc, too; `below` are the checks whose measurements have a section of their own."""
    checks = [_without_numbers(check) if check.id in below else check for check in in_order(checks)]
    for kind, group in groupby(checks, key=lambda check: check.kind):
        _Group(kind, list(group), page, marks, reported, subject, nvcc, below).show()
    _warnings([check for check in checks if _only_warns(check)], page, marks)


def _without_numbers(check: Check) -> Check:
    """The check as it is told where its numbers stand further down."""
    if check.verdict is Verdict.PASSED:
        return check.model_copy(update={"message": ""})
    if check.verdict is Verdict.SKIPPED:
        return check.model_copy(update={"message": "Not graded here; what was measured stands below."})
    return check


def _only_warns(check: Check) -> bool:
    """Whether it passed and has something to say that is no part of its group: that comes after all failures."""
    passed = check.verdict is Verdict.PASSED and check.kind is not Kind.PORTABILITY
    return passed and kind_of(check) == WARNING


def _warnings(checks: Sequence[Check], page: Page, marks: Marks) -> None:
    lead = Text.assemble("  ", (marks.by_verdict[WARNING], STYLES[WARNING]), " ", ("Warning", "bold"))
    if page.width < NARROW and checks:
        page.line(lead)
        lead = Text("    ")
    else:
        lead.append(" " * (HEADING - len("Warning")))
    for check in checks:
        for message in marks.clean(check.message).splitlines():
            page.paragraph(message, lead=lead)
            lead = Text(" " * lead.cell_len)


def same_reason(check: Check) -> str:
    """Equal for checks that say the same: of results in several cases, numbers may differ with the sizes."""
    return re.sub(r"\d[\d.,]*", "#", check.message) if check.kind is Kind.CORRECTNESS else check.message


class _Group:
    def __init__(
        self,
        kind: Kind,
        checks: Sequence[Check],
        page: Page,
        marks: Marks,
        reported: Reported,
        subject: Check | None,
        nvcc: bool,
        below: Collection[str],
    ) -> None:
        self.kind = kind
        self.below = below
        self.reported = reported
        self.compiles = compiles(nvcc=nvcc)
        self.page = page
        self.marks = marks
        self.subject = subject
        self.passed = [c for c in checks if kind_of(c) == Verdict.PASSED.value or _only_warns(c)]
        self.skipped = [check for check in checks if check.verdict is Verdict.SKIPPED]
        self.told = [check for check in checks if check not in self.passed and check not in self.skipped]
        self.checks = checks
        self.said: set[str] = set()
        self.told_already: set[str] = set()
        self.heading = self._heading()

    def show(self) -> None:
        if self.kind is Kind.PORTABILITY and len(self.skipped) < len(self.checks):
            self._one_by_one(self.checks)
            self._what_counts()
            return
        if self.passed and self.told:
            count = f"{len(self.passed)} of {len(self.passed) + len(self.told)}"
            self.page.line(self._lead(), (count, "dim"))
        if self.passed:
            sign = Text.assemble((self.marks.by_verdict["passed"], STYLES["passed"]), " ") if self.told else Text()
            self.page.flow(self._titles(self.passed), lead=self._lead() + sign, separator=self._separator())
        alike = self._alike()
        if self.told:
            self._one_by_one([check for check in self.told if check not in alike])
        self._for_the_same_reason(alike)
        for message, skipped in groupby(self.skipped, key=lambda check: check.message):
            self._not_run(message, list(skipped))

    def _what_counts(self) -> None:
        """A kernel that some GPUs cannot have passes all the same, which nobody would guess from so many warnings."""
        passed = [check for check in self.checks if check.verdict is Verdict.PASSED]
        if not passed or not any(kind_of(check) == WARNING for check in self.checks):
            return
        graded = next((check for check in passed if check.graded), None)
        enough = "One of these GPUs is enough"
        if graded is not None:
            enough = f"Only {self.marks.clean(graded.title)} counts here"
        self.page.paragraph(Text(f"{enough}: for the others this is a warning.", style="dim"), lead=self._lead())

    def _alike(self) -> list[Check]:
        """Checks that say the same as the one explained, if they are many."""
        if self.subject is None:
            return []
        same = [c for c in self.told if c is not self.subject and same_reason(c) == same_reason(self.subject)]
        return same if len(same) >= MANY and len(same) < len(self.told) else []

    def _for_the_same_reason(self, checks: Sequence[Check]) -> None:
        if not checks:
            return
        kind = kind_of(checks[0])
        titles = self._titles(checks)
        titles[-1] = titles[-1] + Text(": for the same reason", style="dim")
        lead = Text.assemble(self._lead(), (self.marks.by_verdict[kind], STYLES[kind]), " ")
        self.page.flow(titles, lead=lead, separator=self._separator())

    def _heading(self) -> Text:
        order = ("error", "failed", "inconclusive", WARNING, "passed", "skipped")
        shown = ("passed" if _only_warns(check) else kind_of(check) for check in self.checks)
        worst = min(shown, key=order.index)
        sign = self.marks.by_verdict[worst]
        text = Text.assemble("  ", (sign, STYLES[worst]), " ", (GROUPS[self.kind], "bold"))
        if self.page.width >= NARROW:
            text.append(" " * (HEADING - len(GROUPS[self.kind])))
            return text
        self.page.line(text)
        return Text("    ")

    def _lead(self) -> Text:
        """The heading, once; then as many blanks."""
        lead, self.heading = self.heading, Text(" " * self.heading.cell_len)
        return lead

    def _separator(self) -> Text:
        return Text(f" {self.marks.separator} ", style="dim")

    def _titles(self, checks: Iterable[Check]) -> list[Text]:
        return [self._title(check) for check in checks]

    def _title(self, check: Check) -> Text:
        title = Text(self.marks.clean(check.title))
        if check.kind in MEASURED and check.verdict is Verdict.PASSED and check.message:
            title.append(f": {self.marks.clean(check.message)}", style="dim")
        return title

    def _one_by_one(self, checks: Sequence[Check]) -> None:
        titles = [self.marks.clean(check.title) for check in checks]
        # One long title must not push all messages out of sight.
        widest = min(max(cell_len(title) for title in titles), 2 * self.page.width // 5)
        for check, title in zip(checks, titles, strict=True):
            kind = kind_of(check)
            sign = Text.assemble(self._lead(), (self.marks.by_verdict[kind], STYLES[kind]), " ")
            if cell_len(title) > widest and sign.cell_len + cell_len(title) > self.page.width:
                self.page.paragraph(title, lead=sign)
                first = Text(" " * sign.cell_len)
            else:
                first = Text.assemble(sign, title.ljust(widest), "  ")
            if check.id in self.below and check.verdict is Verdict.FAILED:
                why = "too slow" if check.graded else "no points yet"
                self._told(first, Text(f"{why}, see below", style="dim"))
            elif kind == WARNING and self._is_new(check):
                # In full, for nothing else says what to do about it.
                self._told(first, Text(self.marks.clean(check.message)))
            elif kind == WARNING:
                self._told(first, Text("for the same reason", style="dim"))
            else:
                self._told(first, Text(self._says(check), style="dim"))
            if check is not self.subject:
                self.reported.show(check, " " * (self.heading.cell_len + 2))

    def _told(self, first: Text, says: Text) -> None:
        """A message in full, for another failure's may be the one that helps; below the title where that is long."""
        if first.cell_len + says.cell_len <= self.page.width:
            self.page.line(first, says)
        elif self.page.width - first.cell_len >= 3 * self.page.width // 5:
            self.page.paragraph(says, lead=first)
        else:
            first.rstrip()
            if first:
                self.page.line(first)
            self.page.paragraph(says, lead=Text(" " * (self.heading.cell_len + 2)))

    def _is_new(self, check: Check) -> bool:
        """Whether no warning before it says the same, but for the GPU that it names."""
        about = check.message.replace(check.title, "").replace(check.title.partition(" (")[0], "")
        known = about in self.said
        self.said.add(about)
        return not known

    def _says(self, check: Check) -> str:
        if check.verdict is Verdict.PASSED:
            return self.compiles if self.kind is Kind.PORTABILITY else ""
        if check is self.subject:
            return "explained below"
        reason = same_reason(check)
        if self.subject is not None and reason == same_reason(self.subject):
            return "for the same reason"
        if reason in self.told_already and len(check.message) > SHORT:
            return "for the same reason"
        self.told_already.add(reason)
        return self.marks.clean(check.message)

    def _not_run(self, message: str, checks: Sequence[Check]) -> None:
        lead = self._lead()
        if len(checks) >= MANY and len(self.skipped) < len(self.checks):
            sign = self.marks.by_verdict["skipped"]
            self.page.paragraph(
                f"{len(checks)} others: {self.marks.clean(message)}", lead=lead + Text(f"{sign} "), style="dim"
            )
        elif len(self.skipped) < len(self.checks):
            # Some of the group ran, so it must be said which did not.
            sign = self.marks.by_verdict["skipped"]
            titles = f" {self.marks.separator} ".join(title.plain for title in self._titles(checks))
            self.page.paragraph(f"{titles}: {self.marks.clean(message)}", lead=lead + Text(f"{sign} "), style="dim")
        else:
            self.page.paragraph(self.marks.clean(message), lead=lead, style="dim")
