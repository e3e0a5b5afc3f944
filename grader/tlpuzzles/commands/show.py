"""`tlpuzzles show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import on_terminal, print_markdown
from tlpuzzles.commands.paging import paged
from tlpuzzles.commands.reading import for_terminal, glossary_words
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.plan import names
from tlpuzzles.plain import one_line
from tlpuzzles.workspace.folders import current_folder, nearest
from tlpuzzles.workspace.hints import read_text

if TYPE_CHECKING:
    from rich.console import Console


def show(name: ExerciseName) -> None:
    """Read the lesson of an exercise: the idea, the functions it needs, the task, and what is checked.

    A terminal shows it from its beginning, in `less` or what the variable PAGER names, where it is longer than the
    screen. Into a pipe the lesson's Markdown is written as it is. No workspace is needed.

    \b
    Examples:
      tlpuzzles show 6
      tlpuzzles show flash_attention
      tlpuzzles show 6 > lesson.md
    """
    exercise = catalog.find(name)
    with paged() as out:
        print_lesson(exercise, out)


def print_lesson(exercise: Exercise, out: Console) -> None:
    """Prints it: with what follows from it on a terminal, else as it was written."""
    here = current_folder()
    file = nearest(exercise, here).lesson(exercise)
    text = read_text(file)
    if not on_terminal():
        print_markdown(text)
        return
    print_markdown(for_terminal(text), out)
    out.print()
    if file.is_relative_to(here):
        out.print(f"To read it in an editor: {one_line(file.relative_to(here))}", markup=False)
        out.print()
    out.print(f"[bold]tlpuzzles grade {exercise.number} --case NAME[/] grades one alone: {', '.join(names(exercise))}.")
    if words := glossary_words(text):
        out.print()
        listed = ", ".join(word.replace("-", " ") for word in words)
        out.print(f"[bold]tlpuzzles glossary WORD[/] explains the words: {listed}.")
