"""What is said in several places is the same in all of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from tlpuzzles.doctor.known import COMPANIONS, TILELANG, TORCH_AT_LEAST
from tlpuzzles.doctor.rules import TESTED_PYTHONS
from tlpuzzles.doctor.seen import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def _project(file: str) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / file).read_text("utf-8"))["project"]
    return project


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(re.findall(r"^([\w-]+)==([\w.]+)", "\n".join(lines), re.MULTILINE))


def test_the_tilelang_that_the_grader_reads_is_the_one_installed() -> None:
    assert f"tilelang=={TILELANG}" in _project("pyproject.toml")["dependencies"]
    assert _pins()["tilelang"] == TILELANG


def test_the_pins_are_versions_that_the_doctor_finds_no_fault_with() -> None:
    pins = _pins()
    assert parse(pins["torch"]) >= TORCH_AT_LEAST
    for companion in COMPANIONS:
        assert companion.low <= parse(pins[companion.distribution]) < companion.high


def test_every_dependency_is_pinned_for_development_only() -> None:
    project, pins = _project("pyproject.toml"), _pins()
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert name.group() in pins
    # A range, so that installing beside another torch (Colab's) changes nothing there.
    assert [r for r in project["dependencies"] if r.startswith("torch")] == ["torch>=2.4"]


def test_the_solutions_are_of_the_same_release() -> None:
    version = _project("pyproject.toml")["version"]
    solutions = _project("solutions/pyproject.toml")
    assert solutions["version"] == version
    assert f"tlpuzzles=={version}" in solutions["dependencies"]


def test_ci_tries_the_pythons_that_the_doctor_calls_tested() -> None:
    (low, high), workflow = TESTED_PYTHONS, (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    matrix = re.search(r"python: \[(.*)\]", workflow)
    assert matrix is not None
    tried = [parse(version.strip('" ')) for version in matrix.group(1).split(",")]
    assert (min(tried), max(tried)) == (low, high)
    assert _project("pyproject.toml")["requires-python"] == f">={low[0]}.{low[1]}"


def test_ci_runs_make_test_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-1] == "exec make test"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
