"""`tlpuzzles show`."""

from __future__ import annotations

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import console, on_terminal, print_markdown
from tlpuzzles.commands.reading import for_terminal, glossary_words
from tlpuzzles.course import catalog
from tlpuzzles.grading.plan import names
from tlpuzzles.plain import one_line
from tlpuzzles.workspace.folders import current_folder, nearest
from tlpuzzles.workspace.hints import read_text


def show(name: ExerciseName) -> None:
    """Read the lesson of an exercise: the idea, the functions it needs, the task, and what is checked.

    Into a pipe it writes the lesson's Markdown as it is. No workspace is needed.

    \b
    Examples:
      tlpuzzles show 6
      tlpuzzles show flash_attention
      tlpuzzles show 6 > lesson.md
    """
    exercise = catalog.find(name)
    here = current_folder()
    file = nearest(exercise, here).lesson(exercise)
    text = read_text(file)
    if not on_terminal():
        print_markdown(text)
        return
    out = console()
    print_markdown(for_terminal(text))
    out.print()
    if file.is_relative_to(here):
        out.print(f"To read it in an editor: {one_line(file.relative_to(here))}", markup=False)
        out.print()
    out.print(f"[bold]tlpuzzles grade {exercise.number} --case NAME[/] grades one alone: {', '.join(names(exercise))}.")
    if words := glossary_words(text):
        out.print()
        listed = ", ".join(word.replace("-", " ") for word in words)
        out.print(f"[bold]tlpuzzles glossary WORD[/] explains the words: {listed}.")
