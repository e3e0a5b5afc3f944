"""Matrix products of the course: problem sizes that several exercises draw, and their cost.

Tiles with sides of 64, 128 or 256 never form a square grid on these sizes: on a square grid, a kernel that exchanges bx
and by is right.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from tlpuzzles.course.vocabulary import Sizes


def ragged(rng: random.Random) -> Sizes:
    """No size is a multiple of a tile, and there are more trips than a pipeline has stages."""
    return {"M": odd(rng, 195, 251), "N": odd(rng, 645, 765), "K": odd(rng, 259, 383)}


def one_element(_rng: random.Random) -> Sizes:
    """Matrices of a single element."""
    return {"M": 1, "N": 1, "K": 1}


def many_blocks(rng: random.Random) -> Sizes:
    """At the least 11 x 15 = 165 tiles of 128 x 256: more than the 132 multiprocessors of an H200."""
    return {"M": odd(rng, 1301, 1407), "N": odd(rng, 3601, 3839), "K": odd(rng, 301, 399)}


def odd(rng: random.Random, low: int, high: int) -> int:
    """An odd number from `low` to `high`, which are odd."""
    return 2 * rng.randint(low // 2, (high - 1) // 2) + 1


def flops(sizes: Sizes, _flags: Mapping[str, bool]) -> int:
    """A multiplication and an addition for each of M N K; what an epilogue adds is a handful for each element."""
    return 2 * sizes["M"] * sizes["N"] * sizes["K"]
