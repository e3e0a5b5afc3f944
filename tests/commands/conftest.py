from __future__ import annotations

from pathlib import Path

import pytest

LESSON = """# Vector add

A lesson with a **picture** and a fairly long sentence, so that it has to be wrapped on a narrow terminal.

```python
C[i] = A[i] + B[i]
```
"""
HINTS = """# Hints

## Level 1

Think of the end.

## Level 2: further

Think of `T.Parallel`.

## Level 3

Write the sum.
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a lesson and hints of its own for exercise 1, as the current folder."""
    root = tmp_path / "my course é"
    folder = root / "01_vector_add"
    folder.mkdir(parents=True)
    (root / "course.toml").write_text("")
    (folder / "lesson.md").write_text(LESSON)
    (folder / "hints.md").write_text(HINTS)
    monkeypatch.chdir(root)
    return root
