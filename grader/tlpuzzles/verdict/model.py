"""What a grading found: the one result model, and the document that `grade --json` writes.

Reports render it; nothing here knows a report, a device or an exercise.
"""

from __future__ import annotations

from enum import IntEnum
from math import isfinite, isnan
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, model_validator

from tlpuzzles.verdict.error_map import ErrorMap
from tlpuzzles.verdict.measured import Compiled, Gpu, Stopped
from tlpuzzles.verdict.outcomes import Kind as Kind
from tlpuzzles.verdict.outcomes import Verdict as Verdict

SCHEMA_VERSION: Literal[1] = 1


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
    error_map: ErrorMap | None = None
    """Where the output is wrong and how, by cells; null where no element is wrong by itself."""
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


class Compared(_Model):
    """A further baseline that is shown."""

    baseline: str
    ratio: float
    """Time of the baseline over time of the kernel."""
    ci: tuple[float, float]
    milliseconds: float


class Roofline(_Model):
    """Where a kernel and its baseline are beside the limits of this GPU."""

    flops: int
    """Of the problem, not of the kernel."""
    bytes: int
    """The fewest that the problem must move: each input once, the output once."""
    copy_gbps: float
    """GB/s of a large copy, measured on this GPU."""
    matrix_tflops: float
    """TFLOP/s of a large product by cuBLAS, measured on this GPU."""
    bound: Literal["memory", "arithmetic"]
    """Which of the two takes the problem longer."""
    limit_milliseconds: float
    """The time that it then takes."""
    baseline_fraction: float | None = None
    """Of the limit, as `limit_fraction` is the kernel's; null for a baseline that is a copy."""


class Speed(_Model):
    """One timed case beside its baseline. The check of the same identifier says how it ended."""

    case: str
    title: str
    ratio: float
    """Time of the baseline over time of the kernel: above 1 the kernel is faster. Median over blocks."""
    ci: tuple[float, float]
    """95 % confidence interval of the ratio."""
    baseline: str
    """Its name, with the backend that was pinned."""
    baseline_id: str
    milliseconds: float
    """Median time of the kernel."""
    baseline_milliseconds: float
    """Median time of the baseline, for as many bytes as the kernel's if it is a copy."""
    tflops: float | None = None
    gbps: float | None = None
    limit_fraction: float | None = None
    """Time at the roofline's limit over time of the kernel."""
    pass_at: float | None = None
    """Ratio from which it passes; null without a threshold for this GPU."""
    full_at: float | None = None
    """Ratio from which it has all points."""
    graded: bool
    """Whether falling short of `pass_at` fails the exercise."""
    origin: Literal["measured", "estimated", "calibrated"] | None = None
    """Where the threshold came from."""
    threshold_from: str | None = None
    """The same in a sentence."""
    points: float | None = Field(default=None, gt=0)
    """Points that this case can give: its share of those for speed."""
    score: float | None = Field(default=None, ge=0, le=1)
    """Share of `points`: 0 at `pass_at`, 1 at `full_at`, linear between; null if it has none to give."""
    self_ratio: float
    """The baseline beside itself, in the same blocks: 1 but for the noise."""
    self_ci: tuple[float, float]
    blocks: int
    rounds: int
    stopped: Stopped
    beside: tuple[Compared, ...] = ()
    roofline: Roofline | None = None
    compiled: Compiled | None = None
    gpu: Gpu | None = None
    advice: str | None = None
    """What to try next, in a sentence."""


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
