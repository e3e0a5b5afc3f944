"""The cheat sheet is true for the TileLang that is installed, and fits on a screen."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import tilelang
import tilelang.language

from tests.course.signatures import problems
from tlpuzzles.workspace.documents import document

TEXT = document("cheatsheet.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def _names() -> list[str]:
    return sorted({name.rstrip(".") for name in re.findall(r"\b(?:T|tilelang)\.[A-Za-z_][\w.]*", TEXT)})


def test_it_names_the_release_that_is_installed() -> None:
    assert TEXT.startswith(f"# TileLang {tilelang.__version__} ")


@pytest.mark.parametrize("name", _names())
def test_name_exists(name: str) -> None:
    root, *rest = name.split(".")
    found: object = tilelang.language if root == "T" else tilelang
    for part in rest:
        found = getattr(found, part)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_calls_are_such_as_tilelang_takes(block: str) -> None:
    ast.parse(block)

    assert problems(block) == []


def test_problems_are_found() -> None:
    """What the tests above rest on."""
    assert problems("T.gemm(A, B, C, transpose_b=True)") == ["T.gemm has no parameter transpose_b"]
    assert problems("for i in T.Paralel(64):") == ["T.Paralel does not exist"]
    assert problems("T.reduce_sum(a, b, 1, True, 1, None, 0)") == [
        "T.reduce_sum takes 6 arguments by position, not 7",
    ]
    assert problems("kernel.get_profiler().do_bench(warm_up=3)") == [
        "kernel.get_profiler().do_bench has no parameter warm_up"
    ]
    assert problems("@tilelang.jit(outidx=[-1])") == ["tilelang.jit has no parameter outidx"]


def test_methods_of_a_kernel_exist() -> None:
    from tilelang.jit import JITImpl, JITKernel

    for owner, name in ((JITKernel, "kernel"), (JITImpl, "make")):
        for method in re.findall(rf"\b{name}\.(\w+)", TEXT):
            assert hasattr(owner, method), method
    assert {"get_kernel_source", "get_host_source", "get_profiler"} <= set(re.findall(r"\bkernel\.(\w+)", TEXT))


def test_pass_configs_exist() -> None:
    members = tilelang.PassConfigKey.__members__
    named = set(re.findall(r"\bTL_[A-Z_]+", TEXT))

    assert named
    assert named <= set(members)


def test_tilelang_reads_the_environment_variables() -> None:
    source = (Path(tilelang.__file__).parent / "env.py").read_text("utf-8")
    named = set(re.findall(r"\b(?:TILELANG_[A-Z_]+|CUDA_HOME)\b", TEXT))

    assert len(named) >= 4
    for name in named:
        assert f'"{name}"' in source, name


def test_it_fits_on_a_screen() -> None:
    assert max(map(len, TEXT.splitlines())) <= 80
    shown = [line for line in TEXT.splitlines() if line and not line.startswith("```")]
    assert len(shown) <= 66
