"""Lowering without a GPU: what compiles for which, and the plain words for what does not."""

from __future__ import annotations

import json

import pytest

from tests.device.cuda.kernels import ADD, ATTENTION, GEMM, ROW_MAX
from tests.kernel.constructs import CONSTRUCTS, tile_kernel
from tests.tracing import HEADER, document
from tlpuzzles.catalogue.explanation import Fault
from tlpuzzles.device.cuda.load import load
from tlpuzzles.device.cuda.lower import cuda_source, for_twin, lower
from tlpuzzles.device.cuda.model import LowerOutcome
from tlpuzzles.device.cuda.twins import TWINS
from tlpuzzles.kernel.capsule import Document


def _line(source: str, text: str) -> int:
    """The line of the traced file that holds `text`."""
    lines = (HEADER + source).splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def _refusal(kernel: Document, arch: str) -> tuple[str, int | None, str]:
    lowered = lower(kernel, {}, arch)
    assert lowered.outcome is not LowerOutcome.COMPILES
    assert lowered.explanation is not None
    assert lowered.explanation.fault is Fault.KERNEL
    found = lowered.explanation
    return found.id, found.line, f"{found.message} | {found.fix}"


def test_what_a_kernel_asks_of_the_gpu_is_reported() -> None:
    lowered = lower(document(GEMM, bm=128, bn=128, stages=3), {}, "sm_90a")
    assert lowered.outcome is LowerOutcome.COMPILES
    assert lowered.explanation is None
    (asked,) = lowered.launches
    assert asked.threads == (256, 1, 1)  # 128 of them were added for the copies
    assert asked.grid == (2, 2, 1)
    assert asked.dynamic_shared == 3 * 2 * 128 * 32 * 2  # three stages of two tiles of 128 x 32 halves
    assert json.loads(json.dumps(lowered.to_json()))["outcome"] == "compiles"


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    lower(document(ADD), {}, "sm_80")
    lower(document(GEMM, bm=16, bn=16), {}, "sm_80")  # TileLang logs an error, TVM a fatal one
    assert capfd.readouterr() == ("", "")


def test_a_layout_conflict_is_one_of_older_gpus_and_names_the_policy() -> None:
    kernel = document(ATTENTION, policy="Square")
    for arch, gpu in (("sm_75", "T4"), ("sm_80", "A100"), ("sm_89", "L4")):
        name, line, text = _refusal(kernel, arch)
        assert (name, line) == ("layout-conflict", _line(ATTENTION, "T.copy(scores, weights)"))
        assert "scores" in text
        assert "weights" in text
        assert gpu in text
        assert "policy=T.GemmWarpPolicy.FullRow" in text
    assert lower(kernel, {}, "sm_90a").outcome is LowerOutcome.COMPILES
    assert lower(document(ATTENTION), {}, "sm_75").outcome is LowerOutcome.COMPILES


def test_stages_in_a_loop_whose_trips_differ_by_block() -> None:
    name, line, text = _refusal(document(ATTENTION, causal=True, stages=2), "sm_80")
    assert (name, line) == ("pipeline-trips", _line(ATTENTION, "T.Pipelined"))
    assert "num_stages=1" in text
    assert lower(document(ATTENTION, causal=True), {}, "sm_80").outcome is LowerOutcome.COMPILES


@pytest.mark.parametrize(
    ("arguments", "arch", "name", "says"),
    [
        ({"bm": 16, "bn": 16}, "sm_80", "warp-partition", "16 x 16 cannot be shared out evenly among 4 warps"),
        ({"threads": 96}, "sm_80", "warp-partition", "among 3 warps"),
        ({"bm": 96, "bn": 96}, "sm_90a", "warp-partition-hopper", "block_M a multiple of 64"),
        ({"bm": 100, "bn": 100}, "sm_80", "tile-not-16", "has 100 along M"),
        ({"bk": 10}, "sm_80", "gemm-inner", "block_K a multiple of 16"),
        ({"bn": 24}, "sm_90a", "gemm-narrow-hopper", "block_N a multiple of 16"),
        ({"scope": "shared"}, "sm_80", "gemm-accumulator", "T.alloc_fragment"),
    ],
)
def test_shapes_that_the_tensor_cores_do_not_take(
    arguments: dict[str, object], arch: str, name: str, says: str
) -> None:
    found, line, text = _refusal(document(GEMM, **arguments), arch)
    assert (found, line) == (name, _line(GEMM, "T.gemm("))
    assert says in text


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"N": 100}, "reduce-layout"), ({"N": 1000}, "no-layout"), ({"N": 1024, "threads": 96}, "no-layout")],
)
def test_a_row_that_the_threads_cannot_share(arguments: dict[str, object], name: str) -> None:
    found, line, text = _refusal(document(ROW_MAX, **arguments), "sm_80")
    assert (found, line) == (name, _line(ROW_MAX, "row = T.alloc_fragment"))
    assert "next_power_of_2" in text


def test_shared_memory_beyond_the_gpu_is_found_without_one() -> None:
    source = tile_kernel(
        """
        small = T.alloc_shared((64, 32), "float32")
        large = T.alloc_shared((64, 736), "float32")
        T.copy(A, small)
        T.copy(small, large[:, 0:32])
        T.copy(large[:, 0:32], B)
        """
    )
    kernel = document(source)
    name, line, text = _refusal(kernel, "sm_80")
    assert (name, line) == ("shared-memory", _line(source, "large = "))
    assert "192 KiB" in text
    assert "163 KiB for a block on A100" in text
    assert lower(kernel, {}, "sm_90a").outcome is LowerOutcome.COMPILES


def test_threads_that_tilelang_adds_on_hopper_count() -> None:
    kernel = document(GEMM, bm=256, bn=256, threads=1024)
    name, line, text = _refusal(kernel, "sm_90a")
    assert (name, line) == ("threads", _line(GEMM, "with T.Kernel"))
    assert "1152 threads" in text
    assert "TileLang adds 128 to threads=1024" in text
    assert "at most threads=896" in text


def test_shared_memory_of_a_fixed_size_has_a_limit_of_its_own() -> None:
    source = tile_kernel(
        """
        x = T.alloc_shared((64, 240), 'float32', scope='shared')
        T.copy(A, x[:, 0:32])
        T.copy(x[:, 0:32], B)
        """
    )
    name, line, text = _refusal(document(source), "sm_80")
    assert (name, line) == ("static-shared-memory", _line(source, "alloc_shared"))
    assert "60 KiB" in text
    assert "scope='shared'" in text


def test_a_grid_with_too_many_blocks_along_y() -> None:
    source = tile_kernel("T.copy(A, B)", launch="T.Kernel(1, 70000, threads=128) as (bx, by)")
    name, _, text = _refusal(document(source), "sm_80")
    assert name == "grid"
    assert "70000 blocks along y" in text


def test_hopper_only_constructs_say_so() -> None:
    kernel = document(tile_kernel("b = T.alloc_barrier(128)\nT.barrier_arrive(b)\nT.barrier_wait(b, 0)\nT.copy(A, B)"))
    name, _, text = _refusal(kernel, "sm_80")
    assert name == "barrier-hopper"
    assert "none on A100" in text
    assert lower(kernel, {}, "sm_90a").outcome is LowerOutcome.COMPILES


def test_an_unknown_pass_config_is_named() -> None:
    lowered = lower(document(ADD), {"tl.no_such_option": True}, "sm_80")
    assert lowered.explanation is not None
    assert "tl.no_such_option" in lowered.explanation.message


def test_an_accumulator_that_was_not_cleared_is_noted() -> None:
    source = GEMM.replace("            T.clear(total)\n", "")
    (note,) = lower(document(source), {}, "sm_90a").notes
    assert (note.id, note.line) == ("uninitialised", _line(source, "T.gemm("))
    assert "total is read before anything writes it" in note.message
    assert lower(document(GEMM), {}, "sm_90a").notes == ()


def test_a_product_without_tensor_cores_is_noted() -> None:
    (note,) = lower(document(GEMM, dtype="float32"), {}, "sm_75").notes
    assert note.id == "no-tensor-cores"
    assert lower(document(GEMM, dtype="float32"), {}, "sm_90a").notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CONSTRUCTS))
def test_twins_get_the_same_cuda_source(name: str) -> None:
    """What `twins.TWINS` rests on."""
    func = load(document(CONSTRUCTS[name], **({"N": 1000} if name == "eager style" else {})))
    for arch, twin in TWINS.items():
        assert _source_or_error(func, arch) == _source_or_error(func, twin)


def _source_or_error(func: object, arch: str) -> str:
    try:
        return cuda_source(func, {}, arch)
    except Exception as error:  # noqa: BLE001 - what TileLang refuses, it must refuse for both, in other words
        return str(error).partition("requires")[0]


def test_a_twin_is_answered_for() -> None:
    big = document(GEMM, bm=128, bn=256, bk=64, stages=3, threads=256)
    lowered = lower(big, {}, "sm_80")
    twin = for_twin(lowered, big)
    assert lowered.outcome is LowerOutcome.COMPILES
    assert twin is not None
    assert twin.outcome is LowerOutcome.TOO_BIG
    assert twin.explanation is not None
    assert "99 KiB" in twin.explanation.message
    assert for_twin(lower(big, {}, "sm_75"), big) is None


def test_a_twin_is_refused_for_the_same_reason_in_its_own_name() -> None:
    conflict = document(ATTENTION, policy="Square")
    lowered = lower(conflict, {}, "sm_80")
    twin = for_twin(lowered, conflict)
    assert twin is not None
    assert twin.outcome is LowerOutcome.REFUSED
    assert twin.explanation is not None
    assert lowered.explanation is not None
    assert twin.explanation.id == lowered.explanation.id
    assert "On L4" in twin.explanation.message
