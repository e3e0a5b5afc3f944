"""Whatever is handed in, there is a result that says what is wrong with it, and the next file still grades."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tlpuzzles.verdict.model import Kind, Result, Verdict

Grade = Callable[..., Result]

GOOD = """import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_vector_add(N, block_N=256, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:
            for i in T.Parallel(block_N):
                C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]

    return main
"""
LOOP = "            for i in T.Parallel(block_N):\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("def f(:\n", "invalid syntax", id="syntax error"),
        pytest.param("x = 1\n", "no function named make_vector_add", id="no factory"),
        pytest.param("def make_vector_add(N): return None\n", "returned None", id="returns None"),
        pytest.param("import sys\nsys.exit(0)\n", "sys.exit(0)", id="sys.exit"),
        pytest.param("import os\nos._exit(0)\n", "exit status 0", id="os._exit"),
        pytest.param("while True: pass\n", "took longer than", id="never returns"),
        pytest.param("import nonesuch\n", "imports 'nonesuch'", id="not installed"),
        pytest.param(GOOD.replace("C: T.Tensor((N,)", "C: T.Tensor((N + 1,)"), "expected (N,)", id="other shape"),
        pytest.param(
            GOOD.replace("C: T.Tensor((N,), dtype)", "C: T.Tensor((N,), 'float64')"), "float64", id="other dtype"
        ),
        pytest.param(
            GOOD.replace(LOOP, "            S = T.alloc_shared((4096, 4096), dtype)\n" + LOOP), "64 MiB", id="tile"
        ),
        pytest.param(
            GOOD.replace(LOOP, "            T.call_extern('handle', 'system', 'ls')\n" + LOOP), "system", id="extern"
        ),
        pytest.param(
            GOOD.replace("out_idx=[-1]", "out_idx=[-1], pass_configs={'tl.disable_safe_memory_legalize': True}"),
            "safe_memory",
            id="pass config",
        ),
        pytest.param(GOOD.replace("T.ceildiv(N, block_N), threads", "1 << 30, threads"), "blocks", id="endless grid"),
    ],
)
def test_a_bad_file_fails_with_a_reason(grade: Grade, text: str, says: str) -> None:
    result = grade("1", text)
    assert result.verdict is Verdict.FAILED
    assert result.points.earned == 0
    build = next(check for check in result.checks if check.kind is Kind.BUILD)
    assert build.verdict is Verdict.FAILED
    assert says in build.message


def test_the_next_file_grades(grade: Grade) -> None:
    assert grade("1", "import os\nos.kill(os.getpid(), 9)\n").verdict is Verdict.FAILED
    assert grade("1", GOOD).verdict is Verdict.PASSED


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP"])
def test_a_file_that_turns_on_the_grader_fails_and_the_next_one_grades(grade: Grade, name: str) -> None:
    result = grade("1", f"import os, signal\nos.kill(os.getppid(), signal.{name})\nimport time; time.sleep(5)\n")
    assert result.verdict is Verdict.FAILED
    assert "ended or stopped the process that grades it" in result.checks[0].message
    assert grade("1", GOOD).verdict is Verdict.PASSED


def test_a_skeleton_is_not_started(grade: Grade) -> None:
    skeleton = Path("exercises/01_vector_add/vector_add.py").read_text()
    result = grade("1", skeleton + "# a comment\n")
    assert result.verdict is Verdict.NOT_STARTED
    assert "TODO 1" in result.checks[0].message


def test_a_left_over_todo_changes_nothing(grade: Grade) -> None:
    assert grade("1", GOOD + "# TODO 1: nothing\n").verdict is Verdict.PASSED


def test_a_location_shows_the_line(grade: Grade) -> None:
    result = grade("1", GOOD.replace("T.ceildiv", "T.ceil_div"))
    location = result.checks[0].detail.location
    assert location is not None
    assert location.line == 9
    assert location.source is not None
    assert "T.ceil_div" in location.source


def test_output_of_file_and_kernel_is_kept_apart(grade: Grade) -> None:
    text = GOOD.replace(LOOP, "            if bx == 0:\n                T.print(T.int32(7), msg='seven')\n" + LOOP)
    result = grade("1", "print('loaded')\n" + text)
    assert result.verdict is Verdict.PASSED
    assert "loaded" in result.output
    assert "seven" in result.output
