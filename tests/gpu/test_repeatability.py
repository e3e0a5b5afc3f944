"""Whether a speed is the same again: solutions and slower kernels, graded many times, each time in a new process.

    python -m pytest -o addopts= -m slow tests/gpu/test_repeatability.py -ra

Several gradings are started at once, and wait for each other where they use the GPU. With 20 gradings of each kernel it
takes about nine minutes on two H200, twice as long on one; TLPUZZLES_GRADINGS sets another number. Prints a table, also
where pytest captures what tests print.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import tlpuzzles_solutions
from tests.gpu.slower import SLOWER, slower
from tlpuzzles.course import catalog
from tlpuzzles.device.cuda import devices
from tlpuzzles.verdict.timing import LENIENCY

pytestmark = pytest.mark.slow

GRADINGS = int(os.environ.get("TLPUZZLES_GRADINGS", "20"))
AT_ONCE = 5
"""Gradings that are started at the same time for one GPU."""
SECONDS = 300
LONG_MS, TIGHT, LOOSE = 0.1, 0.005, 0.015
"""Half of the range that ratios may have, relative: that of kernels over 100 us, and of shorter ones."""
OFF = 0.01
"""How far a baseline may seem from itself."""
CLEAR = 0.05
"""A kernel so far away from what passes must always end the same."""

REFERENCE, SLOWER_ONE = "solution", "slower"


@dataclass
class Seen:
    """What the gradings of one timed case said."""

    ratios: list[float] = field(default_factory=list)
    selves: list[float] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    milliseconds: float = 0.0
    pass_at: float | None = None

    @property
    def half(self) -> float:
        return (max(self.ratios) - min(self.ratios)) / 2 / median(self.ratios)

    @property
    def is_clear(self) -> bool:
        edge = LENIENCY * (self.pass_at or 0.0)
        return all(abs(ratio - edge) >= CLEAR * edge for ratio in self.ratios)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], Seen]:
    found = devices.find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    if "H200" not in found.gpus[0].name:
        pytest.skip(f"the slower kernels were chosen for an H200; this GPU is an {found.gpus[0].name}")
    folder = tmp_path_factory.mktemp("repeated")
    files = {}
    for slug in SLOWER:
        for kind, text in ((REFERENCE, tlpuzzles_solutions.path(slug).read_text("utf-8")), (SLOWER_ONE, slower(slug))):
            files[slug, kind] = folder / kind / f"{slug}.py"
            files[slug, kind].parent.mkdir(exist_ok=True)
            files[slug, kind].write_text(text, encoding="utf-8")
    gathered: dict[tuple[str, str, str], Seen] = {}
    # Gradings of one kernel do not follow each other: what changes within minutes is to be seen in each.
    jobs = [key for _ in range(GRADINGS) for key in files]
    gpus = [str(gpu.index) for gpu in found.gpus]
    with ThreadPoolExecutor(AT_ONCE * len(gpus)) as pool:
        done = pool.map(lambda job: _grade(files[job[1]], job[1][0], gpus[job[0] % len(gpus)]), enumerate(jobs))
        for (slug, kind), document in zip(jobs, done, strict=True):
            _gather(gathered, slug, kind, document)
    return gathered


def _grade(file: Path, slug: str, gpu: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tlpuzzles", "grade", slug, str(file), "--case", "speed", "--portability", "off"]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": gpu}
    done = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, timeout=SECONDS, env=environment, check=False
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _gather(gathered: dict[tuple[str, str, str], Seen], slug: str, kind: str, document: dict[str, Any]) -> None:
    ended = {check["id"]: check["verdict"] for check in document["checks"]}
    for speed in document["speed"] or ():
        one = gathered.setdefault((slug, kind, speed["case"]), Seen())
        one.ratios.append(speed["ratio"])
        one.selves.append(speed["self_ratio"])
        one.scores.append(speed["score"])
        one.verdicts.append(ended[speed["case"]])
        one.milliseconds, one.pass_at = speed["milliseconds"], speed["pass_at"]


def test_a_speed_is_the_same_again(seen: dict[tuple[str, str, str], Seen], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n\n{devices.find().gpus[0].name}, {GRADINGS} gradings of each\n")
        print("| exercise | kernel | case | ms | ratio | half of the range | beside itself | ended |")
        print("|---|---|---|---|---|---|---|---|")
        for (slug, kind, case), one in sorted(seen.items()):
            ended = ", ".join(f"{one.verdicts.count(verdict)} {verdict}" for verdict in sorted(set(one.verdicts)))
            print(
                f"| {slug} | {kind} | {case} | {one.milliseconds:.4f} "
                f"| {median(one.ratios):.4f} ({min(one.ratios):.4f} to {max(one.ratios):.4f}) | {100 * one.half:.2f} % "
                f"| {min(one.selves):.4f} to {max(one.selves):.4f} | {ended} |"
            )
    timed = {
        (e.slug, kind, t.case.id) for e in catalog.exercises() for t in e.timings for kind in ("solution", "slower")
    }
    assert {key for key, one in seen.items() if len(one.ratios) == GRADINGS} == timed
    wide = [key for key, one in seen.items() if one.half > (TIGHT if one.milliseconds > LONG_MS else LOOSE)]
    assert not wide


def test_no_verdict_flips(seen: dict[tuple[str, str, str], Seen]) -> None:
    assert not [key for key, one in seen.items() if one.is_clear and len(set(one.verdicts)) > 1]


def test_a_baseline_is_as_fast_as_itself(seen: dict[tuple[str, str, str], Seen]) -> None:
    assert not [key for key, one in seen.items() if max(abs(ratio - 1) for ratio in one.selves) > OFF]


def test_every_solution_has_full_marks(seen: dict[tuple[str, str, str], Seen]) -> None:
    solutions = {key: one for key, one in seen.items() if key[1] == REFERENCE}
    assert solutions
    assert not [key for key, one in solutions.items() if set(one.scores) != {1.0}]
