"""Results as gradings give them, for tests and to look at: python -m tests.report.samples [FOLDER FOR SVG FILES]."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tlpuzzles.report.summary import show_all
from tlpuzzles.report.terminal import show
from tlpuzzles.verdict.model import (
    Check,
    Detail,
    Device,
    Environment,
    ExerciseName,
    Kind,
    Location,
    Points,
    Result,
    Results,
    Verdict,
)
from tlpuzzles.verdict.points import points

ENVIRONMENT = Environment(tlpuzzles="0.1.0", tilelang="0.1.15", torch="2.13.0", python="3.11.2", sandbox="limits")
CPU = Device(kind="cpu", name="CPU")
H200 = Device(kind="cuda", name="NVIDIA H200", arch="sm_90a")
FILE = "exercises/06_flash_attention/flash_attention.py"
SEED = 284619075
SIZES = {"batch": 1, "heads": 2, "seq_len": 200, "dim": 64}
RAGGED = "That is what full tiles leave over: check how the last, incomplete tile is read, masked and written."


def check(
    id_: str, title: str, kind: Kind, verdict: Verdict = Verdict.PASSED, message: str = "", detail: Detail | None = None
) -> Check:
    return Check(id=id_, title=title, kind=kind, verdict=verdict, message=message, detail=detail)


BUILD = [
    check("trace", "traces for every case", Kind.BUILD),
    check("contract", "takes Q, K, V and returns O", Kind.BUILD),
    check("compile", "compiles", Kind.BUILD),
]
REQUIREMENTS = [
    check("gemm", "multiplies with T.gemm", Kind.REQUIREMENT),
    check("accumulate", "accumulates in float32", Kind.REQUIREMENT),
    check("one-launch", "one launch", Kind.REQUIREMENT),
]
CASES = {
    "one-tile": "one tile",
    "square": "whole tiles",
    "ragged-keys": "a ragged end, full attention",
    "causal": "causal, whole tiles",
    "causal-ragged": "causal, a ragged end",
    "ramped": "logits that rise from key to key",
    "large": "large logits",
    "tiny": "one query, one key",
}
GPUS = {"sm_75": "T4 (sm_75)", "sm_89": "L4 (sm_89)", "sm_80": "A100 (sm_80)", "sm_90a": "H100 (sm_90a)"}
FITS_NOT = (
    "needs 98304 bytes of shared memory in a block; a T4 has 65536. Choose smaller blocks or fewer stages for "
    'arch == "sm_75".'
)


def correctness(failed: dict[str, tuple[str, Detail | None]]) -> list[Check]:
    return [
        check(id_, title, Kind.CORRECTNESS, Verdict.FAILED, *failed[id_])
        if id_ in failed
        else check(id_, title, Kind.CORRECTNESS, detail=Detail(case=id_, seed=SEED, error=2.4e-4))
        for id_, title in CASES.items()
    ]


def portability(warnings: dict[str, str] | None = None) -> list[Check]:
    return [check(id_, title, Kind.PORTABILITY, message=(warnings or {}).get(id_, "")) for id_, title in GPUS.items()]


NO_SPEED = check("speed", "speed", Kind.SPEED, Verdict.SKIPPED, "Speed needs a GPU.")
ORDER = check("order", "the same result with blocks and threads in reverse", Kind.ORDER)


def result(
    checks: Sequence[Check], verdict: Verdict, *, device: Device = CPU, output: str = "", file: str = FILE
) -> Result:
    return Result(
        exercise=ExerciseName(number=6, slug="flash_attention"),
        file=file,
        verdict=verdict,
        points=points(checks),
        device=device,
        checks=tuple(checks),
        output=output,
        environment=ENVIRONMENT,
        seconds=11.3,
    )


def passed() -> Result:
    checks = [*BUILD, *REQUIREMENTS, *correctness({}), ORDER, *portability({"sm_75": FITS_NOT}), NO_SPEED]
    return result(checks, Verdict.PASSED)


def wrong() -> Result:
    detail = Detail(
        case="ragged-keys",
        seed=SEED,
        sizes=SIZES,
        dtype="float16",
        mistake="no-tail-mask",
        hint=3,
        region="the whole output",
        axes=("batch", "seq_len", "heads", "dim"),
        first_wrong=(0, 0, 0, 0),
        expected=0.03694883964342376,
        found=0.031341552734375,
        error=0.144,
        location=Location(file=FILE, line=48, source="            T.reduce_sum(P, total, dim=1)"),
    )
    equals = "Your output equals attention in which the keys past the end count as zeros. Hint 3 is about this."
    where = f"O is wrong in the last 8 positions along seq_len (192 to 199). The rest is right. {RAGGED}"
    checks = [
        *BUILD,
        *REQUIREMENTS,
        *correctness({"ragged-keys": (equals, detail), "tiny": (equals, detail), "causal-ragged": (where, detail)}),
        ORDER,
        *portability({"sm_75": FITS_NOT}),
        NO_SPEED,
    ]
    return result(checks, Verdict.FAILED, output="tracing for 200\nblock_M = 64\n")


def unset() -> Result:
    message = (
        "A tile is read before it is set: O is NaN everywhere if shared memory and fragments start as NaN, and is not "
        "if they start as large numbers. A GPU's shared memory and registers hold leftovers of earlier work: clear or "
        "fill every tile that T.gemm, +=, T.reduce_max(clear=False) or the like adds to."
    )
    detail = Detail(
        case="one-tile",
        seed=SEED,
        sizes=SIZES,
        dtype="float16",
        axes=("batch", "seq_len", "heads", "dim"),
        first_wrong=(0, 0, 0, 0),
        expected=-1.25,
        found=float("nan"),
        region="the whole output",
    )
    order = check("order", ORDER.title, Kind.ORDER, Verdict.FAILED, message, detail)
    failed = dict.fromkeys(CASES, (message, detail))
    return result([*BUILD, *REQUIREMENTS, *correctness(failed), order, *portability(), NO_SPEED], Verdict.FAILED)


def does_not_compile() -> Result:
    raw = "tvm.error.InternalError: Layout infer conflict between S_shared and S in T.Parallel loop:\n" + "\n".join(
        f"    loop Fragment([64, 64] -> [32], replicate: 1, thread: 128, index: [{n}])" for n in range(20)
    )
    detail = Detail(
        location=Location(file=FILE, line=41, source="                S_shared[i, j] = S[j, i] * scale"),
        raw=raw,
        hint=2,
    )
    message = (
        "TileLang finds no way to spread the fragment S over the threads: line 41 reads it in another order than "
        "T.gemm writes it. Read S[i, j] in a loop over T.Parallel(i, j), or go through a shared tile."
    )
    checks = [
        *BUILD[:2],
        check("compile", "compiles", Kind.BUILD, Verdict.FAILED, message, detail),
        *REQUIREMENTS,
        *(
            check(id_, t, Kind.CORRECTNESS, Verdict.SKIPPED, "Not run: there is no kernel to run.")
            for id_, t in CASES.items()
        ),
    ]
    return result(checks, Verdict.FAILED, device=H200)


def not_started() -> Result:
    message = (
        "This is still the skeleton. What is to do in it:\n"
        "  line 31  TODO 1  load a block of queries into shared memory\n"
        "  line 37  TODO 2  multiply queries and keys\n"
        "  line 44  TODO 3  keep the running maximum and sum"
    )
    skipped = check("skeleton", "skeleton", Kind.BUILD, Verdict.SKIPPED, message)
    return result([skipped], Verdict.NOT_STARTED).model_copy(
        update={"points": Points(earned=0, possible=100, not_graded=40)}
    )


def our_error() -> Result:
    message = "The reference solution does not compile either, so your kernel could not be graded."
    checks = [
        *BUILD[:2],
        check("compile", "compiles", Kind.BUILD, Verdict.ERROR, message, Detail(raw="g++: not found")),
    ]
    return result(checks, Verdict.ERROR, file="my kernels/attention é.py")


def all_exercises() -> Results:
    others = [
        passed().model_copy(update={"exercise": ExerciseName(number=1, slug="vector_add")}),
        not_started().model_copy(update={"exercise": ExerciseName(number=2, slug="tiled_gemm")}),
        wrong(),
        our_error().model_copy(update={"exercise": ExerciseName(number=7, slug="softmax")}),
    ]
    return Results(
        exercises=tuple(others),
        points=Points(
            earned=sum(one.points.earned for one in others),
            possible=sum(one.points.possible for one in others),
            not_graded=sum(one.points.not_graded for one in others),
        ),
    )


TITLES = {1: "Vector add", 2: "Tiled GEMM", 6: "FlashAttention forward", 7: "Softmax"}

SAMPLES = {
    "passed": passed,
    "wrong": wrong,
    "unset": unset,
    "does_not_compile": does_not_compile,
    "not_started": not_started,
    "our_error": our_error,
}


def main(folder: str = "", width: str = "88") -> None:
    for name in (*SAMPLES, "all"):
        console = Console(record=bool(folder), width=int(width), highlight=False, force_terminal=True)
        if name == "all":
            show_all(all_exercises(), console, titles=TITLES)
        else:
            show(SAMPLES[name](), console, title="FlashAttention forward", following=(7, "Softmax"))
        if folder:
            console.save_svg(str(Path(folder) / f"{name}.svg"), title="tlpuzzles grade 6")


if __name__ == "__main__":
    main(*sys.argv[1:])
