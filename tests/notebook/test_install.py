"""The cell that installs, in environments that are thrown away, without an index."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.notebook.notebooks import ALL, ROOT, cell, read

TLPUZZLES = "tlpuzzles-7.0-py3-none-any.whl"


@dataclass(frozen=True)
class Machine:
    """A Python with some packages, and a folder that a notebook lies in."""

    python: Path
    folder: Path

    def run_cell(self, source: str = "") -> str:
        """Runs the cell as IPython does; returns all that stands below it."""
        text = cell(read("01_vector_add"), "install").source
        assert 'SOURCE = ""' in text
        (self.folder / "cell.ipy").write_text(text.replace('SOURCE = ""', f"SOURCE = {source!r}"), "utf-8")
        return self.run("-m", "IPython", "--colors=NoColor", "cell.ipy")

    def run(self, *arguments: str) -> str:
        # IPython looks into the environment that is active for packages, too; and pip has settings of its own here.
        others = ("PYTHONPATH", "VIRTUAL_ENV", "PIP_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": (self.folder / "index").as_uri()}
        environment |= {"PIP_CONFIG_FILE": os.devnull, "HOME": str(self.folder)}
        environment |= {"IPYTHONDIR": str(self.folder / ".ipython"), "COLUMNS": "200"}
        done = subprocess.run(
            [self.python, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def version(self, distribution: str) -> str:
        return self.run("-c", f"from importlib.metadata import version; print(version({distribution!r}))").strip()


def _machine(root: Path, lent: list[Path]) -> Machine:
    """An environment with packages of this one, by links."""
    venv.create(root / "venv", with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(root / "venv")}))
    for entry in lent:
        (site / entry.name).symlink_to(entry)
    folder = root / "notebooks é"
    (folder / "index").mkdir(parents=True)
    return Machine(root / "venv" / "bin" / "python", folder)


def _site() -> list[Path]:
    """What is installed here, but for tlpuzzles itself."""
    entries = Path(sysconfig.get_path("purelib")).iterdir()
    return [entry for entry in entries if "tlpuzzles" not in entry.name and entry.suffix != ".pth"]


def _write_wheel(folder: Path, name: str, version: str, *requires: str) -> Path:
    """A distribution of one empty module."""
    file = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        # All of it, so that pip could replace it.
        archive.writestr(f"{info}/RECORD", "".join(f"{entry},,\n" for entry in [*archive.namelist(), f"{info}/RECORD"]))
    return file


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One with a torch of its own, 2.0+colab, and a newer one to be had."""
    here = [entry for entry in _site() if not entry.name.lower().startswith(("torch", "numpy", "triton", "tilelang"))]
    made = _machine(tmp_path, here)
    with zipfile.ZipFile(_write_wheel(tmp_path, "torch", "2.0+colab")) as archive:
        archive.extractall(made.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    assert made.version("torch") == "2.0+colab"
    _write_wheel(made.folder / "index", "torch", "3.0")
    return made


def test_it_is_the_same_in_every_notebook() -> None:
    cells = {cell(read(name), "install").source for name in ALL}
    assert cells == {(ROOT / "tools" / "notebooks" / "install.py").read_text("utf-8").strip()}


def test_where_nothing_is_found_it_says_what_to_do(machine: Machine) -> None:
    told = machine.run_cell()
    assert "There is no tlpuzzles-*.whl here" in told
    assert "Fill in SOURCE" in told
    assert "Traceback" not in told


def test_the_machines_torch_stays(machine: Machine) -> None:
    _write_wheel(machine.folder, "tlpuzzles", "7.0", "torch>=2")
    assert "tlpuzzles 7.0 is installed, beside PyTorch 2.0+colab." in machine.run_cell()
    # One that could not do with it is refused, and nothing is replaced.
    (machine.folder / TLPUZZLES).unlink()
    _write_wheel(machine.folder, "tlpuzzles", "8.0", "torch>=3")
    told = machine.run_cell()
    assert "pip could not install tlpuzzles-8.0-py3-none-any.whl" in told
    assert "(constraint) torch==2.0+colab" in told
    assert "Traceback" not in told
    assert (machine.version("torch"), machine.version("tlpuzzles")) == ("2.0+colab", "7.0")


def test_a_teacher_says_where_it_is(machine: Machine, tmp_path: Path) -> None:
    released = tmp_path / "release"
    released.mkdir()
    _write_wheel(machine.folder, "tlpuzzles", "6.0")
    for name in ("tlpuzzles", "tlpuzzles_solutions"):
        _write_wheel(released, name, "7.0")
    assert "tlpuzzles 7.0 is installed" in machine.run_cell(str(released))
    assert machine.version("tlpuzzles-solutions") == "7.0"
    addresses = [_write_wheel(released, name, "9.0").as_uri() for name in ("tlpuzzles", "tlpuzzles_solutions")]
    assert "tlpuzzles 9.0 is installed" in machine.run_cell(" ".join(addresses))
    assert machine.version("tlpuzzles-solutions") == "9.0"


def test_the_newest_wheel_beside_the_notebook_is_taken(machine: Machine) -> None:
    for version, age in (("10.0", 0), ("9.0", 100)):
        file = _write_wheel(machine.folder, "tlpuzzles", version)
        os.utime(file, (1e9 - age, 1e9 - age))
    assert "tlpuzzles 10.0 is installed" in machine.run_cell()
    # Where there is none, what is installed will do.
    for file in machine.folder.glob("*.whl"):
        file.unlink()
    assert "tlpuzzles 10.0 is installed" in machine.run_cell()


@pytest.mark.slow
def test_what_we_release_is_installed_and_loads(tmp_path: Path) -> None:
    machine = _machine(tmp_path, _site())
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", machine.folder, ROOT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    told = machine.run_cell()
    assert "is installed, beside PyTorch" in told
    cells = ["%load_ext tlpuzzles.notebook", "%workspace mine", cell(read("01_vector_add"), "exercise").source]
    nbformat.write(new_notebook(cells=list(map(new_code_cell, cells))), machine.folder / "start.ipynb")
    assert "[NOT STARTED]" in machine.run("-m", "IPython", "--colors=NoColor", "start.ipynb")
    assert (machine.folder / "mine" / "01_vector_add" / "vector_add.py").is_file()
    where = machine.run("-c", "import tlpuzzles; print(tlpuzzles.__file__)")
    assert where.startswith(str(tmp_path / "venv"))
