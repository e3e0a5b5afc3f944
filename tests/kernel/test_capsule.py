"""Reading capsules: every construct is read, and nothing of this machine stays in what is read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.kernel.constructs import CONSTRUCTS, tile_kernel
from tests.kernel.problems import real_capsules
from tests.tracing import HEADER, trace
from tlpuzzles.kernel import capsule as reading
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.capsule import Capsule, CapsuleError, Document, read
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.permissions import not_allowed
from tlpuzzles.kernel.races import Races

ARGUMENTS = {"eager style": {"N": 1000}}


@pytest.fixture(scope="session")
def add() -> Capsule:
    return real_capsules()[0][0]


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_a_right_kernel_is_read_and_nothing_is_wrong_with_it(name: str) -> None:
    kernel = Kernel(read(trace(CONSTRUCTS[name], **ARGUMENTS.get(name, {}))).func)
    assert kernel.launches
    assert list(not_allowed(kernel.func, kernel.steps)) == []
    races = Races(kernel)
    assert [*races.parallel_stores(), *races.updates(), *races.fragment_accesses()] == []


@pytest.mark.parametrize("name", ["T.device_assert", "T.print, tile", "T.reduce_sum, shared", "macro"])
def test_no_path_of_this_machine_stays_in_the_text(name: str) -> None:
    capsule = trace(CONSTRUCTS[name])
    assert json.dumps(capsule.path)[1:-1] in capsule.ir.replace("\\/", "/")
    text = read(capsule).text()
    assert capsule.path not in text
    assert "site-packages" not in text
    assert not [node for node in json.loads(text)["nodes"] if "/" in str(node.get("data"))]


def test_a_message_keeps_the_line_it_was_written_in() -> None:
    source = tile_kernel("T.device_assert(bx >= 0, 'no block')\nT.copy(A, B)")
    line = (HEADER + source).splitlines().index("            T.device_assert(bx >= 0, 'no block')") + 1
    texts = [n.value for n in ir.walk(read(trace(source)).func) if isinstance(n, ir.StringImm)]
    assert texts == [f"no block\n  at <kernel>:{line} in main\n"]


def test_statements_know_their_lines_in_the_learners_file() -> None:
    source = tile_kernel("x = T.alloc_fragment((64, 32), 'float32')\nT.copy(A, x)\nT.copy(x, B)")
    lines = (HEADER + source).splitlines()
    func = read(trace(source)).func
    copies = [n.line for n in ir.walk(func) if isinstance(n, ir.Evaluate)]
    assert [lines[line - 1].strip() for line in copies if line is not None] == ["T.copy(A, x)", "T.copy(x, B)"]
    assert [n.line for n in ir.walk(func) if isinstance(n, ir.Buffer) and n.name == "x"] == [copies[0] - 1]  # type: ignore[operator]


def test_lines_of_the_library_are_no_lines_of_the_learner() -> None:
    source = tile_kernel(
        """
        x = T.alloc_fragment((64, 32), "float32")
        r = T.alloc_fragment((64,), "float32")
        T.copy(A, x)
        T.reduce_sum(x, r, dim=1)
        T.copy(r, B)
        """,
        'A: T.Tensor((64, 32), "float32"), B: T.Tensor((64,), "float32")',
    )
    document = read(trace(source))
    reduction = next(s for s in Kernel(document.func).steps if "reduce" in str(getattr(s.stmt, "value", "")))
    assert reduction.line is None
    assert {n["data"] for n in document.json["nodes"] if n["type"] == "ir.SourceName"} == {"<kernel>", "<library>"}


def test_infinities_and_nan_survive() -> None:
    source = tile_kernel(
        """
        x = T.alloc_fragment((64, 32), "float32")
        T.fill(x, float("inf"))
        T.fill(x, float("-inf"))
        T.fill(x, float("nan"))
        T.copy(x, B)
        """
    )
    document = read(trace(source))
    values = [n.value for n in ir.walk(document.func) if isinstance(n, ir.FloatImm)]
    assert str(sorted(values, key=str)) == "[-inf, inf, nan]"
    from tilelang import tvm

    assert "T.fill" in tvm.ir.load_json(document.text()).script()


def _nodes(capsule: Capsule) -> dict:  # type: ignore[type-arg]
    return json.loads(capsule.ir)  # type: ignore[no-any-return]


def _read(document: object, capsule: Capsule) -> Document:
    return read(replace(capsule, ir=json.dumps(document)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "[]",
        "{}",
        '{"nodes": 3}',
        '{"nodes": [], "root_index": 0}',
        '{"nodes": [], "root_index": 0, "x": 1}',
    ],
)
def test_a_text_that_is_no_kernel_is_refused(text: str) -> None:
    with pytest.raises(CapsuleError, match="IR"):
        read(Capsule(text, None))


def test_a_text_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(CapsuleError, match="9 MiB long"):
        read(Capsule(" " * (9 << 20), None))


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(CapsuleError, match="not JSON"):
        read(Capsule("[" * 100_000, None))
    nodes = [{"type": "ffi.Array", "data": []}]
    nodes += [{"type": "ffi.Array", "data": [index]} for index in range(1000)]
    with pytest.raises(CapsuleError, match="deeply nested"):
        read(Capsule(json.dumps({"nodes": nodes, "root_index": 1000}), None))


def test_a_tree_that_is_huge_because_its_nodes_are_shared_is_refused() -> None:
    nodes = [{"type": "ffi.Array", "data": []}]
    nodes += [{"type": "ffi.Array", "data": [index, index]} for index in range(60)]
    with pytest.raises(CapsuleError, match="too large"):
        read(Capsule(json.dumps({"nodes": nodes, "root_index": 60}), None))


def test_a_repeated_key_is_refused(add: Capsule) -> None:
    text = add.ir.replace('"root_index"', '"root_index": 1, "root_index"', 1)
    with pytest.raises(CapsuleError, match="twice"):
        read(replace(add, ir=text))


def test_a_number_of_a_million_digits_is_refused(add: Capsule) -> None:
    text = add.ir.replace('"line": ', '"line": ' + "9" * 1_000_000, 1)
    with pytest.raises(CapsuleError, match="too many digits"):
        read(replace(add, ir=text))


def test_a_not_a_number_is_refused_where_a_count_belongs(add: Capsule) -> None:
    document = _nodes(add)
    span = next(i for i, n in enumerate(document["nodes"]) if n["type"] == "ir.Span")
    document["nodes"][span]["data"]["line"] = float("nan")
    with pytest.raises(CapsuleError, match=rf"node {span} \('ir.Span'\) field line: holds nan"):
        _read(document, add)


def test_a_cycle_is_refused(add: Capsule) -> None:
    document = _nodes(add)
    index = next(i for i, n in enumerate(document["nodes"]) if n["type"] == "tirx.Add")
    document["nodes"][index]["data"]["a"] = index
    with pytest.raises(CapsuleError, match=rf"node {index} \('tirx.Add'\) field a: refers to node {index}"):
        _read(document, add)


def test_a_name_that_would_be_code_is_refused(add: Capsule) -> None:
    document = _nodes(add)
    name = next(n for n in document["nodes"] if n["type"] == "ffi.String" and n["data"] == "bx")
    name["data"] = "bx; system(0)"
    with pytest.raises(CapsuleError, match="name: does not hold a name"):
        _read(document, add)


def test_a_variable_that_nothing_defines_is_refused(add: Capsule) -> None:
    document = _nodes(add)
    nodes = document["nodes"]
    loop = next(n for n in nodes if n["type"] == "tirx.For" and n["data"]["kind"] == 1)
    loop["data"]["loop_var"] = next(
        i for i, n in enumerate(nodes) if n["type"] == "tirx.Var" and nodes[n["data"]["name"]]["data"] == "tx"
    )
    with pytest.raises(CapsuleError, match="variable 'i' is used and never defined"):
        _read(document, add)


def test_a_buffer_has_as_many_indices_as_dimensions(add: Capsule) -> None:
    document = _nodes(add)
    nodes = document["nodes"]
    index = next(i for i, n in enumerate(nodes) if n["type"] == "tirx.BufferLoad")
    indices = nodes[nodes[index]["data"]["indices"]]
    indices["data"] = indices["data"] * 2
    with pytest.raises(CapsuleError, match=rf"node {index} .* has 2 indices for 1 dimensions"):
        _read(document, add)


def test_operands_have_one_dtype(add: Capsule) -> None:
    document = _nodes(add)
    load = next(n for n in document["nodes"] if n["type"] == "tirx.BufferLoad")
    load["data"]["dtype"] = "float16"
    with pytest.raises(CapsuleError, match="loads float16 from a buffer of float32"):
        _read(document, add)


def test_a_whole_number_must_fit_its_dtype(add: Capsule) -> None:
    document = _nodes(add)
    number = next(n for n in document["nodes"] if n["type"] == "ir.IntImm" and n["data"]["dtype"] == "int32")
    number["data"]["value"] = 2**40
    with pytest.raises(CapsuleError, match="no int32"):
        _read(document, add)


def test_the_limits_leave_room_for_real_kernels() -> None:
    capsule = real_capsules()[2][0]
    assert len(capsule.ir) * 50 < reading.MAX_TEXT
