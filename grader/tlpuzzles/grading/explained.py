"""From a compiler's or driver's error, explained, to a problem of a grading."""

from __future__ import annotations

from tlpuzzles.device.cuda.model import Explanation, Fault
from tlpuzzles.grading.submission import Problem


def in_words(explanation: Explanation) -> Problem:
    """One paragraph: what went wrong, then what to do."""
    sentences = (text.strip().rstrip(".") for text in (explanation.message, explanation.fix) if text.strip())
    message = " ".join(f"{sentence}." for sentence in sentences)
    return Problem(message, explanation.line, explanation.raw, ours=explanation.fault is Fault.MACHINE)
