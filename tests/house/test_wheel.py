"""The two distributions as `python -m build` makes them, and the learner's one installed without our sources."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.workspace.hints import split_hints

ROOT = Path(__file__).parents[2]
GIVEN = {
    "tiled_gemm": (
        "03_schedule_sweep/schedule_sweep.py",
        "04_epilogue_fusion/epilogue_fusion.py",
        "07_autotuning/autotuning.py",
    ),
    "epilogue_fusion": ("07_autotuning/autotuning.py",),
}
"""What a learner writes in one exercise is given in later ones."""


def _run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    # PYTHONPATH could bring back the sources that the installed wheel is to do without.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)


def _build(folder: Path, out: Path) -> Path:
    """Makes the sdist, and the wheel from that sdist; returns the wheel."""
    done = _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, folder, cwd=out)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(ROOT, tmp_path_factory.mktemp("wheel"))


@dataclass(frozen=True)
class Learner:
    """A learner's environment, and a folder to work in."""

    python: Path
    folder: Path

    def tlpuzzles(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return _run(self.python.with_name("tlpuzzles"), *arguments, cwd=self.folder)


@pytest.fixture(scope="module")
def learner(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Learner:
    """The wheel in an environment of its own. What it depends on is lent from this one."""
    folder = tmp_path_factory.mktemp("learner")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    done = _run(*pip, wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    # A folder named in a .pth file is searched, but .pth files in it are not read: an editable install there, which
    # is such a file, does not count.
    site = _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).stdout.strip()
    (Path(site) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = _run(python, "-c", "import tlpuzzles; print(tlpuzzles.__file__)", cwd=folder).stdout
    assert where.startswith(str(folder))
    return Learner(python, folder)


def test_the_wheel_has_the_exercises_and_no_solution(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    assert not [name for name in files if "solution" in name]
    assert "tlpuzzles/_exercises/course.toml" in files
    assert {"tlpuzzles/_docs/glossary.md", "tlpuzzles/_docs/cheatsheet.md", "tlpuzzles/_docs/speed.md"} <= set(files)
    flat = {name: _flat(_below_the_last_hint(name, text)) for name, text in files.items()}
    for exercise in catalog.exercises():
        for part in (exercise.file, "lesson.md", "hints.md"):
            assert f"tlpuzzles/_exercises/{exercise.folder}/{part}" in files
        for answer in _answers((ROOT / "solutions" / "tlpuzzles_solutions" / exercise.file).read_text("utf-8")):
            told = {name for name, text in flat.items() if answer in text}
            assert told <= {f"tlpuzzles/_exercises/{later}" for later in GIVEN.get(exercise.slug, ())}


def _below_the_last_hint(name: str, text: str) -> str:
    """The last hint of an exercise may give the answer."""
    return "".join(split_hints(text)[:-1]) if name.endswith("/hints.md") else text


def _answers(solution: str) -> list[str]:
    """What is cut out of a solution, without its layout."""
    parts = solution.split("# --- answer\n")[1:]
    assert parts
    flat = [_flat(part.partition("# ---")[0]) for part in parts]
    # What is shorter, an import or a call that the lesson shows, stands in other files by itself.
    return [answer for answer in flat if len(answer) > 40]


def _flat(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def test_what_is_installed_has_no_solution(learner: Learner) -> None:
    done = _run(learner.python, "-c", "import tlpuzzles_solutions", cwd=learner.folder)
    assert "No module named 'tlpuzzles_solutions'" in done.stderr


def test_the_solutions_build_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(_build(ROOT / "solutions", tmp_path)) as archive:
        names = archive.namelist()
    for exercise in catalog.exercises():
        assert f"tlpuzzles_solutions/{exercise.file}" in names
        assert f"tlpuzzles_solutions/guides/{exercise.slug}.md" in names
    assert not [name for name in names if name.startswith("tlpuzzles/")]


def test_init_and_grade_work_from_the_wheel(learner: Learner) -> None:
    made = learner.tlpuzzles("init")
    assert (made.returncode, made.stderr) == (0, "")
    # What a learner's wheel has not is said, and how to get it.
    given_up = learner.tlpuzzles("solution", "1", "--give-up")
    assert (given_up.returncode, given_up.stdout) == (2, "")
    assert "not installed" in given_up.stderr
    assert len(learner.tlpuzzles("list").stdout.splitlines()) == len(catalog.exercises())
    assert learner.tlpuzzles("show", "6").stdout.startswith("# ")
    assert learner.tlpuzzles("glossary", "tile").stdout.startswith("Tile\n")
    assert learner.tlpuzzles("cheatsheet").stdout.startswith("TileLang ")

    skeleton = learner.tlpuzzles("grade", "1", "--device", "cpu", "--html", "report.html")
    assert skeleton.returncode == 1, skeleton.stdout + skeleton.stderr
    assert f"The report as a page: {learner.folder / 'report.html'}" in skeleton.stdout
    assert "NOT STARTED" in (learner.folder / "report.html").read_text("utf-8")
    assert "not started" in skeleton.stdout.lower()

    solution = ROOT / "solutions" / "tlpuzzles_solutions" / "vector_add.py"
    (learner.folder / "exercises" / "01_vector_add" / "vector_add.py").write_text(solution.read_text("utf-8"), "utf-8")
    solved = learner.tlpuzzles("grade", "1", "--device", "cpu", "--portability", "off")
    assert solved.returncode == 0, solved.stdout + solved.stderr
