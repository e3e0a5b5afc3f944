"""The kernel's parameters against the exercise, said in the learner's words."""

from __future__ import annotations

import pytest

from tests.kernel.constructs import CONSTRUCTS, tile_kernel
from tests.kernel.problems import (
    ADD,
    ADD_SIZES,
    COPY,
    PRODUCT,
    PRODUCT_SIZES,
    ROW_SUM,
    TILE_SIZES,
    case,
    only,
    real_capsules,
    traced,
    vetted,
)
from tests.tracing import document
from tlpuzzles.kernel.capsule import read
from tlpuzzles.kernel.findings import Kind, Severity
from tlpuzzles.kernel.vet import Vetting, vet

ADD_BODY = "for i in T.Parallel(1000):\n    {} = {}"


def _add(params: str, body: str, out_idx: list[int] | None = None, dtype: str = "float32") -> Vetting:
    source = tile_kernel(f"for i in T.Parallel(1000):\n    {body}", params)
    return vet(traced(source), ADD, case(dtype), ADD_SIZES, out_idx)


def _product(params: str) -> Vetting:
    return vet(traced(tile_kernel("T.clear(C)", params)), PRODUCT, case(), PRODUCT_SIZES)


def _tensors(**shapes: str) -> str:
    return ", ".join(f'{name}: T.Tensor(({shape}), "float32")' for name, shape in shapes.items())


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_three_exercises_own_kernels_have_nothing_wrong_with_them(which: int) -> None:
    capsule, exercise, one, sizes = real_capsules()[which]
    vetting = vet(read(capsule), exercise, one, sizes, [-1], for_cpu=True)
    assert vetting.findings == ()
    assert vetting.parameters is not None
    assert vetting.parameters.names == tuple(spec.name for spec in (*exercise.inputs, exercise.output))


@pytest.mark.parametrize(
    ("params", "says"),
    [
        (
            _tensors(A="100, 90", B="90, 60", C="60, 100"),
            "The kernel returns C with shape (N, M) = (60, 100); expected (M, N) = (100, 60).",
        ),
        (
            _tensors(A="90, 100", B="90, 60", C="100, 60"),
            "The kernel takes A with shape (K, M) = (90, 100); expected (M, K) = (100, 90).",
        ),
        (
            _tensors(X="90, 60", Y="100, 90", C="100, 60"),
            "The kernel takes X (the exercise's A) with shape (K, N) = (90, 60); expected (M, K) = (100, 90).",
        ),
        (
            _tensors(A="100, 90", B="90, 60", C="128, 64"),
            "The kernel returns C with shape (128, 64); expected (M, N) = (100, 60).",
        ),
        (
            _tensors(A="100, 90", B="90, 60", C="6000,"),
            "The kernel returns C with one dimension; expected 2 dimensions, (M, N).",
        ),
        (
            _tensors(A="100, 90", C="100, 60"),
            "The kernel takes 3 tensors: A and B to read and C to write. Yours has 2 (A and C).",
        ),
    ],
)
def test_shapes_are_compared_in_the_names_of_the_exercise(params: str, says: str) -> None:
    finding = only(_product(params))
    assert (finding.kind, finding.severity) == (Kind.PARAMETERS, Severity.REFUSED)
    assert finding.message == says
    assert finding.line is not None


def test_another_dtype_is_named() -> None:
    finding = only(_add(_tensors(A="1000,", B="1000,", C="1000,"), "C[i] = A[i] + B[i]", dtype="float16"))
    assert "takes A as float32; in this case it is float16" in finding.message


@pytest.mark.parametrize(
    ("extra", "says"), [("n: T.int32", "n is one number (int32)"), ("p: T.ptr", "p_handle is a pointer")]
)
def test_a_parameter_that_is_no_tensor_is_refused(extra: str, says: str) -> None:
    params = f"{_tensors(A='1000,', B='1000,')}, {extra}, {_tensors(C='1000,')}"
    finding = only(_add(params, "C[i] = A[i] + B[i]"))
    assert says.removeprefix("p_handle ") in finding.message
    assert "make_vector_add" in finding.message


ABC = _tensors(A="1000,", B="1000,", C="1000,")
CAB = _tensors(C="1000,", A="1000,", B="1000,")
ACB = _tensors(A="1000,", C="1000,", B="1000,")


@pytest.mark.parametrize(
    ("params", "out_idx", "names"),
    [
        (ABC, None, "ABC"),
        (ABC, [-1], "ABC"),
        (ABC, [2], "ABC"),
        (ABC, [], "ABC"),
        (CAB, [0], "CAB"),
        (ABC, -1, "ABC"),
        (CAB, 0, "CAB"),
        (CAB, [-3], "CAB"),
        (ACB, [1], "ACB"),
    ],
)
def test_the_output_is_where_out_idx_says_or_last(params: str, out_idx: list[int] | None, names: str) -> None:
    vetting = _add(params, "C[i] = A[i] + B[i]", out_idx)
    assert vetting.findings == ()
    assert vetting.parameters is not None
    assert "".join(vetting.parameters.names) == names


@pytest.mark.parametrize(
    ("out_idx", "says"),
    [
        ([1, 2], "out_idx=[1, 2] makes the kernel return 2 tensors; this exercise wants C alone"),
        ([3], "out_idx=[3] names no parameter: the kernel has 3 tensors, numbered 0 to 2"),
        ([-4], "out_idx=[-4] names no parameter"),
        (["C"], "out_idx=['C'] must be whole numbers"),
        ([0], "never writes its result A. It writes C: if that is the result, declare it with out_idx=[-1]"),
    ],
)
def test_a_wrong_out_idx_is_named(out_idx: list[int], says: str) -> None:
    assert says in only(_add(ABC, "C[i] = A[i] + B[i]", out_idx)).message


def test_an_eager_kernel_names_its_output_itself() -> None:
    source = CONSTRUCTS["eager style"]
    vetting = vet(document(source, N=1000), ADD, case(), ADD_SIZES)
    assert vetting.findings == ()


DYNAMIC = """
@tilelang.jit
def kernel():
    M, N = T.dynamic("M, N")
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor(({shape}), "float32")):
        with T.Kernel(T.ceildiv(M, 16), T.ceildiv(N, 16), threads=64) as (bx, by):
            for i, j in T.Parallel(16, 16):
                B[bx * 16 + i, by * 16 + j] = A[bx * 16 + i, by * 16 + j]
    return main
"""


def test_sizes_that_the_kernel_leaves_open_are_filled_in() -> None:
    vetting = vetted(DYNAMIC.format(shape="M, N"))
    assert vetting.findings == ()
    assert vetting.parameters is not None
    assert {var.name: value.only for var, value in vetting.parameters.sizes.items()} == TILE_SIZES


def test_sizes_that_the_kernel_leaves_open_must_agree() -> None:
    finding = only(
        vetted(DYNAMIC.format(shape="N, M").replace("B[bx * 16 + i, by * 16 + j]", "B[by * 16 + j, bx * 16 + i]"))
    )
    assert "returns B with shape (N, M) = (32, 64); expected (M, N) = (64, 32)" in finding.message


def test_a_tensor_with_gaps_is_refused() -> None:
    assert "with strides of its own" in only(vetted(CONSTRUCTS["strided tensor"])).message


def test_an_input_must_not_be_written() -> None:
    finding = only(vetted(tile_kernel("T.copy(A, B)\nT.clear(A)")))
    assert finding.kind is Kind.INPUT_WRITTEN
    assert "writes to A, which is an input" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        "for i, j in T.Parallel(64, 32):\n    A[i, j] = 0\n    B[i, j] = A[i, j]",
        "for i, j in T.Parallel(64, 32):\n    T.atomic_add(A[i, j], 1)\n    B[i, j] = A[i, j]",
        "x = T.alloc_fragment((64, 32), 'float32')\nT.copy(A, x)\nT.atomic_add(A, x)\nT.copy(x, B)",
        "T.copy(A, B)\nz = T.reshape(A, (32, 64))\nT.clear(z)",
    ],
)
def test_an_input_is_not_written_in_another_way_either(body: str) -> None:
    assert only(vetted(tile_kernel(body))).kind is Kind.INPUT_WRITTEN


def test_an_output_that_is_never_written_is_named() -> None:
    finding = only(vetted(tile_kernel("x = T.alloc_shared((64, 32), 'float32')\nT.copy(A, x)")))
    assert finding.kind is Kind.OUTPUT_NOT_WRITTEN
    assert finding.message == "The kernel never writes its result B."


def test_an_output_that_is_only_added_to_is_explained() -> None:
    finding = only(vetted(CONSTRUCTS["T.atomic_add"], ROW_SUM))
    assert (finding.kind, finding.severity) == (Kind.OUTPUT_NOT_WRITTEN, Severity.FAILS)
    assert "starts as NaN" in finding.message


def test_an_output_set_before_it_is_added_to_is_fine() -> None:
    body = "T.clear(B)\nfor i, j in T.Parallel(64, 32):\n    T.atomic_add(B[i], A[i, j])"
    params = 'A: T.Tensor((64, 32), "float32"), B: T.Tensor((64,), "float32")'
    assert vetted(tile_kernel(body, params), ROW_SUM).findings == ()


def test_an_empty_kernel_does_nothing() -> None:
    finding = only(vetted(tile_kernel("...")))
    assert finding.kind is Kind.EMPTY
    assert "does nothing" in finding.message


def test_a_kernel_without_a_launch_is_named() -> None:
    source = tile_kernel("...").replace("        with T.Kernel(1, threads=128) as bx:\n            ...", "        ...")
    finding = only(vetted(source))
    assert finding.kind is Kind.EMPTY
    assert "no `with T.Kernel(...)`" in finding.message


def test_a_line_outside_of_the_launch_is_named() -> None:
    source = tile_kernel("T.copy(A, B)").replace("        with T.Kernel", "        B[0, 0] = 0\n        with T.Kernel")
    finding = only(vetted(source))
    assert "outside of `with T.Kernel(...)`" in finding.message


def test_the_contract_of_a_copy_is_kept_by_a_copy() -> None:
    assert vetted(tile_kernel("T.copy(A, B)"), COPY).findings == ()
