"""Lessons and hints: what they promise exists, what they show works, and none gives the answer away too early."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tests import tracing
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.hints import split_hints
from tlpuzzles_solutions import cut
from tlpuzzles_solutions import path as solution

SECTIONS = (
    "The idea",
    "What the hardware does",
    "The functions you need",
    "A small example",
    "The task",
    "What is checked",
    "Common errors",
    "What to read next",
)
EXAMPLES = {"vector_add": {"rows": 5, "columns": 33}, "tiled_gemm": {"rows": 70, "columns": 300}}
EXAMPLES["flash_attention"] = {"size": 100}
TERMINAL = 78
"""Columns that are left for code in a terminal of 80."""

each_exercise = pytest.mark.parametrize("slug", ["vector_add", "tiled_gemm", "flash_attention"])


def _exercise(slug: str) -> Exercise:
    return catalog.find(slug)


def _lesson(slug: str) -> str:
    return shipped(_exercise(slug)).lesson(_exercise(slug)).read_text("utf-8")


def _hints(slug: str) -> tuple[str, ...]:
    return split_hints(shipped(_exercise(slug)).hints(_exercise(slug)).read_text("utf-8"))


def _blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _telling(slug: str) -> list[str]:
    """Lines of the answer that say something: the rest is punctuation, or stands in the skeleton too."""
    master = solution(slug).read_text("utf-8")
    kept = cut.skeleton(master)
    return [line for line in cut.answers(master) if len(line) > 12 and line not in kept]


@each_exercise
def test_lesson_has_its_sections_in_order(slug: str) -> None:
    headings = re.findall(r"^## (.+)$", _lesson(slug), re.MULTILINE)

    assert [heading for heading in headings if heading in SECTIONS] == list(SECTIONS)


@each_exercise
def test_lesson_has_pictures_and_they_fit_a_terminal(slug: str) -> None:
    lesson = _lesson(slug)

    assert _blocks(lesson, "text")
    for block in (*_blocks(lesson, "text"), *_blocks(lesson, "python")):
        assert max(map(len, block.splitlines())) <= TERMINAL
        assert block.isascii()


@each_exercise
def test_lesson_names_functions_that_exist(slug: str) -> None:
    import tilelang.language

    text = _lesson(slug) + "".join(_hints(slug))

    for name in set(re.findall(r"\bT\.(\w+)", text)):
        assert hasattr(tilelang.language, name), name


@each_exercise
def test_example_of_the_lesson_is_a_kernel(slug: str) -> None:
    (example,) = (block for block in _blocks(_lesson(slug), "python") if "@tilelang.jit" in block)
    (factory,) = re.findall(r"^def (\w+)", example, re.MULTILINE)

    kernel = tracing.document(example, factory, **EXAMPLES[slug]).func

    assert len(kernel.arguments) == 2


def test_online_softmax_of_the_lesson_is_right() -> None:
    (function,) = (block for block in _blocks(_lesson("flash_attention"), "python") if "def attend" in block)
    scope: dict[str, object] = {"math": math}
    exec(function, scope)
    scores, values = [1.0, 3.0, 5.0, 2.0, 400.0], [7.0, -2.0, 0.5, 1.0, 4.0]

    for count in (2, 4, 5):
        weights = [math.exp(score - max(scores[:count])) for score in scores[:count]]
        expected = sum(w * v for w, v in zip(weights, values, strict=False)) / sum(weights)
        assert scope["attend"](scores[:count], values[:count], 2) == pytest.approx(expected)  # type: ignore[operator]


@each_exercise
def test_there_are_hints_enough(slug: str) -> None:
    hints = _hints(slug)

    assert len(hints) >= 3
    assert all(mistake.hint < len(hints) for mistake in _exercise(slug).mistakes)


@each_exercise
def test_only_the_last_hint_quotes_the_answer(slug: str) -> None:
    *earlier, last = _hints(slug)
    told = "\n".join((_lesson(slug), *earlier))

    assert [line for line in _telling(slug) if line in told] == []
    assert [line for line in _telling(slug) if line in last]


@each_exercise
def test_links_lead_to_known_places(slug: str) -> None:
    known = ("https://tilelang.com", "https://arxiv.org/abs/")

    assert all(link.startswith(known) for link in re.findall(r"https?://[^\s>)]+", _lesson(slug)))


def test_folder_of_exercises_holds_nothing_but_their_files() -> None:
    root = shipped(_exercise("vector_add")).root
    files = {path.relative_to(root) for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {Path("course.toml")}
    for exercise in catalog.exercises():
        if (root / exercise.folder).is_dir():
            expected |= {Path(exercise.folder) / name for name in (exercise.file, "lesson.md", "hints.md")}

    assert files == expected
