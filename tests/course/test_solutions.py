"""Solutions and skeletons hold together: one is cut from the other, and keeps what learners rely on."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable

import pytest

from tests import tracing
from tlpuzzles.course import catalog
from tlpuzzles.grading.choices import Portability
from tlpuzzles.verdict.model import Kind, Result, Verdict
from tlpuzzles.workspace.folders import shipped
from tlpuzzles_solutions import cut
from tlpuzzles_solutions import path as solution

SIGNATURES = {
    "vector_add": "N, block_N=256, dtype='float32'",
    "tiled_gemm": (
        "M, N, K, block_M=128, block_N=128, block_K=32, num_stages=3, threads=128, use_swizzle=False, "
        "dtype='float16', accum_dtype='float'"
    ),
    "schedule_sweep": (
        "M, N, K, block_M=128, block_N=128, block_K=32, num_stages=3, threads=128, use_swizzle=False, "
        "dtype='float16', accum_dtype='float'"
    ),
    "epilogue_fusion": (
        "M, N, K, block_M=128, block_N=128, block_K=32, num_stages=2, threads=128, dtype='float16', accum_dtype='float'"
    ),
    "row_softmax": "M, N, block_M=4, threads=128, dtype='float16', accum_dtype='float'",
    "flash_attention": (
        "batch, heads, seq_len, dim, is_causal=False, block_M=64, block_N=64, num_stages=1, threads=128, "
        "dtype='float16', accum_dtype='float'"
    ),
    "autotuning": (
        "M, N, K, block_M=128, block_N=128, block_K=32, num_stages=2, threads=128, dtype='float16', accum_dtype='float'"
    ),
    "introspection": "N=128, dtype='float32'",
}

each_exercise = pytest.mark.parametrize("slug", SIGNATURES)


def _skeleton(slug: str) -> str:
    exercise = catalog.find(slug)
    return shipped(exercise).file(exercise).read_text("utf-8")


def test_every_exercise_has_its_signature_fixed() -> None:
    assert set(SIGNATURES) == {exercise.slug for exercise in catalog.exercises()}


@each_exercise
def test_skeleton_is_cut_from_the_solution(slug: str) -> None:
    assert _skeleton(slug) == cut.skeleton(solution(slug).read_text("utf-8")), "run python -m tlpuzzles_solutions.cut"


@each_exercise
def test_skeleton_has_numbered_todos_and_no_answer(slug: str) -> None:
    skeleton = _skeleton(slug)
    todos = [int(number) for number in re.findall(r"# TODO (\d+):", skeleton)]

    assert todos == list(range(1, len(todos) + 1))
    assert len(todos) >= 2
    assert "# ---" not in skeleton
    assert max(map(len, skeleton.splitlines())) <= 120


@each_exercise
def test_skeleton_has_the_factory_that_the_course_fixed(slug: str) -> None:
    scope: dict[str, object] = {}
    factory = catalog.find(slug).factory
    header = re.search(rf"^def {factory}\((.*?)\):\n", _skeleton(slug), re.MULTILINE | re.DOTALL)
    assert header is not None
    exec(header.group(0) + "    pass", scope)
    signature = inspect.signature(scope[factory])  # type: ignore[arg-type]
    parameters = (p.replace(annotation=p.empty) for p in signature.parameters.values())

    assert ", ".join(map(str, parameters)) == SIGNATURES[slug]


@each_exercise
def test_skeleton_traces_as_it_is(slug: str) -> None:
    """So that a learner who has done the first TODO can look at what comes of it."""
    exercise = catalog.find(slug)
    case = exercise.cases[0]
    # All different, for axes that are exchanged show only then; attention's tiles are that wide.
    sizes = {name: 64 if name == "dim" else number for number, name in enumerate(case.sizes(random.Random(0)), 1)}

    kernel = tracing.document(_skeleton(slug), exercise.factory, **case.arguments(sizes)).func

    assert len(kernel.arguments) == len(exercise.inputs) + 1


@each_exercise
def test_untouched_skeleton_is_not_started(slug: str, grade: Callable[..., Result]) -> None:
    assert grade(slug, _skeleton(slug)).verdict is Verdict.NOT_STARTED


@each_exercise
def test_solution_passes(slug: str, grade: Callable[..., Result]) -> None:
    result = grade(slug, solution(slug).read_text("utf-8"), trace_seconds=60.0)

    assert result.verdict is Verdict.PASSED, result.checks


@pytest.mark.slow
@each_exercise
def test_solution_passes_nvcc_for_every_gpu(slug: str, grade: Callable[..., Result]) -> None:
    text = solution(slug).read_text("utf-8")

    result = grade(slug, text, portability=Portability.FULL, trace_seconds=60.0, stop_at_first_failure=False)

    verdicts = {check.id: check.verdict for check in result.checks if check.kind is Kind.PORTABILITY}
    # Of an exercise whose learner proposes schedules, they are proposed for one GPU.
    assert len(verdicts) == (4 if catalog.find(slug).proposed is None else 1)
    assert set(verdicts.values()) == {Verdict.PASSED}, result.checks


def test_there_is_no_solution_of_something_else() -> None:
    for name in ("cut", "__init__", "nonsense"):
        with pytest.raises(FileNotFoundError):
            solution(name)


def test_cutting_leaves_what_stands_instead_at_the_depth_of_the_answer() -> None:
    master = """\
def f():
    # --- answer
    return 1
        # --- instead
        # pass
    # --- end
    # TODO 1: x
"""

    assert cut.skeleton(master) == "def f():\n    pass\n    # TODO 1: x\n"
    assert cut.answers(master) == ["return 1"]


@pytest.mark.parametrize(
    "master",
    [
        "# --- answer\nx = 1\n",
        "# --- end\n",
        "# --- instead\n",
        "# --- answer\n# --- answer\n# --- end\n",
        "# --- answer\n# --- instead\n# --- instead\n# --- end\n",
        "# --- answer\nx = 1\n# --- instead\nx = 2\n# --- end\n",
    ],
)
def test_wrong_markers_are_refused(master: str) -> None:
    with pytest.raises(cut.MarkerError):
        cut.skeleton(master)
