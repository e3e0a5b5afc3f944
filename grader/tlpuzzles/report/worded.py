"""The messages of a grading with commands as they are typed where the report is read.

The result model is the same everywhere, and so is what is recorded of it: this is done when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable

from tlpuzzles.verdict.model import Check, Result
from tlpuzzles.wording import here, in_notebook


def worded(result: Result) -> Result:
    """What the learner's file says and prints stays as it is, also where a message quotes it."""
    if not in_notebook():
        return result
    theirs = "\n".join([result.output, *_quoted(result.checks)])
    return result.model_copy(update={"checks": tuple(_worded(check, theirs) for check in result.checks)})


def worded_check(check: Check) -> Check:
    """The same of one check."""
    return _worded(check, "\n".join(_quoted([check])))


def _worded(check: Check, theirs: str) -> Check:
    return check.model_copy(update={"message": here(check.message, theirs)})


def _quoted(checks: Iterable[Check]) -> Iterable[str]:
    """What others say in the details of these checks."""
    for detail in (check.detail for check in checks if check.detail is not None):
        yield detail.raw or ""
        yield (detail.location.source or "") if detail.location is not None else ""
