"""Exercises for tests of the vet: the contract alone, without cases, inputs or references."""

from __future__ import annotations

import random
from functools import cache

from tests.kernel.constructs import ATTENTION, GEMM, VECTOR_ADD
from tests.tracing import document, trace
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes, TensorSpec
from tlpuzzles.kernel.capsule import Capsule, Document
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding
from tlpuzzles.kernel.vet import Vetting, vet


def _unused(*_: object) -> object:
    raise AssertionError("the vet looks at no values")


def contract(factory: str, output: TensorSpec, *inputs: TensorSpec) -> Exercise:
    return Exercise(
        number=1,
        slug="exercise",
        title="",
        summary="",
        factory=factory,
        inputs=inputs,
        output=output,
        cases=(),
        draw=_unused,  # type: ignore[arg-type]
        reference=_unused,  # type: ignore[arg-type]
        tolerance={},
        flops=_unused,  # type: ignore[arg-type]
    )


def case(dtype: str = "float32") -> Case:
    return Case("case", "a case", lambda _: {}, dtype=dtype)


ADD = contract("make_vector_add", TensorSpec("C", ("N",)), TensorSpec("A", ("N",)), TensorSpec("B", ("N",)))
PRODUCT = contract("make_matmul", TensorSpec("C", ("M", "N")), TensorSpec("A", ("M", "K")), TensorSpec("B", ("K", "N")))
_BSHD = ("batch", "seq_len", "heads", "dim")
FLASH = contract("make_flash_attn", TensorSpec("O", _BSHD), *(TensorSpec(name, _BSHD) for name in "QKV"))
COPY = contract("kernel", TensorSpec("B", ("M", "N")), TensorSpec("A", ("M", "N")))
ROW_SUM = contract("kernel", TensorSpec("B", ("M",)), TensorSpec("A", ("M", "N")))

ADD_SIZES = {"N": 1000}
PRODUCT_SIZES = {"M": 100, "N": 60, "K": 90}
FLASH_SIZES = {"batch": 2, "heads": 3, "seq_len": 100, "dim": 32}
TILE_SIZES = {"M": 64, "N": 32}


@cache
def real_capsules() -> tuple[tuple[Capsule, Exercise, Case, Sizes], ...]:
    """Capsules of the three exercises with what they answer, traced once."""
    return (
        (trace(VECTOR_ADD, **ADD_SIZES), ADD, case(), ADD_SIZES),
        (trace(GEMM, **PRODUCT_SIZES), PRODUCT, case("float16"), PRODUCT_SIZES),
        (trace(ATTENTION, is_causal=True, **FLASH_SIZES), FLASH, case("float16"), FLASH_SIZES),
    )


@cache
def traced(source: str) -> Document:
    """The document of a kernel without arguments, traced once."""
    return document(source)


def kernel(source: str) -> Kernel:
    return Kernel(traced(source).func)


def vetted(source: str, exercise: Exercise = COPY, sizes: Sizes = TILE_SIZES, **options: object) -> Vetting:
    """The vet's answer on a kernel of float32 tensors that takes no arguments."""
    dtype = str(options.pop("dtype", "float32"))
    return vet(traced(source), exercise, case(dtype), sizes, **options)  # type: ignore[arg-type]


def only(vetting: Vetting) -> Finding:
    """The one finding that there must be."""
    assert len(vetting.findings) == 1, vetting.findings
    return vetting.findings[0]


def numbers(seed: int) -> random.Random:
    return random.Random(seed)
