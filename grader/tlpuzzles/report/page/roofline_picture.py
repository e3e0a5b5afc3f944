"""The roofline as a picture: what this GPU allows at so many operations per byte, and what kernels make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tlpuzzles.report.page.drawing import Anchor, Drawing, within
from tlpuzzles.report.roofline import X_TITLE, Y_TITLE, Point, Roofs, arithmetic_label, axes, memory_label

HEIGHT = 300
_TOP, _BOTTOM = 24, 252
_ROWS = 15
"""Lines of text that the plot is high."""
_NARROW = 300
"""Pixels of a phone's width, to tell whether labels would overlap there."""
_LETTER = 11
"""Pixels that a letter needs around its middle."""
_AROUND = ((11, 5), (-11, 5), (0, -10), (0, 20), (22, 5), (-22, 5), (11, -10), (-11, -10), (11, 20), (-11, 20))
"""Where a letter may stand, from its point, in pixels; the first that is free is taken."""


@dataclass(frozen=True)
class Kernel:
    """A learner's kernel, and its baseline if that is shown."""

    letter: str
    state: str
    point: Point
    baseline: Point | None


def roofline_picture(roofs: Roofs, kernels: Sequence[Kernel], told: str) -> Markup:
    """`told` is what the picture shows, in words."""
    return _Picture(roofs, kernels, told).draw()


class _Picture:
    def __init__(self, roofs: Roofs, kernels: Sequence[Kernel], told: str) -> None:
        self.roofs, self.kernels = roofs, kernels
        points = [kernel.point for kernel in kernels] + [k.baseline for k in kernels if k.baseline is not None]
        self.x, self.y = axes(roofs, points, _ROWS)
        self.drawing = Drawing(HEIGHT, told)

    def draw(self) -> Markup:
        self._axes()
        self._roof()
        for kernel in self.kernels:
            if kernel.baseline is not None:
                self.drawing.circle(*self._place(kernel.baseline), 5, "baseline")
        for kernel in self.kernels:
            self.drawing.circle(*self._place(kernel.point), 6, f"point of-{kernel.state}")
        for kernel, (x, y) in self._letters():
            self.drawing.text(self._place(kernel.point)[0], y, kernel.letter, "letter", Anchor.MIDDLE, x)
        return self.drawing.markup()

    def _place(self, point: Point) -> tuple[float, float]:
        return self._across(point.flop_per_byte), self._down(point.tflops)

    def _across(self, flop_per_byte: float) -> float:
        return 100 * self.x.place(flop_per_byte)

    def _down(self, tflops: float) -> float:
        return _TOP + (1 - self.y.place(tflops)) * (_BOTTOM - _TOP)

    def _axes(self) -> None:
        drawing = self.drawing
        for value in _apart(self.y.ticks(), self._down, 30):
            y = self._down(value)
            drawing.line((0, y), (100, y), "grid")
            drawing.text(0, y - 4, f"{value:g}", "word")
        drawing.text(0, 12, Y_TITLE, "word")
        drawing.line((0, _BOTTOM), (100, _BOTTOM), "axis")
        for value in _apart(self.x.ticks(), self._across, 16):
            x = self._across(value)
            drawing.line((x, _BOTTOM), (x, _BOTTOM + 5), "axis")
            drawing.text(x, _BOTTOM + 19, f"{value:g}", "word", within(x, 5))
        drawing.text(100, _BOTTOM + 38, X_TITLE, "word", Anchor.END)
        drawing.text(0, _BOTTOM + 38, "\u25c2 memory limits, arithmetic limits \u25b8", "word")

    def _roof(self) -> None:
        roofs, drawing = self.roofs, self.drawing
        low, ridge, high = self.x.low, roofs.ridge, self.x.high
        for start, end in ((low, ridge), (ridge, high)):
            places = [(self._across(at), self._down(roofs.at(at))) for at in (start, end)]
            drawing.line(places[0], places[1], "roof")
        drawing.text(
            100, self._down(roofs.matrix_tflops) - 13, arithmetic_label(roofs.matrix_tflops), "roof-word", Anchor.END
        )
        # Below the slope, a bit above its low end: kernels that memory limits are nearer to the ridge.
        at = self.x.value(self.x.place(ridge) * 0.28)
        drawing.text(
            self._across(at), self._down(roofs.at(at)) + 14, memory_label(roofs.copy_gbps), "roof-word", shift=10
        )

    def _letters(self) -> Iterator[tuple[Kernel, tuple[float, float]]]:
        """Each kernel with the place of its letter: pixels from its point, and from the top."""
        places = [self._place(kernel.point) for kernel in self.kernels]
        taken = [(x * _NARROW / 100, y) for x, y in places]
        for kernel, (x, y) in zip(self.kernels, places, strict=True):
            at = x * _NARROW / 100
            free = (
                (dx, dy)
                for dx, dy in _AROUND
                if 4 < at + dx < _NARROW - 4
                and all(
                    abs(at + dx - a) >= _LETTER or abs(y + dy - 5 - b) >= _LETTER for a, b in taken if (a, b) != (at, y)
                )
            )
            dx, dy = next(free, _AROUND[0])
            taken.append((at + dx, y + dy - 5))
            yield kernel, (dx, y + dy)


def _apart(values: Sequence[float], place: Callable[[float], float], room: float) -> list[float]:
    """The values, in this order, that are so far from those before."""
    taken: list[float] = []
    for value in values:
        if all(abs(place(value) - place(other)) >= room for other in taken):
            taken.append(value)
    return taken
