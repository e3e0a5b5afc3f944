"""What a file says, in a sentence of ours."""

from __future__ import annotations

import datetime

import pytest

from tlpuzzles.verdict.quoting import bare, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Tesla T4", "Tesla T4"),
        ("Größe ≥ 1", "Größe ≥ 1"),
        ("a\n\x1b[31m\u202e\x9b", "a??[31m??"),
        ("x" * 61, "x" * 60 + "..."),
        (1, "1"),
        (["a\x1b"], "['a\\x1b']"),
    ],
)
def test_a_name(text: object, shown: str) -> None:
    assert bare(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.5", "'0.5'"),
        (0.5, "0.5"),
        (True, "true"),
        (datetime.datetime(2026, 11, 29, 7, 32), "2026-11-29T07:32:00"),
        (datetime.date(2026, 11, 29), "2026-11-29"),
        ([1, 2, 3, 4], "[1, 2, 3, ...]"),
        ({"a": {"b": {"c": 1}}}, "{'a': {'b': {...}}}"),
    ],
)
def test_a_value(value: object, shown: str) -> None:
    assert quoted(value) == shown


def test_a_long_value_is_shortened() -> None:
    assert quoted(16**5000) == "a number of thousands of digits"
    assert len(quoted("x" * 100_000)) <= 60
    assert len(quoted(10**100)) <= 60
