"""Compiling with nvcc, which needs no GPU."""

from __future__ import annotations

import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.device.cuda.kernels import ADD, ATTENTION, GEMM
from tests.kernel.constructs import tile_kernel
from tests.tracing import document
from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.catalogue.explanation import Explanation, Fault
from tlpuzzles.device.cuda import compiling, footprint
from tlpuzzles.device.cuda.compiling import Compiled, Source, compile_kernels
from tlpuzzles.device.cuda.load import load
from tlpuzzles.device.cuda.lower import cuda_source, lower
from tlpuzzles.device.cuda.model import LowerOutcome
from tlpuzzles.grading.stages import store
from tlpuzzles.kernel.capsule import NEUTRAL_SOURCE, Capsule, digest

NVCC = Path(os.environ.get("CUDA_HOME") or Path(shutil.which("nvcc") or "/none/bin/nvcc").parents[1]) / "bin" / "nvcc"

pytestmark = pytest.mark.skipif(not NVCC.exists(), reason="nvcc is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILELANG_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_kernels_compile_side_by_side_and_one_that_does_not_is_explained(
    cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sources = {
        "add": Source(document(ADD), {}),
        "bad": Source(document(GEMM, bm=16, bn=16), {}),
    }
    messages: list[dict[str, Any]] = []
    results = compile_kernels(sources, "sm_90a", messages.append)
    assert isinstance(results["add"], Compiled)
    assert isinstance(results["bad"], Explanation)
    assert results["bad"].id == "warp-partition"
    # On a busy machine it is also said, now and then, that there is still something to wait for.
    assert {message["kernel"]: message["event"] for message in messages if "kernel" in message} == {
        "add": "compiled",
        "bad": "not compiled",
    }
    assert any(cache.rglob("executable.so"))
    assert capfd.readouterr() == ("", "")


def test_what_is_compiled_for_other_processes_is_in_the_cache_with_its_host_part(cache: Path) -> None:
    compile_kernels({"gemm": Source(document(GEMM, bm=64, bn=64), {})}, "sm_80", lambda _: None, called=False)
    assert any(cache.rglob("executable.so"))


def test_nvcc_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "MAX_STATIC_SHARED", 1 << 30)
    kernel = document(
        tile_kernel(
            """
            x = T.alloc_shared((64, 240), 'float32', scope='shared')
            T.copy(A, x[:, 0:32])
            T.copy(x[:, 0:32], B)
            """
        )
    )
    assert lower(kernel, {}, "sm_80").outcome is LowerOutcome.COMPILES
    refused = lower(kernel, {}, "sm_80", nvcc=True)
    assert refused.outcome is LowerOutcome.NVCC_REFUSED
    assert refused.explanation is not None
    assert refused.explanation.id == "nvcc-static-shared"
    assert refused.explanation.raw.startswith("ptxas error")


def test_a_gpu_that_nvcc_does_not_know_is_the_machines_fault() -> None:
    found = lower(document(ADD), {}, "sm_50", nvcc=True).explanation
    assert found is not None
    assert (found.id, found.fault) == ("nvcc-arch", Fault.MACHINE)


def test_later_gradings_find_kernels_and_make_anew_what_is_damaged(warm: Warm, tmp_path: Path) -> None:
    """Two gradings at the same time, one after them, and one after half of every file was lost."""
    kernel = store(Capsule(document(ADD).text(), None, {}, NEUTRAL_SOURCE), tmp_path / "kernel.json")
    job = {"arch": "sm_90a", "cases": [], "kernels": {"add": str(kernel)}}

    def seconds() -> float:
        """What compiling took, in a process of its own."""
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        report = warm.run("cuda", job, Limits(120), folder, cache=tmp_path / "kept")
        compiled = next((m for m in report.of("cuda") if m["event"] == "compiled"), None)
        assert compiled is not None, (report.messages, report.output)
        return float(compiled["seconds"])

    with ThreadPoolExecutor(2) as pool:
        cold = list(pool.map(lambda _: seconds(), range(2)))
    assert len(list((tmp_path / "kept").glob("*/*/kernels/*"))) == 1
    assert seconds() < min(cold) / 3

    for file in (tmp_path / "kept").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    seconds()
    assert seconds() < min(cold) / 3


def test_the_caches_key_changes_nothing_of_the_source() -> None:
    kernel = document(GEMM)
    keyed = load(kernel).with_attr(compiling._DIGEST, digest(kernel))
    assert cuda_source(keyed, {}, "sm_90a") == cuda_source(load(kernel), {}, "sm_90a")
    assert digest(kernel) in keyed.script(show_meta=True)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90a"])
@pytest.mark.parametrize("source", [ADD, GEMM, ATTENTION], ids=["add", "gemm", "attention"])
def test_what_lowers_passes_nvcc(source: str, arch: str) -> None:
    assert lower(document(source), {}, arch, nvcc=True).outcome is LowerOutcome.COMPILES
