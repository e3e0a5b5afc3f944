"""The CUDA device on a GPU. Each job runs in a process forked from one that imported torch and TileLang.

    python -m pytest -o addopts= tests/gpu -ra

Every kernel is compiled once, at the start; a failing test prints what the child said.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from tests.gpu.harness import KERNELS, Answer, Gpu
from tlpuzzles.device.cuda.model import LaunchCase

pytestmark = pytest.mark.usefixtures("compiled")
RANDOM = np.random.default_rng(0)


def _line(kernel: str, size: int) -> dict[str, np.ndarray[Any, Any]]:
    return {"A": RANDOM.standard_normal(size).astype("float32")}


def _output(case: LaunchCase) -> np.ndarray[Any, Any]:
    last = case.arguments[-1]
    return np.fromfile(last.path, last.dtype).reshape(last.shape)


def _only(answer: Answer) -> dict[str, Any]:
    assert answer.code == 0, answer.log
    (ran,) = answer.ran
    return ran


def _works(gpu: Gpu) -> None:
    """The next process can use the GPU."""
    case = gpu.case("copy", _line("copy", 1000), (1000,))
    ran = _only(gpu.run(case))
    assert ran["outcome"] == "ran", ran
    assert np.array_equal(_output(case), np.fromfile(case.arguments[0].path, "float32"))


def test_every_kernel_but_one_compiles(compiled: Answer) -> None:
    assert compiled.code == 0, compiled.log
    events = {message["kernel"]: message for message in compiled.messages if message["event"] != "compiling"}
    assert set(events) == set(KERNELS)
    refused = {name: message for name, message in events.items() if message["event"] == "not compiled"}
    assert set(refused) == {"does not compile"}, refused
    assert refused["does not compile"]["explanation"]["id"] == "warp-partition"


def test_the_gpu_is_described(gpu: Gpu) -> None:
    (probe,) = gpu.ask("probe").messages
    assert probe["usable"], probe["why"]
    assert probe["arch"].startswith("sm_")
    assert probe["memory"] >= probe["free"] > 0
    for known in ("name", "driver", "torch", "torch_cuda", "nvcc"):
        assert probe[known], known


def test_right_kernels_give_right_outputs(gpu: Gpu) -> None:
    a, b = (RANDOM.standard_normal(1003).astype("float32") for _ in "ab")
    add = gpu.case("add", {"A": a, "B": b}, (1003,))
    left, right = (RANDOM.standard_normal(shape).astype("float16") for shape in ((200, 150), (150, 328)))
    gemm = gpu.case("gemm", {"A": left, "B": right}, (200, 328), "float16")
    q, k, v = (RANDOM.standard_normal((192, 64)).astype("float16") for _ in "qkv")
    products = gpu.case("two products", {"Q": q, "K": k, "V": v}, (192, 64), "float16")
    answer = gpu.run(add, gemm, products)
    assert answer.code == 0, answer.log
    assert [ran["outcome"] for ran in answer.ran] == ["ran"] * 3, answer.ran
    assert answer.remaining == []
    assert np.array_equal(_output(add), a + b)
    assert _error(_output(gemm), left.astype("float64") @ right.astype("float64")) < 1e-3
    scores = (q.astype("float64") @ k.astype("float64").T).astype("float16").astype("float64")
    assert _error(_output(products), scores @ v.astype("float64")) < 2e-3


def _error(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> float:
    return float(np.linalg.norm(found.astype("float64") - expected) / np.linalg.norm(expected))


def test_a_fault_is_named_and_the_next_process_goes_on(gpu: Gpu) -> None:
    case, later = gpu.case("fault", _line("fault", 1024), (1024,)), gpu.case("copy", _line("copy", 1000), (1000,))
    answer = gpu.run(case, later)
    ran = _only(answer)
    assert ran["outcome"] == "crashed", ran
    assert ran["explanation"]["id"] in ("illegal-access", "launch-failed"), ran["explanation"]["raw"]
    assert answer.remaining == [later.id]
    _works(gpu)


def test_a_hang_is_ended_from_outside_and_the_next_process_goes_on(gpu: Gpu) -> None:
    first, case = gpu.case("copy", _line("copy", 1000), (1000,)), gpu.case("hangs", _line("hangs", 1000), (1000,))
    answer = gpu.run(first, case, seconds=15)
    assert answer.timed_out
    assert [ran["case"] for ran in answer.ran] == [first.id], answer.log
    assert answer.messages[-1] == {"event": "started", "case": case.id}
    time.sleep(2)  # the driver needs a moment to stop what still runs
    _works(gpu)


def test_too_much_shared_memory_is_named_and_the_same_process_goes_on(gpu: Gpu) -> None:
    case, later = gpu.case("too much shared", _line("", 1000), (1000,)), gpu.case("copy", _line("", 1000), (1000,))
    answer = gpu.run(case, later)
    assert [ran["outcome"] for ran in answer.ran] == ["too much shared memory", "ran"], (answer.ran, answer.log)
    assert "300 KiB" in answer.ran[0]["explanation"]["message"]
    assert answer.remaining == []


def test_too_many_threads_are_refused(gpu: Gpu) -> None:
    if not gpu.arch.startswith("sm_9"):
        pytest.skip("TileLang adds a warp group on Hopper only")
    a = RANDOM.standard_normal((1024, 1024)).astype("float16")
    answer = gpu.run(gpu.case("too many threads", {"A": a}, (1024, 1024), "float16"))
    ran = _only(answer)
    assert ran["outcome"] == "refused", ran
    assert ran["explanation"]["id"] == "launch-configuration", ran


def test_too_little_memory_is_named_and_the_same_process_goes_on(gpu: Gpu) -> None:
    case = gpu.case("huge", _line("", 256), (400_000_000, 256))  # 381 GiB
    later = gpu.case("copy", _line("", 1000), (1000,))
    answer = gpu.run(case, later)
    assert [ran["outcome"] for ran in answer.ran] == ["out of memory", "ran"], (answer.ran, answer.log)
    assert answer.ran[0]["explanation"]["fault"] == "machine"


@pytest.mark.parametrize("side", ["after", "before"])
def test_writing_past_the_output_meets_a_guard(gpu: Gpu, side: str) -> None:
    ran = _only(gpu.run(gpu.case(f"writes {side}", _line("", 1024), (1024,))))
    assert (ran["outcome"], ran["detail"]) == ("wrote outside", {"side": side}), ran


def test_a_changed_input_is_named(gpu: Gpu) -> None:
    ran = _only(gpu.run(gpu.case("writes input", _line("", 1000), (1000,))))
    assert ran["outcome"] == "input changed", ran
    assert ran["detail"] == {"input": "A", "different": 1, "first": [300]}


def test_reading_the_output_is_named(gpu: Gpu) -> None:
    assert _only(gpu.run(gpu.case("reads output", _line("", 1000), (1000,))))["outcome"] == "reads output"


@pytest.mark.parametrize(("kernel", "size"), [("reads the clock", 1000), ("races", 256)])
def test_launches_that_differ_are_found(gpu: Gpu, kernel: str, size: int) -> None:
    ran = _only(gpu.run(gpu.case(kernel, _line("", size), (size,))))
    assert ran["outcome"] == "unstable", ran


def test_atomic_additions_are_not_called_a_race(gpu: Gpu) -> None:
    assert _only(gpu.run(gpu.case("adds atomically", _line("", 1000), (1000,))))["outcome"] == "ran"


def test_a_device_assert_is_named(gpu: Gpu) -> None:
    answer = gpu.run(gpu.case("asserts", _line("", 1000), (1000,)))
    ran = _only(answer)
    assert ran["outcome"] == "crashed", ran
    assert ran["explanation"]["id"] == "device-assert", ran


def test_what_was_not_compiled_is_reported_for_its_case(gpu: Gpu) -> None:
    a, b = (RANDOM.standard_normal((256, 256)).astype("float16") for _ in "ab")
    ran = _only(gpu.run(gpu.case("does not compile", {"A": a, "B": b}, (256, 256), "float16")))
    assert (ran["outcome"], ran["explanation"]["id"]) == ("not compiled", "warp-partition")
