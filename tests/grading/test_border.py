"""What a learner's Python does while it is traced gains nothing: no input is there yet, and no file is used later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.grading.test_bad_input import GOOD
from tlpuzzles.grading import building, judging
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.grader import Grader
from tlpuzzles.verdict.model import Kind, Result, Verdict

Grade = Callable[..., Result]


def test_no_input_is_drawn_while_a_learners_process_lives(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a kernel that is traced again for every GPU."""
    events: list[str] = []
    from tlpuzzles.grading import tracing

    traced, drawn = tracing.trace, judging.draw
    monkeypatch.setattr(tracing, "trace", lambda *a: (events.append("begin"), traced(*a), events.append("end"))[1])
    monkeypatch.setattr(judging, "draw", lambda *a: (events.append("draw"), drawn(*a))[1])
    text = GOOD.replace('dtype="float32"):', 'dtype="float32", arch=""):')
    assert grade("1", text, portability=Portability.CHECK).verdict is Verdict.PASSED
    assert events.count("begin") == 5
    assert events.index("draw") > max(i for i, event in enumerate(events) if event == "end")


def test_files_that_a_learner_can_reach_are_not_used_later(
    grade: Grade, grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It overwrites whatever it finds in the grader's folders with rubbish, the compiled header among it."""
    vandal = (
        "import os, pathlib\n"
        f"for path in pathlib.Path({str(grader.scratch)!r}).rglob('*'):\n"
        "    if path.is_file(): path.write_bytes(b'rubbish')\n"
        f"for path in pathlib.Path({str(grader.device.headers)!r}).rglob('*'):\n"  # type: ignore[attr-defined]
        "    if path.is_file(): path.write_bytes(b'rubbish')\n"
        "print('was here')\n"
    )
    result = grade("1", vandal + GOOD)
    assert "was here" in result.output
    assert result.verdict is Verdict.PASSED
    assert grade("1", GOOD).verdict is Verdict.PASSED


def test_a_forged_capsule_is_one_more_kernel(grade: Grade) -> None:
    """A learner who finds the tracer's channel can send any IR: it is checked like any other."""
    forger = (
        "import json, os\n"
        "message = {'kind': 'capsule', 'case': 'ragged-end', 'ir': '{\"root_index\": 0, \"nodes\": []}',"
        " 'out_idx': None, 'pass_configs': {}}\n"
        "for fd in range(3, 30):\n"
        "    try: os.write(fd, (json.dumps(message) + '\\n').encode())\n"
        "    except OSError: pass\n"
        "os._exit(0)\n"
    )
    result = grade("1", forger)
    assert result.verdict is Verdict.FAILED
    assert result.points.earned == 0


def test_a_check_that_dies_is_a_refusal(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LIMITS", building.LIMITS.__class__(seconds=0.001))
    result = grade("1", GOOD)
    assert result.verdict is Verdict.FAILED
    assert next(check for check in result.checks if check.kind is Kind.BUILD).message


def test_a_judge_that_dies_is_our_error(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "LIMITS", judging.LIMITS.__class__(seconds=0.001))
    result = grade("1", GOOD)
    assert result.verdict is Verdict.ERROR
    assert result.points.earned == 0


def test_nothing_is_left_in_the_graders_folder(grade: Grade, grader: Grader) -> None:
    before = set(grader.scratch.iterdir())
    grade("1", GOOD)
    assert set(grader.scratch.iterdir()) == before
    assert not list(Path(grader.scratch).glob("grading-*"))
