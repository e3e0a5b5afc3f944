"""All entries together: they speak to a learner, and each is met somewhere."""

from __future__ import annotations

import re
import string
from itertools import chain

import pytest

from tlpuzzles.catalogue.entry import Known
from tlpuzzles.catalogue.launching import LAUNCHING
from tlpuzzles.catalogue.lowering import LOWERING
from tlpuzzles.catalogue.nvcc import NVCC
from tlpuzzles.catalogue.raised import RAISED
from tlpuzzles.catalogue.reading import READING
from tlpuzzles.course import catalog
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.hints import split_hints

TABLES = {"raised": RAISED, "reading": READING, "lowering": LOWERING, "nvcc": NVCC, "launching": LAUNCHING}
ENTRIES = [pytest.param(table, known, id=known.id) for table, all_ in TABLES.items() for known in all_]

COMMON = {
    "raised": {"near", "whole", "example", "gemm_left", "gemm_right", "gemm_sums"},
    "reading": set(),
    "lowering": {"gpu", "left", "right", "wide", "narrow_type"},
    "nvcc": {"gpu"},
    "launching": {"gpu"},
}
"""Words that every entry of a table may use."""

JARGON = re.compile(
    r"\b(TIR|tir|IR|PrimExpr|PrimFunc|Buffer\w*|Expr|ffi|tirx|lowers?|lowered|lowering|AST|NoneType|InternalError|"
    r"StructuralEqual|extents?|lanes?|LHS|RHS|scalar|operand type|instantiate\w*|invoke\w*|deprecated)\b"
)


@pytest.mark.parametrize(("table", "known"), ENTRIES)
def test_an_entry_is_a_sentence_and_what_to_do(table: str, known: Known) -> None:
    groups = re.compile(known.pattern).groupindex
    fields = {field for text in (known.says, known.fix) for _, field, _, _ in string.Formatter().parse(text) if field}
    assert {field.partition("!")[0] for field in fields} <= {*groups, *COMMON[table]}
    for text in (known.says, known.fix):
        assert text
        assert not text.endswith((".", " "))
        assert text[0].isupper() or re.match(r"[{`@]|(nvcc|out_idx|num_stages|threads|torch)\b", text)
        assert not JARGON.search(text), JARGON.search(text)


def test_no_two_entries_share_a_name() -> None:
    for tables in ((RAISED, READING), (LOWERING, NVCC), (LAUNCHING,)):
        names = [known.id for known in chain(*tables)]
        assert len(names) == len(set(names))


def test_a_general_entry_does_not_come_before_a_special_one() -> None:
    # A pattern that another one contains would take its messages.
    for table in TABLES.values():
        for number, known in enumerate(table):
            for later in table[number + 1 :]:
                assert known.pattern not in later.pattern


SPEAKS_OF = {
    "reduce-layout": ("row_softmax", "butterfly"),
    "reduce-butterfly": ("row_softmax", "butterfly"),
    "no-layout": ("row_softmax", "No available layout found"),
    "gemm-accumulator": ("tiled_gemm", "in registers and in float32"),
    "gemm-mixed": ("flash_attention", "their copy in float16 for the second product"),
    "gemm-inner-mismatch": ("flash_attention", "transpose_B=True"),
    "gemm-rows-mismatch": ("tiled_gemm", "Each tile has the shape"),
    "gemm-columns-mismatch": ("tiled_gemm", "Each tile has the shape"),
    "gemm-one-axis": ("tiled_gemm", "Each tile has the shape"),
    "reduce-shape": ("flash_attention", "T.reduce_max` of scores into row_max along dim 1"),
    "reduce-without-result": ("row_softmax", "T.reduce_max` of `rows` into `row_max`"),
    "copy-shapes": ("flash_attention", "The slice then has the shape of the tile"),
    "fraction-of-trips": ("vector_add", "the division that rounds up"),
    "autotune-configs-missing": ("autotuning", "`configs` is the function itself"),
    "autotune-order": ("autotuning", "Python applies the one next to `def` first"),
    "autotune-no-configs": ("autotuning", "or nothing is left"),
    "autotune-unused-keys": ("autotuning", "parameters' names as keys"),
    "autotune-config-type": ("autotuning", "Append the dict"),
}
"""An exercise whose hint, on the level that an entry leads to, speaks of its subject, and the words there."""


def test_a_hint_that_an_entry_leads_to_speaks_of_its_subject() -> None:
    led = {known.id: int(known.hint) for all_ in TABLES.values() for known in all_ if known.hint is not None}
    assert led.keys() == SPEAKS_OF.keys()
    for id_, (slug, words) in SPEAKS_OF.items():
        levels = split_hints(shipped(catalog.find(slug)).hints(catalog.find(slug)).read_text("utf-8"))
        level = levels[led[id_] - 1]
        assert words in " ".join(level.split()), (id_, slug)


def test_an_error_of_the_language_leads_to_the_cheat_sheet_or_to_a_hint_but_not_to_both() -> None:
    assert not [known.id for all_ in TABLES.values() for known in all_ if known.cheatsheet and known.hint is not None]


@pytest.mark.parametrize("slug", ["vector_add", "tiled_gemm", "flash_attention"])
def test_what_a_lesson_quotes_of_the_report_is_what_an_entry_says(slug: str) -> None:
    exercise = catalog.find(slug)
    lesson = " ".join(shipped(exercise).lesson(exercise).read_text("utf-8").partition("## Common errors")[2].split())
    quotes = re.findall(r'- \*"([^"]+)"\*', lesson)
    assert quotes
    said = [re.sub(r"\{\w+\}", "X", known.says) for all_ in TABLES.values() for known in all_]
    for quote in quotes:
        shape = re.compile(".*".join(re.escape(part.strip()) for part in quote.rstrip(".").split("...")))
        assert any(shape.match(says) for says in said), quote
