"""Small exercises for the judge's tests, with kernels simulated in torch: right ones, and ones wrong in a known way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from tlpuzzles.course.inputs import normal
from tlpuzzles.course.vocabulary import Case, Draw, Exercise, Mistake, TensorSpec, Tolerance
from tlpuzzles.verdict.judge import judge
from tlpuzzles.verdict.judgement import CaseJudgement
from tlpuzzles.verdict.poison import POISON_BITS
from tlpuzzles.verdict.posed import Posed, raw

torch.set_num_threads(1)  # as in the judge; with tensors this small, threads only wait for each other

Flags = Mapping[str, bool]
Named = Mapping[str, torch.Tensor]

GEMM_TOLERANCE = Tolerance(frobenius=5e-4, row=1e-3, element=2e-3)
ATTENTION_TOLERANCE = Tolerance(frobenius=1e-3, row=2e-3, element=5e-3)
SEED = 20261129


def _exercise(
    slug: str,
    inputs: tuple[TensorSpec, ...],
    output: TensorSpec,
    reference: object,
    tolerance: Mapping[str, Tolerance],
    mistakes: tuple[Mistake, ...] = (),
    library: object = None,
) -> Exercise:
    return Exercise(
        number=1,
        slug=slug,
        title=slug,
        summary=slug,
        factory="make",
        inputs=inputs,
        output=output,
        cases=(),
        draw=normal(),
        reference=reference,  # type: ignore[arg-type]
        tolerance=tolerance,
        flops=lambda sizes, flags: 1,
        library=library,  # type: ignore[arg-type]
        mistakes=mistakes,
    )


ADD = _exercise(
    "add",
    (TensorSpec("A", ("N",)), TensorSpec("B", ("N",))),
    TensorSpec("C", ("N",)),
    lambda t, sizes, flags: t["A"] + t["B"],
    {"float32": Tolerance(1e-7, 1e-7, 1e-6), "float16": Tolerance(5e-4, 5e-4, 2e-3)},
)

GEMM = _exercise(
    "gemm",
    (TensorSpec("A", ("M", "K")), TensorSpec("B", ("K", "N"))),
    TensorSpec("C", ("M", "N")),
    lambda t, sizes, flags: t["A"] @ t["B"],
    {"float16": GEMM_TOLERANCE, "bfloat16": Tolerance(2.5e-3, 4e-3, 1e-2)},
    (Mistake("last-step", "the product without its last 32 terms", lambda t, s, f: t["A"][:, :-32] @ t["B"][:-32], 1),),
)


def attention(
    tensors: Named,
    flags: Flags,
    *,
    scale: float | None = None,
    offset: int = 0,
    keys: int | None = None,
    ghost_keys: int = 0,
) -> torch.Tensor:
    """Attention in the inputs' dtype over (batch, seq_len, heads, dim), with the dials that typical errors turn."""
    q, k, v = (tensors[name].transpose(1, 2) for name in "QKV")
    length, dim = q.shape[2], q.shape[3]
    logits = q @ k.transpose(2, 3) * (dim**-0.5 if scale is None else scale)
    if flags.get("is_causal"):
        later = torch.ones(length, length, dtype=torch.bool).triu(1 + offset)
        logits = logits.masked_fill(later, float("-inf"))
    if keys is not None:
        logits, v = logits[..., :keys], v[:, :, :keys]
    if ghost_keys:  # keys past the end that count as zeros: the ragged tail left unmasked
        logits = torch.nn.functional.pad(logits, (0, ghost_keys))
        v = torch.nn.functional.pad(v, (0, 0, 0, ghost_keys))
    return (logits.softmax(dim=-1) @ v).transpose(1, 2).contiguous()


AXES = ("batch", "seq_len", "heads", "dim")
ATTENTION = _exercise(
    "attention",
    tuple(TensorSpec(name, AXES) for name in "QKV"),
    TensorSpec("O", AXES),
    lambda t, sizes, flags: attention(t, flags),
    {"float16": ATTENTION_TOLERANCE},
    (
        Mistake("no-scale", "attention without the factor 1/sqrt(dim)", lambda t, s, f: attention(t, f, scale=1.0)),
        Mistake(
            "causal-off-by-one",
            "attention that also sees the next key",
            lambda t, s, f: attention(t, f, offset=1) if f.get("is_causal") else None,
            3,
        ),
    ),
)


def posed(
    exercise: Exercise, *, dtype: str = "float16", draw: Draw | None = None, flags: Flags | None = None, **sizes: int
) -> Posed:
    case = Case("sample", "a sample", lambda _: sizes, dtype=dtype, flags=flags or {}, draw=draw)
    return Posed(exercise, case, sizes, SEED)


def right(problem: Posed) -> torch.Tensor:
    """What a right kernel gives: the reference rounded once."""
    return problem.expected.to(problem.inputs[problem.exercise.inputs[0].name].dtype)


def unwritten(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """An output that no kernel wrote."""
    bits = POISON_BITS[dtype]
    if dtype == "float32":
        return torch.full(shape, bits, dtype=torch.int32).view(torch.float32)
    return torch.full(shape, bits, dtype=torch.int16).view(getattr(torch, dtype))


def judged(problem: Posed, folder: Path, found: torch.Tensor, second: torch.Tensor | None = None) -> CaseJudgement:
    """The judgement of an output, carried through files and JSON as in a grading."""
    files = []
    for number, output in enumerate((found, second)):
        if output is not None:
            files.append(folder / f"found{number}.bin")
            files[-1].write_bytes(raw(output))
    judgement = judge(problem.exercise, problem.case, problem.sizes, problem.seed, *files)
    return CaseJudgement.model_validate_json(judgement.model_dump_json())


def gemm_summed_in_float16(a: torch.Tensor, b: torch.Tensor, step: int = 16) -> torch.Tensor:
    """The product as a float16 accumulator gives it: products of `step` terms are exact, their sum is rounded."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float16)
    for k in range(0, a.shape[1], step):
        total = (total.float() + a[:, k : k + step].float() @ b[k : k + step].float()).half()
    return total


def gemm_summed_in_float32(a: torch.Tensor, b: torch.Tensor, step: int) -> torch.Tensor:
    """A right kernel with its own order of summation."""
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(0, a.shape[1], step):
        total += a[:, k : k + step].float() @ b[k : k + step].float()
    return total.half()


def flash_attention(
    tensors: Named,
    *,
    causal: bool = False,
    block: int = 64,
    scale: float = 1.0,
    subtract_max: bool = True,
    rescale: bool = True,
    rescale_sum: bool = True,
    drop_last_block: bool = False,
) -> torch.Tensor:
    """Online softmax in blocks of keys, in float32 with float16 probabilities: what the kernel of the exercise does."""
    q, k, v = (tensors[name].transpose(1, 2).float() for name in "QKV")
    length, dim = q.shape[2], q.shape[3]
    top = torch.full((*q.shape[:3], 1), float("-inf"))
    total = torch.zeros_like(top)
    out = torch.zeros_like(q)
    starts = list(range(0, length, block))
    for start in starts[:-1] if drop_last_block else starts:
        logits = q @ k[:, :, start : start + block].transpose(2, 3) * (scale * dim**-0.5)
        if causal:
            key = torch.arange(start, start + logits.shape[-1])
            logits = logits.masked_fill(key > torch.arange(length)[:, None], float("-inf"))
        new = torch.maximum(top, logits.amax(dim=-1, keepdim=True)) if subtract_max else torch.zeros_like(top)
        shrink = torch.exp(top - new) if subtract_max else torch.ones_like(top)
        weights = torch.exp(logits - new)
        total = total * (shrink if rescale_sum else 1.0) + weights.sum(dim=-1, keepdim=True)
        out = out * (shrink if rescale else 1.0) + weights.half().float() @ v[:, :, start : start + block]
        top = new
    return (out / total).half().transpose(1, 2).contiguous()
