"""Goes through the construct table: right in both kinds of run, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.device.cpu.constructs import TILES
from tests.device.cpu.control import CONTROLS
from tests.device.cpu.refused import REFUSED
from tests.device.cpu.running import Program, compiled
from tests.kernel.constructs import CONSTRUCTS
from tests.tracing import HEADER, document
from tlpuzzles.device.cpu import build
from tlpuzzles.device.cpu.emit import Unsupported, emit

RUNS = {**TILES, **CONTROLS}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled({name: (row.source, row.arguments) for name, row in RUNS.items()}, tmp_path_factory.mktemp("table"))


@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "reversed"])
@pytest.mark.parametrize("name", RUNS)
def test_runs_right(program: Program, name: str, backwards: bool, tmp_path: Path) -> None:
    row = RUNS[name]
    inputs = row.inputs()
    given = [x.clone() if isinstance(x, torch.Tensor) and x.is_contiguous() else x for x in inputs]
    first = next(x for x in inputs if isinstance(x, torch.Tensor))
    found = program.output(name, given, row.out if row.out is not None else first, tmp_path, backwards)
    expected = row.expected(*inputs).double()
    torch.testing.assert_close(found.double(), expected, rtol=row.tolerance, atol=row.tolerance, equal_nan=True)
    for before, after in zip(inputs, given, strict=True):
        if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
            assert torch.equal(before, after), "the kernel changed an input"


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_by_name(name: str) -> None:
    row = REFUSED[name]
    with pytest.raises(Unsupported) as caught:
        emit(document(row.source, **row.arguments).func, "kernel")
    assert caught.value.construct.startswith(row.construct)
    assert row.mentions in str(caught.value)
    assert str(caught.value).endswith(".")
    lines = (HEADER + row.source).splitlines()
    if row.line_of:
        assert caught.value.line is not None
        assert row.line_of in lines[caught.value.line - 1]


@pytest.mark.slow
def test_knows_or_refuses_what_learners_write(tmp_path: Path) -> None:
    emitted = []
    for number, source in enumerate(CONSTRUCTS.values()):
        try:
            arguments = {"N": 100} if "T.const(" in source else {}
            emitted.append(emit(document(source, **arguments).func, f"kernel_{number}"))
        except Unsupported as refusal:
            assert refusal.construct  # noqa: PT017 (either is right)
    assert build.compile(emitted, tmp_path, None).is_file()
