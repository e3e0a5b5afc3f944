"""glossary and cheatsheet, and how a lesson's links and pictures look on a terminal."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands.running import run, run_on_terminal
from tlpuzzles.commands.reading import for_terminal, glossary_words

LINKED = """# A lesson

![Blocks over a vector](../../docs/pictures/1-vector-add.svg)

A [tile](../../docs/glossary.md#tile) in [shared
memory](../../docs/glossary.md#shared-memory), two [tiles](../../docs/glossary.md#tile), and
[exercise 2](../02_tiled_gemm/lesson.md). See [TileLang](https://tilelang.com).

```mermaid
flowchart LR
  A --> B
```

```text
the picture [x](../../docs/glossary.md#y)
```
"""


def test_a_lesson_for_a_terminal_has_words_for_links_and_tells_of_pictures() -> None:
    shown = for_terminal(LINKED)

    assert "A tile in shared\nmemory, two tiles, and\nexercise 2. See [TileLang](https://tilelang.com)." in shown
    assert "flowchart" not in shown
    assert "![" not in shown
    assert "*Picture (docs/pictures/1-vector-add.svg in your workspace): Blocks over a vector*" in shown
    assert "the picture [x](../../docs/glossary.md#y)" in shown
    assert "\n\n\n" not in shown
    assert glossary_words(LINKED) == ("tile", "shared-memory")


def test_show_says_once_how_to_look_words_up(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "01_vector_add" / "lesson.md").write_text(LINKED)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\]8;[^\x1b]*\x1b\\", "", run_on_terminal("show", "1", cwd=workspace))
    assert "glossary.md#tile" not in shown
    assert " ".join(shown.split()).count("tlpuzzles glossary WORD explains the words: tile, shared memory.") == 1
    assert run(capsys, "show", "1").out == LINKED


def test_glossary_lists_its_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = run(capsys, "glossary").out.splitlines()
    assert {"tile", "shared memory", "L2 cache", "TMA", "FLOP/s", "warp"} <= set(words)
    shown = run_on_terminal("glossary", cwd=tmp_path, columns=60)
    assert all(word in shown for word in words)
    assert "tlpuzzles glossary WORD" in shown


def test_glossary_explains_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, "glossary", "shared", "memory")
    assert shown.status == 0
    assert shown.out.startswith("Shared memory\n")
    assert "227" in shown.out
    assert "](" not in shown.out
    assert "See also: multiprocessor, block" in shown.out


@pytest.mark.parametrize("word", ["accumulator", "ragged edge", "fragment"])
def test_glossary_fills_the_lines_that_links_had_made_long(capsys: pytest.CaptureFixture[str], word: str) -> None:
    paragraphs = run(capsys, "glossary", *word.split()).out.split("\n\n")
    for lines in (paragraph.splitlines() for paragraph in paragraphs):
        assert max(map(len, lines)) <= 80
        for line, following in pairwise(lines):
            assert len(f"{line} {following.split()[0]}") > 80, f"{line!r} has room for the next word"


def test_glossary_of_an_unknown_word_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "glossary", "fragmint")
    assert (ran.status, ran.out) == (2, "")
    assert "Did you mean: fragment?" in ran.err


def test_cheatsheet_is_plain_in_a_pipe_and_one_screen_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    piped = run(capsys, "cheatsheet").out
    assert "```" not in piped
    assert "T.gemm(A, B, C, transpose_A=False" in piped
    coloured = run_on_terminal("cheatsheet", cwd=tmp_path, columns=80)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == [line.rstrip() for line in piped.splitlines()]
    assert max(map(len, plain.splitlines())) <= 80


def test_cheatsheet_fits_sixty_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.sub(r"\x1b\[[0-9;]*m", "", run_on_terminal("cheatsheet", cwd=tmp_path, columns=60))
    assert max(map(len, shown.splitlines())) <= 60
    assert "\nkernel.get_host_source()\n" in shown
    assert sorted(_words(shown)) == sorted(_words(run(capsys, "cheatsheet").out))


def _words(text: str) -> list[str]:
    return re.findall(r"[\w.]+", text)
