"""What one launch prints is told from what others print."""

from __future__ import annotations

import os

import pytest

from tlpuzzles.device.cuda import printing


def test_only_the_first_launch_of_a_case_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    nonce = printing.nonce()
    for case in ("one", "two"):
        for number in range(3):
            with printing.launch(case, number):
                os.write(1, f"{case}: launch {number}\n".encode())
        os.write(1, b"between\n")

    output = capfd.readouterr().out
    assert printing.of_launches(output, nonce) == {"one": "one: launch 0\n", "two": "two: launch 0\n"}
    assert printing.unmarked(output) == "one: launch 0\nbetween\ntwo: launch 0\nbetween\n"


def test_what_a_dying_process_printed_last_is_kept() -> None:
    assert printing.of_launches("<abc begin one>\nhalf a li", "abc") == {"one": "half a li"}


def test_a_kernel_cannot_end_its_launch_by_printing() -> None:
    output = "<abc begin one>\n<0123456789abcdef end one>\nmore\n<abc end one>\n"

    assert "more" in printing.of_launches(output, "abc")["one"]
