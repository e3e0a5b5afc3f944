"""A learner's file inspected: what there is to see, and what keeps one from seeing it, as a grading would say it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tlpuzzles.border.children import Warm
from tlpuzzles.border.watching import End, Report
from tlpuzzles.course import catalog
from tlpuzzles.device.limits import A100, H100, T4, Architecture
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.inspecting import Inspector, _read
from tlpuzzles.seeing.model import Inspection, Way
from tlpuzzles.verdict.model import Kind, Verdict
from tlpuzzles.workspace.folders import shipped

SOLUTIONS = Path(__file__).parents[2] / "solutions" / "tlpuzzles_solutions"

Look = Callable[..., Inspection]


@pytest.fixture
def look(warm: Warm, learner: Path, tmp_path: Path) -> Look:
    """Inspects a text as a learner's file: look("1", text, A100, "speed")."""

    def inspect(name: str, text: str, gpu: Architecture = A100, only: str | None = None) -> Inspection:
        exercise = catalog.find(name)
        file = learner / exercise.file
        file.write_text(text, encoding="utf-8")
        warm.revive()
        inspector = Inspector(warm, exercise, gpu, 20_231, tmp_path)
        return inspector.inspect(file, shipped(exercise).file(exercise).read_text("utf-8"), only)

    return inspect


def solution(slug: str) -> str:
    return (SOLUTIONS / f"{slug}.py").read_text("utf-8")


def test_a_solution_is_seen_for_a_gpu_that_is_not_here(look: Look) -> None:
    found = look("1", solution("vector_add"), H100)

    assert found.problem is None
    assert found.seen is not None
    assert found.case == "speed"
    assert (found.arch, found.arguments["dtype"]) == ("sm_90a", "'float32'")
    assert any(sight.kind == "vector load" for sight in found.seen.sights)
    assert found.seen.launches[0].threads > 0
    assert json.loads(json.dumps(found.document()))["schema"] == 1


def test_a_case_can_be_chosen_and_a_wrong_one_lists_them(look: Look) -> None:
    first = catalog.find("1").cases[0].id
    assert look("1", solution("vector_add"), only=first).case == first
    with pytest.raises(UsageError, match=rf"no case 'none'.*{first}"):
        look("1", solution("vector_add"), only="none")


def test_schedules_that_are_proposed_are_asked_for(look: Look) -> None:
    found = look("3", solution("schedule_sweep"), A100)

    assert found.case == "ragged-1"
    assert "block_M" in found.arguments
    assert found.seen is not None
    assert found.seen.pipelines[0].way is Way.CP_ASYNC


def test_the_skeleton_says_what_there_is_to_do(look: Look) -> None:
    exercise = catalog.find("2")
    found = look("2", shipped(exercise).file(exercise).read_text("utf-8"))
    assert found.problem is not None
    assert found.problem.verdict is Verdict.SKIPPED
    assert "TODO 1" in found.problem.message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("def make_vector_add", "def make_vector_add("), "Python cannot read the file"),
        (("import tilelang\n", "import tilelang\nraise SystemExit(3)\n"), ""),
        (("import tilelang\n", "import tilelang\nimport os\nos._exit(3)\n"), ""),
        (("T.Kernel(", "T.Kernl("), "Kernl"),
    ],
)
def test_what_does_not_trace_is_told_as_a_grading_tells_it(look: Look, change: tuple[str, str], says: str) -> None:
    found = look("1", solution("vector_add").replace(*change))

    assert found.seen is None
    assert found.problem is not None
    assert (found.problem.kind, found.problem.verdict) == (Kind.BUILD, Verdict.FAILED)
    assert says in found.problem.message


def test_what_does_not_lower_here_is_explained_with_its_line(look: Look) -> None:
    text = solution("flash_attention").replace(", policy=T.GemmWarpPolicy.FullRow", "")
    found = look("6", text, A100)

    assert found.seen is None
    assert found.problem is not None
    assert (found.problem.kind, found.problem.verdict) == (Kind.PORTABILITY, Verdict.FAILED)
    assert "FullRow" in found.problem.message
    assert found.problem.detail is not None
    assert found.problem.detail.location is not None


def test_what_is_too_big_is_shown_with_the_limit(look: Look) -> None:
    text = solution("tiled_gemm").replace('"sm_75": (128, 128, 32, 2,', '"sm_75": (128, 128, 64, 4,')
    found = look("2", text, T4)

    assert found.problem is not None
    assert "64 KiB" in found.problem.message
    assert found.seen is not None
    assert found.seen.launches[0].shared_bytes > found.seen.launches[0].most_shared_bytes


def test_what_a_learner_prints_is_kept_apart(look: Look) -> None:
    found = look("1", 'print("hello")\n' + solution("vector_add"))
    assert found.seen is not None
    assert "hello" in found.output


@pytest.mark.parametrize("said", [[], [None], [{"source": 1}]])
def test_a_child_without_an_answer_is_a_problem(said: list[object]) -> None:
    messages = [{"kind": "seen", "problem": None, "seen": seen} for seen in said]
    problem, seen = _read(Report(End.FINISHED, messages, "", 0, 0))
    assert seen is None
    assert problem is not None
    assert "without an answer" in problem.message
