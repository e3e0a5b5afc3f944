"""What is kept between gradings: found again, never half of it, never stale, and not without bounds."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tlpuzzles.grading import caches

QUESTION = {"lowered": "a kernel", "arch": "sm_80"}
DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_an_answer_is_found_for_the_same_question_alone() -> None:
    assert caches.recall(QUESTION) is None
    caches.keep(QUESTION, {"sm_80": None})
    assert caches.recall(QUESTION) == {"sm_80": None}
    assert caches.recall({**QUESTION, "arch": "sm_75"}) is None


def test_nothing_that_other_versions_made_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    caches.keep(QUESTION, "an answer")
    caches.tuned("text", {"M": 1}, "a GPU", tmp_path).remember(3.0)
    kernels = caches.kernels()
    assert kernels is not None
    assert "tilelang_0.1.15" in str(kernels)
    monkeypatch.setattr(caches, "_versions", lambda: "another-tilelang")
    assert caches.recall(QUESTION) is None
    assert caches.kernels() != kernels
    assert caches.tuned("text", {"M": 1}, "a GPU", tmp_path).seconds is None


def test_an_answer_of_other_sources_of_ours_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sentences may be others now."""
    caches.keep(QUESTION, "an answer")
    monkeypatch.setattr(caches, "_sources", lambda: "edited")
    assert caches.recall(QUESTION) is None


def test_the_name_of_the_folder_has_the_release_of_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert caches._nvcc() == "12.4.131"
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "nowhere"))
    caches._nvcc()  # without nvcc there are still kernels to lower


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"sm_80": nu', id="half"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"[" * 100_000, id="nested"),
        pytest.param(b" " * caches.MOST + b"1", id="long"),
    ],
)
def test_a_damaged_answer_is_none(root: Path, content: bytes) -> None:
    caches.keep(QUESTION, {"sm_80": None})
    for file in root.glob("*/answers/*"):
        file.write_bytes(content)
    assert caches.recall(QUESTION) is None
    caches.keep(QUESTION, {"sm_80": None})
    assert caches.recall(QUESTION) == {"sm_80": None}


def test_a_pipe_in_place_of_an_answer_is_not_waited_for(root: Path) -> None:
    caches.keep(QUESTION, "an answer")
    (file,) = root.glob("*/answers/*")
    file.unlink()
    os.mkfifo(file)
    assert caches.recall(QUESTION) is None
    caches.keep(QUESTION, "an answer")
    assert caches.recall(QUESTION) == "an answer"


def test_gradings_at_the_same_time_see_whole_answers(root: Path) -> None:
    answers = ["a" * 100_000, "b" * 100_000]

    def write_and_read(i: int) -> object:
        caches.keep(QUESTION, answers[i % 2])
        return caches.recall(QUESTION)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(write_and_read, range(80)))
    assert set(found) <= set(answers)
    assert len(list(root.glob("*/answers/*"))) == 1


def test_a_cache_that_cannot_be_written_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: Path("/proc/tlpuzzles"))
    assert caches.kernels() is None
    caches.keep(QUESTION, "an answer")
    assert caches.recall(QUESTION) is None
    kept = caches.tuned("text", {"M": 1}, "a GPU", tmp_path)
    kept.forget()
    assert kept.folder.is_relative_to(tmp_path)


def test_a_tuning_is_found_by_its_file_sizes_and_gpu(tmp_path: Path) -> None:
    def kept(text: str = "text", m: int = 1, gpu: str = "a GPU") -> caches.Tuned:
        return caches.tuned(text, {"M": m}, gpu, tmp_path)

    kept().forget()
    kept().remember(72.0)
    assert kept().seconds == 72.0
    assert [other.seconds for other in (kept(text="other"), kept(m=2), kept(gpu="another"))] == [None] * 3
    (kept().folder / "result").write_text("x")
    kept().forget()
    assert kept().seconds is None
    assert list(kept().folder.iterdir()) == []


@pytest.mark.parametrize(
    "content", ["9" * 400, "1" + "0" * 5000, "-1", "NaN", "Infinity", "1e999", "true", '"72"', "[" * 100_000]
)
def test_what_is_no_time_is_no_record_of_a_tuning(tmp_path: Path, content: str) -> None:
    kept = caches.tuned("text", {"M": 1}, "a GPU", tmp_path)
    kept.forget()
    kept.remember(72)
    assert kept.seconds == 72.0
    kept._record.write_text(content)
    assert kept.seconds is None
    kept._record.unlink()
    os.mkfifo(kept._record)
    assert kept.seconds is None


def entry(root: Path, name: str, days_ago: float, size: int = 100_000) -> Path:
    """A kernel as TileLang keeps it, last used then."""
    folder = root / "versions" / "kernels" / "0.1.15" / "linux-x86_64" / "kernels" / name
    folder.mkdir(parents=True)
    for file in ("executable.so", "manifest.json"):
        (folder / file).write_bytes(os.urandom(size // 2))
        os.utime(folder / file, (time.time() - days_ago * DAY,) * 2)
    return folder


def test_what_was_not_used_for_longest_goes_first_and_as_a_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "PAUSE", 0.0)
    kernels = {name: entry(root, name, days) for name, days in (("newer", 2), ("oldest", 9), ("older", 5), ("new", 1))}
    caches.keep(QUESTION, "an answer")
    caches.prune(limit=1_000_000)
    assert all(folder.exists() for folder in kernels.values())
    caches.prune(limit=250_000)
    assert [name for name, folder in kernels.items() if folder.exists()] == ["newer", "new"]
    assert caches.recall(QUESTION) == "an answer"
    assert caches.size() <= 250_000


def test_it_is_not_looked_through_after_every_grading(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [entry(root, name, 9) for name in ("one", "other")]
    caches.prune(limit=1_000_000)
    caches.prune(limit=0)
    assert all(folder.exists() for folder in kernels)
    monkeypatch.setattr(caches, "PAUSE", 0.0)
    caches.prune(limit=0)
    assert not any(folder.exists() for folder in kernels)


def test_what_a_grading_may_still_use_stays(root: Path) -> None:
    fresh = entry(root, "fresh", 0)
    caches.prune(limit=0)
    assert fresh.exists()
