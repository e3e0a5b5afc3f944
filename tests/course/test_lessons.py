"""Lessons and hints: what they promise exists, what they show works, and none gives the answer away too early."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import pytest

from tests import tracing
from tests.course.signatures import invented_defaults, problems, spans
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace.documents import document
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.glossary import read_terms
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
SIZES = (70, 300, 33, 5, 129, 18)
"""What the sizes of an example are, in the order in which its factory takes them."""
EXAMPLES: dict[str, dict[str, int]] = {}
"""The sizes of an exercise's example, by its slug, where it cannot be any sizes."""
TERMINAL = 58
"""Columns that are left for drawings and code in a terminal of 60."""

each_exercise = pytest.mark.parametrize("slug", [exercise.slug for exercise in catalog.exercises()])


def _exercise(slug: str) -> Exercise:
    return catalog.find(slug)


def _lesson_path(slug: str) -> Path:
    return shipped(_exercise(slug)).lesson(_exercise(slug))


def _lesson(slug: str) -> str:
    return _lesson_path(slug).read_text("utf-8")


def _hints_text(slug: str) -> str:
    return shipped(_exercise(slug)).hints(_exercise(slug)).read_text("utf-8")


def _hints(slug: str) -> tuple[str, ...]:
    return split_hints(_hints_text(slug))


def _section(slug: str, heading: str) -> str:
    _, _, rest = _lesson(slug).partition(f"\n## {heading}\n")
    return re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]


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
    assert _lesson(slug).startswith(f"# {_exercise(slug).number}. ")


@each_exercise
def test_lesson_has_drawings_and_they_fit_a_narrow_terminal(slug: str) -> None:
    lesson = _lesson(slug)

    assert _blocks(lesson, "text")
    for block in (*_blocks(lesson, "text"), *_blocks(lesson, "python")):
        assert [line for line in block.splitlines() if len(line) > TERMINAL] == []
        assert block.isascii()


@each_exercise
def test_lesson_has_a_picture_that_github_renders(slug: str) -> None:
    images = re.findall(r"^!\[([^\]]+)\]\(([^)]+)\)$", _lesson(slug), re.MULTILINE)

    assert images or _blocks(_lesson(slug), "mermaid")
    for words, path in images:
        assert len(words) >= 20, f"{path} needs words for those who cannot see it"
        assert path.startswith("../../docs/pictures/")
        assert (_lesson_path(slug).parent / path).is_file(), path


@each_exercise
def test_links_inside_the_course_lead_somewhere(slug: str) -> None:
    anchors = {term.anchor for term in read_terms(document("glossary.md").read_text("utf-8"))}
    text = _lesson(slug) + _hints_text(slug)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")]
    words = {link.partition("#")[2] for link in links if "glossary.md" in link}

    assert words <= anchors
    assert len(words) >= 3, "words that a reader may not know link to the glossary"
    for link in links:
        assert (_lesson_path(slug).parent / link.partition("#")[0]).exists(), link


@each_exercise
def test_lesson_names_functions_that_exist(slug: str) -> None:
    import tilelang.language

    text = _lesson(slug) + "".join(_hints(slug))

    for name in set(re.findall(r"\bT\.(\w+)", text)):
        assert hasattr(tilelang.language, name), name


@each_exercise
def test_signatures_of_the_lesson_are_those_of_tilelang(slug: str) -> None:
    table = spans(_section(slug, "The functions you need"))
    elsewhere = spans("".join(_hints(slug)))

    assert table
    assert [problem for code in (*table, *elsewhere) for problem in problems(code)] == []
    assert [name for code in table for name in invented_defaults(code)] == []


@each_exercise
def test_example_of_the_lesson_works(slug: str) -> None:
    (example,) = _blocks(_section(slug, "A small example"), "python")
    if "@tilelang.jit" not in example:
        _run(example)
        return
    factory = next(node for node in ast.parse(example).body if _is_factory(node))
    assert isinstance(factory, ast.FunctionDef)

    kernel = tracing.document(example, factory.name, **(EXAMPLES.get(slug) or _sizes(factory))).func

    assert kernel.arguments


def _is_factory(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(made) for made in node.decorator_list)


def _sizes(factory: ast.FunctionDef) -> dict[str, int]:
    """A size of its own for every int that the factory must be given."""
    asked = factory.args.args[: len(factory.args.args) - len(factory.args.defaults)]
    names = [argument.arg for argument in asked if argument.annotation and ast.unparse(argument.annotation) == "int"]
    return dict(zip(names, SIZES, strict=False))


def _run(example: str) -> None:
    """An example of plain Python must run as it is, and use what it defines."""
    defined = {node.name for node in ast.parse(example).body if isinstance(node, ast.FunctionDef)}
    used = {node.id for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Name)}
    scope: dict[str, object] = {}
    exec(compile(example, "example of the lesson", "exec"), scope)

    assert defined
    assert defined <= used, "the example must call its function, so that it is seen to work"


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
def test_lesson_says_how_it_is_scored(slug: str) -> None:
    checked = _section(slug, "What is checked")

    assert re.search(r"\b60\b.*points|points.*\b60\b", checked, re.DOTALL)
    assert "speed" in checked.lower()


@each_exercise
def test_common_errors_name_messages_and_symptoms(slug: str) -> None:
    errors = re.findall(r"^- ", _section(slug, "Common errors"), re.MULTILINE)

    assert len(errors) >= 5


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
