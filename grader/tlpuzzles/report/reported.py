"""The messages of Python, TileLang and compilers as they came, which the report has put into plain words."""

from __future__ import annotations

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.verdict.model import Check, Verdict

FEW = 8
"""Lines of a message that nobody asked to see."""


class Reported:
    """Shows each original message once, below the check that it is about; notes whether one was kept back."""

    def __init__(self, page: Page, marks: Marks, subject: Check | None, *, verbose: bool) -> None:
        self.page, self.marks, self.verbose = page, marks, verbose
        self.subject = subject
        self.kept_back = False
        self._shown: set[str] = set()

    def show(self, check: Check, indent: str) -> None:
        """Below the check in question: in full if that was asked for, the beginning of one that is about our own
        error, else nothing."""
        raw = original(check)
        if raw is None or raw in self._shown:
            return
        if self.subject is not None and check is not self.subject and raw == original(self.subject):
            return  # it stands below what is explained
        if not self.verbose and check.verdict is not Verdict.ERROR:
            self.kept_back = True
            return
        self._shown.add(raw)
        lines = self.marks.clean(raw).strip("\n").splitlines()
        self.page.blank()
        self.page.line((f"{indent}as it was reported", "dim"))
        gutter = (f"{indent}{self.marks.gutter} ", "dim")
        for line in lines if self.verbose else lines[:FEW]:
            if self.verbose:
                self.page.paragraph(line, lead=Text.assemble(gutter), style="dim")
            else:
                self.page.cut(gutter, (line, "dim"))
        if not self.verbose and len(lines) > FEW:
            self.page.line(gutter, (f"{self.marks.ellipsis} {len(lines) - FEW} more lines (--verbose has all)", "dim"))

    def note(self) -> None:
        """Says how to see what was kept back, if anything was."""
        if self.kept_back:
            self.page.blank()
            self.page.paragraph("--verbose also shows the original messages.", lead="  ", style="dim")


def original(check: Check) -> str | None:
    """The message as it came, unless the check's own says all that is in it."""
    raw = check.detail.raw if check.detail is not None else None
    if not raw:
        return None
    told, said = " ".join(raw.split()), " ".join(check.message.split())
    # Python's own errors are reported with their type before them.
    return None if told in said or (told.partition(": ")[2] or told) in said else raw
