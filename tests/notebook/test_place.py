"""Where the workspace is when nobody has named one."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.notebook import place
from tlpuzzles.workspace.folders import shipped


@pytest.fixture
def colab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine like Colab's, without a drive."""
    content = tmp_path / "content"
    content.mkdir()
    monkeypatch.delenv(place.VARIABLE, raising=False)
    monkeypatch.setattr(place, "COLAB", content)
    monkeypatch.setattr(place, "DRIVE", content / "drive")
    monkeypatch.setattr(place, "MY_DRIVE", content / "drive" / "MyDrive")
    return content


def test_on_colab_it_is_on_the_drive_if_that_is_mounted(colab: Path) -> None:
    assert place.usual(colab) == colab / "tlpuzzles"
    assert "%workspace --drive" in place.about(colab / "tlpuzzles")
    (colab / "tlpuzzles").mkdir()
    (colab / "tlpuzzles" / "pyproject.toml").touch()
    assert place.usual(colab) == colab / "tlpuzzles-work"
    (colab / "drive" / "MyDrive").mkdir(parents=True)
    assert place.usual(colab) == colab / "drive" / "MyDrive" / "tlpuzzles"
    assert "stays" in place.about(place.usual(colab))


def test_elsewhere_it_is_around_the_notebook_or_in_the_home_folder(
    colab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colab.rmdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place.usual(tmp_path) == tmp_path / "tlpuzzles"
    assert place.about(tmp_path / "tlpuzzles") == ""
    root = place.made(tmp_path / "mine")
    assert place.usual(root / "01_vector_add") == root
    # Notebooks that are opened in a checkout do not write into the course.
    assert place.usual(shipped(catalog.exercises()[0]).root.parent) == tmp_path / "tlpuzzles"
    monkeypatch.setenv(place.VARIABLE, "elsewhere")
    assert place.usual(root) == Path("elsewhere")


def test_a_workspace_that_is_made_again_keeps_its_files(tmp_path: Path) -> None:
    root = place.made(tmp_path / "mine")
    kernel = root / "01_vector_add" / "vector_add.py"
    kernel.write_text("mine")
    (root / "course.toml").unlink()
    assert place.made(root) == root
    assert kernel.read_text() == "mine"
    assert (root / "course.toml").is_file()


@pytest.mark.parametrize("refused", ["Error: credential propagation was unsuccessful", "mount failed"])
def test_a_drive_that_is_refused_is_said(colab: Path, monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    def mount(where: str) -> None:
        raise ValueError(refused)

    module = ModuleType("google.colab")
    module.drive = SimpleNamespace(mount=mount)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    with pytest.raises(UsageError, match=f"was not mounted: {refused}"):
        place.mount()


def test_a_whole_path_that_the_environment_names_needs_no_current_folder(
    colab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(colab)
    colab.rmdir()
    monkeypatch.setenv(place.VARIABLE, str(tmp_path / "mine"))
    assert place.made(place.usual()) == tmp_path / "mine"
    monkeypatch.setenv(place.VARIABLE, "mine")
    with pytest.raises(UsageError, match="no longer exists"):
        place.made(place.usual())


@pytest.mark.parametrize("gives", [True, False])
def test_the_drive_is_mounted_when_it_is_asked_for(colab: Path, monkeypatch: pytest.MonkeyPatch, gives: bool) -> None:
    def mount(where: str) -> None:
        if gives:
            Path(where, "MyDrive").mkdir(parents=True)

    module = ModuleType("google.colab")
    module.drive = SimpleNamespace(mount=mount)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    if gives:
        assert place.mount() == colab / "drive" / "MyDrive" / "tlpuzzles"
        assert place.mount() == place.usual(colab)
    else:
        with pytest.raises(UsageError, match="was not mounted"):
            place.mount()
