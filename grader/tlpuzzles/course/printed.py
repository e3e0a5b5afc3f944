"""Exercise 8: what must be printed, and how else T.print ends up printing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tlpuzzles.course.functions import Fault
from tlpuzzles.course.prints import PrintedLine
from tlpuzzles.course.vocabulary import Sizes, Tensors

DEFAULT_MESSAGES = ("expr<", "buffer<")
"""How the messages begin that T.print makes up itself in 0.1.15."""
ROUNDED = 1e-6
"""T.print writes six digits after the point; half of the last is lost, and a little more for float32."""


def judge(lines: Sequence[PrintedLine], tensors: Tensors, _sizes: Sizes) -> Fault | None:
    """One line, with the double of A's first element and a message of the learner's own."""
    return _count(lines) or _value(lines[0], tensors["A"].tolist()) or _message(lines[0])


def _count(lines: Sequence[PrintedLine]) -> Fault | None:
    if len(lines) == 1:
        return None
    if not lines:
        return Fault(
            "The kernel printed nothing on the device. Use T.print(value, msg=...) in the kernel: Python's own print "
            "writes once, while the kernel is traced. If there is a T.print, no thread meets its condition.",
            "prints-nothing",
            1,
        )
    blocks = Counter(line.block for line in lines)
    threads = Counter((line.block, line.thread) for line in lines)
    start = f"The kernel printed {len(lines)} lines; one is wanted."
    if max(threads.values()) > 1:
        return Fault(
            f"{start} One thread printed {max(threads.values())} of them: T.print of a whole fragment, or in a loop, "
            "prints every element. Print a single element.",
            "prints-every-element",
            2,
        )
    if len(threads) > len(blocks):
        where = "the block" if len(blocks) == 1 else f"{len(blocks)} blocks"
        return Fault(
            f"{start} They come from {max(Counter(block for block, _ in threads).values())} threads of {where}: no "
            "guard chooses the thread, so every thread that comes to it prints. Let one thread do it.",
            "unguarded-print",
            2,
        )
    return Fault(
        f"{start} They come from one thread in each of {len(blocks)} blocks: the thread is chosen, the block is not. "
        "Thread 0 exists in every block.",
        "printed-in-each-block",
        2,
    )


def _value(line: PrintedLine, a: Sequence[float]) -> Fault | None:
    wanted = 2 * a[0]
    if line.value is None:
        return Fault(
            "The line has a message and no number. Give T.print the element as well: T.print(value, msg=...).",
            "message-alone",
            1,
        )
    if _near(line.value, wanted):
        return None
    start = f"The kernel printed {line.value:g}; the first element of A, doubled, is {wanted:g}."
    if _near(line.value, a[0]):
        return Fault(
            f"{start} That is the element before it is doubled: print after the loop.", "printed-before-doubling", 2
        )
    if _near(line.value, a[0] ** 2):
        return Fault(f"{start} That is the element times itself.", "squared", 1)
    for place, element in enumerate(a):
        if _near(line.value, 2 * element):
            return Fault(
                f"{start} That is the double of element {place}: print the first one, which block 0 holds.",
                "prints-another-element",
                2,
            )
    if _near(line.value, 2 * wanted):
        return Fault(f"{start} That is twice too much: it is doubled once more in the print.", "doubled-twice", 1)
    return Fault(start, hint=2)


def _message(line: PrintedLine) -> Fault | None:
    if line.message.strip() and not line.message.startswith(DEFAULT_MESSAGES):
        return None
    return Fault(
        f"The line says {line.message!r}, which T.print makes up when it is given no message. Say what the number is: "
        "T.print(value, msg=...).",
        "no-message",
        1,
    )


def _near(value: float, expected: float) -> bool:
    return abs(value - expected) <= ROUNDED * (1 + abs(expected))
