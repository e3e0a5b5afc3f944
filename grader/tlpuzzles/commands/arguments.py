"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

ExerciseName = Annotated[
    str, typer.Argument(metavar="N", show_default=False, help="The exercise: number, name or start of its name.")
]
