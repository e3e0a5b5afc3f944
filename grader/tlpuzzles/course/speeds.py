"""Exercise 8: what is asked of functions that measure a kernel and judge its speed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tlpuzzles.course.functions import (
    Answer,
    Call,
    Fault,
    FunctionCheck,
    FunctionMistake,
    Json,
    RecordedKernel,
    same,
    shown,
)
from tlpuzzles.course.recorded import recordings

MEMORY, COMPUTE = "memory", "compute"

GPUS = {
    "T4": (65e12, 320e9),
    "A100": (312e12, 1555e9),
    "L4": (121e12, 300e9),
    "H100": (989e12, 3350e9),
}
"""Peak of float16 products with float32 sums, in FLOP/s, and of memory, in bytes/s; from NVIDIA's data sheets."""


# effective_bandwidth


def _transfers(rng: random.Random) -> Sequence[Call]:
    return [
        Call(
            "effective_bandwidth",
            {"bytes": 4 * rng.randint(10**5, 10**9), "milliseconds": round(rng.uniform(0.02, 9.0), 4)},
        )
        for _ in range(4)
    ]


def _gigabytes(bytes: float, milliseconds: float) -> float:
    """GB/s: 10^9 bytes in a second."""
    return bytes * 1e-6 / milliseconds


def _bandwidths(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        arguments: dict[str, Any] = dict(call.arguments)
        expected = _gigabytes(**arguments)
        if not same(expected, answer.value):
            return Fault(f"{shown(call)} gives {_number(answer.value)}; right is {_number(expected)} GB/s.", hint=2)
    return None


def _number(value: Json) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


_BANDWIDTH_MISTAKES = (
    FunctionMistake(
        "milliseconds-as-seconds",
        "This takes the milliseconds for seconds.",
        lambda bytes, milliseconds: bytes / 1e9 / milliseconds,
    ),
    FunctionMistake(
        "gib-for-gb",
        "This counts in GiB, 2^30 bytes; a GB is 10^9.",
        lambda bytes, milliseconds: _gigabytes(bytes, milliseconds) * 1e9 / 2**30,
    ),
    FunctionMistake(
        "gib-and-milliseconds",
        "This takes the milliseconds for seconds, and counts in GiB, 2^30 bytes; a GB is 10^9.",
        lambda bytes, milliseconds: bytes / 2**30 / milliseconds,
    ),
    FunctionMistake(
        "bytes-for-gb",
        "This is in bytes per second; a GB is 10^9 of them.",
        lambda bytes, milliseconds: _gigabytes(bytes, milliseconds) * 1e9,
    ),
    FunctionMistake(
        "mb-for-gb",
        "This is in MB per second; a GB is 1000 of them.",
        lambda bytes, milliseconds: _gigabytes(bytes, milliseconds) * 1e3,
    ),
    FunctionMistake(
        "bytes-per-millisecond", "This is in bytes per millisecond.", lambda bytes, milliseconds: bytes / milliseconds
    ),
    FunctionMistake(
        "counted-twice",
        "This counts the bytes twice: they are what was read and what was written already.",
        lambda bytes, milliseconds: 2 * _gigabytes(bytes, milliseconds),
    ),
    FunctionMistake(
        "bits-for-bytes",
        "This is in gigabits; memory is rated in bytes.",
        lambda bytes, milliseconds: 8 * _gigabytes(bytes, milliseconds),
    ),
    FunctionMistake(
        "upside-down",
        "This divides the time by the bytes.",
        lambda bytes, milliseconds: 1 / _gigabytes(bytes, milliseconds),
    ),
)


# bottleneck


def _limited(rng: random.Random) -> Sequence[Call]:
    """On each GPU a kernel well on either side of the ridge, both with more operations than bytes; one that computes
    nothing; and sizes of both kinds, large and small."""
    calls = []
    for peak_flops, peak_bandwidth in GPUS.values():
        ridge = peak_flops / peak_bandwidth
        for intensity in (rng.uniform(1.5, ridge / 2), ridge * rng.uniform(2, 6)):
            moved = rng.randint(10**6, 10**9)
            calls.append(_kernel(int(moved * intensity), moved, peak_flops, peak_bandwidth))
    calls.append(_kernel(rng.randint(10**5, 10**6), rng.randint(10**7, 10**8), *GPUS["A100"]))
    calls.append(_kernel(0, rng.randint(10**6, 10**9), *GPUS["H100"]))
    # An imaginary machine with a low ridge: more bytes than operations, and still held up by the operations.
    calls.append(_kernel(rng.randint(10**6, 10**7), 2 * 10**7, 1e12, 64e12))
    rng.shuffle(calls)
    return calls


def _ties(rng: random.Random) -> Sequence[Call]:
    """Both take equally long, to the last bit: all numbers are powers of two, and one odd factor."""
    calls = []
    for _ in range(3):
        moved = (2 * rng.randint(50, 500) + 1) * 2 ** rng.randint(10, 20)
        ridge = 2 ** rng.randint(5, 9)
        peak_bandwidth = 2.0 ** rng.randint(38, 41)
        calls.append(_kernel(moved * ridge, moved, peak_bandwidth * ridge, peak_bandwidth))
    return calls


_LIMIT_ARGUMENTS = ("flops", "bytes", "peak_flops", "peak_bandwidth")


def _kernel(flops: int, moved: int, peak_flops: float, peak_bandwidth: float) -> Call:
    return Call("bottleneck", dict(zip(_LIMIT_ARGUMENTS, (flops, moved, peak_flops, peak_bandwidth), strict=True)))


def _slower(flops: float, bytes: float, peak_flops: float, peak_bandwidth: float) -> str:
    """The tie goes to memory. Products of whole numbers instead of quotients: no rounding decides."""
    return COMPUTE if int(flops) * int(peak_bandwidth) > int(bytes) * int(peak_flops) else MEMORY


def _limits(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        arguments: dict[str, Any] = dict(call.arguments)
        flops, moved, peak_flops, peak_bandwidth = (arguments[name] for name in _LIMIT_ARGUMENTS)
        expected = _slower(flops, moved, peak_flops, peak_bandwidth)
        if answer.value == expected:
            continue
        told = (
            f"bottleneck of {flops:.4g} operations and {moved:.4g} bytes, at {peak_flops:.4g} FLOP/s and "
            f"{peak_bandwidth:.4g} bytes/s, "
        )
        if answer.value not in (MEMORY, COMPUTE):
            return Fault(f'{told}gives {answer.value!r}; it must return "memory" or "compute".', hint=1)
        return Fault(
            f'{told}gives "{answer.value}"; right is "{expected}": the operations take {flops / peak_flops * 1e6:.4g} '
            f"microseconds, the bytes {moved / peak_bandwidth * 1e6:.4g}.",
            hint=2,
        )
    return None


def _other(word: str) -> str:
    return MEMORY if word == COMPUTE else COMPUTE


_LIMIT_MISTAKES = (
    FunctionMistake(
        "swapped",
        "The two words are exchanged: what takes longer holds the kernel up.",
        lambda **all_: _other(_slower(**all_)),
    ),
    FunctionMistake(
        "peaks-ignored",
        "This compares operations with bytes, without the peaks: what a byte is worth depends on the GPU.",
        lambda flops, bytes, peak_flops, peak_bandwidth: COMPUTE if flops > bytes else MEMORY,
    ),
    FunctionMistake(
        "peaks-exchanged",
        "This divides the operations by the bandwidth, and the bytes by the operations of a second.",
        lambda flops, bytes, peak_flops, peak_bandwidth: (
            COMPUTE if flops / peak_bandwidth > bytes / peak_flops else MEMORY
        ),
    ),
    FunctionMistake(
        "peaks-only",
        "This looks at the GPU alone, not at the kernel.",
        lambda flops, bytes, peak_flops, peak_bandwidth: COMPUTE if peak_flops > peak_bandwidth else MEMORY,
    ),
    FunctionMistake(
        "peaks-only",
        "This looks at the GPU alone, not at the kernel.",
        lambda flops, bytes, peak_flops, peak_bandwidth: MEMORY if peak_flops > peak_bandwidth else COMPUTE,
    ),
    FunctionMistake("always-compute", "This says so of every kernel.", lambda **_: COMPUTE),
    FunctionMistake("always-memory", "This says so of every kernel.", lambda **_: MEMORY),
)

_TIE_MISTAKES = (
    FunctionMistake("tie-to-compute", 'If both take equally long, "memory" is asked for.', lambda **_: COMPUTE),
)


# profile


def _profiled(rng: random.Random) -> Sequence[Call]:
    return [
        Call("profile", {"kernel": recording.kernel(round(rng.uniform(0.01, 20.0), 5))})
        for recording in rng.sample(recordings(), 3)
    ]


def _milliseconds(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        if "do_bench" not in answer.uses:
            return Fault(
                "profile does not measure the kernel it is given: its profiler's do_bench() is never called.",
                "never-measured",
                1,
            )
        measured = _time(call.arguments["kernel"])
        if not same(measured, answer.value):
            return Fault(
                f"profile returned {_number(answer.value)} for a kernel whose do_bench() gave {_number(measured)}.",
                hint=1,
            )
    return None


def _time(kernel: Json | RecordedKernel) -> float:
    assert isinstance(kernel, RecordedKernel)
    return kernel.milliseconds


_TIME_MISTAKES = (
    FunctionMistake(
        "seconds", "This is in seconds: do_bench() gives milliseconds already.", lambda kernel: _time(kernel) / 1e3, 1
    ),
    FunctionMistake(
        "microseconds",
        "This is a thousand times too much: do_bench() gives milliseconds already.",
        lambda kernel: _time(kernel) * 1e3,
        1,
    ),
    FunctionMistake("nothing-returned", "Does profile end in `return`?", lambda kernel: None, 1),
)


CHECKS = (
    FunctionCheck("bandwidth", "effective_bandwidth gives GB/s", _transfers, _bandwidths, _BANDWIDTH_MISTAKES),
    FunctionCheck("bottleneck", "bottleneck compares the two times", _limited, _limits, _LIMIT_MISTAKES),
    FunctionCheck("bottleneck-ties", "bottleneck decides ties as asked", _ties, _limits, _TIE_MISTAKES),
    FunctionCheck("profile", "profile returns what the profiler measures", _profiled, _milliseconds, _TIME_MISTAKES),
)
