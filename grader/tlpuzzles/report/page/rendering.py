"""Fills the templates. Text is escaped in there by itself, and loses what it could hide behind."""

from __future__ import annotations

import re
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
    environment.filters["firmly"] = _firmly
    # Ours alone: names and hexadecimal numbers.
    environment.globals.update(
        light=Markup(palette.variables()),
        dark=Markup(palette.dark_variables()),
        states=palette.OF_STATE,
    )
    return environment


def _firmly(style: str) -> Markup:
    """The style sheet, to hold against that of a page around it: its rules weigh more than any without an identifier,
    and its lengths do not depend on the size of that page's letters."""
    heavier = re.sub(r"\.tlp(?![\w-])", ".tlp:not(#tlp)", str(style))
    return Markup(re.sub(r"([\d.]+)rem\b", lambda length: f"{16 * float(length[1]):g}px", heavier))


def _finalized(value: object) -> object:
    """Without control characters and overrides of direction, which escaping leaves as they are."""
    return unicode_marks().clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
