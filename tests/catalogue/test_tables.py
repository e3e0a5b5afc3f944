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

TABLES = {"raised": RAISED, "reading": READING, "lowering": LOWERING, "nvcc": NVCC, "launching": LAUNCHING}
ENTRIES = [pytest.param(table, known, id=known.id) for table, all_ in TABLES.items() for known in all_]

COMMON = {
    "raised": {"near", "whole", "example"},
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
