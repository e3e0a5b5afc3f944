"""What people write, and what the tracer makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tlpuzzles.border.children import Warm
from tlpuzzles.course.vocabulary import Case
from tlpuzzles.grading import submission
from tlpuzzles.grading.plan import Problem
from tlpuzzles.grading.tracing import Traced, trace
from tlpuzzles.kernel.capsule import read
from tlpuzzles.kernel.tile_ir import Stmt, walk

VECTOR_ADD = Problem(Case("small", "small", lambda _: {"N": 1000}, dtype="float32"), {"N": 1000}, "small")

BODY = """
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:
            for i in T.Parallel(block_N):
                C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]
    return main
"""
IMPORTS = "import tilelang\nimport tilelang.language as T\n"
GOOD = IMPORTS + "@tilelang.jit(out_idx=[-1])\ndef make_vector_add(N, block_N=256, dtype='float32'):" + BODY

Tracing = Callable[..., Traced]


@pytest.fixture
def traced(warm: Warm, learner: Path) -> Tracing:
    def run(text: str, *, arch: str = "cpu", seconds: float = 20.0) -> Traced:
        file = learner / "vector_add.py"
        file.write_text(dedent(text), encoding="utf-8")
        return trace(warm, submission.read(file), "make_vector_add", arch, [VECTOR_ADD], seconds, learner)

    return run


def test_a_capsule_arrives_whole(traced: Tracing) -> None:
    result = traced(GOOD)
    capsule = result.capsules["small"]
    assert capsule.out_idx == (-1,)
    assert not result.follows_arch
    lines = {node.line for node in walk(read(capsule).func) if isinstance(node, Stmt)}
    assert {7, 8, 9} <= lines  # of `with T.Kernel`, the loop and the store, in the learner's file


@pytest.mark.parametrize(
    ("text", "out_idx"),
    [
        pytest.param(GOOD.replace("(out_idx=[-1])", ""), None, id="jit without out_idx"),
        pytest.param(GOOD.replace("[-1]", "2"), (2,), id="out_idx as a number"),
        pytest.param(GOOD.replace("@tilelang.jit(out_idx=[-1])", ""), None, id="plain factory"),
        pytest.param(GOOD.replace("language as T", "language as tl").replace("T.", "tl."), (-1,), id="another alias"),
        pytest.param(GOOD.replace("dtype='float32'", "dtype=T.float32"), (-1,), id="dtype object as default"),
        pytest.param(GOOD.replace("dtype='float32'", "dtype='float32', speed=11"), (-1,), id="extra parameter"),
        pytest.param(GOOD.replace(", dtype='float32'", "").replace("dtype", "'float32'"), (-1,), id="no dtype"),
        pytest.param(
            IMPORTS + "import torch\nassert torch.cuda.is_available(), 'No GPU'\n"
            "DEV = torch.device('cuda')\nPROPS = torch.cuda.get_device_properties(0)\n"
            "print(PROPS.name, PROPS.multi_processor_count, PROPS.total_memory / 2**30)\n" + GOOD,
            (-1,),
            id="notebook preamble",
        ),
        pytest.param(GOOD + "\nkernel = make_vector_add(512)\nprint(kernel.get_kernel_source())\n", (-1,), id="built"),
        pytest.param(
            IMPORTS
            + "def make_vector_add(N, block_N=256, dtype='float32'):"
            + BODY.replace("return main", "return tilelang.compile(main, out_idx=[2])"),
            (2,),
            id="factory that compiles",
        ),
        pytest.param(
            IMPORTS + "BLOCK = 128\n\n@T.macro\ndef add(A, B, C, bx):\n    for i in T.Parallel(BLOCK):\n"
            "        C[bx * BLOCK + i] = A[bx * BLOCK + i] + B[bx * BLOCK + i]\n\n"
            "def blocks(N):\n    return T.ceildiv(N, BLOCK)\n\n"
            "@tilelang.jit(out_idx=-1)\ndef make_vector_add(N, block_N=256, dtype='float32'):\n"
            "    @T.prim_func\n"
            "    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):\n"
            "        with T.Kernel(blocks(N), threads=128) as bx:\n            add(A, B, C, bx)\n    return main\n",
            (-1,),
            id="macro and helper",
        ),
        pytest.param(
            IMPORTS + "@tilelang.jit\ndef make_vector_add(A, B, block_N: int = 256, dtype: str = 'float32'):\n"
            "    N = T.const('N')\n    A: T.Tensor[[N], dtype]\n    B: T.Tensor[[N], dtype]\n"
            "    C = T.empty([N], dtype)\n"
            "    with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:\n"
            "        for i in T.Parallel(block_N):\n"
            "            C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]\n    return C\n",
            (-1,),
            id="eager",
        ),
        pytest.param(
            IMPORTS + "def make_vector_add(N, block_N=256, dtype='float32'):\n    @tilelang.jit\n"
            "    def add(A, B):\n"
            "        A: T.Tensor[[N], dtype]\n        B: T.Tensor[[N], dtype]\n"
            "        C = T.empty([N], dtype)\n"
            "        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:\n"
            "            for i in T.Parallel(block_N):\n"
            "                C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]\n        return C\n"
            "    return add\n",
            (-1,),
            id="factory of eager",
        ),
        pytest.param(
            IMPORTS + "def make_vector_add(N, block_N=256, dtype='float32'):\n    @tilelang.jit\n"
            "    def add(A, B):\n        N = T.const('N')\n"
            "        A: T.Tensor[[N], dtype]\n        B: T.Tensor[[N], dtype]\n"
            "        C = T.empty([N], dtype)\n"
            "        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:\n"
            "            for i in T.Parallel(block_N):\n"
            "                C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]\n        return C\n"
            "    return add\n",
            (-1,),
            id="factory of eager that names its size",
        ),
        pytest.param(
            GOOD.replace("@tilelang.jit", "@tilelang.autotune(configs=[{'block_N': 64}])\n@tilelang.jit"),
            (-1,),
            id="autotune",
        ),
    ],
)
def test_what_people_write_is_traced(traced: Tracing, text: str, out_idx: tuple[int, ...] | None) -> None:
    result = traced(text)
    assert result.whole is None
    assert not result.problems
    assert result.capsules["small"].out_idx == out_idx
    shapes = [argument.shape[0].value for argument in read(result.capsules["small"]).func.arguments]
    assert shapes == [1000, 1000, 1000]


def test_pass_configs_travel_by_name(traced: Tracing) -> None:
    text = GOOD.replace("out_idx=[-1]", "out_idx=[-1], pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True}")
    assert traced(text).capsules["small"].pass_configs == {"tl.enable_fast_math": True}


def test_arch_is_passed_and_noticed(traced: Tracing) -> None:
    text = GOOD.replace("dtype='float32'):", "dtype='float32', arch='?'):\n    assert arch == 'sm_75', arch\n")
    assert traced(text, arch="sm_75").follows_arch
    assert "sm_80" in traced(text, arch="sm_80").problems["small"].message


@pytest.mark.parametrize(("arch", "capability"), [("sm_75", (7, 5)), ("sm_80", (8, 0)), ("sm_90a", (9, 0))])
def test_the_gpu_asked_about_is_the_one_traced_for(traced: Tracing, arch: str, capability: tuple[int, int]) -> None:
    text = IMPORTS + f"import torch\nassert torch.cuda.get_device_capability() == {capability}\n" + GOOD
    result = traced(text, arch=arch)
    assert result.capsules
    assert result.follows_arch


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        pytest.param("x = 1\n", "no function named make_vector_add", None, id="no factory"),
        pytest.param("def make_add(N): ...\n", "It defines make_add", None, id="other name"),
        pytest.param("make_vector_add = 3\n", "an object of type int, not a function", None, id="not callable"),
        pytest.param("def make_vector_add(N, block_N): ...\n", "requires `block_N`", None, id="parameter required"),
        pytest.param("def make_vector_add(dtype): ...\n", "no parameter `N`", None, id="size missing"),
        pytest.param("def make_vector_add(N): pass\n", "returned None", None, id="returns None"),
        pytest.param("def make_vector_add(N): return 'add'\n", "an object of type str", None, id="returns text"),
        pytest.param("import torch\ndef make_vector_add(N): return torch.zeros(N)\n", "type Tensor", None, id="tensor"),
        pytest.param(
            "def make_vector_add(N):\n    return 1 / 0\n", "ZeroDivisionError: division by zero", 2, id="raises"
        ),
        pytest.param("1 / 0\n", "Loading the file raised ZeroDivisionError", 1, id="raises when loaded"),
        pytest.param("import sys\nsys.exit(0)\n", "sys.exit(0)", 2, id="exits"),
        pytest.param("import os\nos._exit(0)\n", "exit status 0", None, id="leaves"),
        pytest.param("import os\nos.abort()\n", "signal 6", None, id="aborts"),
        pytest.param(
            "def make_vector_add(N):\n    import os\n    os._exit(0)\n", "while tracing", None, id="leaves late"
        ),
        pytest.param("import nonesuch\n", "imports 'nonesuch'", 1, id="not installed"),
        pytest.param(
            "import torch\nx = torch.ones(3, device='cuda')\n", "puts a tensor on the GPU", 2, id="tensor on GPU"
        ),
        pytest.param("import torch\nx = torch.ones(3).cuda()\n", "puts a tensor on the GPU", 2, id=".cuda()"),
        pytest.param(
            GOOD + "import torch\nkernel = make_vector_add(8)\nkernel(1, 2)\n", "launches a kernel", 13, id="launch"
        ),
        pytest.param(GOOD.replace("+ B[", "@ B["), "unsupported operand", 9, id="error in the kernel"),
        pytest.param(
            GOOD.replace("T.ceildiv", "T.ceil_div"),
            "TileLang has no T.ceil_div. Did you mean T.ceildiv",
            7,
            id="wrong name in the kernel",
        ),
    ],
)
def test_what_goes_wrong_is_said_with_its_line(traced: Tracing, text: str, says: str, line: int | None) -> None:
    result = traced(text)
    problem = result.whole or result.problems["small"]
    assert says in problem.message
    assert problem.line == line
    assert not result.capsules


def test_a_file_that_never_ends_is_stopped(traced: Tracing) -> None:
    result = traced("while True: pass\n", seconds=0.5)
    assert result.whole is not None
    assert "took longer than" in result.whole.message


def test_megabytes_of_output_are_kept_short_and_apart(traced: Tracing) -> None:
    result = traced("print('x' * 5_000_000)\n" + GOOD)
    assert result.capsules
    assert len(result.output) < 70_000
    assert "more bytes were printed" in result.output


def test_tilelangs_instrumented_source_is_not_shown(traced: Tracing) -> None:
    result = traced(GOOD.replace("+ B[", "@ B["))
    assert result.output == ""


def test_no_gpu_no_seed_and_no_neighbours_in_the_tracer(traced: Tracing) -> None:
    text = (
        "import os, sys\nassert os.environ['CUDA_VISIBLE_DEVICES'] == ''\n"
        "import torch\nassert torch.__file__.endswith('torch/__init__.py')\n"
        "open('here', 'w').write('x')\n" + GOOD
    )
    assert traced(text).capsules


def test_a_file_beside_it_cannot_stand_in_for_torch(traced: Tracing, learner: Path) -> None:
    (learner / "torch.py").write_text("raise SystemExit('not torch')\n")
    (learner / "tilelang.py").write_text("raise SystemExit('not tilelang')\n")
    assert traced("import torch\n" + GOOD).capsules
