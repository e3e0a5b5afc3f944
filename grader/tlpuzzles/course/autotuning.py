"""Exercise 7: TileLang's autotuner looks for the schedule of a matrix product among those that a learner lists."""

from __future__ import annotations

import random
from collections.abc import Mapping

from tlpuzzles.course import tuning_bytes
from tlpuzzles.course.baselines import CUBLAS
from tlpuzzles.course.functions import Call
from tlpuzzles.course.products import odd
from tlpuzzles.course.schedules import ChosenBy, Proposed
from tlpuzzles.course.tiled_gemm import EXERCISE as TILED_GEMM
from tlpuzzles.course.timings import fixed
from tlpuzzles.course.tuning_configs import configs_of
from tlpuzzles.course.tuning_space import function_checks
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes, Timing
from tlpuzzles.device.limits import Architecture


def _ragged(rng: random.Random) -> Sizes:
    """No tile divides them, and every usual tile has company in the grid. K is small, for this is done for several
    kernels: long sums are exercise 2's."""
    return {"M": odd(rng, 195, 251), "N": odd(rng, 517, 635), "K": odd(rng, 259, 351)}


def _ask(sizes: Mapping[str, int], architecture: Architecture) -> Call:
    return Call("configs", sizes, beside="tuned_matmul", arch=architecture.name)


EXERCISE = Exercise(
    number=7,
    slug="autotuning",
    title="Autotuning",
    summary="List the schedules worth a try, and let TileLang find the fastest.",
    factory="tuned_matmul",
    inputs=TILED_GEMM.inputs,
    output=TILED_GEMM.output,
    cases=(Case("ragged", "M, N and K all ragged", _ragged),),
    draw=TILED_GEMM.draw,
    reference=TILED_GEMM.reference,
    library=TILED_GEMM.library,
    tolerance=TILED_GEMM.tolerance,
    flops=TILED_GEMM.flops,
    mistakes=TILED_GEMM.mistakes,
    requirements=TILED_GEMM.requirements,
    speed_hint=3,
    timings=(
        Timing(Case("speed", "the winner at 2048 x 2048 x 2048", fixed(M=2048, N=2048, K=2048)), against=(CUBLAS,)),
    ),
    functions=(*tuning_bytes.CHECKS, *function_checks("configs", "tuned_matmul")),
    proposed=Proposed(
        case="ragged",
        ask=_ask,
        read=configs_of,
        sample=4,
        least=4,
        chosen_by=ChosenBy.AUTOTUNE,
        tuned_sizes={"M": 2048, "N": 2048, "K": 2048},
    ),
)
