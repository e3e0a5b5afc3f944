"""Whether a speed verdict is right, or none, while another process computes on the same GPU.

    python -m pytest -o addopts= -m slow tests/gpu/test_disturbed.py -ra

About three minutes on an H200. Prints a table, also where pytest captures what tests print.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.gpu.slower import slower
from tlpuzzles.device.cuda import devices

pytestmark = pytest.mark.slow

SECONDS = 300
STARTING = 8.0
"""Seconds until the other process is at work."""
PRODUCTS = """
import sys, time, random, torch
work, rest = map(float, sys.argv[1:])
a = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
while True:
    end = time.monotonic() + work * random.uniform(0.5, 1.5)
    while time.monotonic() < end:
        for _ in range(10):
            a @ a
        torch.cuda.synchronize()
    time.sleep(rest * random.uniform(0.5, 1.5))
"""
OTHERS = {"all the time": (1.0, 0.0), "in bursts": (0.05, 0.2), "now and then": (0.3, 1.5)}
"""How long the other process works, and how long it rests, in seconds."""
RIGHT = {
    ("vector_add", "solution"): "passed",
    ("tiled_gemm", "solution"): "passed",
    ("epilogue_fusion", "solution"): "passed",
    ("epilogue_fusion", "slower"): "failed",
    ("flash_attention", "slower"): "failed",
}
"""What a quiet GPU says of each timed case."""


@pytest.fixture(autouse=True)
def _on_an_h200() -> None:
    found = devices.find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    if "H200" not in found.gpus[0].name:
        pytest.skip(f"the verdicts are those of an H200; this GPU is an {found.gpus[0].name}")


@contextmanager
def _other(work: float, rest: float) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", PRODUCTS, str(work), str(rest)]) as process:
        try:
            time.sleep(STARTING)
            assert process.poll() is None
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("how", OTHERS)
def test_a_disturbed_verdict_is_right_or_none(how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    with _other(*OTHERS[how]):
        for (slug, kind), right in RIGHT.items():
            file = tmp_path / kind / f"{slug}.py"
            file.parent.mkdir(exist_ok=True)
            text = slower(slug) if kind == "slower" else tlpuzzles_solutions.path(slug).read_text("utf-8")
            file.write_text(text, encoding="utf-8")
            command = [sys.executable, "-m", "tlpuzzles", "grade", slug, str(file), "--case", "speed"]
            done = subprocess.run(
                [*command, "--portability", "off", "--json"],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            document = json.loads(done.stdout)
            speeds = {speed["case"]: speed for speed in document["speed"] or ()}
            for check in document["checks"]:
                if check["kind"] != "speed":
                    continue
                speed = speeds.get(check["id"])
                ratio = "not timed" if speed is None else f"{speed['ratio']:.3f}, itself {speed['self_ratio']:.3f}"
                with capsys.disabled():
                    print(
                        f"\n{how} | {slug} | {kind} | {check['id']} | {ratio} | {check['verdict']}: {check['message']}"
                    )
                if check["verdict"] not in (right, "inconclusive"):
                    wrong.append((slug, kind, check))
    assert not wrong
