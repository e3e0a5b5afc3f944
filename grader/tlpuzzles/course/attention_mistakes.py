"""Typical errors in attention, as the outputs that they give."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.attention import attend, attention, scale, seen_keys, softmax
from tlpuzzles.course.attention_reads import READS, USUAL_BLOCKS
from tlpuzzles.course.unwritten import NEVER_WRITTEN
from tlpuzzles.course.vocabulary import Compute, Mistake, Sizes, Tensors

if TYPE_CHECKING:
    import torch


def _scaled_by(factor: Callable[[int], float]) -> Compute:
    """Attention with the scores multiplied by factor(dim)."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        return attend(tensors, scale=factor(sizes["dim"]), seen=seen_keys(sizes, flags))

    return compute


def _seen_up_to(diagonal: int | None) -> Compute:
    """Causal attention that sees keys up to `diagonal` places after the query; None: all of them."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        if not flags.get("is_causal") or sizes["seq_len"] == 1:
            return None
        seen = None if diagonal is None else seen_keys(sizes, flags, diagonal)
        return attend(tensors, scale=scale(sizes), seen=seen)

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
        return attend(tensors, scale=scale(sizes), seen=blocks <= blocks[:, None])

    return compute


def _mask_by_places(block: int, *, all_trips: bool) -> Compute:
    """Causal attention whose mask says j <= i in every tile, up to the block of the queries or over all keys."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        if not flags.get("is_causal") or sizes["seq_len"] <= block:
            return None
        positions = torch.arange(sizes["seq_len"])
        blocks, places = positions // block, positions % block
        seen = places <= places[:, None]
        return attend(tensors, scale=scale(sizes), seen=seen if all_trips else seen & (blocks <= blocks[:, None]))

    return compute


def _mirrored_mask(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    seen = seen_keys(sizes, flags)
    return None if seen is None or len(seen) == 1 else attend(tensors, scale=scale(sizes), seen=seen.T)


def _heads_as_sequence(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    """Attention of the heads of each position among each other."""
    import torch

    heads = sizes["heads"]
    seen = torch.ones(heads, heads, dtype=torch.bool).tril() if flags.get("is_causal") else None
    swapped = {name: tensor.transpose(1, 2) for name, tensor in tensors.items()}
    return attend(swapped, scale=scale(sizes), seen=seen).transpose(1, 2).contiguous()


def _undivided(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    def weigh(scores: torch.Tensor) -> torch.Tensor:
        return (scores - scores.amax(-1, keepdim=True)).exp()

    return attend(tensors, scale=scale(sizes), seen=seen_keys(sizes, flags), weigh=weigh)


def _keys_past_the_end(block: int) -> Compute:
    """Full attention over whole blocks of keys: those past the end are zero, so that each adds exp(0) to the sum."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        past = -sizes["seq_len"] % block
        if flags.get("is_causal") or not past:
            return None

        def weigh(scores: torch.Tensor) -> torch.Tensor:
            return softmax(torch.nn.functional.pad(scores, (0, past)))[..., : scores.shape[-1]]

        return attend(tensors, scale=scale(sizes), weigh=weigh)

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

        return attend(tensors, scale=scale(sizes), seen=seen_keys(sizes, flags), weigh=weigh)

    return compute


def _mixed_powers(block: int, *, scores: float, shrink: float) -> Compute:
    """The online softmax over blocks of keys, with powers of `scores` for the weights and of `shrink` to rescale."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        length = sizes["seq_len"]
        ends = (torch.arange(length) // block + 1).mul(block).clamp(max=length) - 1

        def weigh(times_log2_e: torch.Tensor) -> torch.Tensor:
            at_its_time = times_log2_e.cummax(-1).values[..., ends]
            weights = (math.log(scores) * (times_log2_e - at_its_time)).exp()
            weights *= (math.log(shrink) * (at_its_time - times_log2_e.amax(-1, keepdim=True))).exp()
            return weights / weights.sum(-1, keepdim=True)

        return attend(tensors, scale=math.log2(math.e) * scale(sizes), seen=seen_keys(sizes, flags), weigh=weigh)

    return compute


def _exchanged(**roles: str) -> Compute:
    """Attention with other tensors in the roles of Q, K and V, e.g. V="K"."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        return attention({name: tensors[roles.get(name, name)] for name in tensors}, sizes, flags)

    return compute


def _rows_never_written(block: int) -> Compute:
    """A grid that is rounded down: the ragged last block of queries is never answered."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        whole = sizes["seq_len"] // block * block
        if whole in (0, sizes["seq_len"]):
            return None
        result = attention(tensors, sizes, flags)
        result[:, whole:] = NEVER_WRITTEN
        return result

    return compute


def _keys_not_transposed(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    """The first product without transpose_B, which compiles only for tiles of keys that are square: block_N = dim."""
    import torch

    length, dim = sizes["seq_len"], sizes["dim"]
    past = -length % dim
    q, k, v = (tensors[name].transpose(1, 2) for name in ("Q", "K", "V"))
    tiles = torch.nn.functional.pad(k, (0, 0, 0, past)).reshape(sizes["batch"], sizes["heads"], -1, dim, dim)
    scores = scale(sizes) * torch.einsum("bhid,bhkdj->bhikj", q, tiles).flatten(3)[..., :length]
    seen = seen_keys(sizes, flags)
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return (softmax(scores) @ v).transpose(1, 2).contiguous()


def _mistaken_blocks() -> Iterator[Mistake]:
    for block in USUAL_BLOCKS:
        yield Mistake(
            f"ragged-queries-missing-{block}",
            "attention without the ragged last block of queries: the number of blocks was rounded down (//) where it "
            "must be rounded up (T.ceildiv)",
            _rows_never_written(block),
        )
    yield Mistake(
        "keys-not-transposed",
        "attention whose scores are Q @ K, tile by tile, instead of Q @ K^T: transpose_B=True is missing",
        _keys_not_transposed,
    )


MISTAKES = (
    Mistake("no-scale", "attention without the factor 1 / sqrt(dim)", _scaled_by(lambda dim: 1.0)),
    Mistake("scale-dim", "attention with the factor 1 / dim instead of 1 / sqrt(dim)", _scaled_by(lambda dim: 1 / dim)),
    Mistake(
        "base-two",
        "attention with powers of 2 in place of powers of e: the factor log2(e) is missing from the scores",
        _scaled_by(lambda dim: math.log(2) / math.sqrt(dim)),
    ),
    Mistake(
        "base-two-twice",
        "attention with the factor log2(e) on the scores and powers of e all the same: T.exp stands where T.exp2 "
        "belongs",
        _scaled_by(lambda dim: 1 / math.log(2) / math.sqrt(dim)),
    ),
    *(
        Mistake(
            f"exp-in-{place}-{block}",
            f"attention with T.exp in place of T.exp2 in {what} alone (block_N = {block}): with the factor log2(e) in "
            "scale, both need T.exp2",
            _mixed_powers(block, scores=scores, shrink=shrink),
        )
        for block in USUAL_BLOCKS
        for place, what, scores, shrink in (
            ("scores", "the exponentials of the scores", math.e, 2.0),
            ("shrink", "shrink", 2.0, math.e),
        )
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
    *(
        Mistake(
            f"mask-by-places-{which}{block}",
            f"causal attention whose mask compares places in the tile (j <= i; block_M = block_N = {block}) and not "
            "positions in the sequence",
            _mask_by_places(block, all_trips=all_trips),
        )
        for block in USUAL_BLOCKS
        for which, all_trips in (("", False), ("everywhere-", True))
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
    *_mistaken_blocks(),
    *READS,
)
