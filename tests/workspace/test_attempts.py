"""What is kept of gradings, and what is made of it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.workspace.results import FILE, graded, keep
from tlpuzzles.course import catalog
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace import attempts, keeping
from tlpuzzles.workspace.attempts import Origin, Past, State
from tlpuzzles.workspace.keeping import MOST, keep_file, keep_given_up, keep_grading, keep_hint
from tlpuzzles.workspace.record import Record

ONE = catalog.find("1")


def _past(root: Path) -> Past:
    return attempts.read(root)["vector_add"]


def _documents(root: Path) -> list[str | None]:
    with Record(root).reading() as connection:
        assert connection is not None
        return [document for (document,) in connection.execute("SELECT document FROM attempts ORDER BY number")]


def test_a_grading_is_kept_with_all_that_was_asked_for(tmp_path: Path) -> None:
    keep_hint(tmp_path, ONE, 2)
    keep_hint(tmp_path, ONE, 1)
    keep(tmp_path, "text é\r\n", graded(Verdict.PASSED, 93, ratios=(0.9, 0.8)))
    (attempt,) = _past(tmp_path).attempts
    assert (attempt.number, attempt.origin, attempt.path, attempt.hint) == (1, Origin.GRADED, str(FILE), 2)
    assert (attempt.verdict, attempt.earned, attempt.of) == (Verdict.PASSED, 93, 100)
    assert (attempt.device, attempt.arch) == ("NVIDIA H200", "sm_90a")
    assert attempt.ratios == {"speed-0": 0.9, "speed-1": 0.8}
    assert attempt.at.tzinfo is not None
    assert attempts.content(tmp_path, attempt) == "text é\r\n".encode()


def test_the_same_text_is_kept_once(tmp_path: Path) -> None:
    for text in ("a", "b", "a"):
        keep(tmp_path, text, graded())
    with Record(tmp_path).reading() as connection:
        assert connection is not None
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (2,)
    assert [attempts.content(tmp_path, attempt) for attempt in _past(tmp_path).attempts] == [b"a", b"b", b"a"]


def test_a_file_that_was_kept_already_is_not_kept_again(tmp_path: Path) -> None:
    keep(tmp_path, "a", graded())
    keep(tmp_path, "b", graded())
    assert keep_file(tmp_path, ONE, FILE, b"a") == 1
    assert keep_file(tmp_path, ONE, FILE, b"c") == 3
    assert keep_file(tmp_path, ONE, FILE, b"c") == 3
    assert [attempt.origin for attempt in _past(tmp_path).attempts] == [Origin.GRADED, Origin.GRADED, Origin.KEPT]


def test_a_file_too_long_and_a_name_that_is_no_text_are_no_obstacle(tmp_path: Path) -> None:
    keep_grading(tmp_path, ONE, Path("01_vector_add/a\udcff.py"), None, graded())
    (attempt,) = _past(tmp_path).attempts
    assert attempt.path == "01_vector_add/a?.py"
    assert attempts.content(tmp_path, attempt) is None


def test_no_seed_and_no_expected_value_is_kept(tmp_path: Path) -> None:
    keep(tmp_path, "a", graded())
    (document,) = _documents(tmp_path)
    assert document is not None
    assert json.loads(document)["checks"][0]["detail"]["case"] == "ragged-end"
    for secret in ("seed", "4711", "expected", "1.5", "2.5"):
        assert secret not in document


def test_a_long_document_is_shortened_and_stays_json(tmp_path: Path) -> None:
    keep(tmp_path, "a", graded(output="é" * 200_000, raw="x" * 200_000))
    (document,) = _documents(tmp_path)
    assert document is not None
    assert len(document) <= MOST
    shortened = json.loads(document)
    assert shortened["shortened"] is True
    assert shortened["checks"][0]["message"] == "wrong"


def test_old_documents_go_and_old_attempts_stay(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setattr(keeping, "RECENT", 2)  # type: ignore[attr-defined]
    for text in "abcd":
        keep(tmp_path, text, graded())
    assert [document is None for document in _documents(tmp_path)] == [True, True, False, False]
    assert attempts.content(tmp_path, _past(tmp_path).attempts[0]) == b"a"


def test_the_state_of_an_exercise(tmp_path: Path) -> None:
    assert Past().state is State.UNTRIED
    keep(tmp_path, "skeleton", graded(Verdict.NOT_STARTED))
    keep(tmp_path, "ours", graded(Verdict.ERROR))
    assert (_past(tmp_path).state, _past(tmp_path).tries) == (State.UNTRIED, 0)
    keep(tmp_path, "one case", graded(Verdict.PASSED, 60, only="ragged-end"))
    assert (_past(tmp_path).state, _past(tmp_path).tries, _past(tmp_path).best) == (State.TRIED, 1, None)
    keep_given_up(tmp_path, ONE)
    keep_given_up(tmp_path, ONE)
    assert _past(tmp_path).state is State.GIVEN_UP
    keep(tmp_path, "right", graded(Verdict.PASSED, 60))
    assert (_past(tmp_path).state, _past(tmp_path).given_up) == (State.PASSED, True)


def test_the_best_attempt_is_one_that_passed_then_has_points_then_is_fast(tmp_path: Path) -> None:
    def best() -> tuple[int, float | None]:
        past = _past(tmp_path)
        assert past.best is not None
        return past.best.number, past.best_ratio

    keep(tmp_path, "1", graded(Verdict.FAILED, 50))
    keep(tmp_path, "2", graded(Verdict.FAILED, 20))
    assert best() == (1, None)
    keep(tmp_path, "3", graded(Verdict.FAILED, 75, ratios=(0.4,)))
    keep(tmp_path, "4", graded(Verdict.PASSED, 70, ratios=(0.6, 0.5)))
    assert best() == (4, 0.5)
    keep(tmp_path, "5", graded(Verdict.PASSED, 80, ratios=(0.7, 0.6)))
    keep(tmp_path, "6", graded(Verdict.PASSED, 80, ratios=(0.7, 0.65)))
    keep(tmp_path, "7", graded(Verdict.PASSED, 100, only="speed", ratios=(0.9, 0.9)))
    assert best() == (6, 0.65)
