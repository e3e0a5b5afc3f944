"""How a grading ends, in a word, apart from the result model: commands that only look things up do without pydantic."""

from __future__ import annotations

from enum import Enum


class Verdict(str, Enum):
    """How one check, or a whole exercise, ended."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    ERROR = "error"
    NOT_STARTED = "not_started"


class Kind(str, Enum):
    """What a check looks at."""

    BUILD = "build"
    REQUIREMENT = "requirement"
    CORRECTNESS = "correctness"
    ORDER = "order"
    PORTABILITY = "portability"
    FUNCTION = "function"
    TUNING = "tuning"
    OUTPUT = "output"
    SPEED = "speed"
