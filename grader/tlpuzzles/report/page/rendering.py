"""Fills the templates. Text is escaped in there by itself, and loses what it could hide behind."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tlpuzzles.report.marks import unicode_marks
from tlpuzzles.report.page import palette


def render(template: str, **fields: object) -> str:
    """The template with these fields."""
    return _environment().get_template(template).render(fields)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tlpuzzles.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Ours alone: names and hexadecimal numbers.
    environment.globals.update(
        light=Markup(palette.variables()),
        dark=Markup(palette.dark_variables()),
        states=palette.OF_STATE,
    )
    return environment


def _finalized(value: object) -> object:
    """Without control characters and overrides of direction, which escaping leaves as they are."""
    return unicode_marks().clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
