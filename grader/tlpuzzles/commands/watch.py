"""`tlpuzzles watch`."""

from __future__ import annotations

from queue import Queue
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from tlpuzzles.border.limits import hide
from tlpuzzles.commands.arguments import exercise_names
from tlpuzzles.commands.files import workspace_here
from tlpuzzles.commands.of_workspace import class_arch, marks
from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.commands.remembering import pasts
from tlpuzzles.commands.working import warm_process
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.choices import DeviceChoice
from tlpuzzles.workspace.attempts import State
from tlpuzzles.workspace.marker import MARKER

if TYPE_CHECKING:
    from tlpuzzles.watch.session import Actions


def watch(
    name: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10
        typer.Argument(
            metavar="N",
            autocompletion=exercise_names,
            show_default=False,
            help="The exercise to begin with; if left out, the first not passed.",
        ),
    ] = None,
    device: Annotated[DeviceChoice, typer.Option(help="Where the kernel runs; auto takes a GPU if there is one.")] = (
        DeviceChoice.AUTO
    ),
    speed: Annotated[
        bool, typer.Option("--speed/--no-speed", help="Whether to time a kernel that is right, where there is a GPU.")
    ] = True,
) -> None:
    """Grade a file each time you save it, and go on to the next exercise when it passes.

    Leave it running beside your editor. What failed before is asked first; what has passed is not run again as long as
    the kernel stays the same. Keys: h hint, s lesson, l list, g grade again, r reset, n next, p previous, q quit.

    \b
    Examples:
      tlpuzzles watch
      tlpuzzles watch 6 --device cpu
    """
    workspace = workspace_here()
    exercises = catalog.exercises()
    passed = {slug for slug, past in pasts(workspace.root).items() if past.state is State.PASSED}
    first = next((exercise for exercise in exercises if exercise.slug not in passed), exercises[0])
    current = first if name is None else catalog.find(name)
    hide()  # it knows the seed
    if on_terminal():
        console().print("  Importing PyTorch and TileLang ...", style="dim")
    with warm_process() as (warm, scratch):
        from dataclasses import replace

        from tlpuzzles.grading import caches
        from tlpuzzles.grading.grader import Grader
        from tlpuzzles.grading.memory import Memory
        from tlpuzzles.grading.options import Options
        from tlpuzzles.grading.selection import select
        from tlpuzzles.watch.keys import Keys
        from tlpuzzles.watch.saves import Saves
        from tlpuzzles.watch.screen import Screen
        from tlpuzzles.watch.session import Event, Pressed, Saved, Session

        out = console()
        chosen, memory = select(device, warm, scratch), Memory()
        files = {exercise.slug: workspace.file(exercise) for exercise in exercises}
        options = Options(
            seed=0,
            class_arch=class_arch(workspace.root / MARKER),
            speed=speed,
            thresholds=marks(workspace.root / MARKER, chosen.shown),
        )
        events: Queue[Event] = Queue()
        with (
            Keys(lambda key: events.put(Pressed(key))) as keys,
            Saves(workspace.root, files.values(), lambda file: events.put(Saved(file))),
        ):
            session = Session(
                exercises,
                files,
                lambda seed: replace(options, seed=seed),
                lambda: Grader(warm, scratch, chosen, memory=memory),
                Screen(out, keys=keys.are_there),
                _actions(),
                current,
                passed,
                events,
            )
            # Before the first file is saved, and while torch and tilelang are imported.
            chosen.prepare()
            session.run()
        caches.prune()


def _actions() -> Actions:
    from tlpuzzles.commands.hint import print_hint
    from tlpuzzles.commands.list import list_exercises
    from tlpuzzles.commands.remembering import keep_grading
    from tlpuzzles.commands.reset import reset
    from tlpuzzles.commands.show import print_lesson
    from tlpuzzles.watch.session import Actions

    def lesson(exercise: Exercise) -> None:
        out = console()
        print_lesson(exercise, out)
        out.print()
        # No pager here: it would wait for the keys that are ours.
        again = f"[bold]tlpuzzles show {exercise.number}[/]"
        out.print(f"It begins further up: scroll there, or read it in another terminal with {again}.")

    return Actions(
        list_all=list_exercises,
        lesson=lesson,
        hint=lambda exercise, level: print_hint(exercise, level, further="press [bold]h[/]", lesson="press [bold]s[/]"),
        reset=lambda exercise: reset(str(exercise.number)),
        keep=keep_grading,
    )
