"""The table of magics, and how every magic ends: never in a traceback of ours."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from IPython.core.interactiveshell import InteractiveShell

from tlpuzzles.errors import UsageError
from tlpuzzles.notebook.course import Course
from tlpuzzles.notebook.showing import show_problem

P = ParamSpec("P")

OURS = "An error of ours, not of yours"
_ATTRIBUTE = "_tlpuzzles_course"
"""Of the shell: what is loaded, to unload it."""


def register(shell: InteractiveShell) -> None:
    """Makes the magics known, and starts the process that grades: it takes seconds to be ready."""
    unregister(shell)
    course = Course()
    setattr(shell, _ATTRIBUTE, course)
    atexit.register(course.service.stop)
    add: Any = shell.register_magic_function  # typed as something else
    add(_told(course.exercise), "cell", "exercise")
    add(_told(_needs_cell), "line", "exercise")
    add(_told(course.hint), "line", "hint")
    add(_told(course.progress), "line", "progress")
    add(_told(course.solution), "line", "solution")
    add(_told(course.workspace), "line", "workspace")
    add(_told(course.command), "line", "tlpuzzles")
    course.service.start()


def unregister(shell: InteractiveShell) -> None:
    """Ends that process."""
    course = getattr(shell, _ATTRIBUTE, None)
    if isinstance(course, Course):
        course.service.stop()
        atexit.unregister(course.service.stop)
        delattr(shell, _ATTRIBUTE)


def _told(magic: Callable[P, None]) -> Callable[P, None]:
    """A magic whose errors are sentences."""

    @wraps(magic)
    def told(*arguments: P.args, **named: P.kwargs) -> None:
        try:
            magic(*arguments, **named)
        except UsageError as error:
            show_problem(str(error))
        except KeyboardInterrupt:
            show_problem("Stopped.")
        except Exception as error:  # noqa: BLE001 - our lines say nothing to a learner
            show_problem(
                f"{OURS}: {type(error).__name__}: {error}\nRun the cell again; if that does not help: %tlpuzzles doctor"
            )

    return told


def _needs_cell(line: str) -> None:
    raise UsageError(f"The kernel stands below the magic, in one cell, with two signs: %%exercise {line or '1'}")
