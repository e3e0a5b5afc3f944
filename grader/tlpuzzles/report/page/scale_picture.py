"""A ratio on a scale with its marks, as a picture: from nothing to a bit above all ratios of the exercise."""

from __future__ import annotations

from markupsafe import Markup

from tlpuzzles.report.page.drawing import Anchor, Drawing
from tlpuzzles.report.scale import mark_labels, two_places
from tlpuzzles.report.speed_words import ratio_of
from tlpuzzles.verdict.model import Speed

HEIGHT = 62
_BAR, _THICK = 22, 14
_ABOVE, _BELOW = 14, 56
"""Baselines of the text above the bar and below it."""
_ASIDE = 35
"""Percent of the width that a label takes on a phone, about."""
_CROWDED = 78
"""A label that ends further to the right leaves no room for the scale's end."""


def scale_picture(speed: Speed, end: float, state: str) -> Markup:
    """`end` is the ratio at the right end, `state` how the case's check ended."""
    drawing = Drawing(HEIGHT, _told(speed, end))

    def place(ratio: float) -> float:
        return 100 * min(ratio / end, 1)

    middle = _BAR + _THICK / 2
    drawing.rectangle(0, _BAR, 100, _THICK, "track")
    drawing.rectangle(0, _BAR, place(speed.ratio), _THICK, f"fill of-{state}")
    if speed.pass_at is not None and speed.full_at is not None:
        _marks(
            drawing,
            place(speed.pass_at),
            place(speed.full_at),
            mark_labels(speed.pass_at, speed.full_at, graded=speed.graded),
        )
    drawing.text(0, _ABOVE, "0", "word")
    if speed.pass_at is None or place(speed.pass_at) < _CROWDED:
        drawing.text(100, _ABOVE, f"{end:.1f}", "word", Anchor.END)
    low, high = (place(ratio) for ratio in speed.ci)
    drawing.line((low, middle), (high, middle), "interval")
    for ratio in (low, high):
        drawing.line((ratio, _BAR + 2), (ratio, _BAR + _THICK - 2), "interval")
    if speed.ratio > end:
        drawing.text(100, middle + 5, "►", "ink", Anchor.END)
    else:
        drawing.circle(place(speed.ratio), middle, 5, "kernel")
    return drawing.markup()


def _marks(drawing: Drawing, passes: float, full: float, labels: tuple[str, str]) -> None:
    for at in (passes, full):
        drawing.line((at, _BAR - 4), (at, _BAR + _THICK + 4), "tick")
    drawing.text(passes, _ABOVE, labels[0], "word", *_beside(passes))
    drawing.text(full, _BELOW, labels[1], "word", *_beside(full))


def _beside(x: float) -> tuple[Anchor, float]:
    """To the left of a tick where there is room, so that the end of the scale stays free."""
    return (Anchor.END, 3) if x > _ASIDE else (Anchor.START, -3)


def _told(speed: Speed, end: float) -> str:
    ratio, of = ratio_of(speed, "±")
    told = f"A scale from 0 to {end:.1f}: {ratio} {of}"
    if speed.pass_at is None or speed.full_at is None:
        return f"{told}; no marks."
    begin = "it passes" if speed.graded else "points begin"
    return f"{told}; {begin} from {two_places(speed.pass_at)}, all points from {two_places(speed.full_at)}."
