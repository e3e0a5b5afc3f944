"""Typical errors in where attention reads its tiles from, as the outputs that they give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.attention import attention
from tlpuzzles.course.unwritten import NEVER_WRITTEN
from tlpuzzles.course.vocabulary import Compute, Mistake, Sizes, Tensors

if TYPE_CHECKING:
    import torch


USUAL_BLOCKS = (64, 128)
"""What learners choose for block_M and block_N: a mistake whose output depends on one is computed for each."""


def _batch_and_heads_exchanged(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    """by and bz exchanged: heads and entries of the batch that the other's number does not reach are never written."""
    batch, heads = sizes["batch"], sizes["heads"]
    if batch == heads:
        return None
    result = attention(tensors, sizes, flags)
    result[heads:], result[:, :, batch:] = NEVER_WRITTEN, NEVER_WRITTEN
    return result


def _axes_exchanged(*names: str) -> Compute:
    """Attention that reads these tensors at [by, ..., bz], which has 0 where there is no such entry or head."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        both = min(sizes["batch"], sizes["heads"])
        read = dict(tensors)
        for name in names:
            read[name] = torch.zeros_like(tensors[name])
            read[name][:both, :, :both] = tensors[name][:both, :, :both].transpose(0, 2)
        return attention(read, sizes, flags)

    return compute


def _written_exchanged(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
    """Attention that is written to [by, ..., bz]."""
    import torch

    both = min(sizes["batch"], sizes["heads"])
    result = attention(tensors, sizes, flags)
    written = torch.full_like(result, NEVER_WRITTEN)
    written[:both, :, :both] = result[:both, :, :both].transpose(0, 2)
    return written


def _position_alone(block: int, *names: str) -> Compute:
    """Attention whose tiles of these tensors are read as T.copy(Q[bz, start, by, 0], tile).

    Rows of such a tile are heads of one position, from `by` on; past the last head they are 0.
    """

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        positions, heads = torch.arange(sizes["seq_len"]), sizes["heads"]
        row = positions % block
        read = dict(tensors)
        for name in names:
            read[name] = torch.zeros_like(tensors[name])
            for head in range(heads):
                here = head + row < heads
                read[name][:, here, head] = tensors[name][:, (positions - row)[here], (head + row)[here]]
        return attention(read, sizes, flags)

    return compute


def _repeated(block: int, *names: str) -> Compute:
    """Attention whose tiles of the named tensors are those of the first block of positions, again and again."""

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        if sizes["seq_len"] <= block:
            return None
        first = torch.arange(sizes["seq_len"]) % block
        read = {name: tensor[:, first] if name in names else tensor for name, tensor in tensors.items()}
        return attention(read, sizes, flags)

    return compute


def _reads() -> Iterator[Mistake]:
    for block in USUAL_BLOCKS:
        yield Mistake(
            f"first-queries-{block}",
            f"attention of the first {block} queries in every block: start is missing from where Q is read",
            _repeated(block, "Q"),
        )
        for name, what in (("K", "keys"), ("V", "values")):
            yield Mistake(
                f"first-{what}-{block}",
                f"attention with the first {block} {what} in every trip: k * block_N is missing from where {name} is "
                "read",
                _repeated(block, name),
            )
        yield Mistake(
            f"first-keys-and-values-{block}",
            f"attention with the first {block} keys and values in every trip: k * block_N is missing from where K and "
            "V are read",
            _repeated(block, "K", "V"),
        )
        for names in (("Q",), ("K",), ("V",), ("K", "V"), ("Q", "K", "V")):
            them = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            yield Mistake(
                f"position-alone-{''.join(names).lower()}-{block}",
                f"attention whose tiles of {them} ({block} rows) hold heads of one position: a position alone, as in "
                "Q[bz, start, by, 0], means the last axes, heads and dim. Write the slice, as in "
                "Q[bz, start : start + block_M, by, :]",
                _position_alone(block, *names),
            )
    yield Mistake(
        "batch-and-heads-exchanged",
        "attention with by and bz exchanged: bz counts the entries of the batch, by the heads",
        _batch_and_heads_exchanged,
    )
    for names in (("Q",), ("K",), ("V",), ("K", "V"), ("Q", "K", "V")):
        them = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        yield Mistake(
            f"axes-exchanged-{''.join(names).lower()}",
            f"attention with batch entry and head exchanged where {them} {'is' if len(names) == 1 else 'are'} read: "
            "the first index is bz, the third by",
            _axes_exchanged(*names),
        )
    yield Mistake(
        "axes-exchanged-o",
        "attention with batch entry and head exchanged where O is written: the first index is bz, the third by",
        _written_exchanged,
    )


READS = tuple(_reads())
