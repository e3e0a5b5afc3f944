"""What is found out about a launch, with functions on the CPU in the place of compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.device.cuda.kernels import ADD
from tests.kernel.constructs import CONSTRUCTS
from tests.tracing import document
from tlpuzzles.device.cuda import memory
from tlpuzzles.device.cuda.compiling import Compiled
from tlpuzzles.device.cuda.model import Argument, LaunchCase, Ran, Role, RunOutcome, poisons
from tlpuzzles.device.cuda.run import run_case
from tlpuzzles.kernel import tile_ir as ir

SHAPE = (3, 100)
Kernel = Callable[[torch.Tensor, torch.Tensor], object]


@pytest.fixture(scope="module")
def add() -> ir.PrimFunc:
    return document(ADD).func


@pytest.fixture
def case(tmp_path: Path) -> LaunchCase:
    torch.manual_seed(0)
    memory.write(torch.randn(SHAPE).half(), str(tmp_path / "A.bin"))
    arguments = (
        Argument("A", Role.INPUT, str(tmp_path / "A.bin"), "float16", SHAPE),
        Argument("C", Role.OUTPUT, str(tmp_path / "C.bin"), "float16", SHAPE),
    )
    return LaunchCase("ragged", "kernel", arguments, poisons("float16"))


def _run(kernel: Kernel, case: LaunchCase, func: ir.PrimFunc) -> Ran:
    return run_case(Compiled(kernel, 0.0), case, "sm_90a", func, torch.device("cpu"))


def _output(case: LaunchCase) -> torch.Tensor:
    return memory.read(case.arguments[1].path, torch.float16, SHAPE)


def test_the_output_is_written_as_it_came(case: LaunchCase, add: ir.PrimFunc) -> None:
    ran = _run(lambda a, c: c.copy_(a * 2), case, add)
    assert (ran.outcome, ran.explanation) == (RunOutcome.RAN, None)
    assert torch.equal(_output(case), memory.read(case.arguments[0].path, torch.float16, SHAPE) * 2)


def test_what_is_left_unwritten_holds_the_first_poison_and_is_no_race(case: LaunchCase, add: ir.PrimFunc) -> None:
    ran = _run(lambda a, c: c[:, :64].copy_(a[:, :64]), case, add)
    assert ran.outcome is RunOutcome.RAN
    unwritten = memory.bits(_output(case)) == memory.as_signed(case.poisons[0], torch.int16)
    assert unwritten[:, 64:].all()
    assert not unwritten[:, :64].any()
    assert _output(case)[:, 64:].isnan().all()


def test_nan_in_a_right_place_is_not_a_difference(case: LaunchCase, add: ir.PrimFunc) -> None:
    assert _run(lambda a, c: c.fill_(float("nan")), case, add).outcome is RunOutcome.RAN


@pytest.mark.parametrize("differs", [lambda launch: launch == 5, lambda launch: launch], ids=["once", "always"])
def test_a_race_is_a_difference_between_equal_launches(
    case: LaunchCase, add: ir.PrimFunc, differs: Callable[[int], int]
) -> None:
    launches: list[None] = []

    def races(a: torch.Tensor, c: torch.Tensor) -> None:
        launches.append(None)
        c.copy_(a)
        c[1, 7] += differs(len(launches))

    ran = _run(races, case, add)
    assert ran.outcome is RunOutcome.UNSTABLE
    assert ran.detail == {"different": 1, "elements": 300}
    assert ran.explanation is not None
    assert "1 of 300 elements" in ran.explanation.message


def test_atomic_additions_may_differ(case: LaunchCase) -> None:
    launches: list[None] = []

    def adds(a: torch.Tensor, c: torch.Tensor) -> None:
        launches.append(None)
        c.copy_(a)
        c[0, 0] += len(launches)

    atomic = document(CONSTRUCTS["T.atomic_add"]).func
    assert _run(adds, case, atomic).outcome is RunOutcome.RAN


def test_an_output_that_is_read_before_it_is_written(case: LaunchCase, add: ir.PrimFunc) -> None:
    ran = _run(lambda a, c: c.copy_(torch.where(c.isnan(), a, c)), case, add)
    assert ran.outcome is RunOutcome.READS_OUTPUT


def test_a_changed_input_is_named_with_its_place(case: LaunchCase, add: ir.PrimFunc) -> None:
    def changes(a: torch.Tensor, c: torch.Tensor) -> None:
        c.copy_(a)
        a[2, 5] = 7.0

    ran = _run(changes, case, add)
    assert ran.outcome is RunOutcome.INPUT_CHANGED
    assert ran.detail == {"input": "A", "different": 1, "first": [2, 5]}


@pytest.mark.parametrize(("offset", "side"), [(-1, "before"), (300, "after")])
def test_a_write_outside_is_found_on_both_sides(case: LaunchCase, add: ir.PrimFunc, offset: int, side: str) -> None:
    def writes(a: torch.Tensor, c: torch.Tensor) -> None:
        c.copy_(a)
        c.as_strided((1,), (1,), c.storage_offset() + offset).fill_(0)

    ran = _run(writes, case, add)
    assert (ran.outcome, ran.detail) == (RunOutcome.WROTE_OUTSIDE, {"side": side})


@pytest.mark.parametrize(
    ("raw", "outcome"),
    [
        ("Failed to set the allowed dynamic shared memory size to 524288", RunOutcome.TOO_MUCH_SHARED_MEMORY),
        ("CUDA error: an illegal memory access was encountered", RunOutcome.CRASHED),
        ("something that nobody has met", RunOutcome.REFUSED),
    ],
)
def test_an_error_of_cuda_becomes_an_outcome(case: LaunchCase, add: ir.PrimFunc, raw: str, outcome: RunOutcome) -> None:
    def fails(a: torch.Tensor, c: torch.Tensor) -> None:
        raise RuntimeError(raw)

    ran = _run(fails, case, add)
    assert ran.outcome is outcome
    assert ran.explanation is not None
    assert ran.explanation.raw == raw


def test_a_missing_or_short_file_is_not_the_kernels_fault(case: LaunchCase, add: ir.PrimFunc) -> None:
    Path(case.arguments[0].path).write_bytes(b"short")
    with pytest.raises(OSError, match=r"holds 5 bytes"):
        _run(lambda a, c: None, case, add)
    Path(case.arguments[0].path).unlink()
    with pytest.raises(OSError, match=r"A\.bin"):
        _run(lambda a, c: None, case, add)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32", "int8"])
def test_poisons_are_no_number_a_large_one_and_one_below_zero(dtype: str) -> None:
    first, again, large, below, last = poisons(dtype)
    output = memory.Guarded((4,), memory.dtype_of(dtype), torch.device("cpu"))
    output.poison(first)
    assert first == again == last
    if output.tensor.is_floating_point():
        assert output.tensor.isnan().all()
    output.poison(large)
    assert (output.tensor > 30).all()
    assert (output.tensor.double().isfinite()).all()
    output.poison(below)
    assert (output.tensor < -30).all()


def test_a_case_survives_the_journey_to_a_child(case: LaunchCase) -> None:
    import json

    assert LaunchCase.from_json(json.loads(json.dumps(case.to_json()))) == case
