"""TileLang's autotuner in a child, on the C target: it needs no GPU, and the cache is the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End

FILE = """
import tilelang
import tilelang.language as T
from tilelang.autotuner.tuner import AutoTuner

# The decorator can only measure on a GPU.
measure_with = AutoTuner.set_profile_args
AutoTuner.set_profile_args = lambda self, **how: measure_with(self, **{**how, "backend": "wall"})


def configs(N):
    print("listing")
    return [{"block": 32}, {"block": 64}]


@tilelang.autotune(configs=configs, warmup=1, rep=2, REF)
@tilelang.jit(out_idx=[-1], target="c")
def scaled(N: int, block: int = 32):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block)) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2.0
    return main
"""


@pytest.fixture
def tune(warm: Warm, tmp_path: Path) -> Any:
    """Runs the tuner in a child of its own, with one cache: tune(text, ahead) gives its message and what it printed."""
    (tmp_path / "child").mkdir()

    def run(text: str, ahead: int, **options: Any) -> tuple[dict[str, Any], str]:
        file = tmp_path / "file.py"
        file.write_text(text, encoding="utf-8")
        job = {"path": "/x/file.py", "text": str(file), "factory": "scaled", "sizes": {"N": 1024}, "ahead": ahead}
        report = warm.run("tune", {**job, **options}, Limits(60), tmp_path / "child", cache=tmp_path / "cache")
        assert report.end is End.FINISHED, report.output
        return report.messages[-1], report.output

    return run


def kernels(folder: Path) -> list[Path]:
    return list((folder / "cache").glob("*/*/kernels/*"))


def test_the_second_run_is_known_to_be_cached(tune: Any, tmp_path: Path) -> None:
    first, output = tune(FILE.replace("REF", ""), 2)
    assert first.get("config") in ({"block": 32}, {"block": 64}), (first, output)
    assert first["cached"] is False
    assert len(kernels(tmp_path)) == 2, "what was compiled ahead is compiled again"
    assert output.count("listing") == 1, "what compiling ahead printed is shown"

    again, _ = tune(FILE.replace("REF", ""), 0)
    assert again["cached"] is True
    assert again["config"] == first["config"]


def test_shares_are_compiled_and_not_tuned(tune: Any, tmp_path: Path) -> None:
    text = FILE.replace("REF", "")
    for share, there in ((0, 1), (1, 2), (2, 2)):
        message, output = tune(text, 1, share=[share, 3])
        assert (message["kind"], output) == ("loaded", "")
        assert len(kernels(tmp_path)) == there

    message, _ = tune(text, 1)
    assert message["kind"] == "tuned"
    assert len(kernels(tmp_path)) == 2


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_kernels_for_a_gpu_are_found_too(tune: Any, tmp_path: Path) -> None:
    """TileLang keys them in another way: it lets the factory's list of outputs be until it loads the first of them."""
    text = FILE.replace("REF", "").replace('target="c"', 'target={"kind": "cuda", "arch": "sm_80"}')
    text += "\nAutoTuner._benchmark_target = lambda self, **_: (1.0, None)\n"
    tune(text, 2, share=[0, 1])
    message, _ = tune(text, 0)

    assert message["kind"] == "tuned", message
    assert len(kernels(tmp_path)) == 2


def test_what_tilelang_does_not_keep_is_not_cached(tune: Any) -> None:
    text = FILE.replace("REF", "ref_prog=lambda A: A * 2.0, skip_check=True")
    first, _ = tune(text, 2)
    again, _ = tune(text, 0)
    assert (first["cached"], again["cached"]) == (False, False)


def test_a_list_that_cannot_be_compiled_ahead_is_the_autotuners_to_judge(tune: Any) -> None:
    text = FILE.replace("REF", "").replace('{"block": 64}', '{"block": 64, "threads": 128}')
    message, _ = tune(text, 2)
    assert message["kind"] == "error"
    assert "threads" in str(message)
