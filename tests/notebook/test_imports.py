"""IPython is there in any notebook, and tlpuzzles needs it nowhere else."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import tlpuzzles

PACKAGE = Path(tlpuzzles.__file__).parent


def _imported(file: Path) -> set[str]:
    """The top-level packages that a module names in imports, wherever they stand."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_only_notebooks_import_ipython() -> None:
    users = {file.relative_to(PACKAGE).parts[0] for file in PACKAGE.rglob("*.py") if "IPython" in _imported(file)}
    assert users == {"notebook"}


def test_the_process_that_grades_does_without_it() -> None:
    program = (
        "import json, sys; from tlpuzzles.notebook import grading, serving; "
        "print(json.dumps([name for name in ('IPython', 'torch', 'tilelang') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_notebook_holds_nothing_that_judges() -> None:
    """A learner's Python runs in that process."""
    program = (
        "import json, sys; from tlpuzzles.notebook import magics; "
        "print(json.dumps([name for name in sys.modules if name.startswith(('tlpuzzles.verdict.judge', 'torch', "
        "'tlpuzzles.grading.grader', 'tlpuzzles.grading.judging'))]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
