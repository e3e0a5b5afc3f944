"""`tlpuzzles calibrate`: what it refuses, and all of its way with gradings that are made up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.commands.running import Ran, run
from tests.grading.timed import NOISY, T4, WRONG, Said, result
from tlpuzzles.commands import calibrate as command
from tlpuzzles.commands import working
from tlpuzzles.commands.of_workspace import marks as thresholds_of_grade
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda.devices import Devices, Gpu, Presence
from tlpuzzles.errors import UsageError
from tlpuzzles.grading import grader, selection
from tlpuzzles.grading.choices import DeviceChoice, Portability
from tlpuzzles.grading.options import Options, Step
from tlpuzzles.verdict import thresholds
from tlpuzzles.verdict.model import Device, Result
from tlpuzzles.verdict.thresholds import FILE, Threshold, Thresholds, read, shipped, write


class OnT4:
    """Stands for the GPU."""

    shown: Device = T4


class Gradings:
    """Stands for the grader: gives ratios that rise from grading to grading, unless `say` says something else."""

    device = OnT4()

    def __init__(self) -> None:
        self.made: list[tuple[str, Options]] = []
        self.files: set[Path] = set()
        self.say: Callable[[str, str, int], Said | None] = lambda exercise, case, number: None

    def __call__(self, warm: object, scratch: Path, device: OnT4) -> Gradings:
        self.progress: Callable[[Step, str], None] = lambda step, note: None
        return self

    def grade(self, exercise: Exercise, file: Path, skeleton: str, options: Options) -> Result:
        self.progress(Step.TIMING, "")
        self.made.append((exercise.slug, options))
        self.files.add(file)
        assert "TODO" in skeleton
        number = sum(slug == exercise.slug for slug, _ in self.made)
        cases = [one.case.id for one in exercise.timings if options.only in ("speed", one.case.id)]
        said = {case: self.say(exercise.slug, case, number) or 0.79 + number / 100 for case in cases}
        return result(exercise, said, self_ratio=1.002)


class Unstarted:
    """Stands for the warm process."""

    def __init__(self, scratch: Path) -> None: ...

    def __enter__(self) -> Unstarted:
        return self

    def __exit__(self, *_: object) -> None:
        # A test that runs the command twice is one process.
        tempfile.tempdir = os.environ["TMPDIR"] = "/tmp"


@pytest.fixture
def gradings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gradings]:
    """A machine with a T4 on which nothing is really graded. What the command sets for its process is put back."""
    made = Gradings()
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    monkeypatch.setenv("TMPDIR", os.environ.get("TMPDIR", "/tmp"))
    monkeypatch.setenv("TLPUZZLES_CACHE_DIR", str(tmp_path / "cache"))
    present = Devices(Presence.PRESENT, (Gpu(0, "Tesla T4", (7, 5), 16 << 30),), "580.1")
    monkeypatch.setattr(command.devices, "find", lambda: present)
    monkeypatch.setattr(working, "Warm", Unstarted)
    monkeypatch.setattr(selection, "select", lambda choice, warm, scratch: {DeviceChoice.CUDA: OnT4()}[choice])
    monkeypatch.setattr(grader, "Grader", made)
    before = signal.getsignal(signal.SIGTERM)
    yield made
    signal.signal(signal.SIGTERM, before)


def rows(ran: Ran) -> list[list[str]]:
    return [line.split("\t") for line in ran.out.splitlines() if "\t" in line]


def entries(file: Path) -> dict[tuple[str, str], Threshold]:
    return {(one.exercise, one.case): one for one in read(file).entries}


# --- what it refuses before anything is measured


def test_without_a_gpu_it_says_so(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Devices(Presence.ABSENT, why="no NVIDIA driver was found on this machine")
    monkeypatch.setattr(command.devices, "find", lambda: absent)
    ran = run(capsys, "calibrate")
    assert (ran.status, ran.out) == (2, "")
    assert "measures on a GPU, and none can be used: no NVIDIA driver was found on this machine." in ran.err
    assert "tlpuzzles doctor" in ran.err
    assert not (workspace / FILE).exists()


def test_without_the_solutions_it_says_what_to_install(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tlpuzzles_solutions", None)
    ran = run(capsys, "calibrate")
    assert (ran.status, ran.out) == (2, "")
    assert "pip install ./solutions in a checkout of tlpuzzles" in ran.err


def test_an_exercise_without_a_speed_part_is_refused(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run(capsys, "calibrate", "2", "8")
    assert ran.status == 2
    assert "Exercise 8 (introspection) has no speed part. Those that have: 1, 2, 3, 4, 5, 6, 7." in ran.err


def test_outside_of_a_workspace_the_file_must_be_named(
    tmp_path: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no course.toml was found" in run(capsys, "calibrate").err
    assert run(capsys, "calibrate", "2", "--output", "t4.toml").status == 0
    assert (tmp_path / "t4.toml").exists()


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("01_vector_add", "is a folder. Name a file: --output 01_vector_add/thresholds.toml"),
        ("nowhere/t4.toml", "There is no folder "),
        ("course.toml", "course.toml is not a file of marks. Name another with --output.\n"),
        ("01_vector_add/course.toml", "course.toml is not a file of marks. Name another with --output.\n"),
        ("other.toml", "other.toml is not a file of marks. Name another with --output.\n"),
    ],
)
def test_a_file_that_could_not_be_written_is_refused_before_the_work(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str], output: str, says: str
) -> None:
    (workspace / "other.toml").write_text("[tool.ruff]\n")
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    ran = run(capsys, "calibrate", "2", "--output", output)
    assert ran.status == 2
    assert says in ran.err
    assert not gradings.made
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


def test_a_link_to_what_is_not_there_is_refused_before_the_work(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / FILE).symlink_to("nowhere/thresholds.toml")
    ran = run(capsys, "calibrate", "2")
    assert ran.status == 2
    assert "is a link to what is not there" in ran.err
    assert not gradings.made


@pytest.mark.parametrize("name", ["", "a \udcff", "sm_75a"])
def test_a_gpu_whose_name_no_entry_can_have_is_told_before_the_work(
    workspace: Path,
    gradings: Gradings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setattr(Gradings.device, "shown", T4.model_copy(update={"name": name}), raising=False)
    ran = run(capsys, "calibrate", "2")
    assert ran.status == 2
    assert (
        f"The driver calls this GPU {name!r}, which no entry can have as its gpu. Write the entries by hand" in ran.err
    )
    assert not gradings.made


def test_odd_names_of_a_gpu_and_a_file_make_a_file_that_grade_takes(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Gradings.device, "shown", T4.model_copy(update={"name": "T4\n\x1b[31m"}), raising=False)
    ran = run(capsys, "calibrate", "2", "--repeats", "1", "--output", "a\nb.toml")
    assert ran.status == 0
    assert {one.gpu for one in read(workspace / "a\nb.toml").entries} == {"T4\n\x1b[31m"}
    assert "It has 2 entries for T4??[31m." in ran.out


def test_its_help_names_the_guide(capsys: pytest.CaptureFixture[str]) -> None:
    assert "docs/calibrate.md" in run(capsys, "calibrate", "--help").out


def test_it_imports_neither_torch_nor_tilelang() -> None:
    code = (
        "import sys, tlpuzzles.commands.calibrate, tlpuzzles.grading.calibrating, tlpuzzles.grading.versions as v\n"
        "v.software(None)\n"
        "print([name for name in ('torch', 'tilelang') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- all of its way


def test_all_timed_cases_get_marks_that_grade_takes(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run(capsys, "calibrate")
    assert ran.status == 0, ran.err
    timed = [(exercise.slug, one.case.id) for exercise in catalog.exercises() for one in exercise.timings]
    found = entries(workspace / FILE)
    assert list(found) == timed
    mark = found["tiled_gemm", "speed-4096"]
    assert (mark.gpu, mark.against, mark.reference) == ("Tesla T4", "cublas", 0.82)
    assert "driver 580.1, torch " in mark.source
    assert "reference 0.820 +- 0.020 over 5 gradings, cublas within 0.2 % of itself" in mark.source
    taken = thresholds_of_grade(workspace / "02_tiled_gemm" / "tiled_gemm.py")
    for slug, case in timed:
        one = found[slug, case]
        assert taken.find(slug, case, one.against, arch="sm_75", gpu_name="Tesla T4") == one
    course = shipped().find("tiled_gemm", "speed-4096", "cublas", arch="sm_75", gpu_name="Quadro RTX 6000")
    assert taken.find("tiled_gemm", "speed-4096", "cublas", arch="sm_75", gpu_name="Quadro RTX 6000") == course
    table = rows(ran)
    assert table[0] == ["exercise", "case", "against", "reference", "noise", "pass", "full"]
    assert [row[:2] for row in table[1:]] == [
        [f"{exercise.number} {exercise.slug}", one.case.id]
        for exercise in catalog.exercises()
        for one in exercise.timings
    ]
    numbers = ["0.820", "0.020", f"{mark.pass_at:.3f}", f"{mark.full_at:.3f}"]
    assert table[2][2:] == ["cublas", *numbers]
    assert f"Written: {workspace / FILE}" in ran.out


def test_marks_without_a_share_of_the_course_s_are_named(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    course = Thresholds(entries=tuple(one for one in shipped().entries if one.case != "speed-8192"))
    monkeypatch.setattr(thresholds, "shipped", lambda: course)
    ran = run(capsys, "calibrate", "2")
    assert ran.status == 0
    assert "have 0.6 and 0.95 of it: tiled_gemm speed-8192.\n" in ran.err
    assert entries(workspace / FILE)["tiled_gemm", "speed-8192"].pass_at == 0.492


def test_each_grading_is_grade_s_own_with_a_seed_of_its_own(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "calibrate", "tiled", "2", "--repeats", "3").status == 0
    options = [one for _, one in gradings.made]
    assert [slug for slug, _ in gradings.made] == ["tiled_gemm"] * 3
    assert len({one.seed for one in options}) == 3
    assert {(one.only, one.portability, one.speed) for one in options} == {("speed", Portability.OFF, True)}
    assert all(not one.thresholds.entries for one in options), "marks would end a measurement early"
    assert gradings.files == {tlpuzzles_solutions.path("tiled_gemm")}
    assert entries(workspace / FILE).keys() == {("tiled_gemm", "speed-4096"), ("tiled_gemm", "speed-8192")}
    assert "#     tlpuzzles calibrate tiled 2 --repeats 3\n" in (workspace / FILE).read_text("utf-8")


def test_noise_is_measured_again_and_what_stays_noisy_is_left_out(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    said: Mapping[tuple[str, int], Said] = {("speed-4096", 2): NOISY}
    gradings.say = lambda exercise, case, number: NOISY if case == "speed-8192" else said.get((case, number))
    ran = run(capsys, "calibrate", "2", "1", "--repeats", "3")
    assert ran.status == 3
    assert [(slug, one.only) for slug, one in gradings.made] == [
        *[("tiled_gemm", "speed")] * 3,
        ("tiled_gemm", "speed-4096"),
        *[("vector_add", "speed")] * 3,
    ]
    assert entries(workspace / FILE).keys() == {("tiled_gemm", "speed-4096"), ("vector_add", "speed")}
    assert (
        f"Left out: 2 tiled_gemm speed-8192: in 3 gradings it was not measured, at last because: {NOISY.message}"
        in (ran.err)
    )


def test_a_wrong_reference_solution_is_named_and_the_rest_is_written(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    gradings.say = lambda exercise, case, number: WRONG if exercise == "vector_add" else None
    ran = run(capsys, "calibrate", "1", "4")
    assert ran.status == 3
    assert "Left out: 1 vector_add speed: the reference solution failed, which is an error of ours" in ran.err
    assert entries(workspace / FILE).keys() == {("epilogue_fusion", "speed")}


def test_what_was_finished_is_kept_when_it_is_interrupted(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(exercise: str, case: str, number: int) -> None:
        if exercise == "epilogue_fusion":
            raise KeyboardInterrupt

    gradings.say = interrupt
    assert run(capsys, "calibrate", "1", "4").status == 130
    assert entries(workspace / FILE).keys() == {("vector_add", "speed")}


def test_gradings_that_lie_apart_are_named(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    gradings.say = lambda exercise, case, number: 0.75 + number / 20 if case == "speed-8192" else None
    ran = run(capsys, "calibrate", "2", "--repeats", "3")
    assert ran.status == 0
    assert "Gradings of the same kernel lay up to 11.8 % apart: tiled_gemm speed-8192. Find out" in ran.err


def test_nothing_measured_writes_nothing(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    gradings.say = lambda exercise, case, number: NOISY
    ran = run(capsys, "calibrate", "1")
    assert ran.status == 3
    assert "no file was written" in ran.out
    assert not (workspace / FILE).exists()


def test_entries_of_others_stay_and_older_ones_are_replaced(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "calibrate", "1", "4").status == 0
    first = entries(workspace / FILE)
    elsewhere = first["vector_add", "speed"].model_copy(update={"gpu": "NVIDIA L4"})
    write(workspace / FILE, Thresholds(entries=(elsewhere, *first.values())))
    gradings.say = lambda exercise, case, number: 0.5
    ran = run(capsys, "calibrate", "1")
    assert ran.status == 0
    assert "It has 1 entry for Tesla T4, and 2 that were there before." in ran.out
    now = read(workspace / FILE).entries
    assert now[0] == elsewhere
    assert (now[1].exercise, now[1].gpu, now[1].reference) == ("vector_add", "Tesla T4", 0.5)
    assert now[2] == first["epilogue_fusion", "speed"]
    assert [path.name for path in workspace.iterdir() if path.name.startswith(".")] == []


def test_an_exercise_without_a_solution_is_left_out_unless_it_is_named(
    workspace: Path, gradings: Gradings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def path(slug: str) -> Path:
        if slug == "vector_add":
            raise FileNotFoundError
        return original(slug)

    original = tlpuzzles_solutions.path
    monkeypatch.setattr(tlpuzzles_solutions, "path", path)
    assert run(capsys, "calibrate", "1").status == 2
    ran = run(capsys, "calibrate", "--repeats", "1")
    assert ran.status == 3
    assert "Left out: 1 vector_add: tlpuzzles-solutions has no reference solution of it" in ran.err
    assert ("vector_add", "speed") not in entries(workspace / FILE)
    assert ("tiled_gemm", "speed-4096") in entries(workspace / FILE)


# --- files


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"exercise": "tiled_gem"}, "[[threshold]] number 2 (tiled_gem, speed-4096, Tesla T4, cublas): no exercise is"),
        ({"case": "speed-4000"}, 'tiled_gemm has no timed case "speed-4000" (it has: speed-4096, speed-8192)'),
        ({"against": "cublass"}, 'tiled_gemm is not graded beside "cublass" (but: cublas)'),
        ({"exercise": "introspection"}, 'introspection has no timed case "speed-4096" (it has: none)'),
    ],
)
def test_grade_warns_in_one_line_of_what_no_exercise_has(
    workspace: Path, capsys: pytest.CaptureFixture[str], changed: Mapping[str, str], says: str
) -> None:
    good = shipped().find("tiled_gemm", "speed-4096", "cublas", arch="sm_75", gpu_name="Tesla T4")
    assert good is not None
    good = good.model_copy(update={"gpu": "Tesla T4", "pass_at": 0.1})
    write(workspace / FILE, Thresholds(entries=(good,)))
    thresholds_of_grade(workspace / "x.py")
    assert capsys.readouterr() == ("", "")
    write(workspace / FILE, Thresholds(entries=(good, good.model_copy(update=changed))))
    taken = thresholds_of_grade(workspace / "x.py")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Warning: {workspace / FILE}, [[threshold]] number 2 (")
    assert says in err
    assert err.count("\n") == 1
    assert taken.find("tiled_gemm", "speed-4096", "cublas", arch="sm_75", gpu_name="Tesla T4") == good


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / FILE
    write(file, shipped())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("write_text", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, full)
            with pytest.raises(UsageError, match="cannot be written: No space left on device"):
                write(file, Thresholds(entries=()))
        assert list(tmp_path.iterdir()) == [file]
        assert read(file) == shipped()
