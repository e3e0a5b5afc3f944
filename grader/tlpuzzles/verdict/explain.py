"""Says in a learner's words where and how an output is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Mistake, TensorSpec, Tolerance
from tlpuzzles.verdict.compare import Comparison, Measures, Outcome, relative_error
from tlpuzzles.verdict.error_map import ErrorMap
from tlpuzzles.verdict.mapping import Seen, error_map
from tlpuzzles.verdict.model import Detail
from tlpuzzles.verdict.order import Dependence
from tlpuzzles.verdict.regions import Region, Shape, region
from tlpuzzles.verdict.symptoms import How, is_imprecise, symptom

if TYPE_CHECKING:
    import torch

RAGGED = "That is what full tiles leave over: check how the last, incomplete tile is read, masked and written."
LATER = "Only the beginning is right: check the indices that should change from block to block."
ONE_OF_TWO = (
    "That is the second of two tiles, which is incomplete: check the indices that should change from block to block, "
    "and how that tile is read, masked and written."
)
RACE = "Scattered errors often come from threads or blocks that write one element, or read it before it is there."
HALF = 2**-11
"""Relative error of a value that was rounded to float16 on the way, at most: half a unit of its last place."""
ROUNDED = "That is what rounding to float16 on the way costs: keep the values in float32."
IMPRECISE = "Sums must be kept in float32 until the result is written, and no small term may be left out of them."


@dataclass(frozen=True)
class Answer:
    """An output that does not agree with its reference, and what both are called."""

    output: TensorSpec
    dtype: str
    found: torch.Tensor
    expected: torch.Tensor
    """float64."""
    comparison: Comparison
    tolerance: Tolerance
    dependence: Dependence | None = None
    """What a second run has shown the output to depend on; None if there was none."""
    tile: tuple[int, ...] | None = None
    """What the kernel stores at a time, as extents along the output's axes; None if unknown."""
    row_name: str = ""
    """What a row of the output is called, where it is computed as one."""
    cause: str = ""
    """What most likely makes it wrong, in sentences, where the kernel shows that; empty if unknown."""


@dataclass(frozen=True)
class Explanation:
    """A message, and the fields of `Detail` that it is based on."""

    message: str
    detail: Detail


def explain(answer: Answer, named: Callable[[], Mistake | None]) -> Explanation:
    """Explains a wrong output. `named` finds the known mistake that it equals; it is asked only if that can be."""
    outcome = answer.comparison.outcome
    if outcome is Outcome.SHAPE:
        return Explanation(_shapes(answer), Detail())
    if outcome is Outcome.DTYPE:
        found = str(answer.found.dtype).removeprefix("torch.")
        return Explanation(f"{answer.output.name} has dtype {found}; expected {answer.dtype}.", Detail())
    unwritten = _unwritten(answer)
    if not bool(unwritten.all()) and (mistake := named()) is not None:
        message = f"Your output equals {mistake.says}. Hint {mistake.hint} is about this."
        where = region(_wrong(answer), answer.output.shape, answer.tile)
        if bool(unwritten.any()):
            message = f"{_count(answer, _region(unwritten, answer))} never written. {message}"
        return _explained(answer, message, where, mistake)
    if bool(unwritten.any()):
        return _explained(answer, *_never_written(answer))
    if outcome is Outcome.NOT_FINITE:
        return _explained(answer, *_not_finite(answer))
    return _explained(answer, *_too_far(answer))


def _shapes(answer: Answer) -> str:
    found, expected = tuple(answer.found.shape), tuple(answer.expected.shape)
    return f"{answer.output.name} has shape {found}; expected {expected}, that is ({', '.join(answer.output.shape)})."


def _wrong(answer: Answer) -> torch.Tensor:
    assert answer.comparison.wrong is not None
    return answer.comparison.wrong


def _unwritten(answer: Answer) -> torch.Tensor:
    assert answer.comparison.unwritten is not None
    return answer.comparison.unwritten


def _explained(answer: Answer, message: str, where: Region | None, mistake: Mistake | None = None) -> Explanation:
    wrong = _wrong(answer)
    has_wrong = bool(wrong.any())
    place = wrong if has_wrong else _worst(answer)
    first = tuple(place.nonzero()[0].tolist())
    error = _error(answer.comparison)
    detail = Detail(
        mistake=mistake.id if mistake else None,
        hint=mistake.hint if mistake else None,
        region=where.words if where else None,
        axes=answer.output.shape,
        first_wrong=first,
        expected=float(answer.expected[first]),
        found=float(answer.found[first]),
        error=error,
        error_map=_map(answer, first) if has_wrong else None,
    )
    return Explanation(message, detail)


def _map(answer: Answer, first: tuple[int, ...]) -> ErrorMap | None:
    error = relative_error(answer.found, answer.expected, answer.dtype, answer.tolerance)
    seen = Seen(_wrong(answer), _unwritten(answer), answer.found, error)
    return error_map(answer.output, seen, first, answer.tile, answer.row_name)


def _error(comparison: Comparison) -> float | None:
    if comparison.outcome is not Outcome.TOO_FAR or comparison.measures is None:
        return None
    error = comparison.measures.frobenius
    return error if isfinite(error) else None


def _worst(answer: Answer) -> torch.Tensor:
    """A mask of the element that is furthest off, for outputs in which none is wrong by itself."""
    error = (answer.found.double() - answer.expected).abs()
    return error == error.max()


def _never_written(answer: Answer) -> tuple[str, Region]:
    unwritten, name = _unwritten(answer), answer.output.name
    where = _region(unwritten, answer)
    if bool(unwritten.all()) and answer.cause:
        return f"{name} was never written. {answer.cause}", where
    if bool(unwritten.all()):
        message = (
            f"{name} was never written: the kernel ends without storing a result in it, or only adds to what was there "
            "(then write = instead of +=)."
        )
        return message, where
    others = _wrong(answer) & ~unwritten
    rest = f"{int(others.sum())} others are wrong." if bool(others.any()) else "The others are right."
    advice = f" {answer.cause}" if answer.cause else _leftover(where)
    words = "nearly all of it" if where.shape is Shape.EVERYTHING else where.words
    return f"{_count(answer, where)} never written: {words}. {rest}{advice}", where


def _count(answer: Answer, where: Region) -> str:
    """The beginning of a sentence: how many elements, out of how many, were ..."""
    if where.elements == 1:
        return f"One of the {where.total} elements of {answer.output.name} was"
    return f"{where.elements} of the {where.total} elements of {answer.output.name} were"


def _not_finite(answer: Answer) -> tuple[str, Region]:
    found, name = answer.found, answer.output.name
    bad = _wrong(answer) & ~found.isfinite()
    if not bool(bad.any()):
        where = _region(_wrong(answer), answer)
        return f"{name} is finite in {where.words}, where it should not be.", where
    kind = "NaN" if bool(found[bad].isnan().any()) else "infinite"
    if kind == "NaN" and bool(found[bad].isinf().any()):
        kind = "NaN or infinite"
    where = _region(bad, answer)
    advice = f" {answer.cause}" if answer.cause else _leftover(where)
    if kind != "NaN":
        advice = advice or f" The largest {answer.dtype} is {_largest(answer.dtype)}: is something left unscaled?"
    if where.shape is Shape.EVERYTHING:
        return f"{name} is {kind} everywhere.{advice}", where
    others = int((_wrong(answer) & ~bad).sum())
    rest = f"{others} other elements are wrong." if others else "The rest is right."
    return f"{name} is {kind} in {where.words}. {rest}{advice}", where


def _largest(dtype: str) -> str:
    return {"float16": "65504"}.get(dtype, "3.4e38")


def _too_far(answer: Answer) -> tuple[str, Region | None]:
    measures, limits = answer.comparison.measures, answer.comparison.limits
    assert measures is not None
    assert limits is not None
    wrong = _wrong(answer)
    where = region(wrong, answer.output.shape, answer.tile)
    if where is None:
        return _imprecise(answer, measures, limits), None
    sign = symptom(answer.found.double(), answer.expected, wrong, answer.tolerance, answer.output.shape)
    loose = where.shape in (Shape.SPREAD, Shape.SCATTERED, Shape.EVERYTHING)
    if sign is None and loose and is_imprecise(measures.frobenius, measures.element, answer.tolerance.frobenius):
        return _imprecise(answer, measures, limits), where
    if sign is None and loose and answer.dtype == "float32" and measures.frobenius <= HALF:
        return _imprecise(answer, measures, limits, ROUNDED), where
    sentences = [_located(answer, where, sign.words if sign else None)]
    if sign is not None and sign.advice:
        sentences.append(sign.advice)
    elif answer.cause:
        sentences.append(answer.cause)
    elif where.ragged:
        sentences.append(_leftover(where).strip())
    elif where.first and (sign is None or sign.how in (How.ZERO, How.SHIFTED)):
        sentences.append(LATER)
    elif where.shape is Shape.SCATTERED and sign is None and answer.dependence is not Dependence.NOTHING:
        sentences.append(RACE)
    return " ".join(sentences), where


def _leftover(where: Region) -> str:
    """A sentence after a blank, if the region is the ragged end of an axis."""
    if not where.ragged:
        return ""
    return f" {ONE_OF_TWO if where.second else RAGGED}"


def _located(answer: Answer, where: Region, how: str | None) -> str:
    name = answer.output.name
    if where.shape is Shape.EVERYTHING:
        return f"Every element of {name} {how}." if how else f"{name} is wrong everywhere{_by_how_much(answer)}."
    rest = "" if where.shape in (Shape.SPREAD, Shape.SCATTERED) else " The rest is right."
    if where.shape is Shape.ONE_ELEMENT:
        return f"{name} is wrong in {where.words}{f': it {how}' if how else ''}.{rest}"
    if how is None:
        return f"{name} is wrong in {where.words}{'' if rest else _by_how_much(answer)}.{rest}"
    return f"{name} is wrong in {where.words}: every element there {how}.{rest}"


def _by_how_much(answer: Answer) -> str:
    error = _error(answer.comparison)
    if error is None or error >= 0.995:
        return ""
    return f": on the whole, it is {100 * error:.2g} % off"


def _imprecise(answer: Answer, measures: Measures, limits: Measures, advice: str = IMPRECISE) -> str:
    name, dtype = answer.output.name, answer.dtype
    if measures.frobenius <= limits.frobenius and measures.row > limits.row:
        return (
            f"{name} is right on the whole, but a row of it is less precise than {dtype} allows: it is "
            f"{100 * measures.row:.2g} % off, where {100 * limits.row:.2g} % is allowed. {IMPRECISE}"
        )
    return (
        f"{name} is close, but less precise than {dtype} allows: on the whole, it is {100 * measures.frobenius:.2g} % "
        f"off, where {100 * limits.frobenius:.2g} % is allowed. {advice}"
    )


def _region(mask: torch.Tensor, answer: Answer) -> Region:
    where = region(mask, answer.output.shape, answer.tile)
    assert where is not None
    return where
