"""Results as gradings give them, for tests and to look at: python -m tests.report.samples [FOLDER FOR SVG FILES]."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tlpuzzles.report.summary import show_all
from tlpuzzles.report.terminal import show
from tlpuzzles.verdict.measured import Compiled, Gpu, Stopped
from tlpuzzles.verdict.model import (
    Check,
    Compared,
    Detail,
    Device,
    Environment,
    ExerciseName,
    Kind,
    Location,
    Points,
    Result,
    Results,
    Roofline,
    Speed,
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


NO_SPEED = check("speed", "speed", Kind.SPEED, Verdict.SKIPPED, "needs a GPU")
ORDER = check("order", "the same result with blocks and threads in reverse", Kind.ORDER)


def result(
    checks: Sequence[Check], verdict: Verdict, *, device: Device = CPU, output: str = "", file: str = FILE
) -> Result:
    return Result(
        exercise=ExerciseName(number=6, slug="flash_attention"),
        file=file,
        verdict=verdict,
        # Without a GPU, no speed is graded.
        points=points(checks, elsewhere={NO_SPEED.id}),
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


COPY_GBPS, MATRIX_TFLOPS = 4213.0, 742.0
CUBLAS, CUDNN = "cuBLAS (torch.mm, sums in float32)", "SDPA by cuDNN"
COPY = "a copy in device memory, byte for byte"
MEASURED_ON = "measured on an H200, 2026-11-30"
QUIET = Gpu(sm_clock_mhz=(1965, 1980), temperature=41, power_watts=612.4, others=0)
WARPS = Compiled(
    registers=168,
    spill_bytes=0,
    shared_bytes=98304,
    threads=256,
    blocks_per_sm=1,
    instructions=("wgmma", "TMA"),
)
"""Of a kernel with a group of warps that only copies."""


def speed(
    case: str,
    title: str,
    milliseconds: float,
    baseline_milliseconds: float,
    work: tuple[int, int],
    *,
    marks: tuple[float, float] | None = (0.6, 0.88),
    baseline: tuple[str, str] = ("cudnn-sdpa", CUDNN),
    half: float = 0.0012,
    **fields: object,
) -> Speed:
    """Of a problem of so many (operations, bytes), on an H200; `marks` are those to pass and for all points."""
    flops, moved = work
    ratio = baseline_milliseconds / milliseconds
    by_memory, by_arithmetic = moved / COPY_GBPS / 1e6, flops / MATRIX_TFLOPS / 1e9
    limit = max(by_memory, by_arithmetic)
    pass_at, full_at = marks or (None, None)
    score = None if pass_at is None or full_at is None else min(max((ratio - pass_at) / (full_at - pass_at), 0), 1)
    given = {
        "case": case,
        "title": title,
        "ratio": ratio,
        "ci": (ratio - half, ratio + half),
        "baseline": baseline[1],
        "baseline_id": baseline[0],
        "milliseconds": milliseconds,
        "baseline_milliseconds": baseline_milliseconds,
        "tflops": flops / milliseconds / 1e9 if by_arithmetic > by_memory else None,
        "gbps": moved / milliseconds / 1e6 if by_memory > by_arithmetic else None,
        "limit_fraction": limit / milliseconds,
        "pass_at": pass_at,
        "full_at": full_at,
        "graded": marks is not None,
        "origin": None if marks is None else "measured",
        "threshold_from": None if marks is None else MEASURED_ON,
        "points": 40.0,
        "score": score,
        "self_ratio": 0.9997,
        "self_ci": (0.9991, 1.0004),
        "blocks": 48,
        "rounds": 6,
        "stopped": Stopped.NARROW,
        "roofline": Roofline(
            flops=flops,
            bytes=moved,
            copy_gbps=COPY_GBPS,
            matrix_tflops=MATRIX_TFLOPS,
            bound="memory" if by_memory > by_arithmetic else "arithmetic",
            limit_milliseconds=limit,
            baseline_fraction=None if baseline[0] == "copy" else limit / baseline_milliseconds,
        ),
        "compiled": WARPS,
        "gpu": QUIET,
    }
    return Speed.model_validate(given | fields)


def timed(
    speeds: Sequence[Speed] | None,
    checks: Sequence[Check],
    *,
    exercise: tuple[int, str] = (6, "flash_attention"),
    verdict: Verdict = Verdict.PASSED,
    device: Device = H200,
) -> Result:
    """A kernel whose results are right, and what `checks` say of its speed."""
    number, slug = exercise
    checks = [*BUILD, *REQUIREMENTS, *correctness({}), *portability(), *checks]
    share = 40 / len(speeds) if speeds else None
    speeds = [speed.model_copy(update={"points": share}) for speed in speeds or ()]
    return result(checks, verdict, device=device).model_copy(
        update={
            "exercise": ExerciseName(number=number, slug=slug),
            "file": f"exercises/{number:02}_{slug}/{slug}.py",
            "speed": tuple(speeds) or None,
            "points": points(checks, speeds),
        }
    )


def timed_check(
    speed: Speed, verdict: Verdict = Verdict.PASSED, message: str = "", *, hint: int | None = None, **fields: object
) -> Check:
    detail = Detail(case=speed.case, dtype="float16", hint=hint)
    return check(speed.case, speed.title, Kind.SPEED, verdict, message, detail).model_copy(update=fields)


def all_points(earned: int, not_graded: int = 0) -> Points:
    return Points(earned=earned, possible=100, not_graded=not_graded)


ATTENTION = {
    "speed-full-64": ("full attention over 4096 tokens, dim 64", 0.3157, 0.2954, (137438953472, 67108864)),
    "speed-causal-64": ("causal attention over 4096 tokens, dim 64", 0.1699, 0.1841, (68719476736, 67108864)),
    "speed-full-128": ("full attention over 4096 tokens, dim 128", 0.4577, 0.4151, (274877906944, 134217728)),
    "speed-causal-128": ("causal attention over 4096 tokens, dim 128", 0.2574, 0.2631, (137438953472, 134217728)),
}
GEMM_4096, GEMM_8192 = (2 * 4096**3, 3 * 2 * 4096**2), (2 * 8192**3, 3 * 2 * 8192**2)
GEMM_MARKS = (0.75, 0.95)
TO_CUBLAS = ("cublas", CUBLAS)


def fast() -> Result:
    """Attention by the reference solution: all points for every case."""
    speeds = [speed(id_, *numbers) for id_, numbers in ATTENTION.items()]
    told = "1.022 (1.021 to 1.023) times the speed of SDPA by cuDNN: all points, from 0.88."
    return timed(speeds, [timed_check(one, message=told) for one in speeds])


def vector() -> Result:
    """Vector add beside a copy: far from what arithmetic limits."""
    one = speed(
        "speed",
        "67 million elements",
        0.1890,
        0.1911,
        (1 << 26, 3 * 4 << 26),
        marks=(0.8, 0.97),
        baseline=("copy", COPY),
        beside=(Compared(baseline="torch.add", ratio=1.005, ci=(1.004, 1.006), milliseconds=0.1901),),
        compiled=Compiled(registers=24, spill_bytes=0, shared_bytes=0, threads=256, blocks_per_sm=8),
    )
    return timed([one], [timed_check(one)], exercise=(1, "vector_add"))


def slow() -> Result:
    """A product whose larger case misses the mark."""
    advice = "Write the result through a shared tile: a block's stores then go out as whole rows (hint 4)."
    plain = Compiled(
        registers=255, spill_bytes=96, shared_bytes=65536, threads=128, blocks_per_sm=2, instructions=("wgmma",)
    )
    small = speed(
        "speed-4096",
        "4096 x 4096 x 4096",
        0.2224,
        0.1801,
        GEMM_4096,
        marks=GEMM_MARKS,
        baseline=TO_CUBLAS,
        compiled=plain,
        advice=advice,
    )
    large = speed(
        "speed-8192",
        "8192 x 8192 x 8192",
        2.9130,
        1.5731,
        GEMM_8192,
        marks=GEMM_MARKS,
        baseline=TO_CUBLAS,
        compiled=plain,
        advice=advice,
        gpu=Gpu(sm_clock_mhz=(1755, 1980), throttled=("power limit",), temperature=63, power_watts=699.1, others=1),
    )
    message = f"0.540 (0.539 to 0.541) of the speed of {CUBLAS}: too slow. It passes from 0.75, all points from 0.95."
    checks = [timed_check(small), timed_check(large, Verdict.FAILED, message, hint=4)]
    return timed([small, large], checks, exercise=(2, "tiled_gemm"), verdict=Verdict.FAILED)


def noisy() -> Result:
    """Another program has the GPU, too."""
    one = speed(
        "speed",
        "the winner at 2048 x 2048 x 2048",
        0.0310,
        0.0284,
        (2 * 2048**3, 3 * 2 * 2048**2),
        marks=(0.7, 0.95),
        baseline=TO_CUBLAS,
        half=0.071,
        score=None,
        self_ratio=0.953,
        self_ci=(0.921, 0.988),
        stopped=Stopped.CAPPED,
        gpu=Gpu(sm_clock_mhz=(1410, 1980), throttled=("power limit", "temperature"), others=2, busy=True),
    )
    message = (
        "The machine was too noisy to say: the GPU was computing for somebody else before the measurement began; 2 "
        "other processes have the GPU open. See with nvidia-smi what it is, end it or wait for it, and grade again."
    )
    checks = [timed_check(one, Verdict.INCONCLUSIVE, message)]
    return timed([one], checks, exercise=(7, "autotuning"), verdict=Verdict.INCONCLUSIVE)


T4 = Device(kind="cuda", name="Tesla T4", arch="sm_75")


def estimated() -> Result:
    """On a GPU that nobody measured the marks on: short of them, and passed."""
    roof = {"copy_gbps": 243.0, "matrix_tflops": 41.0}
    speeds = []
    for n, (id_, milliseconds, baseline) in enumerate((("speed-4096", 9.61, 4.18), ("speed-8192", 58.9, 33.2))):
        flops, moved = (GEMM_4096, GEMM_8192)[n]
        size = id_.removeprefix("speed-")
        limit = flops / roof["matrix_tflops"] / 1e9
        roofline = Roofline(
            flops=flops,
            bytes=moved,
            bound="arithmetic",
            limit_milliseconds=limit,
            baseline_fraction=limit / baseline,
            **roof,
        )
        one = speed(
            id_,
            f"{size} x {size} x {size}",
            milliseconds,
            baseline,
            (flops, moved),
            marks=(0.45, 0.7),
            baseline=TO_CUBLAS,
            half=0.009,
            graded=False,
            origin="estimated",
            threshold_from="estimated from published ratios",
            roofline=roofline,
            limit_fraction=limit / milliseconds,
            compiled=Compiled(
                registers=128, shared_bytes=32768, threads=128, blocks_per_sm=2, instructions=("mma.m16n8k8",)
            ),
            gpu=Gpu(sm_clock_mhz=(645, 1590), throttled=("power limit",), temperature=74, power_watts=69.8, others=0),
        )
        speeds.append(one)
    short = (
        f"0.435 (0.426 to 0.444) of the speed of {CUBLAS}: no points yet; they begin at 0.45, all from 0.70. The marks "
        "are estimated for this GPU: they never fail an exercise."
    )
    checks = [timed_check(speeds[0], Verdict.FAILED, short, graded=False), timed_check(speeds[1])]
    return timed(speeds, checks, exercise=(2, "tiled_gemm"), device=T4)


def lenient() -> Result:
    """Barely slower than the mark, and passed."""
    one = speed("speed", "4096 x 4096 x 4096", 0.2417, 0.1801, GEMM_4096, marks=GEMM_MARKS, baseline=TO_CUBLAS)
    told = f"0.745 (0.744 to 0.746) of the speed of {CUBLAS}: passes (within 3 % of 0.75), no points below it."
    return timed([one], [timed_check(one, message=told, hint=5)], exercise=(3, "schedule_sweep"))


def no_gpu() -> Result:
    """Speed asked for alone on a CPU."""
    points_ = Points(earned=0, possible=100, not_graded=100)
    return result([NO_SPEED], Verdict.INCONCLUSIVE).model_copy(update={"only": "speed", "points": points_})


def unknown_baseline() -> Result:
    """No marks for the backend that this GPU has."""
    named = ("efficient-sdpa", "SDPA, memory-efficient")
    speeds = [speed(id_, *numbers, marks=None, baseline=named) for id_, numbers in list(ATTENTION.items())[:2]]
    none = f"Not graded: there is no mark for this GPU beside {named[1]}."
    checks = [
        timed_check(one, Verdict.SKIPPED, f"{one.ratio:.3f} of the speed of {named[1]}. {none}") for one in speeds
    ]
    return timed(speeds, checks)


def not_asked() -> Result:
    skipped = check("speed", "speed", Kind.SPEED, Verdict.SKIPPED, "not asked (--no-speed)")
    return timed(None, [skipped])


def all_exercises() -> Results:
    others = [
        passed().model_copy(update={"exercise": ExerciseName(number=1, slug="vector_add")}),
        not_started().model_copy(update={"exercise": ExerciseName(number=2, slug="tiled_gemm")}),
        wrong(),
        our_error().model_copy(update={"exercise": ExerciseName(number=7, slug="softmax")}),
    ]
    return together(others)


def all_timed() -> Results:
    return together([vector(), slow(), not_started(), fast(), noisy()])


def together(results: Sequence[Result]) -> Results:
    return Results(
        exercises=tuple(results),
        points=Points(
            earned=sum(one.points.earned for one in results),
            possible=sum(one.points.possible for one in results),
            not_graded=sum(one.points.not_graded for one in results),
        ),
    )


TITLES = {1: "Vector add", 2: "Tiled GEMM", 6: "FlashAttention forward", 7: "Softmax"}

TIMED = {
    "fast": fast,
    "vector": vector,
    "slow": slow,
    "noisy": noisy,
    "estimated": estimated,
    "lenient": lenient,
    "unknown_baseline": unknown_baseline,
}
"""Those with a section about speed."""

SAMPLES = {
    "passed": passed,
    "wrong": wrong,
    "unset": unset,
    "does_not_compile": does_not_compile,
    "not_started": not_started,
    "our_error": our_error,
    "not_asked": not_asked,
    "no_gpu": no_gpu,
    **TIMED,
}


def main(folder: str = "", width: str = "88") -> None:
    for name in (*SAMPLES, "all", "all_timed"):
        console = Console(record=bool(folder), width=int(width), highlight=False, force_terminal=True)
        if name.startswith("all"):
            show_all(all_timed() if name == "all_timed" else all_exercises(), console, titles=TITLES)
        else:
            show(SAMPLES[name](), console, title="FlashAttention forward", following=(7, "Softmax"))
        if folder:
            console.save_svg(str(Path(folder) / f"{name}.svg"), title="tlpuzzles grade 6")


if __name__ == "__main__":
    main(*sys.argv[1:])
