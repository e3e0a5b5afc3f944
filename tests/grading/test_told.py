"""What a grading tells beside verdicts: what was not asked, one cause for one mistake, the tile, sizes of warnings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.grading.test_bad_input import GOOD
from tlpuzzles.course import catalog
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.judging import for_one_reason
from tlpuzzles.grading.options import Step
from tlpuzzles.verdict.model import Check, Detail, Kind, Result, Verdict

Grade = Callable[..., Result]
SOLUTIONS = Path("solutions", "tlpuzzles_solutions")


def solution(slug: str) -> str:
    return (SOLUTIONS / f"{slug}.py").read_text("utf-8")


def test_other_gpus_that_were_not_asked_are_in_the_document(grade: Grade, grader: Grader) -> None:
    steps: list[Step] = []
    before, grader.progress = grader.progress, lambda step, text: steps.append(step)
    try:
        result = grade("1", GOOD, portability=Portability.OFF)
    finally:
        grader.progress = before
    assert result.verdict is Verdict.PASSED
    (check,) = [
        check for check in json.loads(json.dumps(result.document()))["checks"] if check["kind"] == "portability"
    ]
    assert (check["verdict"], check["message"]) == ("skipped", "not asked (--portability off)")
    assert Step.JUDGING in steps
    assert Step.PORTABILITY not in steps


def test_cases_of_a_kernel_that_is_refused_do_not_say_that_there_is_none(grade: Grade) -> None:
    result = grade("1", GOOD.replace("T.ceildiv(N, block_N), threads", "1 << 30, threads"), stop_at_first_failure=False)
    cases = [check for check in result.checks if check.kind is Kind.CORRECTNESS]
    assert {check.message for check in cases} == {"not run: the kernel did not get past Build"}


def _check(id_: str, verdict: Verdict, message: str, **detail: object) -> Check:
    return Check(
        id=id_,
        title=f"case {id_}",
        kind=Kind.CORRECTNESS,
        verdict=verdict,
        message=message,
        detail=Detail.model_validate(detail),
    )


def test_cases_that_fail_beside_a_known_mistake_get_no_cause_of_their_own() -> None:
    known = _check("a", Verdict.FAILED, "Your output equals that.", mistake="that", hint=2, error=0.3)
    guessed = _check("b", Verdict.FAILED, "O is close, but less precise than float16 allows.", error=0.002)
    outside = _check("c", Verdict.FAILED, "The kernel uses index 7 of A.")
    right = _check("d", Verdict.PASSED, "", error=1e-4)
    told = list(for_one_reason([guessed, known, outside, right]))
    assert told[0].message == 'Wrong too, probably for the same reason as "case a".'
    assert told[0].detail == guessed.detail
    assert told[1:] == [known, outside, right]
    assert list(for_one_reason([guessed, outside])) == [guessed, outside]


def test_a_tile_that_is_not_set_is_named_with_its_line(grade: Grade) -> None:
    text = solution("tiled_gemm").replace("T.clear(C_local)", "pass")
    result = grade("2", text, only="ragged", stop_at_first_failure=False)
    wrong = [check for check in result.checks if check.verdict is Verdict.FAILED]
    assert {check.kind for check in wrong} == {Kind.CORRECTNESS, Kind.ORDER}
    for check in wrong:
        assert check.message.startswith("The tile C_local is read before it is set (T.gemm adds to it in line ")
        assert check.detail is not None
        assert check.detail.location is not None
        assert "T.gemm(" in str(check.detail.location.source)


def test_a_tile_that_nothing_fills_is_told_from_one_that_is_not_cleared(grade: Grade) -> None:
    text = solution("tiled_gemm").replace("T.copy(B[ko * block_K, bx * block_N], B_shared)", "pass")
    result = grade("2", text, only="ragged", stop_at_first_failure=False)
    (check,) = [check for check in result.checks if check.id == "ragged"]
    assert check.message.startswith("The tile B_shared is read, and nothing is ever copied into it (T.gemm reads it in")
    assert check.message.endswith("Fill it first, by T.copy or element by element.")


def test_another_exercises_file_is_known(grade: Grade) -> None:
    (build, *_) = grade("1", solution("tiled_gemm")).checks
    assert "It defines make_matmul." in build.message
    assert build.message.endswith("make_matmul is exercise 2's: `tlpuzzles grade 2` grades it.")
    (build, *_) = grade("1", GOOD.replace("def make_vector_add", "def vector_add")).checks
    assert build.message.endswith("It defines vector_add. The exercise calls make_vector_add.")


def test_one_line_that_makes_all_cases_wrong_is_told_once(grade: Grade) -> None:
    text = solution("tiled_gemm").replace("A[by * block_M, ko * block_K]", "A[by * block_M, ko]")
    result = grade("2", text, stop_at_first_failure=False)
    wrong = [check for check in result.checks if check.verdict is Verdict.FAILED]
    assert len(wrong) == 5
    assert [check.message for check in wrong[1:]] == [f'Wrong for the same reason as "{wrong[0].title}".'] * 4
    assert wrong[0].detail is not None
    assert wrong[0].detail.location is not None
    assert "T.copy(A[by * block_M, ko], A_shared)" in str(wrong[0].detail.location.source)


def test_a_warning_of_registers_names_sizes_and_its_line(grade: Grade) -> None:
    text = solution("row_softmax").replace("block_M = min(block_M, ", "block_M = max(block_M, ")
    result = grade("5", text, only="one-row")
    (build,) = [check for check in result.checks if check.kind is Kind.BUILD]
    assert build.verdict is Verdict.PASSED
    assert ": For M = 1, N = " in build.message
    assert build.message.startswith("Line ")
    assert "no points" in build.message


def test_a_sum_by_hand_names_its_hint_where_there_is_one(grade: Grade) -> None:
    by_hand = (
        "            T.clear(row_sum)\n            for i, j in T.Parallel(block_M, columns):\n"
        "                row_sum[i] += rows[i, j]\n"
    )
    text = solution("row_softmax").replace("            T.reduce_sum(rows, row_sum, dim=1)\n", by_hand)
    result = grade("5", text, only="short-rows")
    (order,) = [check for check in result.checks if check.kind is Kind.ORDER]
    assert order.detail is not None
    assert order.detail.hint == catalog.find("5").collecting_hint == 2
    assert catalog.find("1").collecting_hint is None
