"""The section about speed says how fast a kernel is and what that is worth, on every terminal."""

from __future__ import annotations

import io
import re

import pytest

from tests.report import samples
from tests.report.test_terminal import EVIL, Ascii, report
from tlpuzzles.report.conditions import ORIGINS
from tlpuzzles.report.speed_words import compiled_to, short_name
from tlpuzzles.verdict.measured import Compiled, Gpu
from tlpuzzles.verdict.model import Check, Compared, Detail, Kind, Points, Result, Speed, Verdict
from tlpuzzles.verdict.thresholds import Origin, shipped


def section(result: Result, **options: object) -> str:
    text = report(result, **options)  # type: ignore[arg-type]
    return text[re.search("(──|--) Speed", text).start() :]  # type: ignore[union-attr]


def one(speed: Speed, verdict: Verdict = Verdict.PASSED, message: str = "", **fields: object) -> Result:
    checked = samples.timed_check(speed, verdict, message, **fields)
    return samples.timed([speed], [checked], verdict=verdict)


def gemm(**fields: object) -> Speed:
    given = {"marks": samples.GEMM_MARKS, "baseline": samples.TO_CUBLAS, **fields}
    return samples.speed("speed", "4096 x 4096 x 4096", 0.2224, 0.1801, samples.GEMM_4096, **given)  # type: ignore[arg-type]


def test_all_points() -> None:
    text = section(samples.fast())
    assert "── Speed beside SDPA by cuDNN ──" in text
    assert text.count("10 of 10 points") == 4
    assert re.search(r"✓ a  full attention over 4096 tokens, dim 64  0\.936 ± 0\.002 of cuDNN's speed", text)
    assert re.search(r"✓ b  causal attention .* 1\.084 ± 0\.002 times cuDNN's speed", text)
    assert "kernel 0.4577 ms, 601 TFLOP/s · cuDNN 0.4151 ms, 662 TFLOP/s" in text
    assert "    c reaches 601 TFLOP/s, 81 % of the limit (742 TFLOP/s, arithmetic); cuDNN 89 %" in text
    assert "100 of 100 points: 60 for results, 40 of 40 for speed" in text
    # What the compiler says of all cases is said once, and what the check says is not said again.
    assert text.count("168 registers, no spills, 96 KiB of shared memory, 256 threads, 1 block") == 1
    assert "all points, from" not in report(samples.fast())


def test_a_kernel_that_memory_limits_is_told_in_bytes() -> None:
    text = section(samples.vector())
    assert "1.011 ± 0.002 times a copy's speed · 40 of 40 points" in text
    assert "kernel 0.1890 ms, 4261 GB/s · a copy 0.1911 ms" in text
    assert "    beside torch.add: 1.005 times its speed\n" in text
    assert "● reaches 4261 GB/s, 101 % of the limit (4213 GB/s, memory)\n" in text
    assert "no spills, no shared memory, 256" in " ".join(text.split())


def test_too_slow_is_told_once() -> None:
    text = report(samples.slow())
    assert "[NOT YET FAST]" in text
    assert re.search(r"✗ 8192 x 8192 x 8192 +too slow, see below", text)
    assert "── ✗" not in text
    assert text.count("0.540") == 1
    assert "of cuBLAS's speed · 6 of 20 points" in text
    assert re.search(r"0\.540 ± 0\.002 of cuBLAS's speed\n +too slow to pass · 0 of 20 points", text)
    assert "→ Write the result through a shared tile" in text
    assert re.search(r"tlpuzzles hint 2 --level 4 +the hint for this", text)
    assert re.search(r"tlpuzzles grade 2 --case speed-8192 +measures this again", text)
    assert "66 of 100 points: 60 for results, 6 of 40 for speed" in text


def test_what_fails_for_more_than_its_speed_is_explained_in_full() -> None:
    slow = samples.slow()
    wrong = samples.check("speed-other", "another size", Kind.SPEED, Verdict.FAILED, "At this size it is wrong.")
    text = report(slow.model_copy(update={"checks": (*slow.checks, wrong)}))
    assert "[NOT YET RIGHT]" in text
    assert "── ✗ speed, another size ──" in text
    assert re.search(r"✗ 8192 x 8192 x 8192 +too slow, see below", text)
    assert re.search(r"✗ another size +explained below", text)


def test_a_kernel_within_the_leniency_passes_without_points() -> None:
    text = report(samples.lenient())
    assert "[PASSED]" in text
    assert re.search(r"0\.745 ± 0\.002 of cuBLAS's speed\n +passes \(within 3 % of 0\.75\), no points below it", text)
    assert "60 of 100 points: 60 for results, 0 of 40 for speed" in text


def test_a_passed_kernel_that_lacks_points_is_given_the_hint_for_more() -> None:
    text = report(samples.lenient())
    assert re.search(r"tlpuzzles hint 3 --level 5 +more points\n +tlpuzzles show 7 ", text)
    assert "more points" not in report(one(gemm()))
    full = gemm(marks=(0.5, 0.8))
    hinted = samples.timed([full], [samples.timed_check(full, hint=5)])
    assert "more points" not in report(hinted)


@pytest.mark.parametrize(
    ("score", "share", "told"),
    [
        (0.217, 20.0, "4.3 of 20"),
        (0.5, 40 / 3, "6.7 of 13.3"),
        (0.0, 40.0, "0 of 40"),
        (0.9999, 10.0, "9.9 of 10"),
        (1.0, 40 / 3, "13.3 of 13.3"),
    ],
)
def test_points_of_a_case(score: float, share: float, told: str) -> None:
    speed = gemm(score=score, points=share)
    result = one(speed).model_copy(update={"speed": (speed,)})
    assert f" · {told} points\n" in report(result)


def test_a_wrong_output_is_not_slow() -> None:
    failed = samples.check("speed-8192", "8192 x 8192 x 8192", Kind.SPEED, Verdict.FAILED, "At this size it is wrong.")
    text = report(samples.result([failed], Verdict.FAILED))
    assert "[NOT YET RIGHT]" in text
    assert "At this size it is wrong." in text


def test_undecided() -> None:
    text = report(samples.noisy())
    assert "[UNDECIDED]" in text
    assert "── ? speed, the winner" in text
    assert "0.916 ± 0.071 of cuBLAS's speed · undecided" in text
    assert "╞═══●═╪═╡" in text
    assert "60 of 60 points; 40 more are for speed, left undecided" in text
    for seen in (
        "beside itself 0.9530 (1 is perfect)",
        "1410 to 1980 MHz",
        "power limit, temperature",
        "2 other processes",
        "busy",
    ):
        assert seen in text
    assert re.search(r"tlpuzzles grade 7 --case speed +measures this again", text)


def test_estimated_marks_never_fail() -> None:
    text = report(samples.estimated())
    assert "[PASSED]" in text
    assert "✗" not in text
    assert "! a  4096 x 4096 x 4096  0.435" in text
    assert re.search(r"! 4096 x 4096 x 4096 +no points yet, see below", text)
    assert "no points yet; they begin at 0.45" in text
    assert "points 0.45 ▲" in text
    assert "pass 0" not in text
    assert text.count("marks estimated for this GPU: points, never a failure") == text.count("estimated") == 1
    assert "of cuBLAS's speed · 9.1 of 20 points" in text
    assert "69 of 100 points: 60 for results, 9 of 40 for speed" in text


def test_where_the_marks_come_from_is_said_once_or_by_case() -> None:
    assert section(samples.fast()).count("marks measured on an H200") == 1
    first, second = (samples.speed(id_, *samples.ATTENTION[id_]) for id_ in ("speed-full-64", "speed-full-128"))
    second = second.model_copy(update={"origin": "calibrated"})
    text = section(samples.timed([first, second], []))
    assert "marks of a measured on an H200 · marks of b calibrated on this GPU" in text
    assert "marks" not in section(one(gemm(origin=None))).partition("noise")[0]


def test_marks_that_were_measured_were_measured_on_an_h200() -> None:
    assert set(ORIGINS) == {origin.value for origin in Origin}
    assert all("H200" in mark.source for mark in shipped().entries if mark.origin is Origin.MEASURED)


def test_without_marks_it_is_shown_only() -> None:
    text = report(samples.unknown_baseline())
    assert text.count("shown only: no mark for this GPU") == 2
    assert "what was measured stands below" in text
    assert "▲" not in text
    assert "40 more are for speed, not graded here" in text


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (samples.passed(), "60 of 60 points; 40 more are for speed, not graded here"),
        (samples.not_asked(), "60 of 60 points; 40 more are for speed (--no-speed)"),
        (
            samples.slow().model_copy(update={"points": Points(earned=70, possible=100, not_graded=20)}),
            "70 of 80 points: 64 for results, 6 of 20 for speed; 20 more are for speed, not graded here",
        ),
        (
            samples.slow().model_copy(
                update={"only": "speed", "points": Points(earned=20, possible=100, not_graded=60)}
            ),
            "20 of 40 points; 60 more are not graded here",
        ),
    ],
)
def test_points_say_what_was_not_graded(result: Result, said: str) -> None:
    assert said in " ".join(report(result).split())


def test_speed_alone_needs_a_gpu() -> None:
    text = report(samples.no_gpu())
    assert "[NEEDS A GPU]" in text
    assert re.search(r"- Speed +needs a GPU\n", text)
    assert re.search(r"tlpuzzles grade 6 +grades the results, which needs no GPU", text)
    assert "[NEEDS A GPU]" not in report(samples.no_gpu().model_copy(update={"only": None}))


def test_without_a_gpu_all_cases_have_one_row() -> None:
    cases = [samples.check(f"speed-{n}", f"size {n}", Kind.SPEED, Verdict.SKIPPED, "needs a GPU") for n in range(4)]
    text = report(samples.result([*samples.BUILD, *samples.correctness({}), *cases], Verdict.PASSED))
    assert re.search(r"- Speed +needs a GPU\n", text)
    assert text.count("needs a GPU") == 1


def test_an_open_result_is_no_speed() -> None:
    open_ = Check(id="o", title="o", kind=Kind.CORRECTNESS, verdict=Verdict.INCONCLUSIVE, message="Open.")
    left = {"checks": (*samples.slow().checks, open_), "points": samples.all_points(60, 20)}
    assert "20 more are not graded here" in report(samples.slow().model_copy(update=left))


def test_only_what_mattered_of_the_machine_is_told_unless_asked() -> None:
    quiet = section(samples.fast())
    for unsaid in ("MHz", "held down", "other process", "Celsius", samples.MEASURED_ON):
        assert unsaid not in quiet
    assert (
        "noise: cuDNN beside itself 0.9997 (1 is perfect; worst of 4 cases)\n    48 measurements in 6 rounds" in quiet
    )
    told = section(samples.fast(), verbose=True)
    for said in ("clock from 1965 to 1980 MHz, 41 degrees Celsius, 612 W", samples.MEASURED_ON, "no other processes"):
        assert told.count(said) == 4
    assert "stopped: narrow enough" in told
    bare = section(one(gemm(gpu=Gpu())), verbose=True)
    assert "MHz" not in bare


def test_what_is_not_known_is_left_out() -> None:
    text = section(one(gemm(roofline=None, compiled=None, gpu=None, tflops=None, limit_fraction=None)))
    assert "kernel 0.2224 ms · cuBLAS 0.1801 ms" in text
    for unsaid in ("FLOP", "compiler", "reaches", "None"):
        assert unsaid not in text
    assert compiled_to(Compiled()) == ""
    assert compiled_to(Compiled(registers=32, instructions=("wgmma",))) == "32 registers; wgmma"


def test_a_rate_is_told_by_what_limits_it() -> None:
    both = section(one(gemm(tflops=618.0, gbps=452.0)))
    assert "618 TFLOP/s" in both
    assert "GB/s" not in both
    memory = samples.vector().speed[0].model_copy(update={"tflops": 0.355})  # type: ignore[index]
    assert "0.355 TFLOP/s" not in section(one(memory))


def test_the_command_that_measures_again_names_the_timed_case() -> None:
    bare = samples.slow().checks[-1].model_copy(update={"detail": None})
    text = report(samples.slow().model_copy(update={"checks": (*samples.slow().checks[:-1], bare)}))
    assert "tlpuzzles grade 2 --case speed-8192 " in text


def test_cases_that_compile_differently_are_told_apart() -> None:
    first, second = (samples.speed(id_, *samples.ATTENTION[id_]) for id_ in ("speed-full-64", "speed-full-128"))
    second = second.model_copy(update={"compiled": Compiled(registers=255, spill_bytes=8)})
    text = section(samples.timed([first, second], []))
    assert re.search(r"\n    a  compiler: 168 registers, no spills", text)
    assert re.search(r"\n    b  compiler: 255 registers, 8 bytes spilled\n", text)
    advised = [
        samples.speed("a", "A", *samples.ATTENTION["speed-full-64"][1:], advice=advice) for advice in (None, "Go.")
    ]
    text = section(samples.timed([advised[0], advised[1].model_copy(update={"case": "b"})], []))
    assert text.count("compiler: ") == text.count("    compiler: ") == 1
    assert "\n    b  → Go.\n" in text


@pytest.mark.parametrize("width", [50, 60, 80, 100])
@pytest.mark.parametrize("name", samples.TIMED)
def test_no_line_is_wider_than_the_page(width: int, name: str) -> None:
    for stream in (io.StringIO(), Ascii()):
        text = section(samples.TIMED[name](), width=width, stream=stream)
        wide = [line for line in text.splitlines() if len(line) > width and "tlpuzzles grade" not in line]
        assert wide == []
        assert ("FLOP per byte" in text) is (width >= 60)
        assert ("This GPU's limits" in text) is (width < 60)


@pytest.mark.parametrize("name", samples.TIMED)
def test_a_terminal_without_unicode_and_one_without_colours(name: str) -> None:
    assert report(samples.TIMED[name](), stream=Ascii(), verbose=True).isascii()
    assert "\x1b" not in report(samples.TIMED[name]())
    plain = report(samples.TIMED[name](), force_terminal=True, no_color=True)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", plain)


@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_in_a_result_drives_the_terminal(verbose: bool) -> None:
    evil = gemm(
        baseline=("x", EVIL),
        advice=EVIL,
        threshold_from=EVIL,
        beside=(Compared(baseline=EVIL, ratio=1, ci=(1, 1), milliseconds=1),),
        compiled=Compiled(registers=1, instructions=(EVIL,)),
        gpu=Gpu(throttled=(EVIL,)),
    ).model_copy(update={"title": EVIL})
    message = Check(id="speed", title=EVIL, kind=Kind.SPEED, verdict=Verdict.FAILED, message=EVIL, detail=Detail())
    for verdict in (Verdict.FAILED, Verdict.SKIPPED, Verdict.PASSED):
        checked = message.model_copy(update={"verdict": verdict})
        text = report(samples.timed([evil, evil], [checked]), verbose=verbose)
        assert "red" in text
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)


def test_short_names() -> None:
    names = {
        "cuBLAS (torch.mm, sums in float32)": "cuBLAS",
        "SDPA by cuDNN": "cuDNN",
        "SDPA, memory-efficient": "SDPA",
        "a copy in device memory, byte for byte": "a copy",
        "torch's three kernels (mm, add, gelu)": "torch's three kernels",
        "torch.softmax": "torch.softmax",
    }
    assert {name: short_name(name) for name in names} == names
    text = section(one(gemm(baseline=("eager", "torch's three kernels (mm, add, gelu)"))))
    assert "0.810 ± 0.002 of the speed of torch's three kernels" in text
    assert "noise: torch's three kernels beside themselves 0.9997" in text
