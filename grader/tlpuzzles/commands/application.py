"""The typer application, made of the table of commands and of the arguments it is to answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import getdoc
from typing import TYPE_CHECKING, Annotated

import typer
import typer.main

from tlpuzzles.wording import here, in_notebook

if TYPE_CHECKING:
    from tlpuzzles.cli import Command

ABOUT = """Graded exercises that teach GPU kernels in TileLang.

\b
Start here:
  tlpuzzles init       copies the exercises for you
  tlpuzzles show 1     the first lesson
  tlpuzzles grade 1    checks what you wrote

An exercise is named by its number (1), its name (vector_add) or the start of its name (vec).

No GPU is needed: without one, kernels run on the CPU, and the report says what a CPU cannot show.

\b
Exit status: 0 passed, 1 failed or not started,
2 wrong usage, 3 undecided or our own error,
130 interrupted.
"""


def run(commands: Sequence[Command], arguments: Sequence[str]) -> None:
    """Runs the command that the arguments name. Ends in SystemExit; errors of a command come through as they are."""
    name = "%tlpuzzles" if in_notebook() else "tlpuzzles"
    typer.main.get_command(_application(commands, arguments))(list(arguments), prog_name=name)


def _application(commands: Sequence[Command], arguments: Sequence[str]) -> typer.Typer:
    # Plain help: rich's takes 0.15 s more and, in some releases of typer, imports pydantic.
    app = typer.Typer(rich_markup_mode=None)
    app.callback(invoke_without_command=True, help=here(ABOUT))(_top)
    named = next((word for word in _to_complete() or arguments if not word.startswith("-")), None)
    for command in commands:
        function = command.load() if command.name == named else _not_named
        told = here(getdoc(function) or "")
        app.command(command.name, short_help=command.summary, help=told)(function)
    return app


def _to_complete() -> list[str]:
    """The words that a shell asks to complete, which it hands over in the environment; none if it does not ask."""
    if "_TLPUZZLES_COMPLETE" not in os.environ:
        return []
    words = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    return words.split()[1:]


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"tlpuzzles {version('tlpuzzles')}")
        raise typer.Exit


def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    # For --help alone: cli.py takes it from the arguments before they come here.
    ascii_only: Annotated[
        bool,
        typer.Option(
            "--ascii",
            help="Draw with ASCII alone. May stand anywhere; TLPUZZLES_ASCII=1 asks for it always.",
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _not_named() -> None:
    """Stands for the commands that the arguments do not name: they are only listed, and so need not be imported."""
