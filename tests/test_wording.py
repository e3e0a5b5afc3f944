"""Commands of a terminal become magics, and nothing else changes."""

from __future__ import annotations

import pytest

from tlpuzzles.cli import COMMANDS
from tlpuzzles.wording import NOTEBOOK, for_notebook, here


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("`tlpuzzles hint 6 --level 2`", "`%hint 6 --level 2`"),
        ("<code>tlpuzzles grade 6 --case causal</code>", "<code>%%exercise 6 --case causal</code>"),
        ("Then run\n`tlpuzzles progress`.", "Then run\n`%progress`."),
        ("tlpuzzles solution 1 --give-up", "%solution 1 --give-up"),
        ("Run `tlpuzzles doctor`.", "Run `%tlpuzzles doctor`."),
        ("tlpuzzles 0.1.0, /content/tlpuzzles hint 6", "tlpuzzles 0.1.0, /content/tlpuzzles hint 6"),
        ("%tlpuzzles doctor", "%tlpuzzles doctor"),
    ],
)
def test_a_notebook_is_told_what_can_be_typed_there(said: str, told: str) -> None:
    assert for_notebook(said) == told


def test_what_somebody_else_says_stays() -> None:
    said = "Loading the file raised ValueError: `tlpuzzles grade 1`. Run `tlpuzzles doctor`."
    told = "Loading the file raised ValueError: `tlpuzzles grade 1`. Run `%tlpuzzles doctor`."
    assert for_notebook(said, "ValueError: `tlpuzzles grade 1`") == told


def test_a_terminal_is_told_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NOTEBOOK, raising=False)
    assert here("Run `tlpuzzles doctor`.") == "Run `tlpuzzles doctor`."
    monkeypatch.setenv(NOTEBOOK, "1")
    assert here("Run `tlpuzzles doctor`.") == "Run `%tlpuzzles doctor`."


def test_every_command_can_be_typed() -> None:
    for command in COMMANDS:
        told = for_notebook(f"tlpuzzles {command.name} 1")
        assert told.startswith("%") or command.name == "watch"
