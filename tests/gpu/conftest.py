from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.gpu.harness import KERNELS, Answer, Gpu, describe
from tests.grades import grades
from tlpuzzles.border.children import Warm
from tlpuzzles.device.cuda.devices import find
from tlpuzzles.grading.choices import DeviceChoice, Portability
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.options import Options
from tlpuzzles.grading.selection import select
from tlpuzzles.verdict.model import Result

ROOT = Path(__file__).parents[2]
COMPILE_SECONDS = 180
OPTIONS = Options(seed=20_232, portability=Portability.OFF, speed=False)


@pytest.fixture(scope="session")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    found = find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    folder = tmp_path_factory.mktemp("gpu")
    environment = {
        **os.environ,
        "TILELANG_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "grader"), os.environ.get("PYTHONPATH")])),
        # Importing TileLang asks for a GPU; asked of CUDA itself, that would rule GPUs out for forked children.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    }
    command = [sys.executable, "-m", "tests.gpu.server"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=environment) as process:
        server = Gpu(process, folder)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"ready": True, "opened": False}
        probe = server.ask("probe")
        (told,) = probe.messages or [{"usable": False, "why": f"the child ended with {probe.code}: {probe.log}"}]
        assert told["usable"], f"there is a GPU ({found.gpus[0].name}), and it cannot be used: {told['why']}"
        server.arch = told["arch"]
        yield server
        process.stdin.close()  # type: ignore[union-attr]


@pytest.fixture(scope="session")
def compiled(gpu: Gpu) -> Answer:
    """Compiles every kernel of these tests, several at a time, into the cache that all jobs share."""
    return gpu.ask("compile", COMPILE_SECONDS, kernels=describe(set(KERNELS)))


@pytest.fixture(scope="session")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """Grades on the GPU."""
    found = find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    scratch = tmp_path_factory.mktemp("gpu-grading")
    with Warm(scratch) as warm:
        yield Grader(warm, scratch, select(DeviceChoice.CUDA, warm, scratch))


@pytest.fixture
def grade(grader: Grader, tmp_path: Path) -> Callable[..., Result]:
    """Grades a source text on the GPU: grade("1", text, only=...)."""
    return grades(grader, tmp_path, OPTIONS)
