"""Exercise 6: FlashAttention forward, full and causal. Scores live for one trip and are never written to memory."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.attention import attention
from tlpuzzles.course.attention_mistakes import MISTAKES
from tlpuzzles.course.baselines import SDPA
from tlpuzzles.course.inputs import normal, ramped_logits, scaled_logits
from tlpuzzles.course.timings import fixed, scaled
from tlpuzzles.course.vocabulary import Case, Exercise, Runs, Sizes, Tensors, TensorSpec, Timing, Tolerance
from tlpuzzles.kernel.requirements import (
    accumulates_in,
    no_global_intermediate,
    no_needless_trips,
    one_launch,
    uses_gemm,
)

if TYPE_CHECKING:
    import torch

SHAPE = ("batch", "seq_len", "heads", "dim")
CAUSAL: Mapping[str, bool] = {"is_causal": True}


def _one_token(_rng: random.Random) -> Sizes:
    return {"batch": 2, "heads": 3, "seq_len": 1, "dim": 64}


def _around_a_tile(rng: random.Random) -> Sizes:
    return {"batch": 3, "heads": 2, "seq_len": rng.choice((63, 65)), "dim": 64}


def _ragged(rng: random.Random) -> Sizes:
    # Three or four blocks of 64 keys, of which the last is neither nearly empty nor nearly full.
    return {"batch": 2, "heads": 3, "seq_len": 64 * rng.choice((2, 3)) + 2 * rng.randint(4, 27) + 1, "dim": 64}


def _whole_tiles(rng: random.Random) -> Sizes:
    return {"batch": 1, "heads": rng.choice((2, 3)), "seq_len": rng.choice((256, 384)), "dim": 128}


def _many_blocks(rng: random.Random) -> Sizes:
    # 2 x 8 x 9 = 144 blocks of 128 queries: more than the 132 multiprocessors of an H200.
    return {"batch": 2, "heads": 8, "seq_len": 2 * rng.randint(520, 570) + 1, "dim": 128}


def _library(tensors: Tensors, _sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor:
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (tensors[name].transpose(1, 2) for name in ("Q", "K", "V"))
    return scaled_dot_product_attention(q, k, v, is_causal=flags.get("is_causal", False)).transpose(1, 2).contiguous()


def _flops(sizes: Sizes, flags: Mapping[str, bool]) -> int:
    length = sizes["seq_len"]
    pairs = length * (length + 1) // 2 if flags.get("is_causal") else length * length
    return 4 * sizes["batch"] * sizes["heads"] * sizes["dim"] * pairs


def _timing(dim: int, causal: bool) -> Timing:
    kind = "causal" if causal else "full"
    case = Case(
        f"speed-{kind}-{dim}",
        f"{kind} attention over 4096 tokens, dim {dim}",
        fixed(batch=2, heads=16, seq_len=4096, dim=dim),
        flags=CAUSAL if causal else {},
    )
    # Scores whose exponentials overflow unless each row's maximum is subtracted, and follow it as it grows.
    return Timing(case, against=SDPA, probes=(scaled("Q", 64),))


EXERCISE = Exercise(
    number=6,
    slug="flash_attention",
    title="FlashAttention",
    summary="Attention in one kernel, full and causal, with an online softmax.",
    factory="make_flash_attn",
    inputs=(TensorSpec("Q", SHAPE), TensorSpec("K", SHAPE), TensorSpec("V", SHAPE)),
    output=TensorSpec("O", SHAPE),
    cases=(
        Case("full-ragged", "full attention, several blocks and a ragged end", _ragged),
        Case("full-ramp", "full attention, scores that rise along the keys", _ragged, draw=ramped_logits()),
        Case("full-sharp", "full attention, scores so large that exp overflows", _ragged, draw=scaled_logits(64)),
        Case("causal-ragged", "causal attention, several blocks and a ragged end", _ragged, flags=CAUSAL),
        Case(
            "causal-ramp",
            "causal attention, scores that rise along the keys",
            _ragged,
            flags=CAUSAL,
            draw=ramped_logits(),
        ),
        Case("causal-whole", "causal attention over whole blocks, dim 128", _whole_tiles, flags=CAUSAL),
        Case("around-a-tile", "a sequence one shorter or one longer than a tile", _around_a_tile),
        Case("one-token", "a sequence of one token", _one_token),
        Case("many-blocks", "more blocks than a GPU runs at once", _many_blocks, flags=CAUSAL, runs=Runs.ON_CUDA),
    ),
    draw=normal(),
    reference=attention,
    library=_library,
    # The exponentials are rounded to float16 before they meet V: a right kernel errs by up to 3e-4, its rows by 4e-4.
    tolerance={"float16": Tolerance(frobenius=1e-3, row=2e-3, element=5e-3)},
    flops=_flops,
    mistakes=MISTAKES,
    row_name="query",
    requirements=(one_launch(), uses_gemm(2), accumulates_in("float32"), no_needless_trips(), no_global_intermediate()),
    speed_hint=3,
    timings=tuple(_timing(dim, causal) for dim in (64, 128) for causal in (False, True)),
)
