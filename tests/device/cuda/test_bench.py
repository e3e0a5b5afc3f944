"""What is made of the outputs of timed calls, and which buffers they have: with the CPU for a GPU, and no clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from tlpuzzles.course import catalog
from tlpuzzles.course.baselines import CUBLAS, TORCH_ADD, TORCH_SOFTMAX
from tlpuzzles.course.timings import Baseline, Unavailable
from tlpuzzles.course.vocabulary import Tolerance
from tlpuzzles.device.cuda import bench
from tlpuzzles.device.cuda.bench import SHORT, Candidate, GpuBench, difference
from tlpuzzles.device.cuda.compiling import Compiled
from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL
from tlpuzzles.verdict.poison import POISON_BITS

HALF = catalog.find("tiled_gemm").tolerance["float16"]
SINGLE = catalog.find("vector_add").tolerance["float32"]
DEPTH = 2048
ROWS = 64
AT_ONCE = 16 * 128
"""Elements of 16 rows of 128."""


@pytest.fixture(scope="module")
def product() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A and B, and their product as a library gives it: (64, 2048), (2048, 128), (64, 128) float16."""
    torch.set_num_threads(1)
    rng = torch.Generator().manual_seed(5)
    a, b = (torch.randn(shape, generator=rng).half() for shape in ((ROWS, DEPTH), (DEPTH, 128)))
    return a, b, (a.float() @ b.float()).half()


def changed(right: torch.Tensor, change: Callable[[torch.Tensor], object]) -> torch.Tensor:
    found = right.clone()
    change(found)
    return found


def test_another_order_of_the_same_sums_is_right(product: tuple[torch.Tensor, ...]) -> None:
    a, b, library = product
    found = (a[:, :1024].float() @ b[:1024].float() + a[:, 1024:].float() @ b[1024:].float()).half()

    assert not torch.equal(found, library)
    assert difference(found, library, "float16", HALF, AT_ONCE) is None


def test_sums_in_float16_are_wrong(product: tuple[torch.Tensor, ...]) -> None:
    a, b, library = product
    found = torch.zeros_like(library)
    for k in range(0, DEPTH, 16):
        found = (found.float() + a[:, k : k + 16].float() @ b[k : k + 16].float()).half()

    said = difference(found, library, "float16", HALF, AT_ONCE)
    assert said is not None
    assert "differs from the library's by" in said
    assert said.endswith("e-03 is allowed")


@pytest.mark.parametrize("row", [0, 15, 16, 31, 48, 63])
def test_one_stale_tile_is_found_wherever_it_is(product: tuple[torch.Tensor, ...], row: int) -> None:
    """In the first, the last and the middle group of rows, and at their borders."""
    _, _, library = product
    found = changed(library, lambda t: t[row, 64:80].copy_(t[row, 0:16]))

    assert difference(found, library, "float16", HALF, AT_ONCE) is not None
    assert difference(found, library, "float16", HALF) is not None


def test_one_element_that_moves_no_norm_is_found(product: tuple[torch.Tensor, ...]) -> None:
    """And what is said of it does not contradict itself."""
    library = torch.ones(4, 1 << 14, dtype=torch.float16)
    found = changed(library, lambda t: t[2, 77].fill_(1.05))

    assert difference(found, library, "float16", HALF) == "1 elements of its result are too far from the library's"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_elements_without_a_value_are_counted_in_all_groups(
    product: tuple[torch.Tensor, ...], value: float | None
) -> None:
    _, _, library = product

    def change(found: torch.Tensor) -> None:
        for row in (3, 40):
            if value is None:
                found.view(torch.int16)[row, 100] = POISON_BITS["float16"]
            else:
                found[row, 100] = value

    said = difference(changed(library, change), library, "float16", HALF, AT_ONCE)
    assert said == "2 elements of its result are missing, infinite or not a number"


def test_infinity_where_the_library_has_it_is_right() -> None:
    library = torch.tensor([[1.0, float("inf")]], dtype=torch.float16)

    assert difference(library.clone(), library, "float16", HALF) is None
    assert difference(-library, library, "float16", HALF) is not None


@pytest.mark.parametrize("count", [1 << 14, 3 * 4096 + 96, 4099, 1])
def test_a_vector_is_looked_at_to_its_end(count: int) -> None:
    library = torch.randn(count, generator=torch.Generator().manual_seed(6))

    assert difference(library.clone(), library, "float32", SINGLE, at_once=4096) is None
    for place in (0, count // 2, count - 1):
        found = changed(library, lambda t, place=place: t[place].add_(1e-3))  # type: ignore[misc]
        assert difference(found, library, "float32", SINGLE, at_once=4096) is not None


def test_each_may_err_by_the_tolerance() -> None:
    library = torch.ones(8, 128)
    tolerance = Tolerance(frobenius=1e-3, row=1e-3, element=1e-2)

    assert difference(library * 1.0019, library, "float32", tolerance) is None
    assert difference(library * 1.0026, library, "float32", tolerance) is not None


@dataclass
class NoClock:
    """In place of the stopwatch: calls are made, and take no time."""

    device: torch.device

    def settle(self, *calls: Callable[[], object]) -> None:
        for call in calls:
            call()

    milliseconds = 1.0
    attempts = 1

    def time(self, call: Callable[[], object], before: Callable[[], object]) -> float:
        for _ in range(self.attempts):
            before()
            call()
        return self.milliseconds

    def wait(self) -> None:
        """Nothing is queued."""


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "Stopwatch", NoClock)


ADD = catalog.find("vector_add")
GEMM = catalog.find("tiled_gemm")
CPU = torch.device("cpu")
Kernel = Callable[..., object]


def candidate(kernel: Kernel, *parameters: str, atomics: bool = False) -> Candidate:
    return Candidate(Compiled(kernel, 0.0), parameters, atomics)  # type: ignore[arg-type]


def adding(
    kernel: Kernel,
    *,
    atomics: bool = False,
    against: tuple[Baseline, ...] = (TORCH_ADD,),
    beside: tuple[Baseline, ...] = (),
    spread: float = 1.0,
    seed: int = 3,
    look: Callable[[], None] = lambda: None,
) -> GpuBench:
    """A bench of exercise 1 with a Python function for a kernel, whose parameters are B, C and A."""
    timing = replace(ADD.timings[0], against=against, beside=beside, spread=spread)
    return GpuBench(ADD, timing, {"N": 4096}, candidate(kernel, "B", "C", "A", atomics=atomics), CPU, seed, look)


def add(b: torch.Tensor, c: torch.Tensor, a: torch.Tensor) -> None:
    torch.add(a, b, out=c)


class Tiring:
    """A kernel that adds, until it is told to do something else."""

    works = True
    works_once = False
    last_bits = 1.0
    calls = 0

    def __call__(self, b: torch.Tensor, c: torch.Tensor, a: torch.Tensor) -> None:
        self.calls += 1
        if self.works:
            self.works = not self.works_once
            add(b, c, a)
            c[7] *= self.last_bits


def once_each(current: bench.GpuRound, arms: list[str]) -> str | None:
    for arm in arms:
        assert current.time(arm) == 1.0
    return current.wrong()


def test_a_right_kernel_gets_its_tensors_by_the_names_of_the_contract() -> None:
    seen = adding(add)
    for number in range(3):
        current = seen.round(number)
        assert current.wrong() is None
        assert once_each(current, [*seen.arms, *reversed(seen.arms)]) is None


def test_a_kernel_of_a_product_is_compared_with_the_product() -> None:
    timing = replace(GEMM.timings[0], against=(CUBLAS,))
    sizes = {"M": 64, "N": 32, "K": 16}

    def made(kernel: Kernel) -> str | None:
        return GpuBench(GEMM, timing, sizes, candidate(kernel, "A", "B", "C"), CPU, 3, lambda: None).round(0).wrong()

    assert made(lambda a, b, c: c.copy_(a @ b)) is None
    assert made(lambda a, b, c: c.copy_(a[:, 1:] @ b[1:])) is not None


@pytest.mark.parametrize(("milliseconds", "calls"), [(0.5 * SHORT, 2), (2 * SHORT, 1)])
def test_short_calls_are_made_twice(monkeypatch: pytest.MonkeyPatch, milliseconds: float, calls: int) -> None:
    """And what the second gives is looked at."""
    monkeypatch.setattr(NoClock, "milliseconds", milliseconds)
    kernel = Tiring()
    current = adding(kernel).round(0)
    kernel.calls = 0
    current.time(KERNEL)
    assert kernel.calls == calls
    kernel.works_once = True
    current.time(KERNEL)
    assert (current.wrong() is None) == (calls == 1)


def test_rounds_have_other_buffers_and_other_contents() -> None:
    given: dict[int, tuple[torch.Tensor, ...]] = {}

    def noting(*tensors: torch.Tensor) -> None:
        given.setdefault(number, tensors)
        add(*tensors)

    seen = adding(noting)
    for number in range(4):
        seen.round(number)

    for one, following in zip(range(3), range(1, 4), strict=True):
        assert len({tensor.data_ptr() for tensor in (*given[one], *given[following])}) == 6
        assert not torch.equal(given[one][0], given[following][0])


def test_the_baseline_writes_where_the_kernel_does() -> None:
    """Of two outputs one may lie better in memory. What the baseline left there is no result of the kernel's."""
    given: list[torch.Tensor] = []
    seen = adding(lambda b, c, a: (given.append(c), add(b, c, a)))
    current = seen.round(0)

    assert {current.calls[arm]().data_ptr() for arm in (BASELINE, AGAIN)} == {given[0].data_ptr()}  # type: ignore[attr-defined]


def test_a_kernel_that_leaves_the_baselines_result_in_place_is_wrong() -> None:
    kernel = Tiring()
    seen = adding(kernel)
    current = seen.round(0)
    kernel.works = False

    assert once_each(current, [BASELINE, AGAIN, KERNEL]) is not None


def test_the_same_seed_draws_the_same_contents_of_the_cases_spread() -> None:
    one, again, other = (adding(add, spread=3.0, seed=seed).draw()["A"] for seed in (3, 3, 4))

    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert 2.9 < float(one.std()) < 3.1


def test_a_kernel_that_writes_nothing_the_second_time_is_wrong() -> None:
    """Its first output must not stand in for the second."""
    kernel = Tiring()
    current = adding(kernel).round(0)
    assert current.wrong() is None
    kernel.works = False
    said = once_each(current, [KERNEL])

    assert said is not None
    assert "other values in 4096 elements" in said


def test_a_call_that_is_made_again_finds_no_result_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NoClock, "attempts", 3)
    found: list[bool] = []

    def kernel(b: torch.Tensor, c: torch.Tensor, a: torch.Tensor) -> None:
        found.append(torch.equal(c, a + b))
        torch.add(a, b, out=c)

    current = adding(kernel).round(0)
    del found[:]
    assert once_each(current, [KERNEL]) is None
    assert found == 3 * [False]


def test_a_kernel_that_hands_out_what_it_had_for_the_first_inputs_is_wrong_in_the_second_round() -> None:
    kept: list[torch.Tensor] = []

    def caching(b: torch.Tensor, c: torch.Tensor, a: torch.Tensor) -> None:
        if not kept:
            kept.append(a + b)
        c.copy_(kept[0])

    seen = adding(caching)
    assert once_each(seen.round(0), [KERNEL, KERNEL]) is None
    assert seen.round(1).wrong() is not None


def test_an_element_that_is_now_and_then_another_is_wrong_unless_atomics_may_do_that() -> None:
    """The last bits of sums that are added atomically depend on the order."""

    def timed(*, atomics: bool) -> str | None:
        kernel = Tiring()
        current = adding(kernel, atomics=atomics).round(0)
        kernel.last_bits = 1 + 2e-7
        assert once_each(current, [KERNEL]) is None or not atomics
        kernel.last_bits = 1.0
        return once_each(current, [KERNEL] * 3)

    said = timed(atomics=False)
    assert said is not None
    assert "other values in 1 elements" in said
    assert timed(atomics=True) is None


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_kernel_that_changes_an_input_is_wrong(name: str) -> None:
    def changing(b: torch.Tensor, c: torch.Tensor, a: torch.Tensor) -> None:
        add(b, c, a)
        (a if name == "A" else b)[5] = 0.0

    assert adding(changing).round(0).wrong() == f"The kernel changed its input {name}"


def test_an_unwritten_element_is_wrong() -> None:
    said = adding(lambda b, c, a: torch.add(a[1:], b[1:], out=c[1:])).round(0).wrong()

    assert said == "1 elements of its result are missing, infinite or not a number"


def _missing(id_: str) -> Baseline:
    def prepare(*_: object) -> Any:
        raise Unavailable(f"no {id_} here")

    return Baseline(id_, id_, prepare)


def test_the_first_baseline_that_the_gpu_has_is_taken() -> None:
    seen = adding(add, against=(_missing("cudnn"), TORCH_ADD), beside=(_missing("other"),))

    assert seen.baseline is TORCH_ADD
    assert list(seen.arms) == [KERNEL, BASELINE, AGAIN]
    assert list(adding(add, beside=(TORCH_ADD,)).arms) == [KERNEL, BASELINE, AGAIN, "torch-add"]


def test_without_a_baseline_it_says_why() -> None:
    with pytest.raises(Unavailable, match="no flash here"):
        adding(add, against=(_missing("cudnn"), _missing("flash")))


def test_the_machine_is_looked_at_between_rounds() -> None:
    looks: list[int] = []
    adding(add, look=lambda: looks.append(1)).between_rounds()

    assert looks == [1]


SOFTMAX = catalog.find("row_softmax")
FEW = {"M": 32, "N": 64}


def softmaxing(kernel: Kernel) -> str | None:
    """What is wrong with a softmax, on the inputs that are timed and on those that are only looked at."""
    timing = replace(SOFTMAX.timings[0], against=(TORCH_SOFTMAX,), beside=())
    return GpuBench(SOFTMAX, timing, FEW, candidate(kernel, "X", "Y"), CPU, 3, lambda: None).round(0).wrong()


def test_what_the_timed_inputs_do_not_show_is_looked_at_as_well() -> None:
    def without_a_maximum(x: torch.Tensor, y: torch.Tensor) -> None:
        powers = x.float().exp()
        y.copy_(powers / powers.sum(-1, keepdim=True))

    assert softmaxing(lambda x, y: y.copy_(torch.softmax(x.float(), -1))) is None
    assert "other inputs than those that are timed" in (softmaxing(without_a_maximum) or "")


def test_a_shown_baseline_that_does_not_fit_into_the_memory_is_left_out() -> None:
    def full(*_: object) -> Callable[[], torch.Tensor]:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    bench = adding(add, beside=(replace(TORCH_ADD, id="large", prepare=full),))
    assert "large" not in bench.arms


def test_it_is_told_when_the_kernel_is_first_launched_and_that_there_is_progress() -> None:
    said: list[str] = []

    def kernel(b: torch.Tensor, c: torch.Tensor, a: torch.Tensor) -> None:
        said.append("runs")
        add(b, c, a)

    timing = replace(ADD.timings[0], against=(TORCH_ADD,), beside=())
    bench = GpuBench(
        ADD,
        timing,
        {"N": 4096},
        candidate(kernel, "B", "C", "A"),
        CPU,
        3,
        lambda: None,
        launching=lambda: said.append("launching"),
        beat=lambda: said.append("beat"),
    )
    assert said == []
    bench.round(0)
    assert said[:3] == ["launching", "runs", "beat"]
