"""Real capsules with something in them changed: a named refusal, or a kernel that can be walked and vetted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.kernel.problems import numbers, real_capsules
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.capsule import Capsule, CapsuleError, digest, read
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.requirements import accumulates_in, no_global_intermediate, one_launch, uses_gemm
from tlpuzzles.kernel.vet import vet

REQUIREMENTS = (uses_gemm(2), accumulates_in(), one_launch(), no_global_intermediate())
RANDOM_EDITS = 700

Edit = tuple[int, dict[str, Any]]
"""Index of a node and what it becomes."""


class Victim:
    """A capsule whose nodes can be replaced one at a time."""

    def __init__(self, capsule: Capsule, exercise: Exercise, case: Case, sizes: Sizes) -> None:
        self.capsule, self.exercise, self.case, self.sizes = capsule, exercise, case, sizes
        document = json.loads(capsule.ir)
        self.nodes: list[dict[str, Any]] = document["nodes"]
        self.rest = {key: value for key, value in document.items() if key != "nodes"}
        self.texts = [json.dumps(node) for node in self.nodes]

    def survive(self, *edits: Edit) -> str | None:
        """Reads and vets the edited capsule. Returns why it was refused when it was read, or None."""
        texts = list(self.texts)
        for index, node in edits:
            texts[index] = json.dumps(node)
        rest = json.dumps(self.rest)[1:-1]
        try:
            document = read(replace(self.capsule, ir=f'{{{rest}, "nodes": [{", ".join(texts)}]}}'))
        except CapsuleError as error:
            return str(error)
        assert isinstance(document.func, ir.PrimFunc)
        assert len(digest(document)) == 64
        json.loads(document.text())
        vetting = vet(document, self.exercise, self.case, self.sizes, self.capsule.out_idx, for_cpu=True)
        if vetting.refusal is None:
            for requirement in REQUIREMENTS:
                requirement.check(Kernel(document.func))
        return None

    def field_edits(self, index: int) -> Iterator[Edit]:
        """Every field of a node changed to something of another kind, taken away, and one put in."""
        node = self.nodes[index]
        yield index, {"type": "tirx.Nonsense", "data": node.get("data")}
        data = node.get("data")
        if isinstance(data, dict):
            for name, value in data.items():
                yield index, {**node, "data": {key: item for key, item in data.items() if key != name}}
                yield index, {**node, "data": {**data, name: _other(value, index)}}
                yield index, {**node, "data": {**data, name: [value]}}
            yield index, {**node, "data": {**data, "more": 0}}
        elif isinstance(data, list):
            yield index, {**node, "data": [*data, index]}
            yield index, {**node, "data": data[1:]}
        else:
            yield index, {**node, "data": {"more": data}}


def _other(value: object, index: int) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return "int32" if value != "int32" else "float16"
    return index if isinstance(value, int) else None


@pytest.fixture(scope="module")
def victims() -> list[Victim]:
    return [Victim(*capsule) for capsule in real_capsules()]


def test_unedited_capsules_are_read_and_vetted(victims: list[Victim]) -> None:
    assert [victim.survive() for victim in victims] == [None, None, None]


def test_every_field_of_a_vector_add_edited(victims: list[Victim]) -> None:
    victim = victims[0]
    refusals = [victim.survive(edit) for index in range(len(victim.nodes)) for edit in victim.field_edits(index)]
    refused = [message for message in refusals if message is not None]
    assert len(refused) > 0.9 * len(refusals)
    assert all(message.startswith(("node ", "the ")) for message in refused)


def test_fields_of_nodes_that_a_vector_add_does_not_have_edited(victims: list[Victim]) -> None:
    random = numbers(5)
    done = {node["type"] for node in victims[0].nodes}
    for victim in victims[1:]:
        by_type: dict[str, list[int]] = {}
        for index, node in enumerate(victim.nodes):
            by_type.setdefault(node["type"], []).append(index)
        for kind in by_type.keys() - done:
            for edit in victim.field_edits(random.choice(by_type[kind])):
                victim.survive(edit)
        done |= by_type.keys()


def test_random_edits(victims: list[Victim]) -> None:
    random = numbers(11)
    seen: set[str] = set()
    read_anyway = 0
    for _ in range(RANDOM_EDITS):
        victim = random.choices(victims, weights=(6, 3, 1))[0]
        edits = [_random_edit(victim, random) for _ in range(random.choice((1, 1, 2)))]
        message = victim.survive(*edits)
        read_anyway += message is None
        seen.add(str(message)[:20])
    # Both ends are met: texts that are refused for many reasons, and texts that still are kernels.
    assert read_anyway > RANDOM_EDITS // 20
    assert len(seen) > 50


def _random_edit(victim: Victim, random: Any) -> Edit:
    index = random.randrange(len(victim.nodes))
    node = victim.nodes[index]
    data = node.get("data")
    if random.random() < 0.1:
        return index, {**node, "type": random.choice(victim.nodes)["type"]}
    if random.random() < 0.1:
        return index, random.choice(victim.nodes)
    if isinstance(data, dict) and data:
        name = random.choice(list(data))
        return index, {**node, "data": {**data, name: _random_value(data[name], index, random)}}
    if isinstance(data, list) and data:
        position = random.randrange(len(data))
        return index, {
            **node,
            "data": [*data[:position], _random_value(data[position], index, random), *data[position + 1 :]],
        }
    return index, {**node, "data": _random_value(data, index, random)}


def _random_value(value: object, index: int, random: Any) -> object:
    nearby = max(index - random.randint(1, 12), 0)
    odd = [
        -1,
        0,
        1,
        2**31,
        2**63,
        10**30,
        index,
        True,
        None,
        "",
        "int32",
        "float16",
        "handle",
        [],
        {},
        0.5,
        float("nan"),
    ]
    return random.choice([nearby, nearby, random.randint(0, max(index - 1, 0)), random.choice(odd)])
