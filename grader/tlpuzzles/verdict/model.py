"""What a grading found: the one result model, and the document that `grade --json` writes.

Reports render it; nothing here knows a report, a device or an exercise.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from math import isfinite, isnan
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, model_validator

SCHEMA_VERSION: Literal[1] = 1


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


class ExitStatus(IntEnum):
    """Exit status of the command line."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    UNDECIDED = 3
    INTERRUPTED = 130


def _json_number(value: float) -> float | str:
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


Number = Annotated[float, PlainSerializer(_json_number, when_used="json")]
"""A float that JSON spells as the string "NaN", "Infinity" or "-Infinity" where it is none of JSON's numbers."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Location(_Model):
    """A place in the learner's file."""

    file: str
    line: int | None = None
    source: str | None = None
    """The text of that line."""


class Detail(_Model):
    """What a message is based on, for a reader that is a program. All fields are optional."""

    case: str | None = None
    seed: int | None = None
    """The number that `--seed` takes to draw the same problem again."""
    sizes: dict[str, int] | None = None
    dtype: str | None = None
    mistake: str | None = None
    """Identifier of the exercise's mistake that the output equals."""
    region: str | None = None
    """Where the output is wrong: "last column", "above the diagonal"."""
    axes: tuple[str, ...] | None = None
    """Names of the output's axes in the exercise's contract, e.g. ("M", "N"); with `first_wrong`."""
    first_wrong: tuple[int, ...] | None = None
    """Index of the first wrong element, row by row; `expected` and `found` are its values."""
    expected: Number | None = None
    found: Number | None = None
    error: float | None = None
    """Relative Frobenius error against the float64 reference; null if not finite."""
    location: Location | None = None
    raw: str | None = None
    """The message of TileLang, TVM or the compiler as it came."""
    hint: int | None = None
    """Hint level that helps."""


class Check(_Model):
    """One line of the report."""

    id: str
    title: str
    kind: Kind
    verdict: Verdict
    message: str = ""
    """Why, in the learner's words; empty only for a passed check."""
    detail: Detail | None = None
    graded: bool = True
    """Whether it counts. A failed check that does not count is a warning: "does not compile for a GPU that nobody here
    has"."""

    @model_validator(mode="after")
    def _says_why(self) -> Check:
        if self.verdict is Verdict.NOT_STARTED:
            raise ValueError("a check is never 'not started'; an exercise is")
        if self.verdict is not Verdict.PASSED and not self.message:
            raise ValueError(f"check {self.id} is {self.verdict.value} and does not say why")
        return self


class ExerciseName(_Model):
    number: int
    slug: str


class Points(_Model):
    earned: int = Field(ge=0)
    possible: int = Field(ge=0)
    not_graded: int = Field(ge=0)
    """Points of what could not be graded here, e.g. speed without a GPU."""

    @model_validator(mode="after")
    def _adds_up(self) -> Points:
        if self.earned + self.not_graded > self.possible:
            raise ValueError("more points earned than possible")
        return self


class Device(_Model):
    kind: Literal["cpu", "cuda"]
    name: str
    arch: str | None = None
    """Architecture of the GPU, e.g. "sm_90a"; null on a CPU."""


class Speed(_Model):
    """One timed case beside its baseline (measured from part 3 of the course on)."""

    case: str
    ratio: float
    """Time of the baseline over time of the kernel: above 1 the kernel is faster."""
    ci: tuple[float, float]
    baseline: str
    tflops: float | None = None
    gbps: float | None = None
    limit_fraction: float | None = None
    pass_at: float | None = None
    full_at: float | None = None
    graded: bool
    threshold_from: str | None = None


class Environment(_Model):
    tlpuzzles: str
    tilelang: str | None = None
    torch: str | None = None
    python: str
    sandbox: Literal["bubblewrap", "limits", "none"]


class Result(_Model):
    """The grading of one exercise."""

    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, serialization_alias="schema")
    exercise: ExerciseName
    file: str
    """The graded file, as the user named it."""
    verdict: Verdict
    points: Points
    device: Device
    checks: tuple[Check, ...]
    only: str | None = None
    """The one check that was asked for; null if all were."""
    speed: tuple[Speed, ...] | None = None
    output: str = ""
    """What the learner's file and kernel printed, capped."""
    environment: Environment
    seconds: float
    """Wall-clock time of the grading."""

    def document(self) -> dict[str, object]:
        """The JSON document of `grade --json`."""
        return self.model_dump(mode="json", by_alias=True)


class Results(_Model):
    """The gradings of `grade --all`."""

    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, serialization_alias="schema")
    exercises: tuple[Result, ...]
    points: Points

    def document(self) -> dict[str, object]:
        """The JSON document of `grade --all --json`."""
        return self.model_dump(mode="json", by_alias=True)


_STATUS = {
    Verdict.PASSED: ExitStatus.PASSED,
    Verdict.FAILED: ExitStatus.FAILED,
    Verdict.NOT_STARTED: ExitStatus.FAILED,
    Verdict.INCONCLUSIVE: ExitStatus.UNDECIDED,
    Verdict.ERROR: ExitStatus.UNDECIDED,
    Verdict.SKIPPED: ExitStatus.UNDECIDED,
}


def exit_status(*verdicts: Verdict) -> ExitStatus:
    """The exit status of a command that ended with these verdicts: the worst of theirs."""
    return max((_STATUS[verdict] for verdict in verdicts), default=ExitStatus.PASSED)
