"""Right kernels that are slower than the reference solutions on an H100 or H200: one for each timed exercise."""

from __future__ import annotations

from tests.mutants.mutant import edited

_NO_FAST_MATH = ("@tilelang.jit(out_idx=[-1], pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})",)
_BLOCKS_OF_64 = "{64: (64, 64, 1, 128, False), 128: (64, 64, 1, 128, False)},"

SLOWER: dict[str, tuple[tuple[str, str], ...]] = {
    # One element a thread: no vector loads.
    "vector_add": (("block_N: int = 1024,", "block_N: int = 256,"),),
    # Small tiles and a shallow pipeline.
    "tiled_gemm": (('"sm_90a": (128, 256, 64, 4, 256, True),', '"sm_90a": (128, 128, 32, 3, 128, False),'),),
    # The best of what is left is 128 x 128 x 64.
    "schedule_sweep": (("    (128, 256, 64, 256),\n    (128, 256, 32, 256),\n", ""),),
    "epilogue_fusion": (('"sm_90a": (128, 256, 64, 3, 256),', '"sm_90a": (128, 128, 32, 2, 128),'),),
    "row_softmax": ((*_NO_FAST_MATH, "@tilelang.jit(out_idx=[-1])"), ('"sm_90a": (2, 128),', '"sm_90a": (1, 128),')),
    "flash_attention": (
        ('"sm_90a": {64: (192, 128, 2, 384, False), 128: (128, 128, 2, 256, True)},', f'"sm_90a": {_BLOCKS_OF_64}'),
    ),
    "autotuning": (("TILES = ((128, 256, 256), (128, 128, 128), ", "TILES = ((128, 128, 128), "),),
}
"""Edits of the solution, by exercise."""


def slower(slug: str) -> str:
    """The slower kernel's file. Raises EditDoesNotApply if the solution has changed."""
    return edited(slug, SLOWER[slug])
