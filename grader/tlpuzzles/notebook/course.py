"""What the magics do. One object for each notebook that runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.commands.reading import for_terminal
from tlpuzzles.commands.remembering import keep_hint
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.notebook import arguments, commands, place, saving, showing
from tlpuzzles.notebook.messages import Asked, Graded, Refused, Working
from tlpuzzles.notebook.service import Ended, Service
from tlpuzzles.workspace.hints import hint_at, read_hints

PAUSE = 0.25
"""Seconds between two looks at the clock while a grading goes on."""


@dataclass
class Course:
    """A notebook's exercises: where they are kept, the process that grades them, and the hints that were read."""

    service: Service = field(default_factory=Service)
    _root: Path | None = None
    _hints: dict[str, int] = field(default_factory=dict)

    def exercise(self, line: str, cell: str) -> None:
        """%%exercise N: saves the cell as that exercise's file, and grades it."""
        if not line.strip():
            raise UsageError("Which exercise? Name one in the first line of the cell, as in %%exercise 1")
        chosen = arguments.parse(arguments.exercise_parser(), line)
        exercise = catalog.find(chosen.name)
        root = self._workspace()
        saved = saving.save(exercise, root, cell)
        if saved.remark:
            showing.show_remark(saved.remark)
        self._grade(
            exercise,
            Asked(
                str(root),
                exercise.slug,
                saved.text,
                chosen.device,
                chosen.case,
                chosen.seed,
                chosen.speed,
                chosen.portability,
            ),
        )

    def hint(self, line: str) -> None:
        """%hint N: a hint, and with each call a further one."""
        if not line.strip():
            raise UsageError("A hint for which exercise? Name one, as in %hint 1")
        chosen = arguments.parse(arguments.hint_parser(), line)
        exercise = catalog.find(chosen.name)
        root = self._workspace()
        hints = read_hints(exercise, root)
        next_level = min(self._hints.get(exercise.slug, 0) + 1, len(hints))
        level = next_level if chosen.level is None else chosen.level
        hint = hint_at(exercise, hints, level)
        self._hints[exercise.slug] = level
        head = f"**{exercise.number} {exercise.slug}: hint {level} of {len(hints)}**"
        showing.show_markdown(f"{head}\n\n{for_terminal(hint)}\n\n{_further(level, len(hints), exercise)}")
        keep_hint(exercise, level, root)

    def workspace(self, line: str) -> None:
        """%workspace: says where it is. %workspace FOLDER and %workspace --drive choose another."""
        chosen = arguments.parse(arguments.workspace_parser(), line)
        if chosen.drive and chosen.folder:
            raise UsageError("%workspace takes a folder or --drive, not both.")
        before = self._root
        if chosen.drive or chosen.folder:
            self._root = place.made(place.mount() if chosen.drive else Path(chosen.folder))
            if before is not None and before != self._root:
                showing.show_remark(f"What you did so far stays in {before}.")
            self._tell_where()
        else:
            self._workspace()
            if before is not None:
                self._tell_where()

    def command(self, line: str) -> None:
        """%tlpuzzles ...: a command of the command line, in the workspace."""
        commands.run(arguments.split(line) or ["--help"], self._workspace())

    def progress(self, line: str) -> None:
        """%progress: every attempt, and what is next."""
        self.command(f"progress {line}")

    def solution(self, line: str) -> None:
        """%solution N: the reference solution, for who has passed."""
        self.command(f"solution {line}")

    def _workspace(self) -> Path:
        """Chosen when it is first needed, and made whole again where it lacks something. Raises UsageError."""
        if self._root is None:
            self._root = place.made(place.usual())
            self._tell_where()
        elif not self._root.is_dir():
            raise UsageError(
                f"Your workspace {self._root} is gone: it was deleted, or its drive is no longer mounted.\n"
                f"Mount it again, or begin another: %workspace FOLDER"
            )
        return self._root

    def _tell_where(self) -> None:
        assert self._root is not None
        showing.show_remark(f"Your workspace: {self._root}\n{place.about(self._root)}".strip())

    def _grade(self, exercise: Exercise, asked: Asked) -> None:
        with showing.Place(f"Exercise {exercise.number}  {exercise.title}") as shown:
            try:
                for answer in self.service.ask(asked, PAUSE):
                    if isinstance(answer, Graded):
                        shown.report(answer.html, answer.text)
                        if answer.remarks:
                            showing.show_remark(answer.remarks.strip())
                    elif isinstance(answer, Refused):
                        shown.problem(answer.why)
                    else:
                        if isinstance(answer, Working):
                            shown.step(answer.step, answer.note)
                        shown.refresh()
            except Ended as error:
                shown.problem(
                    f"The grader ended: {error}. Run the cell again; if that does not help: %tlpuzzles doctor"
                )
            except KeyboardInterrupt:
                self.service.stop()
                shown.problem("Stopped. Your cell is saved, and nothing was graded. To grade it, run the cell again.")
                self.service.start()


def _further(level: int, count: int, exercise: Exercise) -> str:
    again = f"`%hint {exercise.number}`"
    if level < count - 1:
        return f"More help: {again} once more."
    if level == count - 1:
        return f"One hint is left, and it shows lines of the solution: try once more before you run {again} again."
    return f"This was the last hint. `%hint {exercise.number} --level 1` shows the first again."
