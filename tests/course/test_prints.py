"""Lines of T.print, as a GPU writes them and the CPU device after it."""

from __future__ import annotations

from tlpuzzles.course.prints import PrintedLine, printed_lines

FROM_A_GPU = """msg='hello' BlockIdx=(0, 0, 0), ThreadIdx=(5, 0, 0): dtype=float value=2.000000
something else
msg='x' BlockIdx=(1, 2, 0), ThreadIdx=(0, 0, 0): buffer=A_local, index=3, dtype=half_t value=-1.5
msg='done' BlockIdx=(0, 0, 0), ThreadIdx=(0, 0, 0)
"""


def test_lines_are_read() -> None:
    assert printed_lines(FROM_A_GPU) == (
        PrintedLine("hello", (0, 0, 0), (5, 0, 0), 2.0),
        PrintedLine("x", (1, 2, 0), (0, 0, 0), -1.5),
        PrintedLine("done", (0, 0, 0), (0, 0, 0), None),
    )


def test_a_value_that_is_no_number_is_none() -> None:
    (line,) = printed_lines("msg='b' BlockIdx=(0, 0, 0), ThreadIdx=(0, 0, 0): dtype=bool value=true")

    assert line.value is None
