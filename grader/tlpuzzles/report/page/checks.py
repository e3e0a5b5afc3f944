"""The checks of a grading as a page shows them: by kind, with all that each has to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from tlpuzzles.report.explained import facts, title_of
from tlpuzzles.report.layout import unbroken
from tlpuzzles.report.marks import WARNING, kind_of, unicode_marks
from tlpuzzles.report.overview import GROUPS, compiles, in_order, same_reason
from tlpuzzles.report.picture import error_map_svg, error_map_width
from tlpuzzles.report.reported import original
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict

EXPLAINED = "explained above"
SAME = "for the same reason"

_PLACES = {"passed": 0, "skipped": 2}
_WORST_FIRST = ("error", "failed", "inconclusive", WARNING, "passed", "skipped")


@dataclass(frozen=True)
class Explained:
    """One check in full."""

    title: str
    state: str
    mark: str
    ended: str
    message: str
    place: str
    """File and line; empty if it is about none."""
    line: int | None
    source: str
    map: Markup | None
    map_width: int
    """In pixels; it does not shrink."""
    facts: tuple[tuple[str, str], ...]
    raw: str
    """The message as it came, where ours is another."""

    @property
    def has_more(self) -> bool:
        """Whether there is more to it than its message."""
        return bool(self.place or self.map or self.facts or self.raw)


@dataclass(frozen=True)
class Line:
    """Checks that ended alike and have the same to say."""

    state: str
    mark: str
    ended: str
    titles: tuple[str, ...]
    message: str
    is_subject: bool
    """Whether this is the one that is explained above."""
    more: tuple[Explained, ...] = ()


@dataclass(frozen=True)
class Group:
    """All checks of a kind."""

    name: str
    state: str
    """Of the worst."""
    mark: str
    count: str
    """ "5 of 8 passed", where not all did."""
    lines: tuple[Line, ...]


def explained(check: Check, name: str) -> Explained:
    """`name` begins the identifiers of its picture."""
    marks, state = unicode_marks(), kind_of(check)
    detail = check.detail
    location = detail.location if detail is not None else None
    shown = detail.error_map if detail is not None else None
    place = ""
    if location is not None:
        file = unicode_marks().one_line(location.file)
        place = file if location.line is None else f"{file}:{location.line}"
    return Explained(
        title=title_of(check),
        state=state,
        mark=marks.of(check),
        ended=in_words(state),
        message=check.message,
        place=place,
        line=location.line if location is not None else None,
        source=(location.source or "").strip() if location is not None and location.line is not None else "",
        map=None if shown is None else Markup(error_map_svg(shown, name)),
        map_width=0 if shown is None else error_map_width(shown),
        facts=() if detail is None else tuple((what, unbroken(text.plain)) for what, text in facts(detail, marks)),
        raw=original(check) or "",
    )


def groups(result: Result, subject: Check | None, name: str, *, nvcc: bool) -> list[Group]:
    """In the order of the report. `subject` is explained elsewhere on the page; `nvcc` as in `overview`."""
    ordered = groupby(in_order(result.checks), key=lambda check: check.kind)
    return [_group(kind, list(checks), subject, name, nvcc) for kind, checks in ordered]


def in_words(state: str) -> str:
    """How something ended, for who sees neither its mark nor its colour."""
    return {"error": "our error", "not_started": "not started"}.get(state, state)


def _group(kind: Kind, checks: Sequence[Check], subject: Check | None, name: str, nvcc: bool) -> Group:
    state = min((kind_of(check) for check in checks), key=_WORST_FIRST.index)
    passed = sum(check.verdict is Verdict.PASSED for check in checks)
    ran = sum(check.verdict is not Verdict.SKIPPED for check in checks)
    return Group(
        GROUPS[kind],
        state,
        unicode_marks().by_verdict[state],
        f"{passed} of {ran} passed" if passed < ran else "",
        # As in a terminal: what passed, what did not, what was not run. Sorting keeps the order within each.
        tuple(sorted(_lines(checks, subject, name, nvcc), key=lambda line: _PLACES.get(line.state, 1))),
    )


def _lines(checks: Sequence[Check], subject: Check | None, name: str, nvcc: bool) -> Iterable[Line]:
    together: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        message = _message(check, subject, nvcc)
        together.setdefault((kind_of(check), message), []).append(check)
    # A check's own identifier may hold what a name on a page cannot.
    names = {check.id: f"{name}-{check.kind.value}-{number}" for number, check in enumerate(checks)}
    for (state, message), alike in together.items():
        wrong = [check for check in alike if check is not subject and _went_wrong(check)]
        more = [explained(check, names[check.id]) for check in wrong]
        yield Line(
            state,
            unicode_marks().by_verdict[state],
            in_words(state),
            tuple(check.title for check in alike),
            message,
            any(check is subject for check in alike),
            tuple(one for one in more if one.has_more),
        )


def _message(check: Check, subject: Check | None, nvcc: bool) -> str:
    if check is subject:
        return EXPLAINED
    if subject is not None and check.message and same_reason(check) == same_reason(subject):
        return SAME
    if check.kind is Kind.PORTABILITY and check.verdict is Verdict.PASSED and not check.message:
        return compiles(nvcc=nvcc)
    return check.message


def _went_wrong(check: Check) -> bool:
    return check.verdict in (Verdict.FAILED, Verdict.ERROR, Verdict.INCONCLUSIVE)
