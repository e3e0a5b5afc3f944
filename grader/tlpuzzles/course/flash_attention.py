"""Exercise 6: FlashAttention forward, full and causal. Scores live for one trip and are never written to memory."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.inputs import normal, ramped_logits, scaled_logits
from tlpuzzles.course.vocabulary import Case, Exercise, Mistake, Runs, Sizes, Tensors, TensorSpec, Tolerance
from tlpuzzles.kernel.requirements import accumulates_in, no_global_intermediate, one_launch, uses_gemm

if TYPE_CHECKING:
    import torch

Compute = Callable[[Tensors, Sizes, Mapping[str, bool]], "torch.Tensor | None"]

SHAPE = ("batch", "seq_len", "heads", "dim")
CAUSAL: Mapping[str, bool] = {"is_causal": True}
USUAL_BLOCKS = (64, 128)
"""What learners choose for block_N: a mistake whose output depends on it is computed for each."""


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


def _softmax_of(scores: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.softmax(scores, dim=-1)


def _attention(
    tensors: Tensors,
    *,
    scale: float,
    seen: torch.Tensor | None = None,
    weigh: Callable[[torch.Tensor], torch.Tensor] = _softmax_of,
) -> torch.Tensor:
    """weigh(scale * Q K^T, minus infinity where a key is not `seen`) V for each head.

    `seen` is bool, (seq_len, seq_len): whether the query of a row looks at the key of a column.
    """
    q, k, v = (tensors[name].transpose(1, 2) for name in ("Q", "K", "V"))
    scores = scale * (q @ k.transpose(-1, -2))
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return (weigh(scores) @ v).transpose(1, 2).contiguous()


def _scale(sizes: Sizes) -> float:
    return 1 / math.sqrt(sizes["dim"])


def _seen(sizes: Sizes, flags: Mapping[str, bool], diagonal: int = 0) -> torch.Tensor | None:
    """Keys up to `diagonal` places after the query; None where all keys are seen."""
    import torch

    if not flags.get("is_causal"):
        return None
    return torch.ones(sizes["seq_len"], sizes["seq_len"], dtype=torch.bool).tril(diagonal)


def _reference(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor:
    return _attention(tensors, scale=_scale(sizes), seen=_seen(sizes, flags))


def _library(tensors: Tensors, _sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor:
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (tensors[name].transpose(1, 2) for name in ("Q", "K", "V"))
    return scaled_dot_product_attention(q, k, v, is_causal=flags.get("is_causal", False)).transpose(1, 2).contiguous()


def _flops(sizes: Sizes, flags: Mapping[str, bool]) -> int:
    length = sizes["seq_len"]
    pairs = length * (length + 1) // 2 if flags.get("is_causal") else length * length
    return 4 * sizes["batch"] * sizes["heads"] * sizes["dim"] * pairs


def _scaled_by(factor: Callable[[int], float]) -> Compute:
    """Attention with the scores multiplied by factor(dim)."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        return _attention(tensors, scale=factor(sizes["dim"]), seen=_seen(sizes, flags))

    return compute


def _seen_up_to(diagonal: int | None) -> Compute:
    """Causal attention that sees keys up to `diagonal` places after the query; None: all of them."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        if not flags.get("is_causal") or sizes["seq_len"] == 1:
            return None
        seen = None if diagonal is None else _seen(sizes, flags, diagonal)
        return _attention(tensors, scale=_scale(sizes), seen=seen)

    return compute


def _diagonal_hidden(block: int) -> Compute:
    """Causal attention that does not see the query's own key, with a large negative number for minus infinity.

    The first query then sees all keys of its block alike, those past the end of the sequence included, which are zero.
    """

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        wrong = _seen_up_to(-1)(tensors, sizes, flags)
        if wrong is not None:
            wrong[:, 0] = tensors["V"][:, :block].sum(1) / block
        return wrong

    return compute


def _mask_by_blocks(block: int) -> Compute:
    """Causal attention whose queries see all keys of the blocks that their own block of queries looks at."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        if not flags.get("is_causal") or sizes["seq_len"] == 1:
            return None
        blocks = torch.arange(sizes["seq_len"]) // block
        return _attention(tensors, scale=_scale(sizes), seen=blocks <= blocks[:, None])

    return compute


def _mirrored_mask(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    seen = _seen(sizes, flags)
    return None if seen is None or len(seen) == 1 else _attention(tensors, scale=_scale(sizes), seen=seen.T)


def _heads_as_sequence(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    """Attention of the heads of each position among each other."""
    import torch

    heads = sizes["heads"]
    seen = torch.ones(heads, heads, dtype=torch.bool).tril() if flags.get("is_causal") else None
    swapped = {name: tensor.transpose(1, 2) for name, tensor in tensors.items()}
    return _attention(swapped, scale=_scale(sizes), seen=seen).transpose(1, 2).contiguous()


def _undivided(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    def weigh(scores: torch.Tensor) -> torch.Tensor:
        return (scores - scores.amax(-1, keepdim=True)).exp()

    return _attention(tensors, scale=_scale(sizes), seen=_seen(sizes, flags), weigh=weigh)


def _keys_past_the_end(block: int) -> Compute:
    """Full attention over whole blocks of keys: those past the end are zero, so that each adds exp(0) to the sum."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        past = -sizes["seq_len"] % block
        if flags.get("is_causal") or not past:
            return None

        def weigh(scores: torch.Tensor) -> torch.Tensor:
            return _softmax_of(torch.nn.functional.pad(scores, (0, past)))[..., : scores.shape[-1]]

        return _attention(tensors, scale=_scale(sizes), weigh=weigh)

    return compute


def _not_rescaled(block: int, *, output: bool, total: bool) -> Compute:
    """The online softmax over blocks of keys, where `output` or `total` (or both) is not scaled to a new maximum.

    What a block adds stays relative to the maximum at its time, where a right kernel has it relative to the last.
    """

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        length = sizes["seq_len"]
        if length <= block:
            return None
        ends = (torch.arange(length) // block + 1).mul(block).clamp(max=length) - 1

        def weigh(scores: torch.Tensor) -> torch.Tensor:
            right = (scores - scores.amax(-1, keepdim=True)).exp()
            stale = (scores - scores.cummax(-1).values[..., ends]).exp()
            return (stale if output else right) / (stale if total else right).sum(-1, keepdim=True)

        return _attention(tensors, scale=_scale(sizes), seen=_seen(sizes, flags), weigh=weigh)

    return compute


def _exchanged(**roles: str) -> Compute:
    """Attention with other tensors in the roles of Q, K and V, e.g. V="K"."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        return _reference({name: tensors[roles.get(name, name)] for name in tensors}, sizes, flags)

    return compute


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
    reference=_reference,
    library=_library,
    # The exponentials are rounded to float16 before they meet V: a right kernel errs by up to 3e-4, its rows by 4e-4.
    tolerance={"float16": Tolerance(frobenius=1e-3, row=2e-3, element=5e-3)},
    flops=_flops,
    mistakes=(
        Mistake("no-scale", "attention without the factor 1 / sqrt(dim)", _scaled_by(lambda dim: 1.0)),
        Mistake(
            "scale-dim", "attention with the factor 1 / dim instead of 1 / sqrt(dim)", _scaled_by(lambda dim: 1 / dim)
        ),
        Mistake(
            "base-two",
            "attention with powers of 2 in place of powers of e: the factor log2(e) is missing from the scores",
            _scaled_by(lambda dim: math.log(2) / math.sqrt(dim)),
        ),
        Mistake(
            "base-two-twice",
            "attention with the factor log2(e) on the scores and powers of e all the same",
            _scaled_by(lambda dim: 1 / math.log(2) / math.sqrt(dim)),
        ),
        Mistake("no-mask", "attention without the causal mask", _seen_up_to(None)),
        Mistake("mask-early", "causal attention that also sees the key after its query", _seen_up_to(1)),
        Mistake("mask-late", "causal attention that does not see the query's own key", _seen_up_to(-1)),
        *(
            Mistake(
                f"mask-late-{block}",
                "causal attention that does not see the query's own key",
                _diagonal_hidden(block),
            )
            for block in USUAL_BLOCKS
        ),
        *(
            Mistake(
                f"mask-by-blocks-{block}",
                f"causal attention that masks whole blocks of {block} keys, but no keys inside a block",
                _mask_by_blocks(block),
            )
            for block in USUAL_BLOCKS
        ),
        Mistake("mask-mirrored", "attention that sees the keys after its query, not those before", _mirrored_mask),
        Mistake("undivided", "attention without the final division by the sum of the exponentials", _undivided, hint=3),
        Mistake(
            "heads-as-sequence",
            "attention of the heads among each other: seq_len and heads are exchanged",
            _heads_as_sequence,
        ),
        Mistake("q-and-k-exchanged", "attention with Q and K exchanged", _exchanged(Q="K", K="Q")),
        Mistake("k-as-values", "attention that sums up K where it should sum up V", _exchanged(V="K")),
        *(
            Mistake(
                f"keys-past-the-end-{block}",
                f"attention that also looks at keys past the end of the sequence (block_N = {block}): they are read as "
                "zeros, and exp(0) is 1",
                _keys_past_the_end(block),
            )
            for block in USUAL_BLOCKS
        ),
        *(
            Mistake(
                f"{what}-{block}",
                f"{says} (block_N = {block})",
                _not_rescaled(block, output=output, total=total),
                hint=3,
            )
            for block in USUAL_BLOCKS
            for what, says, output, total in (
                ("output-not-rescaled", "attention whose output is not rescaled when the maximum rises", True, False),
                (
                    "sum-not-rescaled",
                    "attention whose sum of exponentials is not rescaled when the maximum rises",
                    False,
                    True,
                ),
                ("nothing-rescaled", "attention where nothing is rescaled when the maximum rises", True, True),
            )
        ),
    ),
    requirements=(one_launch(), uses_gemm(2), accumulates_in("float32"), no_global_intermediate()),
)
