"""Exercise 4: a matrix product with bias and GELU in its epilogue. The product is never written to memory."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from tlpuzzles.course.baselines import CUBLASLT_GELU, EAGER_GELU
from tlpuzzles.course.inputs import picked_sums, scaled_products, uniform
from tlpuzzles.course.products import flops, many_blocks, odd, one_element, ragged
from tlpuzzles.course.timings import fixed, scaled
from tlpuzzles.course.vocabulary import (
    Case,
    Compute,
    Exercise,
    Mistake,
    Runs,
    Sizes,
    Tensors,
    TensorSpec,
    Timing,
    Tolerance,
)
from tlpuzzles.kernel.requirements import (
    accumulates_in,
    constants,
    no_global_intermediate,
    no_needless_trips,
    one_launch,
    rounds_once,
    uses_gemm,
)

if TYPE_CHECKING:
    import torch

Function: TypeAlias = "Callable[[torch.Tensor], torch.Tensor]"

ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715
"""Constants of GELU's form with tanh (Hendrycks and Gimpel, https://arxiv.org/abs/1606.08415)."""

IN_BASE_TWO = math.log2(math.e)
FORMS_OF_ROOT = {
    "sqrt(2 / pi)": ROOT,
    "2 * sqrt(2 / pi)": 2 * ROOT,
    "sqrt(2 / pi) * log2(e)": ROOT * IN_BASE_TWO,
    "2 * sqrt(2 / pi) * log2(e)": 2 * ROOT * IN_BASE_TWO,
}
FORMS_OF_CUBIC = {"0.044715": CUBIC} | {f"0.044715 * {form}": CUBIC * value for form, value in FORMS_OF_ROOT.items()}

TELLING = tuple(n / 1024 for n in (1696, 1704, 1713, 1721, 1730, 1738, 1747, 1756, 1773, 1782, 1791, 1800, 1809, 1818))
"""Numbers whose GELU is within 4e-5 of a number of float16: a right one comes out with no error at all. It is 4.9e-4
away from being rounded to the next number, 5.8e-4 of it. The form with erf moves it by up to 1.6e-4, the GPU's own
tanh by 4.15e-4 at worst; 0.8 for sqrt(2 / pi) or 0.0457 for 0.044715 by 5.3e-4 or more, and that shows."""

USUAL_TILES = (64, 128, 256)
USUAL_DEPTHS = (32, 64)
"""What learners choose for block_N and block_K: a mistake whose output depends on it is computed for each."""


# As in exercise 2, tiles with sides of 64, 128 or 256 never form a square grid on these sizes. Nor do they form a
# single column: there, the bias of the first tile is the right one.


def _whole_tiles(rng: random.Random) -> Sizes:
    M, N = rng.choice(((256, 768), (768, 512), (512, 768)))
    return {"M": M, "N": N, "K": 64 * rng.choice((3, 5))}


def _ragged_rows(rng: random.Random) -> Sizes:
    # One trip, of 32 or of 64: fewer than the pipeline has stages.
    return {"M": odd(rng, 195, 251), "N": 768, "K": 32}


def _ragged_columns(rng: random.Random) -> Sizes:
    # Of many trips, too. Products of float16 are cheap on a CPU: 30 ms.
    return {"M": 256, "N": odd(rng, 645, 765), "K": 64 * rng.choice((17, 18))}


def _gelu(x: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.gelu(x, approximate="tanh")


def _reference(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return _gelu(tensors["A"] @ tensors["B"] + tensors["Bias"])


# Mistakes


def _activated(function: Function) -> Compute:
    """Another function in GELU's place."""

    def compute(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
        return function(tensors["A"] @ tensors["B"] + tensors["Bias"])

    return compute


def _argument(x: torch.Tensor) -> torch.Tensor:
    """What GELU takes the tanh of."""
    return ROOT * (x + CUBIC * x**3)


def _gated(argument: Function) -> Compute:
    """x times the logistic function of `argument(x)`. With twice GELU's own argument, that is GELU."""
    return _activated(lambda x: x * argument(x).sigmoid())


def _overflowing(x: torch.Tensor) -> torch.Tensor:
    """tanh as a quotient of float32 exponentials, which for large x is infinity over infinity."""
    power = (2 * _argument(x)).float().exp()
    return x * ((1 + (power - 1) / (power + 1)) / 2).double()


def _no_bias(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return _gelu(tensors["A"] @ tensors["B"])


def _bias_after_gelu(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return _gelu(tensors["A"] @ tensors["B"]) + tensors["Bias"]


def _bias_at(places: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Compute:
    """The bias of element (row, column) taken at `places(row, column)`; past its end it counts as zero, as copies
    deliver it."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        M, N = sizes["M"], sizes["N"]
        if N == 1:
            return None
        place = places(torch.arange(M)[:, None], torch.arange(N)[None, :]).expand(M, N)
        padded = torch.nn.functional.pad(tensors["Bias"], (0, max(0, int(place.max()) + 1 - N)))
        return _gelu(tensors["A"] @ tensors["B"] + padded[place])

    return compute


def _bias_in_every_trip(depth: int) -> Compute:
    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        trips = -(-sizes["K"] // depth)
        return None if trips == 1 else _gelu(tensors["A"] @ tensors["B"] + trips * tensors["Bias"])

    return compute


_MISTAKES = (
    Mistake("no-bias", "GELU(A @ B): the bias is missing", _no_bias),
    Mistake("bias-after-gelu", "GELU(A @ B) + Bias: the bias must be added before GELU", _bias_after_gelu),
    Mistake(
        "bias-by-rows",
        "what comes out if the bias is chosen by the row of C instead of by the column",
        _bias_at(lambda row, column: row),
    ),
    *(
        Mistake(
            f"bias-by-rows-{tile}",
            f"what comes out if the bias is chosen by the row inside the tile (of {tile} x {tile}), not by the column",
            # The tile of the bias is the right one, the place in it is not.
            _bias_at(lambda row, column, tile=tile: column // tile * tile + row % tile),  # type: ignore[misc]
        )
        for tile in (64, 128)
    ),
    *(
        Mistake(
            f"bias-of-first-tile-{tile}",
            f"what comes out if every block takes the first {tile} numbers of Bias instead of those of its own columns",
            _bias_at(lambda row, column, tile=tile: column % tile),  # type: ignore[misc]
        )
        for tile in USUAL_TILES
    ),
    *(
        Mistake(
            f"bias-in-every-trip-{depth}",
            f"what comes out if the bias is added once in every trip along K (block_K = {depth}) instead of once",
            _bias_in_every_trip(depth),
        )
        for depth in USUAL_DEPTHS
    ),
    Mistake("no-gelu", "A @ B + Bias: GELU is missing", _activated(lambda x: x)),
    Mistake("relu", "ReLU(A @ B + Bias), where GELU is asked for", _activated(lambda x: x.relu())),
    Mistake("silu", "x * sigmoid(x), which is SiLU, not GELU", _gated(lambda x: x), hint=3),
    Mistake(
        "quick-gelu",
        "x * sigmoid(1.702 * x): a rougher form of GELU than the one with tanh that is asked for",
        _gated(lambda x: 1.702 * x),
        hint=3,
    ),
    Mistake(
        "no-cubic-term",
        "GELU without its cubic term: inside the tanh stands x + 0.044715 * x * x * x, not x alone",
        _gated(lambda x: 2 * ROOT * x),
        hint=3,
    ),
    Mistake(
        "square-for-cube",
        "GELU with 0.044715 * x * x, where 0.044715 * x * x * x should stand",
        _gated(lambda x: 2 * ROOT * (x + CUBIC * x**2)),
        hint=3,
    ),
    Mistake(
        "no-root",
        "GELU without the factor sqrt(2 / pi) inside the tanh",
        _gated(lambda x: 2 * _argument(x) / ROOT),
        hint=3,
    ),
    Mistake(
        "no-factor-two",
        "x * sigmoid(u), where u is what the tanh is taken of: in the form with sigmoid or exp, it must be 2 * u",
        _gated(_argument),
        hint=3,
    ),
    Mistake(
        "wrong-sign",
        "GELU with the wrong sign inside: x / (1 + exp(2 * u)), where x / (1 + exp(-2 * u)) is right",
        _gated(lambda x: -2 * _argument(x)),
        hint=3,
    ),
    Mistake(
        "base-two",
        "GELU with powers of 2 in place of powers of e: the factor log2(e) is missing",
        _gated(lambda x: 2 * math.log(2) * _argument(x)),
        hint=3,
    ),
    Mistake("not-halved", "twice GELU: the factor 0.5 is missing", _activated(lambda x: 2 * _gelu(x)), hint=3),
    Mistake(
        "tanh-without-one",
        "0.5 * x * tanh(u): it must be 1 + tanh(u)",
        _activated(lambda x: 0.5 * x * _argument(x).tanh()),
        hint=3,
    ),
    Mistake(
        "factor-x-missing",
        "0.5 * (1 + tanh(u)): the factor x is missing",
        _activated(lambda x: 0.5 * (1 + _argument(x).tanh())),
        hint=3,
    ),
    Mistake(
        "tanh-overflows",
        "GELU with tanh(u) written as (exp(2 * u) - 1) / (exp(2 * u) + 1): for large u that is infinity by infinity",
        _activated(_overflowing),
        hint=3,
    ),
)

EXERCISE = Exercise(
    number=4,
    slug="epilogue_fusion",
    title="Epilogue fusion",
    summary="Bias and GELU before the product leaves the registers: C = GELU(A @ B + Bias).",
    factory="make_matmul_bias_gelu",
    inputs=(TensorSpec("A", ("M", "K")), TensorSpec("B", ("K", "N")), TensorSpec("Bias", ("N",))),
    output=TensorSpec("C", ("M", "N")),
    cases=(
        Case("ragged", "M, N and K all ragged, and more trips than stages", ragged),
        Case("saturated", "values so large that exp of them overflows", ragged, draw=scaled_products(40.0)),
        Case("mostly-bias", "a bias that outweighs the product", ragged, draw=scaled_products(0.3, bias=3.0)),
        Case("whole-tiles", "sizes that tiles divide, on a grid that is not square", _whole_tiles),
        Case("ragged-rows", "a ragged last row of tiles, and fewer trips than stages", _ragged_rows),
        Case("ragged-columns", "a ragged last column of tiles, and a K of more than a thousand", _ragged_columns),
        Case(
            "exact-sums",
            "sums around 1.75, where GELU shows a constant that is a little off",
            _ragged_rows,
            draw=picked_sums(TELLING),
        ),
        # GELU of 3.75 to 6: of -5 it is less than float16 can hold with any precision, and elsewhere the form with erf,
        # which may pass, is too far off for a norm over one element.
        Case("one-element", "matrices of a single element", one_element, draw=uniform(1.5, 2.0)),
        Case("many-blocks", "more blocks than a GPU runs at once", many_blocks, runs=Runs.ON_CUDA),
    ),
    draw=scaled_products(),
    reference=_reference,
    library=_reference,
    # Rounding to float16 costs 2.1e-4. With it, GELU in its form with erf errs by 2.6e-4, and with the GPU's own
    # approximate tanh (relative error up to 2 ** -11) by 3.8e-4 at worst; the nearest mistake errs by 5e-3.
    tolerance={"float16": Tolerance(frobenius=5e-4, row=1e-3, element=2e-3)},
    flops=flops,
    mistakes=_MISTAKES,
    speed_hint=3,
    timings=(
        Timing(
            Case("speed", "4096 x 4096 x 1024", fixed(M=4096, N=4096, K=1024)),
            against=(EAGER_GELU,),
            beside=(CUBLASLT_GELU,),
            spread=1024**-0.25,  # of A B, too, it is then 1
            probes=(scaled("A", 16),),
        ),
    ),
    requirements=(
        one_launch(),
        uses_gemm(),
        accumulates_in("float32"),
        rounds_once("T.gemm"),
        no_needless_trips(),
        no_global_intermediate(),
        constants("GELU", FORMS_OF_ROOT, FORMS_OF_CUBIC),
    ),
)
