"""Exercise 8: what is asked of a function that finds a kernel's shared memory in its sources."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, FunctionMistake, RecordedKernel, same
from tlpuzzles.course.recorded import Recording, recording_of, recordings

ELEMENTS = {"uchar": 1, "half_t": 2, "float": 4, "uint64_t": 8}


def _static_arrays(kernel: RecordedKernel) -> list[tuple[str, int]]:
    arrays = re.findall(r"^ *__shared__.* (\w+) \w+\[(\d+)\]", kernel.device_source, re.MULTILINE)
    return [(element, int(count)) for element, count in arrays]


def _launch_numbers(kernel: RecordedKernel) -> list[int]:
    """All numbers of the lines that docstring and lesson speak of; the last is the dynamic size, if there is one."""
    return [int(number) for number in re.findall(r"v_int64\) = \(\(int64_t\)(\d+)\);", kernel.host_source)]


def _static(kernel: RecordedKernel) -> int:
    return sum(ELEMENTS[element] * count for element, count in _static_arrays(kernel))


def _dynamic(kernel: RecordedKernel) -> int:
    return _launch_numbers(kernel)[-1] if "extern __shared__" in kernel.device_source else 0


_SHARED_MISTAKES = (
    FunctionMistake(
        "thread-extent",
        "This takes the last number of the launch without asking whether the kernel has dynamic memory: without, it is "
        "how many threads a block has along its last axis.",
        lambda kernel: _static(kernel) + _launch_numbers(kernel)[-1],
    ),
    FunctionMistake(
        "thread-extent",
        "This takes the last number of the launch, whatever it is. Without dynamic memory, it is how many threads a "
        "block has along its last axis.",
        lambda kernel: _launch_numbers(kernel)[-1],
    ),
    FunctionMistake(
        "thread-extent",
        'This asks for "__shared__", which static arrays have as well: only "extern __shared__" is sized at launch.',
        lambda kernel: _static(kernel) + (_launch_numbers(kernel)[-1] if "__shared__" in kernel.device_source else 0),
    ),
    FunctionMistake(
        "thread-extent",
        'This asks for "__shared__", which static arrays have as well, and then takes the last number of the launch. '
        'Only "extern __shared__" is sized at launch.',
        lambda kernel: _launch_numbers(kernel)[-1] if "__shared__" in kernel.device_source else 0,
    ),
    FunctionMistake("static-only", "This leaves out the dynamic memory, whose size is in the host source.", _static),
    FunctionMistake("dynamic-only", "This leaves out the arrays with a size of their own in the source.", _dynamic),
    FunctionMistake(
        "elements-for-bytes",
        "This counts the elements of the arrays in the source: each of them has ELEMENT_BYTES bytes.",
        lambda kernel: sum(count for _, count in _static_arrays(kernel)) + _dynamic(kernel),
    ),
    FunctionMistake(
        "first-array-only",
        "This counts the first array in the source and no other.",
        lambda kernel: sum(ELEMENTS[e] * count for e, count in _static_arrays(kernel)[:1]) + _dynamic(kernel),
    ),
    FunctionMistake(
        "first-number",
        "This takes the first of the numbers that are passed in the host source; the size is the last.",
        lambda kernel: _static(kernel) + (_launch_numbers(kernel)[0] if _dynamic(kernel) else 0),
    ),
    FunctionMistake("nothing", "This says 0 whatever the kernel is.", lambda kernel: 0),
)


def _kernels(*groups: tuple[Callable[[Recording], bool], int]) -> Callable[[random.Random], Sequence[Call]]:
    """Calls with kernels from each group, as many as it says."""

    def calls(rng: random.Random) -> Sequence[Call]:
        chosen: list[Recording] = []
        for belongs, count in groups:
            chosen += rng.sample([recording for recording in recordings() if belongs(recording)], count)
        return [Call("shared_bytes", {"kernel": recording.kernel()}) for recording in chosen]

    return calls


def _dynamic_alone(recording: Recording) -> bool:
    return recording.dynamic_bytes > 0 and recording.static_bytes == 0


def _static_alone(recording: Recording) -> bool:
    return recording.dynamic_bytes == 0 and recording.static_bytes > 0


def _two_arrays(recording: Recording) -> bool:
    return len(_static_arrays(recording.kernel())) > 1


def _both(recording: Recording) -> bool:
    return recording.dynamic_bytes > 0 and recording.static_bytes > 0


def _none(recording: Recording) -> bool:
    return recording.shared_bytes == 0


def _sizes(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        kernel = call.arguments["kernel"]
        assert isinstance(kernel, RecordedKernel)
        recording = recording_of(kernel.device_source)
        if not same(recording.shared_bytes, answer.value):
            return Fault(
                f"shared_bytes of {recording.title} gives {answer.value!r}; right is {recording.shared_bytes}: "
                f"{recording.static_bytes} static and {recording.dynamic_bytes} dynamic.",
                hint=2,
            )
    return None


CHECKS = (
    FunctionCheck(
        "shared-dynamic",
        "shared_bytes finds what is chosen at launch",
        _kernels((_dynamic_alone, 4)),
        _sizes,
        _SHARED_MISTAKES,
    ),
    FunctionCheck(
        "shared-static",
        "shared_bytes adds what is declared in the source",
        _kernels((_static_alone, 1), (_two_arrays, 1), (_both, 2)),
        _sizes,
        _SHARED_MISTAKES,
    ),
    FunctionCheck(
        "shared-none",
        "shared_bytes of a kernel without shared memory is 0",
        _kernels((_none, 2)),
        _sizes,
        _SHARED_MISTAKES,
    ),
)
