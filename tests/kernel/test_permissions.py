"""What a kernel may be made of, and what is refused by its name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.kernel.constructs import CONSTRUCTS, tile_kernel
from tests.kernel.problems import ADD, ADD_SIZES, case, only, real_capsules, vetted
from tests.tracing import HEADER, trace
from tlpuzzles.kernel import allowed, pass_configs
from tlpuzzles.kernel.capsule import read
from tlpuzzles.kernel.findings import Kind, Severity
from tlpuzzles.kernel.vet import vet


def test_every_allowed_operator_is_one_that_tilelang_knows() -> None:
    from tilelang import tvm

    assert set(allowed.OPERATORS) <= set(map(str, tvm.ir.Op.list_op_names()))


def test_every_allowed_pass_config_is_one_that_tilelang_knows() -> None:
    import tilelang

    known = {key.value for key in tilelang.PassConfigKey}
    assert known >= {*pass_configs._SWITCHES, *pass_configs._NUMBERS, *pass_configs._CHOICES, *pass_configs._FILES}
    assert {pass_configs._SAFE_MEMORY, pass_configs._FLAGS} <= known


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            'for i, j in T.Parallel(64, 32):\n    B[i, j] = T.call_extern("float32", "sinf", A[i, j])',
            "calls the C function 'sinf' (T.call_extern)",
        ),
        (
            'for i, j in T.Parallel(64, 32):\n    B[i, j] = T.call_pure_extern("float32", "__sinf", A[i, j])',
            "calls the C function '__sinf'",
        ),
        ('T.import_source("int x;")\nT.copy(A, B)', "own C or CUDA source (T.import_source"),
        ("T.copy(A, B)\nassert bx < 3", "`assert` is not checked inside a kernel. Use T.device_assert"),
        (
            'x = T.make_tensor_from_addr(T.int64(4096), (64, 32), "float32")\nT.copy(x, B)',
            "x is a raw address (T.make_tensor",
        ),
        (
            'for t in T.thread_binding(128, "threadIdx.x"):\n    B[t // 2, 0] = A[t // 2, 0]',
            "T.thread_binding over threadIdx.x is not part of this course",
        ),
        ("x = T.alloc_tmem((64, 32), 'float32')\nT.copy(A, B)", "x lives in 'shared.tmem' memory"),
        ("T.copy(A, B, annotations={'mine': 1})", "annotation of T.copy 'mine' is not part of this course"),
        ("for i in T.serial(4, annotations={'pragma_loop': 1}):\n    T.copy(A, B)", "loop annotation 'pragma_loop'"),
        ("T.copy(A, B)\nT.sync_grid()", "T.sync_grid (tl.sync_grid) is not part of this course"),
    ],
)
def test_what_this_course_leaves_out_is_refused_by_name(body: str, says: str) -> None:
    finding = vetted(tile_kernel(body)).findings[0]
    assert (finding.kind, finding.severity) == (Kind.NOT_ALLOWED, Severity.REFUSED)
    assert says in finding.message


def test_the_refused_line_is_named() -> None:
    source = tile_kernel('T.copy(A, B)\nT.call_extern("handle", "__nanosleep", 100)')
    lines = (HEADER + source).splitlines()
    line = only(vetted(source)).line
    assert line is not None
    assert "__nanosleep" in lines[line - 1]


@pytest.mark.parametrize(
    "launch", ['T.Kernel(1, threads=128, prelude="#include <x>") as bx', "T.Kernel(1, threads=128) as bx"]
)
def test_source_code_in_the_launch_is_refused(launch: str) -> None:
    source = tile_kernel("T.copy(A, B)", launch=launch)
    if "prelude" in launch:
        assert "own C or CUDA source" in only(vetted(source)).message
    else:
        assert vetted(source).findings == ()


def test_a_kernel_in_cuda_is_refused() -> None:
    source = '''
    SOURCE = """
    extern "C" __global__ void other(float* A) {}
    """
    @tilelang.jit
    def kernel():
        @T.prim_func
        def main(A: T.Tensor((64, 32), "float32"), B: T.Tensor((64, 32), "float32")):
            T.CUDASourceCodeKernel(1, threads=128, source_code_or_path=SOURCE, entry_name="other")
        return main
    '''
    messages = [finding.message for finding in vetted(source).findings]
    assert any("T.CUDASourceCodeKernel" in message for message in messages)
    assert any("calls the C function 'other'" in message for message in messages)


def _forged(old: str, new: str, name: str = "") -> list[str]:
    """Messages on a kernel in whose capsule one text was replaced."""
    capsule = trace(CONSTRUCTS[name]) if name else real_capsules()[0][0]
    document = json.loads(capsule.ir)
    found = [node for node in document["nodes"] if node.get("data") == old]
    assert found
    found[0]["data"] = new
    vetting = vet(read(replace(capsule, ir=json.dumps(document))), ADD, case(), ADD_SIZES)
    assert vetting.refusal is not None
    return [finding.message for finding in vetting.findings]


@pytest.mark.parametrize("op", ["tirx.tvm_call_packed", "tirx.address_of", "tl.nonsense", "tirx.call_extern"])
def test_an_operator_put_into_a_capsule_is_refused(op: str) -> None:
    (message,) = set(_forged("tl.launch_thread_idx", op))
    assert f"T.{op.split('.')[-1]}" in message


def test_a_device_function_put_into_a_capsule_is_refused() -> None:
    (message,) = _forged("rasterization2DColumn", "f()); evil(", "T.use_swizzle, column")
    assert "T.tvm_tuple cannot take" in message


def test_an_operator_put_into_a_layout_is_refused() -> None:
    (message,) = _forged("tirx.bitwise_xor", "tirx.call_llvm_intrin", "T.annotate_layout")
    assert message == "T.call_llvm_intrin stands in a size or an annotation, where only arithmetic can be."


@pytest.mark.parametrize("kept", [0, 1, -1])
def test_a_region_without_its_parts_is_refused(kept: int) -> None:
    capsule = trace(CONSTRUCTS["T.copy, staged"])
    document = json.loads(capsule.ir)
    nodes = document["nodes"]
    region = next(n for n in nodes if n["type"] == "tirx.Call" and nodes[n["data"]["op"]]["data"] == "tl.region")
    arguments = nodes[region["data"]["args"]]
    arguments["data"] = arguments["data"][:kept]
    vetting = vet(read(replace(capsule, ir=json.dumps(document))), ADD, case(), ADD_SIZES)
    assert vetting.refusal is not None
    assert vetting.refusal.message == "T.copy has arguments that it cannot have."


def test_a_view_larger_than_its_tile_is_refused() -> None:
    capsule = trace(CONSTRUCTS["T.reshape"])
    document = json.loads(capsule.ir)
    nodes = document["nodes"]
    view = next(n for n in nodes if n["type"] == "tirx.Buffer" and nodes[n["data"]["name"]]["data"] == "z")
    big = nodes[nodes[view["data"]["shape"]]["data"][0]]
    big["data"]["value"] = 4096
    vetting = vet(read(replace(capsule, ir=json.dumps(document))), ADD, case(), ADD_SIZES)
    assert vetting.refusal is not None
    assert vetting.refusal.message == "z is a view of x and reaches beyond it."


@pytest.mark.parametrize(
    "configs",
    [
        {},
        {"tl.enable_fast_math": True, "tl.disable_warp_specialized": True, "tl.disable_tma_lower": False},
        {"tl.ptxas_register_usage_level": 5, "tl.layout_cost_model": "io-aware"},
        {"tl.disable_safe_memory_legalize": False, "tl.enable_dump_ir": False},
    ],
)
def test_harmless_pass_configs_are_allowed(configs: dict[str, object]) -> None:
    assert vetted(tile_kernel("T.copy(A, B)"), pass_configs=configs).findings == ()


@pytest.mark.parametrize(
    ("configs", "says"),
    [
        ({"tl.disable_safe_memory_legalize": True}, "turns off the bounds checks"),
        ({"tl.device_compile_flags": "-I/etc"}, "passes flags to nvcc"),
        ({"tl.device_compile_flags": []}, "passes flags to nvcc"),
        ({"tl.enable_dump_ir": True}, "writes files"),
        ({"tl.dump_ir_path": "/etc"}, "writes files"),
        ({"cuda.kernels_output_dir": "/etc"}, "writes files"),
        ({"tirx.add_lower_pass": []}, "is not one that a graded kernel may set"),
        ({"tl.enable_fast_math": "yes"}, "is True or False, not 'yes'"),
        ({"tl.enable_fast_math": 1}, "is True or False, not 1"),
        ({"tl.ptxas_register_usage_level": True}, "is a number from 0 to 10"),
        ({"tl.ptxas_register_usage_level": 11}, "is a number from 0 to 10"),
        ({"tl.layout_cost_model": ["io-aware"]}, "is one of io-aware, register-count"),
    ],
)
def test_other_pass_configs_are_refused(configs: dict[str, object], says: str) -> None:
    finding = only(vetted(tile_kernel("T.copy(A, B)"), pass_configs=configs))
    assert (finding.kind, finding.severity) == (Kind.PASS_CONFIG, Severity.REFUSED)
    assert says in finding.message


def test_pass_configs_may_be_named_by_tilelangs_enum() -> None:
    import tilelang

    keys = tilelang.PassConfigKey
    assert list(pass_configs.check({keys.TL_ENABLE_FAST_MATH: True})) == []
    assert len(list(pass_configs.check({keys.TL_DISABLE_SAFE_MEMORY_ACCESS: True}))) == 1
