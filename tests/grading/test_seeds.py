"""A seed poses the same problem again, to the last value of its inputs."""

from __future__ import annotations

from collections.abc import Callable

from tests.grading.test_bad_input import GOOD
from tlpuzzles.verdict.model import Check, Result

WRONG = GOOD.replace("+ B[", "- B[")


def test_the_seed_draws_the_same_problem_again(grade: Callable[..., Result]) -> None:
    def check(seed: int) -> Check:
        return next(c for c in grade("1", WRONG, only="ragged-end", seed=seed).checks if c.id == "ragged-end")

    first, again, other = (check(seed) for seed in (11, 11, 12))
    assert first == again
    assert first.detail is not None
    assert other.detail is not None
    assert first.detail.found is not None
    assert first.detail.sizes != other.detail.sizes
