"""`tlpuzzles grade` as a user runs it, each time in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.running import heed_interrupts
from tests.grading.test_bad_input import GOOD
from tlpuzzles.commands.init import init
from tlpuzzles.commands.of_workspace import marks
from tlpuzzles.verdict.thresholds import Thresholds, dump, shipped

TLPUZZLES = [sys.executable, "-m", "tlpuzzles"]
WRONG = GOOD.replace("+ B[", "- B[")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    init(tmp_path / "my work é")
    return tmp_path / "my work é"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cache"))


def grade(
    folder: Path, *arguments: str, cache: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TLPUZZLES, "grade", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **({"TLPUZZLES_CACHE_DIR": cache} if cache else {}), **environment},
        check=False,
    )


def test_a_pass_a_fail_and_json(workspace: Path, cache: str) -> None:
    file = workspace / "01_vector_add" / "vector_add.py"
    file.write_text(GOOD)
    passed = grade(workspace, "1", "--device", "cpu", cache=cache)
    assert passed.returncode == 0
    assert "60 of 60 points" in passed.stdout
    assert "\x1b" not in passed.stdout
    file.write_text("print('from the learner')\n" + WRONG)
    failed = grade(
        workspace,
        "vector_add",
        "--device",
        "cpu",
        "--seed",
        "7",
        "--dump",
        "left here",
        "--json",
        "--portability",
        "off",
        cache=cache,
    )
    assert failed.returncode == 1
    document = json.loads(failed.stdout)
    assert document["schema"] == 1
    assert document["exercise"] == {"number": 1, "slug": "vector_add"}
    assert document["verdict"] == "failed"
    assert document["points"] == {"earned": 0, "possible": 100, "not_graded": 40}
    assert document["device"]["kind"] == "cpu"
    assert document["device"]["arch"] is None
    assert document["speed"] is None
    assert document["environment"]["sandbox"] == "limits"
    assert document["output"] == "from the learner\n"
    check = next(check for check in document["checks"] if check["id"] == "ragged-end")
    assert check["verdict"] == "failed"
    assert check["detail"]["mistake"] == "difference"
    assert check["detail"]["seed"] == 7
    assert {path.name for path in (workspace / "left here" / "ragged-end").iterdir()} >= {"A.pt", "B.pt", "found.pt"}


def test_the_original_message_is_there_for_who_asks(workspace: Path, cache: str) -> None:
    (workspace / "01_vector_add" / "vector_add.py").write_text(
        GOOD.replace("+ B[", "+ math.exp(B[")
        .replace("+ i]\n", "+ i])\n")
        .replace("import tilelang\n", "import math\nimport tilelang\n")
    )
    original = "TypeError: must be real number, not BufferLoad"
    quiet = grade(workspace, "1", "--device", "cpu", "--portability", "off", cache=cache).stdout
    assert "A function of Python's math module cannot compute" in quiet
    assert original not in quiet
    assert "--verbose also shows the original messages." in quiet
    assert "`tlpuzzles cheatsheet`" in " ".join(quiet.split())
    assert "--level" not in quiet
    loud = grade(workspace, "1", "--device", "cpu", "--portability", "off", "-v", cache=cache).stdout
    assert original in loud
    assert "--verbose" not in loud


def test_what_was_dumped_is_said(workspace: Path, cache: str) -> None:
    file = workspace / "01_vector_add" / "vector_add.py"
    quick = ("1", "--device", "cpu", "--portability", "off", "--case", "ragged-end", "--dump", "left here")
    file.write_text(WRONG)
    told = grade(workspace, *quick, cache=cache).stdout
    assert f"{workspace / 'left here' / 'ragged-end'} has A, B, expected, found" in told
    shutil.rmtree(workspace / "left here")
    file.write_text(GOOD)
    assert "--dump left nothing: no case gave a wrong result." in grade(workspace, *quick, cache=cache).stdout


def test_the_same_file_is_posed_the_same_sizes_with_other_inputs(workspace: Path, cache: str) -> None:
    """What was compiled for them serves again."""
    (workspace / "01_vector_add" / "vector_add.py").write_text(WRONG)
    details = []
    for _ in range(2):
        done = grade(workspace, "1", "--case", "ragged-end", "--json", "--portability", "off", cache=cache)
        check = next(check for check in json.loads(done.stdout)["checks"] if check["id"] == "ragged-end")
        details.append(check["detail"])
    assert details[0]["sizes"] == details[1]["sizes"]
    assert details[0]["seed"] != details[1]["seed"]
    assert details[0]["expected"] != details[1]["expected"]


def test_speed_alone_says_that_it_needs_a_gpu(workspace: Path, cache: str) -> None:
    (workspace / "01_vector_add" / "vector_add.py").write_text(GOOD)
    done = grade(workspace, "1", "--device", "cpu", "--case", "speed", cache=cache)
    assert done.returncode == 3
    assert "needs a GPU" in done.stdout


@pytest.mark.parametrize("case", ["speed", "speed-4096"])
def test_speed_alone_and_no_speed_contradict_each_other(workspace: Path, case: str, cache: str) -> None:
    done = grade(workspace, "2", "--case", case, "--no-speed", cache=cache)
    assert done.returncode == 2
    assert "--no-speed" in done.stderr


def test_marks_of_a_teacher_come_before_those_beside_the_graded_file(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, own = (shipped().entries[0].model_copy(update={"pass_at": at, "full_at": 0.9}) for at in (0.1, 0.5))
    (workspace / "thresholds.toml").write_text(dump(Thresholds(entries=(theirs,))))
    teachers = tmp_path / "teacher"
    teachers.mkdir()
    (teachers / "course.toml").write_text((workspace / "course.toml").read_text())
    (teachers / "thresholds.toml").write_text(dump(Thresholds(entries=(own,))))
    monkeypatch.chdir(teachers)
    key = (own.exercise, own.case, own.against)
    for pass_at in (0.5, shipped().entries[0].pass_at):
        found_marks = marks(workspace / "01_vector_add" / "vector_add.py")
        found = found_marks.find(*key, arch="sm_90a", gpu_name="NVIDIA H200")
        assert found is not None
        assert found.pass_at == pass_at
        (teachers / "thresholds.toml").unlink(missing_ok=True)  # then those of the course count, and not the learner's


def test_marks_of_the_workspace_come_before_those_of_the_course(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a place of no workspace
    own = shipped().entries[0].model_copy(update={"pass_at": 0.123, "full_at": 0.456})
    (workspace / "thresholds.toml").write_text(dump(Thresholds(entries=(own,))))
    key = (own.exercise, own.case, own.against)
    for file, pass_at in (
        (workspace / "01_vector_add" / "vector_add.py", 0.123),
        (tmp_path / "elsewhere.py", shipped().entries[0].pass_at),
    ):
        found = marks(file).find(*key, arch="sm_90a", gpu_name="NVIDIA H200")
        assert found is not None
        assert found.pass_at == pass_at


def test_marks_that_cannot_be_read_are_said_before_anything_is_graded(workspace: Path, cache: str) -> None:
    (workspace / "01_vector_add" / "vector_add.py").write_text(GOOD)
    (workspace / "thresholds.toml").write_text("schema = 1\n[[threshold]]\nexercise = 'vector_add'\n")
    done = grade(workspace, "1", "--device", "cpu", cache=cache)
    assert done.returncode == 2
    assert "thresholds.toml, [[threshold]] number 1 (vector_add)" in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_all_goes_on_after_a_file_that_dies(workspace: Path, cache: str) -> None:
    (workspace / "01_vector_add" / "vector_add.py").write_text("import os\nos.kill(os.getpid(), 11)\n")
    shutil.rmtree(workspace / "02_tiled_gemm")
    (workspace / "02_tiled_gemm").mkdir()
    (workspace / "02_tiled_gemm" / "tiled_gemm.py").write_text("def f(:\n")
    done = grade(workspace, "--all", "--device", "cpu", "--json", cache=cache)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [d["verdict"] for d in document["exercises"]] == ["failed", "failed"] + ["not_started"] * 6
    # The last exercise has no speed part.
    assert document["points"]["possible"] == 7 * 100 + 60


def test_all_ends_with_a_table(workspace: Path, cache: str) -> None:
    shown = grade(workspace, "--all", "--device", "cpu", cache=cache)
    assert shown.returncode == 1
    assert shown.stdout.count("not started") >= 8
    assert "0 of 8 passed" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["1", "missing.py"], "There is no file missing.py"),
        (["softmax"], "Do you mean 5, row_softmax?"),
        (["5", "softmax"], "`tlpuzzles grade 5` takes your workspace's"),
        (["1", "."], "is a folder"),
        (["99"], 'no exercise "99"'),
        ([], "Which exercise?"),
        (["1", "--case", "nonesuch"], "no case 'nonesuch'"),
        (["--all", "1"], "--all grades every exercise"),
        (["1", "--dump", "01_vector_add/vector_add.py/x"], "cannot be made"),
    ],
)
def test_a_wrong_use_is_said_in_a_sentence(workspace: Path, cache: str, arguments: list[str], says: str) -> None:
    done = grade(workspace, *arguments, "--device", "cpu", cache=cache)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_no_workspace_is_said(tmp_path: Path) -> None:
    done = grade(tmp_path, "1")
    assert done.returncode == 2
    assert "tlpuzzles init" in done.stderr


def test_a_gpu_that_is_not_there(workspace: Path) -> None:
    done = grade(workspace, "1", "--device", "cuda", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 2
    assert "No GPU can be used" in done.stderr


def test_a_read_only_workspace_and_a_cache_that_cannot_be_written(workspace: Path) -> None:
    file = workspace / "01_vector_add" / "vector_add.py"
    file.write_text(GOOD)
    (workspace / "cache").write_text("a file, where a folder is expected")
    for path in (file, file.parent, workspace):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = grade(workspace, "1", "--device", "cpu", "--portability", "off", cache=str(workspace / "cache"))
    assert done.returncode == 0, done.stderr


def test_no_compiler_is_our_error_and_not_the_learners(workspace: Path, cache: str) -> None:
    (workspace / "01_vector_add" / "vector_add.py").write_text(GOOD)
    done = grade(
        workspace, "1", "--device", "cpu", "--portability", "off", "--json", cache=cache, PATH="/nowhere", CXX=""
    )
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["verdict"] == "error"
    assert any("install g++" in check["message"] for check in document["checks"])


@pytest.mark.parametrize("after", [0.2, 1.5, 4.0])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_interrupted_at_any_moment_nothing_is_left(
    workspace: Path, tmp_path: Path, after: float, how: signal.Signals
) -> None:
    text = GOOD + "\nimport time\ntime.sleep(8)\n" if after > 3 else GOOD
    (workspace / "01_vector_add" / "vector_add.py").write_text(text)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    process = subprocess.Popen(
        [*TLPUZZLES, "grade", "1", "--device", "cpu"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch), "TLPUZZLES_CACHE_DIR": str(tmp_path / "cache")},
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    time.sleep(after)
    begin = time.monotonic()
    process.send_signal(how)
    try:
        out, err = process.communicate(timeout=2)
    except subprocess.TimeoutExpired:
        # Python drops a KeyboardInterrupt that meets it in a callback, as of a lock in an import: one presses again.
        process.send_signal(how)
        out, err = process.communicate(timeout=20)
    # While Python is starting, a signal ends it as it ends any process; a shell calls that 128 + its number, too.
    assert process.returncode in (128 + how, -how)
    assert time.monotonic() - begin < 7
    assert out == ""
    assert "Traceback" not in err
    assert how is signal.SIGKILL or not list(scratch.iterdir())
    while left := _with_environment(f"TLPUZZLES_CACHE_DIR={tmp_path}"):
        assert time.monotonic() - begin < 10, left
        time.sleep(0.1)


def _with_environment(entry: str) -> list[str]:
    """Processes that were started under this environment."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and entry.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_a_files_name_does_not_drive_the_terminal(workspace: Path, cache: str) -> None:
    done = grade(workspace, "1", "no\x1b[31m-such.py", cache=cache)
    assert done.returncode == 2
    assert "no?[31m-such.py" in done.stderr
    assert "\x1b" not in done.stderr
