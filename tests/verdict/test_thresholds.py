"""What a speed must reach: the course's file, and a class's own."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise, Timing
from tlpuzzles.errors import UsageError
from tlpuzzles.verdict.thresholds import (
    FILE,
    MOST_ENTRIES,
    NotMarks,
    Origin,
    Threshold,
    Thresholds,
    absent,
    dump,
    read,
    shipped,
    strangers,
    write,
)

ROOT = Path(__file__).parents[2]
FAMILIES = ("sm_75", "sm_80", "sm_89", "sm_90")
TIMED = [(exercise, timing) for exercise in catalog.exercises() for timing in exercise.timings]
IDS = [f"{exercise.number}-{timing.case.id}" for exercise, timing in TIMED]


def threshold(**changed: object) -> Threshold:
    fields = {
        "exercise": "tiled_gemm",
        "case": "speed-4096",
        "gpu": "sm_90",
        "against": "cublas",
        "pass_at": 0.45,
        "full_at": 0.95,
        "origin": "measured",
        "source": "On one H200, 2026-11-29.",
    }
    return Threshold.model_validate({**fields, **changed})


# --- the course's file


def pass_marks(slug: str, against: str) -> dict[str, float]:
    found = [one for one in shipped().entries if (one.exercise, one.gpu, one.against) == (slug, "sm_90", against)]
    return {one.case: one.pass_at for one in found}


@pytest.mark.parametrize(("exercise", "timing"), TIMED, ids=IDS)
def test_an_h200_grades_every_timed_case_beside_its_first_baseline(exercise: Exercise, timing: Timing) -> None:
    found = shipped().find(
        exercise.slug,
        timing.case.id,
        timing.against[0].id,
        arch="sm_90a",
        gpu_name="NVIDIA H200",
    )
    assert found is not None
    assert found.grades
    if found.reference is not None:
        assert found.reference >= found.full_at, "the reference solution must have full marks"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("exercise", "timing"), TIMED, ids=IDS)
def test_every_family_has_marks_for_every_timed_case(exercise: Exercise, timing: Timing, family: str) -> None:
    wanted = {baseline.id for baseline in timing.against}
    own = (exercise.slug, timing.case.id, family)
    assert [one for one in shipped().entries if (one.exercise, one.case, one.gpu) == own and one.against in wanted]


def test_the_course_names_only_what_exists_and_each_once() -> None:
    known = {(exercise.slug, timing.case.id, baseline.id) for exercise, timing in TIMED for baseline in timing.against}
    keys = [(one.exercise, one.case, one.against, one.gpu) for one in shipped().entries]
    assert {key[:3] for key in keys} <= known
    assert len(set(keys)) == len(keys)
    assert {key[3] for key in keys} == set(FAMILIES)


def test_only_what_was_measured_fails_anyone() -> None:
    assert {one.origin for one in shipped().entries if one.gpu != "sm_90"} == {Origin.ESTIMATED}


def test_a_tutorials_schedule_passes_exercise_2_and_no_later_one() -> None:
    """What a common tutorial's kernels reached on an H200 (docs/measured.md)."""
    gemm = pass_marks("tiled_gemm", "cublas")
    assert gemm["speed-4096"] < 0.51
    assert gemm["speed-8192"] < 0.54
    assert pass_marks("schedule_sweep", "cublas")["speed"] > 0.51
    assert pass_marks("epilogue_fusion", "eager")["speed"] > 0.80
    assert min(pass_marks("row_softmax", "copy").values()) > 0.44
    assert min(pass_marks("flash_attention", "cudnn-sdpa").values()) > 0.49
    assert pass_marks("autotuning", "cublas")["speed"] > 0.55


@pytest.mark.parametrize("against", ["flash-sdpa", "efficient-sdpa"])
def test_a_slower_backend_of_attention_has_a_higher_mark(against: str) -> None:
    beside_cudnn = pass_marks("flash_attention", "cudnn-sdpa")
    marks = pass_marks("flash_attention", against)
    assert marks.keys() == beside_cudnn.keys()
    assert all(marks[case] > 1.5 * beside_cudnn[case] for case in marks)


def test_the_file_is_in_the_wheel(tmp_path: Path) -> None:
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path)))
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read(f"tlpuzzles/course/{FILE}").decode("utf-8")
    assert packed == (ROOT / "grader" / "tlpuzzles" / "course" / FILE).read_text("utf-8")


# --- which threshold counts


@pytest.mark.parametrize(
    ("arch", "family"),
    [("sm_75", "sm_75"), ("sm_80", "sm_80"), ("sm_86", "sm_89"), ("sm_89", "sm_89"), ("sm_90a", "sm_90")],
)
def test_a_gpu_has_its_familys_marks(arch: str, family: str) -> None:
    found = shipped().find("vector_add", "speed", "copy", arch=arch, gpu_name="Some GPU")
    assert found is not None
    assert found.gpu == family


@pytest.mark.parametrize("arch", ["sm_70", "sm_87", "sm_100a", "sm_120a", ""])
def test_an_unknown_family_has_none(arch: str) -> None:
    assert shipped().find("vector_add", "speed", "copy", arch=arch, gpu_name="Some GPU") is None


def test_another_case_or_baseline_has_none() -> None:
    file = Thresholds(entries=(threshold(),))
    where = {"arch": "sm_90a", "gpu_name": "NVIDIA H200"}
    assert file.find("tiled_gemm", "speed-4096", "cublas", **where) is not None
    assert file.find("tiled_gemm", "speed-8192", "cublas", **where) is None
    assert file.find("tiled_gemm", "speed-4096", "flash-sdpa", **where) is None
    assert file.find("schedule_sweep", "speed-4096", "cublas", **where) is None


def test_a_class_s_own_file_counts_before_the_course_s() -> None:
    own = Thresholds(
        entries=(
            threshold(gpu="sm_75", pass_at=0.3, origin="calibrated"),
            threshold(gpu="Tesla T4", pass_at=0.2, origin="calibrated"),
            threshold(gpu="NVIDIA H100 80GB HBM3", pass_at=0.1, origin="calibrated"),
        )
    )
    both = own.before(shipped())

    def pass_at(arch: str, name: str, case: str = "speed-4096") -> float:
        found = both.find("tiled_gemm", case, "cublas", arch=arch, gpu_name=name)
        assert found is not None
        return found.pass_at

    assert pass_at("sm_75", "Tesla T4") == 0.2, "the GPU's own name comes first"
    assert pass_at("sm_75", "Quadro RTX 6000") == 0.3, "then the family, the class's before the course's"
    assert pass_at("sm_90a", "NVIDIA H200") == 0.45, "another GPU's entry is not taken"
    assert pass_at("sm_75", "Tesla T4", "speed-8192") == 0.35, "what the class did not calibrate is the course's"


def test_a_gpu_s_name_counts_in_small_and_capital_letters() -> None:
    file = Thresholds(entries=(threshold(gpu="tesla t4", pass_at=0.2), threshold(gpu="SM_80", pass_at=0.3)))
    for arch, name, mark in (("sm_75", "Tesla T4", 0.2), ("sm_80", "NVIDIA A100-SXM4-40GB", 0.3)):
        found = file.find("tiled_gemm", "speed-4096", "cublas", arch=arch, gpu_name=name)
        assert found is not None
        assert found.pass_at == mark
    with pytest.raises(ValueError, match="unknown family"):
        threshold(gpu="SM_90A")


def test_a_file_without_an_entry_for_the_gpu_says_which_it_has() -> None:
    file = Thresholds(entries=(threshold(gpu="Tesla T4"), threshold(gpu="tesla t4", case="x"), threshold(gpu="sm_89")))
    counts = "The marks that come with tlpuzzles count."
    assert absent(file, "NVIDIA H200", "sm_90a") == (
        f"thresholds.toml has no entry for NVIDIA H200; it has: tesla t4, sm_89. {counts}"
    )
    assert absent(file, "NVIDIA RTX 6000 Ada", "sm_100a") is not None, "a family that is not known"
    assert absent(file, "TESLA T4", "sm_75") is None
    assert absent(file, "NVIDIA A10", "sm_86") is None, "by its family"
    assert absent(file, None, None) is None, "no GPU is at hand"
    for gpu in (("Tesla T4", "sm_75"), (None, None)):
        assert absent(Thresholds(entries=()), *gpu) == (
            f"thresholds.toml has no entries; `tlpuzzles calibrate` makes them. {counts}"
        )


@pytest.mark.parametrize(("ratio", "score"), [(0.3, 0.0), (0.45, 0.0), (0.70, 0.5), (0.95, 1.0), (1.4, 1.0)])
def test_points_are_linear_between_the_marks(ratio: float, score: float) -> None:
    assert threshold().score(ratio) == pytest.approx(score)


def test_estimates_do_not_grade() -> None:
    graded = {origin: threshold(origin=origin).grades for origin in Origin}
    assert graded == {Origin.MEASURED: True, Origin.CALIBRATED: True, Origin.ESTIMATED: False}


# --- files


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    odd = threshold(gpu='GPU "A\\B" é', source="a\tb\x7f\nc #d", reference=1.0 / 3, origin="calibrated")
    file = tmp_path / FILE
    file.write_text(dump(Thresholds(entries=(odd, *shipped().entries)), ["For the class.", "", "torch 2.13"]), "utf-8")
    assert read(file).entries == (odd, *shipped().entries)
    assert file.read_text("utf-8").startswith("# For the class.\n#\n# torch 2.13\nschema = 1\n\n[[threshold]]\n")


GOOD = """schema = 1

[[threshold]]
exercise = "tiled_gemm"
case = "speed-4096"
gpu = "Tesla T4"
against = "cublas"
pass_at = 1
full_at = 1.5
origin = "calibrated"
source = "2026-11-29"
"""
GPU = 'gpu = "Tesla T4"\nagainst = "cublas"\npass_at = 1'
GPU_IS = 'gpu = "{}"\nagainst = "cublas"\npass_at = 0'
"""For an entry that is wrong and names this GPU."""
ENTRY = "[[threshold]] number 1 (tiled_gemm, speed-4096, Tesla T4, cublas)"


def test_a_good_file(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text(GOOD)
    assert read(file).entries[0].pass_at == 1.0
    file.write_text("schema = 1\n")
    assert read(file).entries == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1\n", "", "has no schema. This tlpuzzles reads schema 1"),
        (
            "pass_at = 1\nfull_at = 1.5",
            "pass_at = 50\nfull_at = 80",
            f"{ENTRY}: pass_at is 50. It must be a ratio, not percent, and at most 10: half of the library's speed is",
        ),
        ("full_at = 1.5", "full_at = 10.5", "full_at is 10.5. It must be a ratio, not percent"),
        ('source = "2026-11-29"', 'source = "x"\nreference = 82', "reference is 82. It must be a ratio, not percent"),
        ("schema = 1", "schema = 2", "has schema 2. This tlpuzzles reads schema 1"),
        ("schema = 1", "schema = true", "has schema true. This tlpuzzles reads schema 1"),
        ("schema = 1", "schema = 1.0", "has schema 1.0. This tlpuzzles reads schema 1"),
        ("schema = 1", "schema 1", "is not valid TOML"),
        ("schema = 1", "schema = 1\nclass = 'a'", 'has "class", which means nothing here.'),
        ("[[threshold]]", "[threshold]", "Write [[threshold]] above each."),
        ("pass_at = 1\n", "", f"{ENTRY} has no pass_at. Add pass_at = ...: a number above 0"),
        ("pass_at = 1\n", "pass_at = -1\n", f"{ENTRY}: pass_at is -1, but must be a number above 0"),
        ("pass_at = 1\n", 'pass_at = "1"\n', f"{ENTRY}: pass_at is '1', but must be a number above 0"),
        ("pass_at = 1\n", "pass_at = nan\n", f"{ENTRY}: pass_at is nan, but must be a number above 0"),
        ("pass_at = 1\n", "pass_at = true\n", f"{ENTRY}: pass_at is true, but must be a number above 0"),
        ("full_at = 1.5", "full_at = 1.0", f"{ENTRY}: full_at is 1.0, but must be a number above pass_at"),
        ("full_at = 1.5", "full_at = inf", f"{ENTRY}: full_at is inf, but must be a number above pass_at"),
        ('"calibrated"', '"guess"', 'origin is \'guess\', but must be "measured" or "estimated" or "calibrated".'),
        ('"Tesla T4"', '"sm_90a"', 'gpu is \'sm_90a\', but must be a family ("sm_75", "sm_80"'),
        ('"2026-11-29"', "2026-11-29", "source is 2026-11-29, but must be a sentence in quotes that says where"),
        ('"2026-11-29"', "07:32:00", "source is 07:32:00, but must be a sentence in quotes"),
        ('source = "2026-11-29"', 'source = ""', "source is '', but must be a sentence"),
        ('source = "2026-11-29"', 'source = "x"\nreference = 0', "reference is 0, but must be a number above 0"),
        ("pass_at", "passes_at", f"{ENTRY} has no pass_at."),
        ('source = "2026-11-29"', 'source = "x"\nnote = 0', f'{ENTRY} has no setting "note". It knows exercise,'),
    ],
)
def test_a_bad_file_is_told_what_to_write(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    file = tmp_path / FILE
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        read(file)
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("= 1.5", "= " + "9" * 5000, "has a number of thousands of digits.", id="a long number"),
        pytest.param("= 1.5", "= 0x" + "f" * 5000, "full_at is a number of thousands of digits, but", id="in base 16"),
        pytest.param("= 1.5", "= " + "[" * 300 + "]" * 300, f"{ENTRY}: full_at is [[[...]]], but must", id="nested"),
        pytest.param("= 1.5", "= " + "[" * 5000 + "]" * 5000, "lists within lists, too many to read", id="deep"),
        pytest.param("full_at =", "full_at" + ".a" * 99 + " =", "full_at is {'a': {'a': {...}}}, but", id="tables"),
        pytest.param(
            "full_at =", "full_at" + ".a" * 3000 + " =", ", line 9 has more than 100 dots", id="a key in parts"
        ),
        pytest.param("= 1.5", '= "' + "x" * 100_000 + '"', "full_at is 'xxx", id="a long text"),
        pytest.param("schema = 1", 'schema = "' + "x" * 100_000 + '"', "has schema 'xxx", id="a long schema"),
        pytest.param("schema = 1", "schema = 1\n" + "a" * 100_000 + " = 1", 'has "aaaa', id="a long name"),
        pytest.param("= 1.5", "= 1.5\n" + "a" * 100_000 + " = 1", 'has no setting "aaaa', id="a long setting"),
        pytest.param(GPU, GPU_IS.format("x" * 100_000), "(tiled_gemm, speed-4096, xxx", id="a long GPU"),
        pytest.param("= 1.5", '= "\\u001b[31m"', "full_at is '\\x1b[31m', but", id="a colour"),
        pytest.param(GPU, GPU_IS.format(r"\u001b[31m\n\u202e"), "speed-4096, ?[31m??, cublas)", id="a GPU in colour"),
        pytest.param("schema = 1", 'schema = 1\n"\\u001b[31m" = 1', 'has "?[31m"', id="a name in colour"),
        pytest.param("= 1.5", '= 1.5\n"\\u001b[31m" = 1', 'has no setting "?[31m"', id="a setting in colour"),
        pytest.param(
            "schema = 1", f"[{'a' * 100_000}]\n" * 2, "is not valid TOML: Cannot declare", id="declared twice"
        ),
        pytest.param("schema = 1", "schema = \x1b", "is not valid TOML", id="no value but a colour"),
    ],
)
def test_what_is_told_of_an_odd_file_is_short_and_plain(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    file = tmp_path / FILE
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        read(file)
    said = str(caught.value)
    assert message in said
    assert len(said) < len(str(file)) + 600
    assert said.isprintable()


def test_a_file_that_is_too_long_or_has_too_many_entries_is_refused(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text("schema = 1\n" + "[[threshold]]\n" * (MOST_ENTRIES + 1))
    with pytest.raises(UsageError, match=f"has {MOST_ENTRIES + 1} entries; at most {MOST_ENTRIES} are read"):
        read(file)
    file.write_text(GOOD + "# and so on\n" * 100_000)
    with pytest.raises(UsageError, match="cannot be read: it has more than 1024 KiB"):
        read(file)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(UsageError, match="cannot be read: it is not a plain file"):
        read(tmp_path / FILE)


def test_names_that_nothing_knows_are_told_short_and_plain() -> None:
    odd = "\x1b[31m\n" + "x" * 1000
    entries = [threshold(exercise=odd), threshold(case=odd), threshold(against=odd)]
    found = strangers(Thresholds(entries=tuple(entries)), catalog.exercises())
    assert len(found) == 3
    gpus = Thresholds(entries=tuple(threshold(gpu=f"{odd[:50]} {number}") for number in range(1000)))
    lack = absent(gpus, odd, "sm_75")
    assert lack is not None
    assert "and 992 more." in lack
    for said in (*found, lack):
        assert said.isprintable()
        assert "?[31m?xxx" in said
        assert len(said) < 900


def test_a_comment_stays_a_comment(tmp_path: Path) -> None:
    file = tmp_path / FILE
    write(
        file,
        Thresholds(entries=(threshold(),)),
        ["On a\nschema = 7\r\x1b", "tlpuzzles calibrate --output a\udcff.toml"],
    )
    assert read(file).entries == (threshold(),)
    assert file.read_text().startswith("# On a\\nschema = 7\\r\\x1b\n# tlpuzzles calibrate --output a\\udcff.toml\n")


@pytest.mark.parametrize("gpu", ["Tesla T4", "TESLA T4"])
def test_an_entry_that_is_there_twice_is_refused(tmp_path: Path, gpu: str) -> None:
    file = tmp_path / FILE
    file.write_text(GOOD + GOOD.partition("\n")[2].replace("Tesla T4", gpu))
    with pytest.raises(UsageError, match=rf"number 2 \(tiled_gemm, speed-4096, {gpu}, cublas\) is there twice"):
        read(file)


def test_a_file_that_windows_has_marked_with_a_byte_order_is_read(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read(file).entries[0].gpu == "Tesla T4"


@pytest.mark.parametrize("content", ["", '[class]\narch = "sm_75"\n'])
def test_toml_of_another_kind_is_not_told_to_become_a_file_of_marks(tmp_path: Path, content: str) -> None:
    file = tmp_path / "course.toml"
    file.write_text(content)
    with pytest.raises(NotMarks, match="is not a file of marks: it has neither") as caught:
        read(file)
    assert "schema = 1" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read(tmp_path / FILE)
    (tmp_path / FILE).write_bytes(b"schema = 1 # \xff")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read(tmp_path / FILE)
