"""The emitter refuses what it cannot run; it never fails in another way, and never lets a run out of its memory."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.device.cpu.control import CONTROLS
from tests.device.cpu.running import compiled
from tests.device.cpu.table import normal, vector
from tests.device.cpu.test_constructs import RUNS
from tests.tracing import document, trace
from tlpuzzles.device.cpu.emit import Unsupported, emit
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.capsule import Capsule, CapsuleError, read

EDITED = (
    *(
        "gemm with slices and clear_accum",
        "values of each thread",
        "Persistent",
        "reduce_max clear=False",
        "alloc_reducer",
    ),
    *(
        "reshape and view",
        "atomics on shared tiles",
        "cumsum, reversed, and cummax",
        "any_of, all_of",
        "strided tensor",
    ),
)
NAMES = (
    *(
        "int32",
        "float16",
        "bool",
        "uint8",
        "local",
        "shared.dyn",
        "local.fragment",
        "tl.region",
        "tl.access_ptr",
        "max",
    ),
    *("tl.tileop.copy", "tl.tileop.gemm", "tl.tileop.reduce", "tirx.if_then_else", "tirx.break_loop", "tl.any_of"),
    *("tl.atomic_add_elem_op", "tl.launch_thread_idx", "tirx.call_extern", "tirx.reinterpret", "num_stages"),
)


def edit(document: dict[str, Any], chance: random.Random) -> None:
    nodes = document["nodes"]
    node = chance.choice(nodes)
    data = node.get("data")
    if isinstance(data, dict) and data:
        field = chance.choice(list(data))
        if isinstance(data[field], str):
            data[field] = chance.choice(NAMES)
        elif isinstance(data[field], int):
            data[field] = chance.choice([data[field] + 1, data[field] - 1, 0, chance.randrange(len(nodes)), -5, 2**31])
    elif isinstance(data, list) and data:
        data[chance.randrange(len(data))] = chance.randrange(len(nodes))
        if chance.random() < 0.3:
            data.pop()
    elif isinstance(data, str):
        node["data"] = chance.choice(NAMES)
    elif isinstance(data, int):
        node["data"] = chance.choice([0, 1, -1, 2**40])


def test_refuses_edited_kernels_by_name() -> None:
    chance = random.Random(6)
    capsules = [trace(RUNS[name].source, **RUNS[name].arguments) for name in EDITED]
    emitted = refused = 0
    for _ in range(250):
        capsule = chance.choice(capsules)
        edited = json.loads(capsule.ir)
        edit(edited, chance)
        try:
            func = read(Capsule(json.dumps(edited), None, {}, capsule.path)).func
        except CapsuleError:
            continue
        try:
            emit(func, "kernel")
            emitted += 1
        except Unsupported:
            refused += 1
    assert emitted > 30
    assert refused > 10


def test_refuses_what_is_too_deep_for_python() -> None:
    func = document(vector("B[bx] = A[bx]"), N=64).func
    store = next(node for node in ir.walk(func) if isinstance(node, ir.BufferStore))
    for _ in range(5000):
        store.value = ir.Add("float32", store.value, store.value)
    with pytest.raises(Unsupported, match="too deeply nested"):
        emit(func, "kernel")


def test_refuses_a_tile_that_fits_no_memory() -> None:
    huge = vector("s = T.alloc_shared((1048576, 1048576), dtype)\ns[0, 0] = A[0]\nB[0] = s[0, 0]")
    with pytest.raises(Unsupported, match="does not fit into memory"):
        emit(document(huge, N=64).func, "kernel")


def test_a_symbol_must_be_a_name() -> None:
    with pytest.raises(ValueError, match="no name for a C function"):
        emit(document(vector("B[bx] = A[bx]"), N=64).func, "kernel(); evil")


def test_a_tensor_of_another_shape_is_our_error(tmp_path: Path) -> None:
    sources = {"fixed": (vector("B[bx] = A[bx]"), {"N": 64})}
    dynamic = CONTROLS["one launch for all dimensions at run time"]
    program = compiled({**sources, "dynamic": (dynamic.source, {})}, tmp_path)
    with pytest.raises(ValueError, match="argument 1 has extent 63 in dimension 0, not 64"):
        program.run("fixed", [normal(64), torch.zeros(63)], tmp_path)
    with pytest.raises(ValueError, match="argument 3 has extent 99 in dimension 0, not 100"):
        program.run("dynamic", [normal(100), 1.0, 2, torch.zeros(99)], tmp_path)
