"""From a compiler's or driver's error, explained, to a problem of a grading."""

from __future__ import annotations

from tlpuzzles.catalogue import reading
from tlpuzzles.catalogue.explanation import Explanation, Fault
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel.capsule import CapsuleError


def in_words(explanation: Explanation) -> Problem:
    """One paragraph: what went wrong, then what to do."""
    sentences = (text.strip().rstrip(".") for text in (explanation.message, explanation.fix) if text.strip())
    message = " ".join(f"{sentence}." for sentence in sentences)
    return Problem(
        message, explanation.line, explanation.raw, explanation.hint, ours=explanation.fault is Fault.MACHINE
    )


def unreadable(error: CapsuleError) -> Problem:
    """Why a capsule is refused before anyone looks at what the kernel does."""
    return in_words(reading.explain(str(error), error.line))
