"""A notebook in this process: an IPython shell with the extension loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from tlpuzzles.notebook.course import Course
from tlpuzzles.notebook.magics import OURS


@dataclass(frozen=True)
class Shown:
    """What stood below a cell, one after the other: what was shown and then replaced, too."""

    texts: list[str]
    pages: list[str]
    """The same as HTML, where there was HTML."""
    printed: str

    @property
    def text(self) -> str:
        """What stood there in the end."""
        return self.texts[-1]


@dataclass(frozen=True)
class Notebook:
    shell: InteractiveShell

    def run(self, cell: str) -> Shown:
        """Runs a cell, which must not end in an exception."""
        with capture_output() as captured:
            ran = self.shell.run_cell(cell)
        assert ran.success
        assert "Traceback" not in captured.stdout + captured.stderr
        bundles = [output.data for output in captured.outputs]
        told = "".join(text for bundle in bundles for text in bundle.values())
        assert OURS not in told, told
        # What is shown is no terminal's, and can be sent.
        assert "\x1b" not in told.encode("utf-8").decode("utf-8")
        return Shown(
            [bundle["text/plain"] for bundle in bundles],
            [bundle["text/html"] for bundle in bundles if "text/html" in bundle],
            captured.stdout,
        )

    @property
    def course(self) -> Course:
        course = self.shell._tlpuzzles_course  # type: ignore[attr-defined]
        assert isinstance(course, Course)
        return course


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """One for all tests of a file: the process that grades takes seconds to be ready."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        # As Jupyter has them.
        for name in ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"):
            patch.setenv(name, "1")
        shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        notebook = Notebook(shell)
        notebook.run("%load_ext tlpuzzles.notebook")
        yield notebook
        notebook.run("%unload_ext tlpuzzles.notebook")
        InteractiveShell.clear_instance()


@pytest.fixture
def root(loaded: Notebook, tmp_path: Path) -> Path:
    """A workspace of the test's own."""
    root = tmp_path / "my kernels é"
    loaded.run(f"%workspace '{root}'")
    return root


@pytest.fixture
def notebook(loaded: Notebook, root: Path) -> Notebook:
    return loaded
