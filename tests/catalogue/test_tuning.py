"""What the autotuner says, which tunes only where there is a GPU: its own objects say it here without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tracing import prim_func
from tlpuzzles.catalogue.raised import explain

SOURCE = """
@tilelang.autotune(configs={configs})
@tilelang.jit(out_idx=[-1], target={{"kind": "cuda", "arch": "sm_80"}})
def tuned(N, block=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=block) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i]
    return main

def kernel(N):
    return tuned(N)
"""


@pytest.mark.parametrize(
    ("configs", "id_", "says"),
    [
        ("[]", "autotune-no-configs", "at least one dict"),
        ("[{{'block_X': 128}}]", "autotune-unused-keys", "A configuration sets 'block_X'"),
        ("[(128,)]", "autotune-config-type", "A configuration is a tuple"),
        ("{{'block': 128}}", "autotune-config-type", "A configuration is a str"),
    ],
)
def test_what_the_tuner_refuses(
    configs: str, id_: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes its log there
    with pytest.raises(Exception) as raised:  # noqa: PT011 - it raises whatever comes of it
        prim_func(SOURCE.format(configs=configs.format()), "kernel", N=1000)
    found = explain(type(raised.value).__name__, str(raised.value))
    assert found is not None
    assert found.id == id_
    assert says in found.message + found.fix


def test_what_the_tuner_says_when_nothing_runs() -> None:
    recorded = "Auto-tuning failed: No configuration successfully compiled and passed benchmarking/validation."
    found = explain("RuntimeError", recorded)
    assert found is not None
    assert found.id == "autotune-all-failed"
