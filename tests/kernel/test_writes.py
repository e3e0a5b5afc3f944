"""Kernels that do nothing, or nothing with their result: which line meant to."""

from __future__ import annotations

import pytest

from tests.kernel.constructs import tile_kernel
from tests.kernel.problems import only, vetted

TILE = "x = T.alloc_shared((64, 32), 'float32')\n"


@pytest.mark.parametrize(
    ("body", "says", "line"),
    [
        (
            "for i, j in T.Parallel(64, 32):\n    B[i, j] == A[i, j]",
            "The kernel never writes its result B. Line 11 compares by ==, which stores nothing.",
            11,
        ),
        (
            TILE + "T.copy(B, x)",
            "The kernel never writes its result B. Line 11 copies out of B: T.copy reads from what it is given first",
            11,
        ),
        (TILE + "T.copy(A, x)", "The kernel never writes its result B.", 8),
        (TILE, "The kernel does nothing: the body of `with T.Kernel(...)` only allocates tiles. Write B in it.", 9),
        ("pass", "The kernel does nothing: the body of `with T.Kernel(...)` is empty. Write B in it.", 9),
    ],
)
def test_what_was_to_write_the_result(body: str, says: str, line: int) -> None:
    finding = only(vetted(tile_kernel(body)))
    assert finding.message.startswith(says)
    assert finding.line == line
