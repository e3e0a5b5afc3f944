"""A workspace's tasks for VS Code: grade, watch, hint and lesson of the exercise whose file is open."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(".vscode") / "tasks.json"


def tasks() -> bytes:
    """The content of `FILE`. VS Code makes links of what a report says as file:line.

    The interpreter is named by its path: a task's shell need not have the environment activated that tlpuzzles is
    installed in.
    """
    document = {
        "version": "2.0.0",
        "tasks": [
            _task("grade this exercise", "grade") | {"group": {"kind": "build", "isDefault": True}},
            _task("grade this exercise at every save", "watch"),
            _task("a hint for this exercise", "hint"),
            _task("the lesson of this exercise", "show"),
        ],
    }
    return (json.dumps(document, indent=4) + "\n").encode()


def _task(label: str, command: str) -> dict[str, Any]:
    return {
        "label": f"tlpuzzles: {label}",
        "type": "process",
        "command": sys.executable,
        # Its folder names the exercise, whichever of the files in it is open.
        "args": ["-m", "tlpuzzles", command, "${fileDirnameBasename}"],
        "options": {"cwd": "${workspaceFolder}"},
        "presentation": {"panel": "dedicated", "clear": True, "focus": command == "watch"},
        "problemMatcher": [],
    }
