"""The report says everything once, on every terminal."""

from __future__ import annotations

import io
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest
from rich.console import Console

from tests.report import samples
from tlpuzzles.course import catalog
from tlpuzzles.report.page import grading_page
from tlpuzzles.report.terminal import show
from tlpuzzles.verdict.model import Check, Detail, Kind, Location, Result, Verdict

TITLE = "FlashAttention forward"


class Ascii(io.StringIO):
    encoding = "ascii"  # type: ignore[assignment]


def report(
    result: Result,
    *,
    width: int = 88,
    stream: io.StringIO | None = None,
    verbose: bool = False,
    nvcc: bool = False,
    **options: object,
) -> str:
    stream = stream or io.StringIO()
    console = Console(file=stream, width=width, highlight=False, **options)  # type: ignore[arg-type]
    show(result, console, title=TITLE, following=(7, "Softmax"), verbose=verbose, nvcc=nvcc)
    return stream.getvalue()


def failing(message: str, *, detail: Detail | None = None, kind: Kind = Kind.BUILD, **fields: object) -> Result:
    broken = samples.check("broken", "some check", kind, Verdict.FAILED, message, detail)
    return samples.result([broken], Verdict.FAILED).model_copy(update=fields)


def test_a_passed_exercise_says_what_comes_next() -> None:
    text = report(samples.passed())
    assert "Exercise 6  FlashAttention forward  [PASSED]" in text
    for title in samples.CASES.values():
        assert title in text
    assert "60 of 60 points; 40 more are for speed, not graded here" in text
    assert re.search(r"tlpuzzles show 7 +the next exercise: Softmax", text)
    assert "hint" not in text
    last = io.StringIO()
    show(samples.passed(), Console(file=last, width=88))
    assert "next exercise" not in last.getvalue()


@pytest.mark.parametrize("end", ["\n\n", "\r\n", "\r", "\x85", "\u2028"])
def test_the_name_of_a_file_feigns_no_line_of_the_report(end: str) -> None:
    feigned = "Exercise 6  FlashAttention forward  [PASSED]"
    file = f"ok.py · CPU{end}{feigned}{end}x.py"
    location = Location(file=file, line=3, source="x = 1")
    result = failing("It is wrong.", detail=Detail(location=location)).model_copy(update={"file": file})
    lines = report(result, width=300).splitlines()
    assert sum(feigned in line for line in lines) == 3, "the head, the location and the command"
    assert feigned not in [line.strip() for line in lines]
    page = grading_page(result, catalog.find("6"), datetime.now(timezone.utc))
    assert f"{end}{feigned}" not in page


def test_a_warning_about_another_gpu_is_told_in_full() -> None:
    text = " ".join(report(samples.passed()).split())
    assert f"! T4 (sm_75) {samples.FITS_NOT}" in text
    assert "✓ H100 (sm_90a) TileLang compiles it" in text
    assert "✓ H100 (sm_90a) TileLang and nvcc compile it" in " ".join(report(samples.passed(), nvcc=True).split())


def test_a_failure_that_does_not_count_is_a_warning_told_once() -> None:
    gpus = [
        samples.check(f"portability-{arch}", f"{gpu} ({arch})", Kind.PORTABILITY, Verdict.FAILED, f"On {gpu} it is so.")
        for gpu, arch in (("T4", "sm_75"), ("A100", "sm_80"))
    ]
    ungraded = [check.model_copy(update={"graded": False}) for check in gpus]
    text = " ".join(report(samples.result([*samples.BUILD, *ungraded], Verdict.PASSED)).split())
    assert "! T4 (sm_75) On T4 it is so. ! A100 (sm_80) for the same reason" in text
    assert "✗" not in text
    graded = " ".join(report(samples.result([*samples.BUILD, *gpus], Verdict.FAILED)).split())
    assert "── ✗ T4 (sm_75)" in graded


def test_points_that_every_gpu_costs_are_not_laid_to_one() -> None:
    gpus = [
        samples.check(f"portability-{arch}", f"{gpu} ({arch})", Kind.PORTABILITY, Verdict.FAILED, "Pad the rows.")
        for gpu, arch in (("T4", "sm_75"), ("A100", "sm_80"))
    ]
    right = samples.check("ragged", "ragged rows", Kind.CORRECTNESS)
    text = " ".join(report(samples.result([*samples.BUILD, right, *gpus], Verdict.FAILED)).split())
    assert "Right results earn nothing while none of these GPUs takes the kernel." in text

    at_hand = [gpus[0], gpus[1].model_copy(update={"verdict": Verdict.PASSED})]
    text = " ".join(report(samples.result([*samples.BUILD, right, *at_hand], Verdict.FAILED)).split())
    assert "Right results earn nothing while this fails: T4 (sm_75)." in text


def test_what_was_measured_is_told_and_is_no_warning() -> None:
    told = "128 x 256 x 64: 0.215 ms, 640 TFLOP/s"
    tuned = samples.check("tuned", "finds the fastest schedule", Kind.TUNING, message=told)
    text = report(samples.result([*samples.BUILD, tuned], Verdict.PASSED))

    assert "✓ Tuning" in text
    assert "0.215 ms, 640 TFLOP/s" in text


def test_a_case_that_passed_alone_is_not_the_exercise() -> None:
    text = report(samples.passed().model_copy(update={"only": "ragged"}))

    assert "[PASSED ALONE]" in text
    assert "next exercise" not in text
    assert re.search(r"tlpuzzles grade 6 +grades all of it", text)


def test_passing_without_the_check_of_other_gpus_is_said() -> None:
    left_out = samples.check("portability", "other GPUs", Kind.PORTABILITY, Verdict.SKIPPED, "not asked (by choice)")
    result = samples.result([*samples.BUILD, *samples.correctness({}), left_out], Verdict.PASSED)
    text = report(result)

    assert "[PASSED WITHOUT THE GPU CHECK]" in text
    assert re.search(r"- GPUs +not asked \(by choice\)", text)
    assert re.search(r"tlpuzzles grade 6 +grades all of it", text)
    assert "next exercise" not in text
    assert "[NOT YET RIGHT]" in report(result.model_copy(update={"verdict": Verdict.FAILED}))


@pytest.mark.parametrize("width", [60, 88])
def test_warnings_come_after_failures(width: int) -> None:
    warned = samples.check("build", "builds", Kind.BUILD, message="Line 3: it is slow.\nLine 9: it is odd.")
    text = report(samples.result([warned, *samples.wrong().checks], Verdict.FAILED), width=width)

    assert re.search(r"✓ Build\s+builds", text)
    assert text.index("explained below") < text.index("! Warning") < text.index("Line 3: it is slow.")
    assert text.index("Line 9: it is odd.") < text.index("── ✗")


def test_of_several_results_the_one_with_a_known_mistake_is_explained() -> None:
    known = samples.wrong().checks[8].detail
    unknown = samples.correctness({"one-tile": ("O is off.", Detail()), "ragged-keys": ("It equals that.", known)})
    text = report(samples.result(unknown, Verdict.FAILED))

    assert "── ✗ a ragged end, full attention" in text


@pytest.mark.parametrize("width", [60, 80])
def test_titles_and_source_are_wrapped_and_not_cut(width: int) -> None:
    title = "rows of a length that no number of threads divides, and a ragged last block of fewer rows than others"
    source = "rows[i, j] = T.if_then_else(j < N, rows[i, j], -T.infinity(accum_dtype)) + oops"
    detail = Detail(location=Location(file="f.py", line=7, source=source))
    checks = [
        samples.check("a", title, Kind.CORRECTNESS, Verdict.FAILED, "It is wrong, and this says why.", detail),
        samples.check("b", title + " too", Kind.CORRECTNESS, Verdict.FAILED, "It is wrong there, and this says how."),
    ]
    text = report(samples.result(checks, Verdict.FAILED), width=width)

    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert " ".join(text.split()).count("fewer rows than others") == 3
    assert re.search(r"── ✗ rows of a length that no number", text)
    assert re.search(r"  7 │ rows\[i, j\]", text)
    assert "oops" in text
    cut = report(failing("No.", detail=Detail(location=Location(file="f.py", line=7, source="x + " * 99))), width=width)
    assert cut.count("│ ") == 2
    assert cut.count("…") == 1


def test_an_original_message_stands_below_what_is_explained() -> None:
    same = Detail(raw="lowering failed: layouts differ")
    gpus = [
        samples.check(f"portability-{n}", f"GPU {n}", Kind.PORTABILITY, Verdict.FAILED, "Too large.", same)
        for n in range(2)
    ]
    checks = [gpus[0].model_copy(update={"graded": False}), gpus[1]]
    text = report(samples.result(checks, Verdict.FAILED), verbose=True)

    assert text.count("layouts differ") == 1
    assert text.index("── ✗ GPU 1") < text.index("layouts differ")


def test_what_was_left_out_is_counted() -> None:
    asked = samples.check("a", "what was asked for", Kind.FUNCTION)
    others = [
        samples.check(f"b{n}", f"something else {n}", Kind.FUNCTION, Verdict.SKIPPED, "only a was asked for")
        for n in range(5)
    ]
    text = report(samples.result([asked, *others], Verdict.PASSED))

    assert "5 others: only a was asked for" in text
    assert "something else" not in text


def test_functions_come_first_where_kernels_are_made_of_what_they_propose() -> None:
    checks = [
        samples.check("build", "builds", Kind.BUILD, Verdict.FAILED, "Too large."),
        samples.check("fits", "candidates fit", Kind.FUNCTION, Verdict.FAILED, "This one does not fit."),
    ]
    tuning = samples.check("tuned", "finds the fastest", Kind.TUNING, Verdict.SKIPPED, "needs a GPU")

    assert "── ✗ builds" in report(samples.result(checks, Verdict.FAILED))
    assert "── ✗ candidates fit" in report(samples.result([*checks, tuning], Verdict.FAILED))


@pytest.mark.parametrize("width", [60, 80])
def test_a_long_title_is_wrapped(width: int) -> None:
    long = samples.check("x", "something that " + "goes on and on " * 8 + "to its end", Kind.FUNCTION)
    text = report(samples.result([long, samples.check("y", "short", Kind.FUNCTION)], Verdict.PASSED), width=width)

    assert max(map(len, text.splitlines())) <= width
    assert "to its end" in " ".join(text.split())


def test_a_function_is_graded_again_alone() -> None:
    detail = Detail(case="smem-bytes", seed=5)

    assert "--case smem-bytes --seed 5" in report(failing("It forgets B.", detail=detail, kind=Kind.FUNCTION))


def test_the_first_failure_is_explained_and_the_others_have_a_line() -> None:
    text = report(samples.wrong())
    assert re.search(r"✗ a ragged end, full attention +explained below", text)
    assert re.search(r"✗ causal, a ragged end\s+O is wrong in the last 8 positions", text)
    assert re.search(r"✗ one query, one key +for the same reason", text)
    explained = text[text.index("── ✗ a ragged end, full attention ──") :]
    for line in (
        "Your output equals attention in which the keys past the end count as zeros. Hint 3 is",
        "exercises/06_flash_attention/flash_attention.py:48",
        "48 │ T.reduce_sum(P, total, dim=1)",
        "where                the whole output",
        "first wrong element  batch = 0, seq_len = 0, heads = 0, dim = 0",
        "expected             0.036949",
        "found                0.031342",
        "problem              batch = 1, heads = 2, seq_len = 200, dim = 64, float16",
        "│ block_M = 64",
        "38 of 60 points",
    ):
        assert line in explained
    assert re.search(r"tlpuzzles hint 6 --level 3 +the hint for this", text)
    assert re.search(r"tlpuzzles grade 6 --case ragged-keys --seed 284619075 +grades this case again", text)


def test_many_failures_for_one_reason_are_put_together() -> None:
    text = report(samples.unset())
    assert text.count("A tile is read before it is set") == 1
    assert text.count("for the same reason") == 2  # the other results, and the order
    assert re.search("found +NaN", text)


def test_another_file_is_named_in_the_command() -> None:
    assert "tlpuzzles grade 6 'my kernels/attention é.py'" in report(samples.our_error())


def test_what_was_not_run_says_why_once() -> None:
    text = report(samples.does_not_compile())
    assert text.count("Not run: there is no kernel to run.") == 1
    left_out = samples.check("waves", "more than a wave of blocks", Kind.CORRECTNESS, Verdict.SKIPPED, "Needs a GPU.")
    some = samples.result([*samples.correctness({}), left_out], Verdict.PASSED)
    assert "- more than a wave of blocks: Needs a GPU." in report(some)


def test_a_file_that_was_not_started_lists_what_is_to_do() -> None:
    text = report(samples.not_started())
    assert "[NOT STARTED]" in text
    assert "    line 37  TODO 2  multiply queries and keys\n" in text
    assert "tlpuzzles show 6" in text
    assert "grade 6" not in text


def test_our_own_error_is_not_the_learners() -> None:
    text = report(samples.our_error())
    assert "Our error, not yours: compiles" in text
    assert "tlpuzzles doctor" in text
    assert "hint" not in text


def test_no_escape_codes_without_a_terminal() -> None:
    for make in samples.SAMPLES.values():
        assert "\x1b" not in report(make())
    assert "\x1b[" in report(samples.wrong(), force_terminal=True)


def test_no_colours_where_none_are_wanted() -> None:
    text = report(samples.wrong(), force_terminal=True, no_color=True)
    assert "[NOT YET RIGHT]" in text
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", text)


@pytest.mark.parametrize("width", [60, 72, 88, 200])
def test_no_line_is_wider_than_the_terminal_but_what_must_be_copied(width: int) -> None:
    for make in samples.SAMPLES.values():
        for line in report(make(), width=width).splitlines():
            assert len(line) <= min(width, 100) or "tlpuzzles grade" in line or "flash_attention.py" in line


def test_a_terminal_without_unicode() -> None:
    for make in samples.SAMPLES.values():
        text = report(make(), stream=Ascii())
        assert text.encode("ascii")
    assert "x a ragged end, full attention" in report(samples.wrong(), stream=Ascii())
    assert "attention ?.py" in report(samples.our_error(), stream=Ascii())


EVIL = "\x1b[2J\x1b]0;title\x07\x1b[31mred\r\x08\x9b2Jbold\u202eleft\udcff"


def test_nothing_that_a_learner_prints_or_writes_drives_the_terminal() -> None:
    location = Location(file=f"my{EVIL}.py", line=3, source=EVIL)
    result = failing(EVIL + ".", detail=Detail(location=location, raw=EVIL), output=EVIL, file=EVIL + ".py")
    text = report(result)
    assert "red" in text
    assert "2J" not in text.replace("?2J", "")
    assert "title" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)
    assert "[bold]x[/bold]" in report(failing("Use [bold]x[/bold]."))


def test_long_output_and_long_messages_of_compilers_are_capped() -> None:
    result = failing(
        "No.", detail=Detail(raw="\n".join(f"raw {n}" for n in range(500))), output="word " * 1000 + "\n" * 9
    )
    text = report(result.model_copy(update={"output": "".join(f"out {n}\n" for n in range(500))}))
    assert "488 more lines; --json has them all" in text
    assert "raw 0" not in text
    assert len(text.splitlines()) < 50
    ours = failing("No.", detail=Detail(raw="\n".join(f"raw {n}" for n in range(500)))).model_copy(deep=True)
    ours = ours.model_copy(update={"checks": (ours.checks[0].model_copy(update={"verdict": Verdict.ERROR}),)})
    assert "492 more lines (--verbose has all)" in report(ours)
    assert len(report(result).splitlines()) < 40


def test_the_original_message_is_shown_where_it_is_asked_for() -> None:
    original = "StructuralEqual check failed, caused by lhs"
    told, other = (
        samples.check(f"c{n}", f"case {n}", Kind.CORRECTNESS, Verdict.FAILED, message, Detail(raw=original + str(n)))
        for n, message in enumerate(("The shapes differ.", "The shapes differ, too."))
    )
    result = samples.result([told, other], Verdict.FAILED)
    quiet, loud = report(result), report(result, verbose=True)
    assert original not in quiet
    assert quiet.count("--verbose also shows the original messages.") == 1
    assert original + "0" in loud
    assert original + "1" in loud
    assert "--verbose" not in loud


def test_an_original_message_is_shown_once_and_only_if_it_says_more() -> None:
    same = Detail(raw="ValueError: a list is needed")
    checks = [
        samples.check(name, name, Kind.CORRECTNESS, Verdict.FAILED, message, same)
        for name, message in (("a", "Something else."), ("b", "Another."))
    ]
    assert report(samples.result(checks, Verdict.FAILED), verbose=True).count("a list is needed") == 1
    known = failing("Loading the file raised ValueError: a list is needed", detail=same)
    assert report(known, verbose=True).count("a list is needed") == 1
    assert "--verbose" not in report(known)


def test_a_long_message_is_not_cut_where_it_is_asked_for() -> None:
    raw = "x" * 50 + " the end of a line that is wider than the terminal " + "y" * 50
    assert "y" * 50 in report(failing("No.", detail=Detail(raw=raw)), width=60, verbose=True)


@pytest.mark.parametrize("width", [50, 60, 80])
def test_no_word_is_broken(width: int) -> None:
    name = "policy=T.GemmWarpPolicy.FullRow"
    gpu = samples.check(
        "portability-sm_90a", "H100 and H200 (sm_90a)", Kind.PORTABILITY, Verdict.FAILED, f"Use {name}."
    )
    text = report(
        samples.result([*samples.BUILD, gpu.model_copy(update={"graded": False})], Verdict.PASSED), width=width
    )
    assert name in text
    detail = samples.wrong().checks[8].detail
    assert detail is not None
    shown = report(failing("No.", detail=detail), width=width)
    for part in ("batch = 1", "seq_len = 200", "dim = 64", "heads = 0"):
        assert part in shown


def test_the_first_wrong_element_is_named_by_its_axes() -> None:
    for axes, index, named in (
        (("N",), (256,), "index 256"),
        (("M", "N"), (3, 5), "row 3, column 5"),
        (("batch", "head", "dim"), (1, 2, 3), "batch = 1, head = 2, dim = 3"),
        (None, (1, 2), "[1, 2]"),
    ):
        detail = Detail(axes=axes, first_wrong=index, expected=1.0, found=2.0)
        assert re.search(rf"first wrong element +{re.escape(named)}", report(failing("No.", detail=detail)))


def test_failures_before_any_case_and_details_without_anything() -> None:
    for detail in (None, Detail(), Detail(location=Location(file="a.py"))):
        text = report(failing("The file defines no make_flash_attn.", detail=detail))
        assert "The file defines no make_flash_attn." in text
        assert re.search(r"tlpuzzles grade 6 +grades it again", text)


def test_links_are_made_where_terminals_do_not_find_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, there in (("7200", True), (None, False)):
        if version is None:
            monkeypatch.delenv("VTE_VERSION", raising=False)
        else:
            monkeypatch.setenv("VTE_VERSION", version)
        assert ("\x1b]8;" in report(samples.wrong(), force_terminal=True)) is there


def test_an_undecided_check_is_explained_if_nothing_failed() -> None:
    noisy = Check(id="s", title="one tile", kind=Kind.CORRECTNESS, verdict=Verdict.INCONCLUSIVE, message="Too noisy.")
    text = report(samples.result([*samples.BUILD, noisy], Verdict.INCONCLUSIVE))
    assert "[UNDECIDED]" in text
    assert "── ? one tile" in text


def test_a_file_below_the_current_folder_is_named_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short enough to stand on one line of a narrow terminal, where it can be clicked."""
    folder = tmp_path / ("a-folder-with-a-long-name-" * 3)
    folder.mkdir()
    made = samples.wrong()
    file = str(folder / "06_flash_attention" / "flash_attention.py")
    shown = made.model_copy(update={"file": file})
    monkeypatch.chdir(folder)
    assert "\n06_flash_attention/flash_attention.py" in report(shown, width=60)
    monkeypatch.chdir("/usr")
    assert f"{file[:20]}" in report(shown, width=60)


def test_results_that_say_the_same_in_other_numbers_are_told_once() -> None:
    told = "{} of the {} elements of C were never written. Your output equals that of a grid that is exchanged."
    checks = [
        Check(id=id_, title=id_, kind=Kind.CORRECTNESS, verdict=Verdict.FAILED, message=told.format(some, all_))
        for id_, some, all_ in (("ragged", 7107, 8131), ("whole", 15360, 16384), ("short", 1_265, 1_266))
    ]
    text = report(samples.result(checks, Verdict.FAILED))
    assert text.count("were never written") == 1
    assert text.count("for the same reason") >= 1


@pytest.mark.parametrize(
    ("graded", "says"), [(False, "One of these GPUs is enough"), (True, "Only A100 (sm_80) counts")]
)
def test_what_counts_is_said_beside_warnings_of_other_gpus(graded: bool, says: str) -> None:
    checks = [
        Check(id="a", title="T4 (sm_75)", kind=Kind.PORTABILITY, verdict=Verdict.FAILED, message="No.", graded=False),
        Check(id="b", title="A100 (sm_80)", kind=Kind.PORTABILITY, verdict=Verdict.PASSED, graded=graded),
    ]
    assert says in report(samples.result(checks, Verdict.PASSED))
    assert "for the others this is a warning" not in report(samples.result(checks[1:], Verdict.PASSED))


def test_what_is_printed_over_and_over_is_shown_once_with_its_count() -> None:
    text = report(samples.passed().model_copy(update={"output": "[traced]\n" + "bx\nhello bx\n" * 6}))
    assert text.count("hello bx") == 1
    assert "(6 times)" in text
    text = report(samples.passed().model_copy(update={"output": "one\ntwo\none\n"}))
    assert "times)" not in text


def test_the_hint_that_a_result_names_is_offered_where_something_else_is_explained() -> None:
    checks = [
        Check(id="many", title="many", kind=Kind.REQUIREMENT, verdict=Verdict.FAILED, message="One block does it all."),
        Check(
            id="ragged",
            title="ragged",
            kind=Kind.CORRECTNESS,
            verdict=Verdict.FAILED,
            message="Your output equals that. Hint 2 is about this.",
            detail=Detail(mistake="that", hint=2),
        ),
    ]
    text = report(samples.result(checks, Verdict.FAILED))
    assert re.search(r"tlpuzzles hint \d --level 2\s+the hint for the results", text)
