"""Finding exercises: ours, and those of other distributions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.course.third_party import distribution
from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.folders import shipped


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path to install made-up distributions in."""
    monkeypatch.syspath_prepend(str(tmp_path))
    catalog.entries.cache_clear()
    yield tmp_path
    catalog.entries.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "othercourse"]:
        del sys.modules[name]


def test_ours_are_found_in_order() -> None:
    numbers = [exercise.number for exercise in catalog.exercises()]
    assert numbers == sorted(numbers)
    assert {1, 2, 6} <= set(numbers)


@pytest.mark.parametrize(
    "name", ["6", "06", "flash_attention", "flash-attention", "Flash_Attention", "flash", "06_flash_attention", " 6 "]
)
def test_an_exercise_has_many_names(name: str) -> None:
    assert catalog.find(name).slug == "flash_attention"


@pytest.mark.parametrize("name", ["9", "-1", "", "attention", "flash_attention2", "1.0", "\u0661", "../01_vector_add"])
def test_an_unknown_exercise_lists_those_there_are(name: str) -> None:
    with pytest.raises(catalog.UnknownExercise, match="There is no exercise") as raised:
        catalog.find(name)
    for exercise in catalog.exercises():
        assert f"{exercise.number}  {exercise.slug}" in str(raised.value)
    assert isinstance(raised.value, UsageError)


def test_a_beginning_of_two_names_lists_the_two(elsewhere: Path) -> None:
    distribution(elsewhere, slug="vector_sum")
    with pytest.raises(catalog.UnknownExercise, match='Several exercises start with "vector"') as raised:
        catalog.find("vector")
    assert "vector_add" in str(raised.value)
    assert "vector_sum" in str(raised.value)
    assert "flash_attention" not in str(raised.value)
    assert catalog.find("vector_s").number == 70


def test_two_exercises_with_one_number_name_both_distributions(elsewhere: Path) -> None:
    distribution(elsewhere, number=2)
    with pytest.raises(
        catalog.BrokenCourse, match=r"number 2: .*(tiled_gemm of tlpuzzles|vector_sum of othercourse 2\.1)"
    ) as raised:
        catalog.exercises()
    assert "tiled_gemm of tlpuzzles" in str(raised.value)
    assert "vector_sum of othercourse 2.1" in str(raised.value)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import a_package_that_is_not_there\n", "ModuleNotFoundError: No module named 'a_package_that_is_not_there'"),
        ("x = 1\n", "AttributeError"),
        ("EXERCISE = 'exercise'\n", "is a str, not an Exercise"),
        ("EXERCISE = (\n", "SyntaxError"),
    ],
)
def test_a_broken_exercise_names_its_distribution(elsewhere: Path, source: str, why: str) -> None:
    distribution(elsewhere, source=source)
    with pytest.raises(catalog.BrokenCourse, match=r'"vector_sum" of othercourse 2\.1 cannot be loaded') as raised:
        catalog.exercises()
    assert why in str(raised.value)


def test_another_distribution_ships_its_files_in_its_package(elsewhere: Path) -> None:
    distribution(elsewhere)
    exercise = catalog.find("70")
    with pytest.raises(UsageError, match=r"vector_sum.* missing from othercourse 2\.1"):
        shipped(exercise)
    folder = elsewhere / "othercourse" / "_exercises" / "70_vector_sum"
    folder.mkdir(parents=True)
    assert shipped(exercise).file(exercise) == folder / "vector_sum.py"
