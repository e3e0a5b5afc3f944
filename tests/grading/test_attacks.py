"""Files that try to get more than they are worth, or to be taken for the grader's fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tlpuzzles_solutions
from tlpuzzles.verdict.model import Result, Verdict

Grade = Callable[..., Result]


def solution(slug: str) -> str:
    return tlpuzzles_solutions.path(slug).read_text("utf-8")


def test_a_file_without_its_kernel_earns_only_what_its_functions_are_worth(grade: Grade) -> None:
    text = solution("introspection").replace("def make_print_demo", "def make_another")
    result = grade("introspection", text, stop_at_first_failure=False)

    assert result.verdict is Verdict.FAILED
    assert 0 < result.points.earned < 50


def test_infinity_is_not_every_number(grade: Grade) -> None:
    text = solution("introspection").replace("return bytes / 1e9 / (milliseconds / 1e3)", "return float('inf')")
    result = grade("introspection", text, only="bandwidth")

    assert result.verdict is Verdict.FAILED


def test_folders_that_a_file_makes_in_advance_are_in_nobodys_way(grade: Grade) -> None:
    block = (
        "import os\n"
        "for number in range(60):\n"
        "    for name in (str(number), f'traced{number}', 'traced', 'called', 'measuring', 'tuning'):\n"
        "        try: os.mkdir(os.path.join('..', name))\n"
        "        except OSError: pass\n"
    )
    result = grade("introspection", block + solution("introspection"), only="bandwidth")

    assert result.verdict is Verdict.PASSED, [check for check in result.checks if check.message]


@pytest.mark.parametrize("slug", ["schedule_sweep", "autotuning"])
def test_a_kernel_that_does_not_follow_its_schedule_fails(grade: Grade, slug: str) -> None:
    fixed = "    block_M, block_N, block_K, num_stages, threads = 64, 64, 32, 2, 128\n"
    if slug == "schedule_sweep":
        fixed += "    use_swizzle = False\n"
    text = solution(slug)
    begin = text.index("    @T.prim_func")
    result = grade(slug, text[:begin] + fixed + text[begin:], stop_at_first_failure=False)

    told = next(check for check in result.checks if check.id == "follows-schedules")
    assert told.verdict is Verdict.FAILED
    assert "the same kernel" in told.message


def test_one_schedule_for_the_graded_problem_is_too_few(grade: Grade) -> None:
    text = solution("schedule_sweep") + (
        "\n_all = candidates\n\n\ndef candidates(M, N, K, smem_limit):\n"
        "    found = _all(M, N, K, smem_limit)\n    return found if M > 1000 else found[:1]\n"
    )
    result = grade("schedule_sweep", text, stop_at_first_failure=False)

    assert any("too few schedules" in check.message for check in result.checks)
    assert result.points.earned < 60


def test_an_endless_message_does_not_hold_the_grader_up(grade: Grade) -> None:
    text = solution("introspection").replace(
        "return bytes / 1e9 / (milliseconds / 1e3)", "raise ValueError('a' * 1_000_000)"
    )
    result = grade("introspection", text, only="bandwidth")

    assert result.verdict is Verdict.FAILED
    assert result.seconds < 20


def test_an_exception_that_cannot_be_printed_is_the_files_own(grade: Grade) -> None:
    text = solution("introspection").replace(
        "    return bytes / 1e9 / (milliseconds / 1e3)",
        "    class Odd(Exception):\n        def __str__(self):\n            raise RuntimeError\n    raise Odd",
    )
    result = grade("introspection", text, only="bandwidth")

    failed = next(check for check in result.checks if check.id == "bandwidth")
    assert "raised Odd" in failed.message
    assert "caller.py" not in result.output
