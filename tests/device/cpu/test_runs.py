"""What a run finds (indices out of range, tiles never set, results that depend on an order), and how runs end."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
import torch

from tests.device.cpu.faulty import OF_INTEGERS, OF_MATRICES, OF_VECTORS, VIOLATIONS
from tests.device.cpu.running import Program, compiled
from tests.device.cpu.table import normal
from tests.tracing import HEADER
from tlpuzzles.device.cpu import build
from tlpuzzles.device.cpu.run import IndexViolation, Job, Number, Outcome, run


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    sources = {name: row.source for name, row in VIOLATIONS.items()} | OF_MATRICES | OF_INTEGERS | OF_VECTORS
    takes_size = {name for name, source in sources.items() if "def kernel(N, " in source}
    return compiled(
        {name: (source, {"N": 128} if name in takes_size else {}) for name, source in sources.items()},
        tmp_path_factory.mktemp("runs"),
    )


@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "reversed"])
@pytest.mark.parametrize("name", VIOLATIONS)
def test_names_an_index_out_of_range(program: Program, name: str, backwards: bool, tmp_path: Path) -> None:
    row = VIOLATIONS[name]
    result = program.run(name, [row.given, row.like.clone()], tmp_path, backwards=backwards)
    assert result.outcome is Outcome.INDEX_VIOLATION
    found = result.violation
    assert isinstance(found, IndexViolation)
    assert (found.buffer, found.dimension, found.extent) == (row.buffer, row.dimension, row.extent)
    assert found.index == row.index or (backwards and not 0 <= found.index < row.extent)
    assert found.line is not None
    assert row.text in (HEADER + row.source).splitlines()[found.line - 1]


def both(
    program: Program, name: str, given: torch.Tensor, like: torch.Tensor, folder: Path
) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        program.output(name, [given], like, folder, backwards=False),
        program.output(name, [given], like, folder, backwards=True),
    )


def test_an_accumulator_that_was_never_cleared_is_nan(program: Program, tmp_path: Path) -> None:
    forwards, backwards = both(
        program, "without T.clear", normal(16, 16, dtype=torch.float16), torch.zeros(16, 16), tmp_path
    )
    assert forwards.isnan().all()
    assert (backwards.abs() > 1e20).all()


def test_a_maximum_or_minimum_that_was_never_set_shows_in_the_second_run(program: Program, tmp_path: Path) -> None:
    for name, sign in (("maximum never set", 1), ("minimum never set", -1)):
        given = normal(128)
        forwards, backwards = both(program, name, given, torch.zeros(128), tmp_path)
        right = given[:64].max() if sign > 0 else given[:64].min()
        assert (forwards[:8] == right).all(), "a GPU's maximum skips NaN"
        assert (sign * backwards[:8] > 1e20).any()


def test_integers_that_were_never_set_differ(program: Program, tmp_path: Path) -> None:
    forwards, backwards = both(program, "integers never set", torch.arange(64).int(), torch.zeros(64).int(), tmp_path)
    assert torch.equal(forwards[:32], backwards[:32])
    assert (forwards[32:] % 2 == 1).all()
    assert (forwards[32:].abs() > 1 << 20).all()
    assert (forwards[32:] != backwards[32:]).any()


def test_a_shift_in_place_depends_on_the_order_of_iterations(program: Program, tmp_path: Path) -> None:
    forwards, backwards = both(program, "shift in place", normal(128), torch.zeros(128), tmp_path)
    assert not torch.equal(forwards, backwards)


def test_a_result_that_needs_blocks_in_order_shows(program: Program, tmp_path: Path) -> None:
    forwards, backwards = both(program, "blocks in order", normal(128), torch.zeros(128), tmp_path)
    assert forwards.isfinite().all()
    assert not torch.equal(forwards, backwards)


def test_a_block_never_sees_the_tiles_of_another(program: Program, tmp_path: Path) -> None:
    given = normal(128)
    forwards, _ = both(program, "a tile of another block", given, torch.zeros(128), tmp_path)
    assert torch.equal(forwards[:64], given[:64])
    assert forwards[64:].isnan().all()


def test_a_half_accumulator_loses_digits(program: Program, tmp_path: Path) -> None:
    given = normal(544, 512, dtype=torch.float16)
    found, _ = both(program, "half accumulator", given, torch.zeros(64, 32).half(), tmp_path)
    exact = given[:32].double() @ given[32:, :32].double()
    errors = [float((part.double() - exact).norm() / exact.norm()) for part in (found[:32], found[32:])]
    assert errors[0] > 1e-3
    assert errors[1] < 3e-4


def test_prints_as_a_gpu_does(program: Program, tmp_path: Path) -> None:
    result = program.run("prints", [normal(128), torch.zeros(128)], tmp_path)
    lines = result.output.splitlines()
    assert "msg='hello' BlockIdx=(0, 0, 0), ThreadIdx=(0, 0, 0): dtype=float value=2.000000" in lines
    assert sum("hello" in line for line in lines) == 2
    assert sum("msg='all'" in line for line in lines) == 64
    assert "msg='all' BlockIdx=(1, 0, 0), ThreadIdx=(31, 0, 0): dtype=int value=1" in lines
    parallel = program.run("prints in parallel", [normal(128), torch.zeros(128)], tmp_path).output.splitlines()
    assert [line.partition("value=")[2] for line in parallel] == ["0.000000", "1.000000", "2.000000", "3.000000"]
    tile = program.run("prints a tile", [torch.arange(128.0), torch.zeros(128)], tmp_path).output
    assert "buffer=s, index=63, dtype=float value=63.000000" in tile


@pytest.mark.parametrize(
    ("name", "lines", "threads"),
    [
        ("a fragment of all threads", 1, 1),
        ("a fragment of a quarter", 4, 4),
        ("one round", 64, 64),
        ("no round like another", 256, 64),
        ("all rounds alike", 64, 64),
        ("one element of a fragment", 4, 4),
        ("stores", 4, 4),
    ],
)
def test_prints_in_parallel_as_often_as_a_gpu(
    program: Program, name: str, lines: int, threads: int, tmp_path: Path
) -> None:
    """As often as in the CUDA that TileLang 0.1.15 generates for 64 threads."""
    output = program.run(f"prints in parallel: {name}", [normal(128), torch.zeros(128)], tmp_path).output
    places = [line.partition(": dtype")[0] for line in output.splitlines() if "msg='here'" in line]

    assert (len(places), len(set(places))) == (lines, threads)


def test_prints_without_end_are_cut(program: Program, tmp_path: Path) -> None:
    result = program.run("prints without end", [normal(128), torch.zeros(128)], tmp_path)
    assert result.outcome is Outcome.FINISHED
    assert len(result.output) <= 64 * 1024
    assert result.output.endswith("only the first 400 lines are shown)\n")


def test_an_assertion_that_fails_is_reported(program: Program, tmp_path: Path) -> None:
    given = normal(128).abs()
    result = program.run("device_assert", [given, torch.zeros(128)], tmp_path)
    assert (result.outcome, result.message) == (Outcome.ASSERTION, 'it is "wrong"')
    assert result.line is not None
    assert "device_assert" in (HEADER + OF_VECTORS["device_assert"]).splitlines()[result.line - 1]
    assert program.run("device_assert", [-given, torch.zeros(128)], tmp_path).outcome is Outcome.FINISHED


def test_a_large_tile_overflows_no_stack(program: Program, tmp_path: Path) -> None:
    given = normal(128)
    assert (program.output("a tile of 64 MiB", [given], torch.zeros(128), tmp_path) == given[1]).all()
    result = program.run("a tile of 64 MiB", [given, torch.zeros(128)], tmp_path, memory=200 << 20)
    assert result.outcome in (Outcome.FINISHED, Outcome.OUT_OF_MEMORY)
    result = program.run("a tile of 64 MiB", [given, torch.zeros(128)], tmp_path, memory=60 << 20)
    assert result.outcome is Outcome.OUT_OF_MEMORY


def test_a_kernel_that_never_ends_is_stopped(program: Program, tmp_path: Path) -> None:
    result = program.run("never ends", [normal(128), torch.zeros(128)], tmp_path, seconds=0.5)
    assert result.outcome is Outcome.TIMED_OUT
    assert 0.5 <= result.seconds < 5


def test_an_interrupt_ends_the_kernel(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[subprocess.Popen[bytes]] = []
    wait = subprocess.Popen.wait

    def interrupted(child: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if child not in children:
            children.append(child)
            raise KeyboardInterrupt
        return wait(child, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        program.run("never ends", [normal(128), torch.zeros(128)], tmp_path)
    assert children[0].returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(children[0].pid, 0)


EXPORTED = """extern "C" __attribute__((visibility("default")))
int32_t {}(const tile::Argument *, int32_t, tile::Report *) {{ {} return 0; }}
"""


def test_a_crash_is_told_from_an_exit(tmp_path: Path) -> None:
    bodies = {"writes": "*(volatile int *)nullptr = 1;", "traps": "__builtin_trap();", "leaves": "std::exit(0);"}
    library = build.compile([EXPORTED.format(name, body) for name, body in bodies.items()], tmp_path, None)
    for name, number in (("writes", signal.SIGSEGV), ("traps", signal.SIGILL), ("leaves", None)):
        result = run(Job(library, name, [Number(1)]))
        assert (result.outcome, result.signal) == (Outcome.CRASHED, number)
