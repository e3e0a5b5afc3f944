"""The glossary: words are found as people type them, and what they link to is there."""

from __future__ import annotations

import re

import pytest

from tlpuzzles.workspace.documents import document
from tlpuzzles.workspace.glossary import Term, UnknownWord, anchor, find, read_terms

TEXT = document("glossary.md").read_text("utf-8")
TERMS = read_terms(TEXT)


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("fragment", "Fragment"),
        ("Fragments", "Fragment"),
        ("shared-memory", "Shared memory"),
        ("shared memory", "Shared memory"),
        ("shared_memory", "Shared memory"),
        ("smem", "Shared memory"),
        ("SM", "Multiprocessor"),
        ("flop/s", "FLOP/s"),
        ("flops", "FLOP/s"),
        ("cp.async", "cp.async"),
        ("cpasync", "cp.async"),
        ("occ", "Occupancy"),
        ("l2 swizzle", "L2 swizzle"),
        ("GEMM", "GEMM"),
    ],
)
def test_a_word_is_found_as_people_type_it(typed: str, word: str) -> None:
    assert find(TERMS, typed).word == word


def test_a_word_that_is_not_there_leads_to_those_that_come_near() -> None:
    with pytest.raises(UnknownWord, match=r'no word "fragmant". Did you mean: fragment'):
        find(TERMS, "fragmant")
    with pytest.raises(UnknownWord, match="tlpuzzles glossary"):
        find(TERMS, "zzzzzz")
    with pytest.raises(UnknownWord, match=r"warp group.*warp policy|warp policy.*warp group"):
        find(TERMS, "war")
    with pytest.raises(UnknownWord):
        find(TERMS, "...")


def test_every_name_means_one_word() -> None:
    spelled = [{re.sub(r"[^a-z0-9]", "", name.lower()) for name in (term.word, *term.also)} for term in TERMS]
    names = [name for spellings in spelled for name in spellings]

    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)


def test_the_words_are_in_order() -> None:
    words = [term.word.lower() for term in TERMS]

    assert words == sorted(words)


def test_its_links_lead_to_its_words() -> None:
    anchors = {term.anchor for term in TERMS}

    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.anchor)
def test_a_word_has_two_to_six_sentences_and_an_exercise(term: Term) -> None:
    prose, _, met = term.text.rpartition("\n\n")
    explanation = prose.partition("\n\nAlso: ")[0]

    assert 2 <= len(re.findall(r"[.](?=\s|$)", explanation)) <= 6
    assert re.search(r"exercises?\s+\[", met)


def test_anchors_are_githubs() -> None:
    assert anchor("FLOP/s") == "flops"
    assert anchor("L2 swizzle") == "l2-swizzle"
    assert anchor("cp.async") == "cpasync"
