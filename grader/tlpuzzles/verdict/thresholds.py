"""Ratios from which a speed passes and has all points: kept in one TOML file, for each case, GPU and baseline."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from tlpuzzles.errors import UsageError
from tlpuzzles.plain import read_plain
from tlpuzzles.verdict.quoting import bare, quoted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

if TYPE_CHECKING:
    from tlpuzzles.course.vocabulary import Exercise

FILE = "thresholds.toml"
"""Its name, in a workspace as in the course."""
SCHEMA = 1
TABLE = "threshold"
MOST_BYTES = 1 << 20
MOST_ENTRIES = 3000
"""Some hundred GPUs' worth. With more, or with a longer file, it is a mistake, and would take its time."""
MOST = 10.0
"""The largest ratio that a mark can be. Beyond it a kernel's time is not believed, and 45 was meant as a percentage."""
MOST_DOTS = 100
"""In one line. For a key of thousands of parts, tomllib takes all memory there is."""
NAMED = 8
"""GPUs that a line names."""

Family = Literal["sm_75", "sm_80", "sm_89", "sm_90"]

_FAMILIES: dict[str, Family] = {
    "sm_75": "sm_75",
    "sm_80": "sm_80",
    # An A10 has the tensor cores, instructions and shared memory of an L4, and TileLang gives it the same kernels.
    "sm_86": "sm_89",
    "sm_89": "sm_89",
    "sm_90": "sm_90",
    "sm_90a": "sm_90",
}


class NotMarks(UsageError):
    """A file that is something else than one of thresholds."""


class Origin(str, Enum):
    """Where a threshold came from."""

    MEASURED = "measured"
    """On a GPU of that family."""
    ESTIMATED = "estimated"
    """From what others published, or from other measurements. It gives points and never fails an exercise."""
    CALIBRATED = "calibrated"
    """With the reference solutions, by `tlpuzzles calibrate`."""


class Threshold(BaseModel):
    """What a case must reach on one kind of GPU, beside one baseline."""

    # Strict: the string "0.5" is no number, and a date is no sentence.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    exercise: str = Field(min_length=1)
    """Slug."""
    case: str = Field(min_length=1)
    """Identifier of the timed case."""
    gpu: str = Field(min_length=1)
    """A family, "sm_90", or a GPU's name as its driver gives it, "Tesla T4"; in small or capital letters."""
    against: str = Field(min_length=1)
    """Identifier of the baseline. Ratios are its time over the kernel's; per byte, if it is a copy."""
    pass_at: float = Field(gt=0, le=MOST)
    full_at: float = Field(gt=0, le=MOST)
    origin: Origin = Field(strict=False)
    source: str = Field(min_length=1)
    """Where it came from, in a sentence with a date."""
    reference: float | None = Field(default=None, gt=0, le=MOST)
    """What the reference solution reached there, if it was measured."""

    @field_validator("gpu")
    @classmethod
    def _is_known_if_a_family(cls, gpu: str) -> str:
        known = gpu.casefold()
        if known.startswith("sm_") and known not in _FAMILIES.values():
            raise ValueError("unknown family")
        return gpu

    @field_validator("full_at")
    @classmethod
    def _is_above_pass_at(cls, full_at: float, info: ValidationInfo) -> float:
        if full_at <= info.data.get("pass_at", 0):
            raise ValueError("not above pass_at")
        return full_at

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What no two entries of a file share: exercise, case, GPU in small letters, baseline."""
        return self.exercise, self.case, self.gpu.casefold(), self.against

    def is_for(self, gpu: str) -> bool:
        """Whether its GPU is of this name, in small or capital letters."""
        return self.gpu.casefold() == gpu.casefold()

    @property
    def grades(self) -> bool:
        """Whether falling short of it fails an exercise."""
        return self.origin is not Origin.ESTIMATED

    def score(self, ratio: float) -> float:
        """Share of the case's points: 0 up to `pass_at`, 1 from `full_at`, linear between."""
        return min(max((ratio - self.pass_at) / (self.full_at - self.pass_at), 0.0), 1.0)


class Thresholds(BaseModel):
    """Those of one file, or of a workspace's file before the course's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entries: tuple[Threshold, ...]

    def find(self, exercise: str, case: str, baseline: str, *, arch: str, gpu_name: str) -> Threshold | None:
        """That for a GPU of this name, else for its family, e.g. of arch "sm_90a"; None if neither is known."""
        alike = [one for one in self.entries if (one.exercise, one.case, one.against) == (exercise, case, baseline)]
        return next((one for gpu in _names(gpu_name, arch) for one in alike if one.is_for(gpu)), None)

    def gpus(self) -> tuple[str, ...]:
        """The GPUs that it names, each once."""
        return tuple({one.gpu.casefold(): one.gpu for one in self.entries}.values())

    def before(self, other: Thresholds) -> Thresholds:
        """Both, of which these count where both have one for a GPU: a class's own before the course's."""
        return Thresholds(entries=self.entries + other.entries)


def _names(gpu_name: str, arch: str) -> tuple[str, ...]:
    """By which entries are looked for, in this order: the GPU's name, and its family if it is known."""
    family = _FAMILIES.get(arch)
    return (gpu_name,) if family is None else (gpu_name, family)


@cache
def shipped() -> Thresholds:
    """Those of the course."""
    return _parse(files("tlpuzzles.course").joinpath(FILE).read_text("utf-8"), f"the course's {FILE}")


def read(path: Path) -> Thresholds:
    """Reads a thresholds.toml. Raises UsageError with the file, the entry and what to write instead, NotMarks for TOML
    of another kind."""
    try:
        # Windows' Notepad begins a file with a byte order mark, which is no TOML.
        text = read_plain(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Save it in that encoding.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    return _parse(text, str(path))


def strangers(thresholds: Thresholds, exercises: Iterable[Exercise]) -> list[str]:
    """What entries name that none of the exercises has, a sentence for each such entry: it will never be looked up."""
    found = []
    slugs = {exercise.slug: exercise for exercise in exercises}
    for number, one in enumerate(thresholds.entries, 1):
        exercise = slugs.get(one.exercise)
        timings = {} if exercise is None else {timing.case.id: timing for timing in exercise.timings}
        beside = [baseline.id for baseline in timings[one.case].against] if one.case in timings else []
        if exercise is None:
            why = f'no exercise is called "{bare(one.exercise)}"'
        elif one.case not in timings:
            why = f'{one.exercise} has no timed case "{bare(one.case)}" (it has: {", ".join(timings) or "none"})'
        elif one.against not in beside:
            why = f'{one.exercise} is not graded beside "{bare(one.against)}" (but: {", ".join(beside)})'
        else:
            continue
        found.append(f"{_which(number, one.model_dump())}: {why}")
    return found


def absent(thresholds: Thresholds, gpu_name: str | None, arch: str | None) -> str | None:
    """What a class's file lacks: any entry at all, or one for the GPU at hand; a line without the file's path.

    `gpu_name` as its driver gives it, `arch` such as "sm_90a"; None where there is no GPU. None if nothing is lacking.
    """
    counting = "The marks that come with tlpuzzles count."
    if not thresholds.entries:
        return f"{FILE} has no entries; `tlpuzzles calibrate` makes them. {counting}"
    if gpu_name is None or any(one.is_for(name) for one in thresholds.entries for name in _names(gpu_name, arch or "")):
        return None
    gpus = thresholds.gpus()
    more = f" and {len(gpus) - NAMED} more" if len(gpus) > NAMED else ""
    return f"{FILE} has no entry for {bare(gpu_name)}; it has: {', '.join(map(bare, gpus[:NAMED]))}{more}. {counting}"


def write(path: Path, thresholds: Thresholds, header: Iterable[str] = ()) -> None:
    """Writes a file that `read` takes, whole or not at all. Raises UsageError if it cannot be written."""
    path = path.resolve()
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            partial.write_text(dump(thresholds, header), "utf-8")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file with --output.") from None


def dump(thresholds: Thresholds, header: Iterable[str] = ()) -> str:
    """The text of a file that `read` takes; `header` are lines of comment to begin with."""
    blocks = ["\n".join([*(f"# {_on_one_line(line)}".rstrip() for line in header), f"schema = {SCHEMA}"])]
    for one in thresholds.entries:
        fields = one.model_dump(mode="json", exclude_none=True)
        blocks.append("\n".join([f"[[{TABLE}]]", *(f"{name} = {_toml(value)}" for name, value in fields.items())]))
    return "\n\n".join(blocks) + "\n"


def _on_one_line(text: str) -> str:
    """Names of files and GPUs can have in them what a comment cannot: it is escaped as in Python."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _toml(value: object) -> str:
    """A string or a number, which TOML writes as JSON does but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parse(text: str, name: str) -> Thresholds:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            raise UsageError(f"{name}, line {number} has more than {MOST_DOTS} dots. Is it the right file?")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not valid TOML: {bare(str(error), 200)}.") from None
    except ValueError:
        raise UsageError(f"{name} has a number of thousands of digits. Marks are numbers like 0.85.") from None
    except RecursionError:
        raise UsageError(f"{name} has lists within lists, too many to read. [[{TABLE}]] tables have none.") from None
    schema = content.pop("schema", None)
    if schema is None and TABLE not in content:
        raise NotMarks(
            f"{name} is not a file of marks: it has neither a schema nor [[{TABLE}]] tables. `tlpuzzles calibrate` "
            "makes one; without one, the marks that come with tlpuzzles count."
        )
    if type(schema) is not int or schema != SCHEMA:  # true and 1.0 are equal to 1
        found = "has no schema" if schema is None else f"has schema {quoted(schema)}"
        raise UsageError(
            f"{name} {found}. This tlpuzzles reads schema {SCHEMA}: write schema = {SCHEMA} at the top if the entries "
            "are as `tlpuzzles calibrate` writes them, or make the file anew with it."
        )
    tables = content.pop(TABLE, [])
    if content:
        raise UsageError(
            f'{name} has "{bare(next(iter(content)))}", which means nothing here. It knows [[{TABLE}]] tables.'
        )
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f'{name}: "{TABLE}" must be a list of tables. Write [[{TABLE}]] above each.')
    if len(tables) > MOST_ENTRIES:
        raise UsageError(f"{name} has {len(tables)} entries; at most {MOST_ENTRIES} are read. Is it the right file?")
    entries = [_entry(table, f"{name}, {_which(number, table)}") for number, table in enumerate(tables, 1)]
    _refuse_twice(entries, name)
    return Thresholds(entries=tuple(entries))


def _which(number: int, table: dict[str, Any]) -> str:
    """Names an entry as one finds it in a file: "[[threshold]] number 3 (tiled_gemm, speed-4096)"."""
    known = ", ".join(bare(table[name]) for name in ("exercise", "case", "gpu", "against") if name in table)
    return f"[[{TABLE}]] number {number}" + (f" ({known})" if known else "")


_WANTED = {
    "exercise": 'the name of an exercise, like "tiled_gemm"',
    "case": 'the name of a timed case, like "speed-4096"',
    "gpu": 'a family ("sm_75", "sm_80", "sm_89" or "sm_90") or the GPU\'s name as nvidia-smi gives it ("Tesla T4")',
    "against": 'the name of a baseline, like "cublas"',
    "pass_at": "a number above 0: the ratio from which the speed passes",
    "full_at": "a number above pass_at: the ratio from which the speed has all points",
    "origin": " or ".join(f'"{origin.value}"' for origin in Origin),
    "source": "a sentence in quotes that says where the entry came from, and when",
    "reference": "a number above 0, the ratio that the reference solution reached, or left out",
}


def _entry(table: dict[str, Any], where: str) -> Threshold:
    try:
        return Threshold.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field, kind = str(first["loc"][0]), first["type"]
    if field not in _WANTED:
        raise UsageError(f'{where} has no setting "{bare(field)}". It knows {", ".join(_WANTED)}.')
    if field not in table:
        raise UsageError(f"{where} has no {field}. Add {field} = ...: {_WANTED[field]}.")
    if kind == "less_than_equal":
        raise UsageError(
            f"{where}: {field} is {quoted(table[field])}. It must be a ratio, not percent, and at most {MOST:g}: "
            "half of the library's speed is 0.5."
        )
    raise UsageError(f"{where}: {field} is {quoted(table[field])}, but must be {_WANTED[field]}.")


def _refuse_twice(entries: Sequence[Threshold], name: str) -> None:
    seen: set[tuple[str, str, str, str]] = set()
    for number, one in enumerate(entries, 1):
        if one.key in seen:
            raise UsageError(f"{name}: {_which(number, one.model_dump())} is there twice. Keep one of them.")
        seen.add(one.key)
