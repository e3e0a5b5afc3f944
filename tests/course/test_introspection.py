"""Exercise 8: recordings are what they say, checks tell right from wrong, and mistakes are named."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import torch

from tests import tracing
from tlpuzzles.border.playing import build
from tlpuzzles.course import landmarks, printed, shared_sizes, speeds
from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, FunctionMistake, named
from tlpuzzles.course.introspection import EXERCISE
from tlpuzzles.course.prints import PrintedLine, printed_lines
from tlpuzzles.course.recorded import Recording, copy_kernel, recordings
from tlpuzzles_solutions import introspection as solution

SEEDS = range(5)
_CALLED = re.compile(r"\b\w+(?=[<(])")
N = 640

each_recording = pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.id)
each_check = pytest.mark.parametrize("check", EXERCISE.functions, ids=lambda check: check.id)


_landmarks = cache(solution.landmarks)


def _answers(calls: Sequence[Call]) -> list[Answer]:
    """What the reference solution answers, with stand-ins as the tracer builds them."""
    answers = []
    for call in calls:
        uses: list[Any] = []
        arguments = {name: build(value, uses) for name, value in call.to_json()["arguments"].items()}
        function = _landmarks if call.function == "landmarks" else getattr(solution, call.function)
        answers.append(Answer(function(**arguments), tuple(uses)))
    return answers


# Recordings


@each_recording
def test_solution_reads_every_recording_as_the_tool_did(recording: Recording) -> None:
    """The tool counts tokens, and has the bytes from TileLang and nvcc: two ways to one result."""
    assert solution.landmarks(recording.device_source) == recording.landmarks
    kernel = build(recording.kernel().to_json(), [])
    assert solution.shared_bytes(kernel) == recording.shared_bytes


def test_recordings_have_what_the_checks_ask_about() -> None:
    found = recordings()

    assert {recording.id.rpartition(".")[2] for recording in found} == {"sm_75", "sm_80", "sm_89", "sm_90a"}
    for key in landmarks.KEYS:
        assert len({recording.landmarks[key] for recording in found}) >= 3, key
    assert len({recording.title for recording in found}) >= 12
    assert any(recording.static_bytes and recording.dynamic_bytes for recording in found)


def test_recordings_are_small() -> None:
    from importlib.resources import files

    sizes = [len(item.read_bytes()) for item in files("tlpuzzles.course.recorded").iterdir() if item.is_file()]

    assert sum(sizes) < 200_000


def test_recipe_of_the_lesson_finds_what_the_lesson_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A source for every GPU, on a machine without one."""
    import sys

    from tlpuzzles.workspace.folders import shipped

    folder = shipped(EXERCISE).lesson(EXERCISE).parent
    lesson = (folder / "lesson.md").read_text("utf-8")
    (recipe,) = (block for block in re.findall(r"^```python\n(.*?)^```$", lesson, re.M | re.S) if "lower(" in block)
    said = re.search(r"it finds this for an A100, as above: (.*?)\. Try", lesson, re.DOTALL)
    assert said is not None
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "introspection", solution)
    exec(compile(recipe, "look.py", "exec"), {})

    expected = {key: int(count) for key, count in re.findall(r"([\w.]+) (\d+)", said[1])}
    printed_ = capsys.readouterr().out
    assert str(expected) == printed_.splitlines()[-1]
    assert set(expected) == set(landmarks.KEYS)


def test_excerpts_of_the_lesson_are_from_real_sources() -> None:
    """What TileLang 0.1.15 writes, by name: the lines that the lesson shows without what is cut from them."""
    from tlpuzzles.workspace.folders import shipped

    lesson = shipped(EXERCISE).lesson(EXERCISE).read_text("utf-8")
    excerpt = lesson.partition("This is how they look")[2].partition("**Shared memory**")[0]
    names = {name for name in _CALLED.findall(excerpt) if name != "main_kernel"}
    sources = "".join(recording.device_source for recording in recordings())

    assert len(names) >= 12
    assert [name for name in names if name not in sources] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vector-add", "reversed-static", "gemm"])
def test_recording_again_gives_the_same(name: str) -> None:
    from tools import record

    subject = next(subject for subject in record.SUBJECTS if subject.id == name)
    for arch in subject.architectures:
        made = record.record(subject, arch)
        (kept,) = (recording for recording in recordings() if recording.id == f"{name}.{arch}")
        assert Recording(id=kept.id, **made) == kept


def test_kernel_to_profile_is_of_the_form_of_the_exercise() -> None:
    kernel = tracing.document(copy_kernel(), "make_copy", N=5).func

    assert len(kernel.arguments) == 2
    assert EXERCISE.profiling is not None
    assert EXERCISE.cases[0].dtype == "float32"


# Function checks


@each_check
def test_right_answers_pass(check: FunctionCheck) -> None:
    for seed in SEEDS:
        calls = check.calls(random.Random(seed))
        assert check.judge(calls, _answers(calls)) is None, seed


@each_check
def test_what_is_asked_depends_on_the_seed(check: FunctionCheck) -> None:
    asked = [str([call.to_json() for call in check.calls(random.Random(seed))]) for seed in (1, 1, 2, 3, 4, 5, 6)]

    assert asked[0] == asked[1]
    assert len(set(asked)) > 1


MISTAKES = [
    pytest.param(check, mistake, id=f"{check.id}-{mistake.id}-{place}")
    for check in EXERCISE.functions
    for place, mistake in enumerate(check.mistakes)
]


@pytest.mark.parametrize(("check", "mistake"), MISTAKES)
def test_mistake_in_a_function_is_named_where_it_shows(check: FunctionCheck, mistake: FunctionMistake) -> None:
    for seed in SEEDS:
        calls = check.calls(random.Random(seed))
        answers = [
            Answer(mistake.compute(**call.arguments), answer.uses)
            for call, answer in zip(calls, _answers(calls), strict=True)
        ]
        fault = check.judge(calls, answers)
        if fault is not None:
            found = named(check, fault, calls, answers)
            known = {other.id for other in check.mistakes}
            assert found.mistake in known
            assert len(found.message) > len(fault.message)


@pytest.mark.parametrize("check", [*shared_sizes.CHECKS, *speeds.CHECKS], ids=lambda check: check.id)
def test_every_mistake_in_a_function_is_seen_by_some_check(check: FunctionCheck) -> None:
    checks = [other for other in EXERCISE.functions if other.mistakes]
    for mistake in check.mistakes:
        seen = []
        for other in checks:
            calls = other.calls(random.Random(7))
            if calls[0].function == check.calls(random.Random(7))[0].function:
                wrong = [Answer(mistake.compute(**call.arguments), ("do_bench",)) for call in calls]
                seen.append(other.judge(calls, wrong) is not None)
        assert any(seen), mistake.id


MISCOUNTS = [
    pytest.param(key, miscount, id=f"{key}-{miscount.id}-{place}")
    for key, miscounts in landmarks.MISCOUNTS.items()
    for place, miscount in enumerate(miscounts)
]


@pytest.mark.parametrize(("key", "miscount"), MISCOUNTS)
def test_miscount_is_named_whatever_is_drawn(key: str, miscount: landmarks.Miscount) -> None:
    (check,) = (check for check in landmarks.CHECKS if f'"{key}"' in _fault_about(check, key))
    for seed in SEEDS:
        calls = check.calls(random.Random(seed))
        answers = [
            Answer({**right.value, key: miscount.count(str(call.arguments["source"]))})
            for call, right in zip(calls, _answers(calls), strict=True)
        ]
        fault = check.judge(calls, answers)
        assert fault is not None, seed
        assert fault.mistake == miscount.id, (seed, fault)


@pytest.mark.parametrize("key", landmarks.PLACES)
def test_places_that_are_shown_are_those_that_are_counted(key: str) -> None:
    for recording in recordings():
        assert len(re.findall(landmarks.PLACES[key], recording.device_source)) == recording.landmarks[key]


def _fault(key: str, count: Any) -> Fault:
    """What is said if a landmark is counted so, and all others right. `count`: from the source."""
    (check,) = (check for check in landmarks.CHECKS if f'"{key}"' in _fault_about(check, key))
    calls = check.calls(random.Random(2))
    right = [answer.value for answer in _answers(calls)]
    answers = [Answer({**r, key: count(str(c.arguments["source"]))}) for r, c in zip(right, calls, strict=True)]
    fault = check.judge(calls, answers)
    assert fault is not None
    return fault


@pytest.mark.parametrize(
    ("key", "counted", "says"),
    [
        ("mma", "mma", "Not a product of a warp: line 8, `#include <tl_templates/cuda/instruction/wgmma.h>`."),
        ("cp.async", "cp_async", "`tl::cp_async_commit();`."),
        ("tma", "tma_load", "Missed: line 90, `tl::tma_store(C_desc, "),
        ("barriers", "__syncthreads", "`mbarrier[2].wait(((k & 1) ^ 1));`."),
    ],
)
def test_a_line_that_is_counted_or_missed_is_shown(key: str, counted: str, says: str) -> None:
    assert says in _fault(key, lambda source: source.count(counted)).message


def test_the_line_that_is_shown_has_the_number_it_is_said_to_have() -> None:
    message = _fault("barriers", lambda source: source.count("__syncthreads")).message
    said = re.search(r"line (\d+), `([^`]+)`", message)
    assert said is not None
    lines = [recording.device_source.splitlines() for recording in recordings() if recording.title in message]
    assert any(one[int(said[1]) - 1].strip() == said[2] for one in lines if len(one) >= int(said[1]))


def test_nothing_counted_is_shown_the_first_place() -> None:
    assert "The first is line " in _fault("barriers", lambda source: 0).message


def test_a_text_is_no_number() -> None:
    fault = _fault("launch_bounds", lambda source: "256")

    assert "A number is wanted, not a text" in fault.message
    assert fault.mistake == "text-for-number"


def _fault_about(check: FunctionCheck, key: str) -> str:
    calls = check.calls(random.Random(0))
    fault = check.judge(calls, [Answer({**answer.value, key: -1}) for answer in _answers(calls)])
    return fault.message if fault else ""


@pytest.mark.parametrize("value", [None, 3, {}, {"mma": 1}, [1, 2]])
def test_no_dict_of_landmarks_is_said_to_be_none(value: object) -> None:
    for check in landmarks.CHECKS:
        calls = check.calls(random.Random(0))
        fault = check.judge(calls, [Answer(value) for _ in calls])
        assert fault is not None
        assert "landmarks of the source of" in fault.message


def test_further_landmarks_do_no_harm() -> None:
    for check in landmarks.CHECKS:
        calls = check.calls(random.Random(0))
        answers = [Answer({**answer.value, "lines": 3}) for answer in _answers(calls)]
        assert check.judge(calls, answers) is None


def test_ties_are_ties_however_they_are_computed() -> None:
    (check,) = (check for check in speeds.CHECKS if check.id == "bottleneck-ties")
    for seed in SEEDS:
        for call in check.calls(random.Random(seed)):
            flops, moved, peak_flops, peak_bandwidth = (call.arguments[name] for name in call.arguments)
            assert flops / peak_flops == moved / peak_bandwidth
            assert flops / moved == peak_flops / peak_bandwidth
            assert flops * peak_bandwidth == moved * peak_flops


def test_operations_and_bytes_alone_do_not_tell_the_bottleneck() -> None:
    """More operations than bytes on both sides of the ridge, and fewer on both."""
    (check,) = (check for check in speeds.CHECKS if check.id == "bottleneck")
    calls = check.calls(random.Random(3))
    sides = {
        (call.arguments["flops"] > call.arguments["bytes"], answer.value)
        for call, answer in zip(calls, _answers(calls), strict=True)
    }

    assert sides == {(True, "memory"), (True, "compute"), (False, "memory"), (False, "compute")}


def test_profile_that_guesses_right_has_still_not_measured() -> None:
    (check,) = (check for check in speeds.CHECKS if check.id == "profile")
    calls = check.calls(random.Random(0))
    fault = check.judge(calls, [Answer(answer.value, ("get_profiler",)) for answer in _answers(calls)])

    assert fault is not None
    assert fault.mistake == "never-measured"


# Printing


A = torch.randn(N, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def _line(value: float | None, block: int = 0, thread: int = 0, message: str = "mine") -> PrintedLine:
    return PrintedLine(message, (block, 0, 0), (thread, 0, 0), value)


def _judged(lines: Sequence[PrintedLine]) -> Fault | None:
    return printed.judge(lines, {"A": A}, {"N": N})


FIRST = 2 * float(A[0])


@pytest.mark.parametrize("place", [(0, 0), (0, 31), (4, 7)])
def test_one_line_from_anywhere_is_right(place: tuple[int, int]) -> None:
    assert _judged([_line(FIRST, *place)]) is None


@pytest.mark.parametrize(
    ("lines", "mistake"),
    [
        ([], "prints-nothing"),
        ([_line(FIRST, 0, thread) for thread in range(32)], "unguarded-print"),
        ([_line(FIRST, block, thread) for block in range(5) for thread in range(32)], "unguarded-print"),
        ([_line(FIRST, block) for block in range(5)], "printed-in-each-block"),
        ([_line(2 * float(A[i])) for i in range(128)], "prints-every-element"),
        ([_line(2 * float(A[i]), 0, i % 32) for i in range(128)], "prints-every-element"),
        ([_line(FIRST), _line(None, message="done")], "prints-every-element"),
        ([_line(float(A[0]))], "printed-before-doubling"),
        ([_line(2 * float(A[1]))], "prints-another-element"),
        ([_line(2 * float(A[128]), 1)], "prints-another-element"),
        ([_line(4 * float(A[0]))], "doubled-twice"),
        ([_line(float(A[0]) ** 2)], "squared"),
        ([_line(None)], "message-alone"),
        ([_line(FIRST, message="expr<A_local[0]>")], "no-message"),
        ([_line(FIRST, message="")], "no-message"),
        ([_line(float("nan"))], None),
        ([_line(12.5)], None),
    ],
)
def test_other_lines_are_named(lines: list[PrintedLine], mistake: str | None) -> None:
    fault = _judged(lines)

    assert fault is not None
    assert fault.mistake == mistake


def test_what_a_device_prints_is_read_with_its_six_digits() -> None:
    line = f"msg='mine' BlockIdx=(0, 0, 0), ThreadIdx=(0, 0, 0): dtype=float value={FIRST:f}\n"

    assert _judged(printed_lines(line)) is None


def test_an_unguarded_print_stays_within_what_the_cpu_device_shows() -> None:
    """Else the report would count 400 lines, and not what was printed."""
    assert EXERCISE.printing is not None
    (case,) = (case for case in EXERCISE.cases if case.id == EXERCISE.printing.case)
    for seed in range(200):
        blocks = case.sizes(random.Random(seed))["N"] // 128
        assert blocks >= 2
        assert blocks * 32 <= 400
