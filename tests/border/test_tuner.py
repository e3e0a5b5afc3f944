"""TileLang's autotuner in a child, on the C target: it needs no GPU, and the cache is the same."""

from __future__ import annotations

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

    def run(text: str, ahead: int) -> tuple[dict[str, Any], str]:
        file = tmp_path / "file.py"
        file.write_text(text, encoding="utf-8")
        job = {"path": "/x/file.py", "text": str(file), "factory": "scaled", "sizes": {"N": 1024}, "ahead": ahead}
        report = warm.run("tune", job, Limits(60), tmp_path / "child", cache=tmp_path / "cache")
        assert report.end is End.FINISHED, report.output
        return next(m for m in report.messages if m["kind"] in ("tuned", "error")), report.output

    return run


def kernels(folder: Path) -> list[Path]:
    return list((folder / "cache").glob("*/*/kernels/*"))


def test_the_second_run_is_known_to_be_cached(tune: Any, tmp_path: Path) -> None:
    first, output = tune(FILE.replace("REF", ""), 2)
    assert first.get("config") in ({"block": 32}, {"block": 64}), (first, output)
    assert first["cached"] is False
    # One each and, by TileLang's ways with out_idx, one more for the first; four where nothing compiled ahead is found.
    assert len(kernels(tmp_path)) == 3
    assert output.count("listing") == 1, "what compiling ahead printed is shown"

    again, _ = tune(FILE.replace("REF", ""), 0)
    assert again["cached"] is True
    assert again["config"] == first["config"]


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
