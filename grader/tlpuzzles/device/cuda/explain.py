"""A compiler's or driver's message in plain words, with what to do and the learner's line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tlpuzzles.catalogue.entry import Known, Where
from tlpuzzles.catalogue.explanation import UNKNOWN, Explanation
from tlpuzzles.catalogue.lowering import LOWERING
from tlpuzzles.catalogue.matching import find
from tlpuzzles.catalogue.nvcc import NVCC
from tlpuzzles.device.limits import architecture
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.capsule import NEUTRAL_SOURCE
from tlpuzzles.kernel.facts import TILE_OP, Region, region

COMPILING = LOWERING + NVCC

_MARKER = re.compile(rf"-->\s+{re.escape(NEUTRAL_SOURCE)}:(\d+)")
_NOISE = re.compile(r"\s*$|Traceback|\s+File |\[\d\d:\d\d:\d\d\]|Check failed: \(.*\) is false:\s*$")
_CONDITION = re.compile(r"(?:Internal)?Error: |Check failed: \(.*?\) is false: ")
_NVCC_OUTPUT = re.compile(r"\nCompilation error:\n(.*)\nCommand: ", re.DOTALL)
_NVCC_REMARK = re.compile(r": warning #|^Remark: ", re.MULTILINE)
_NVCC_ERROR = re.compile(r"\b(?:error|fatal)\b", re.IGNORECASE)


def explain(raw: str, arch: str, func: ir.PrimFunc | None = None, table: Sequence[Known] = COMPILING) -> Explanation:
    """What `raw`, a message met while compiling for `arch` or (`table=LAUNCHING`) launching there, means.

    An unknown message is cut down to its first line that says something. `func` is the kernel, for the line.
    """
    text = _without_source(raw)
    found = find(text, table, {"gpu": gpu_name(arch), **_operands(func)})
    if found is None:
        return Explanation(UNKNOWN, _first_line(text), "", text, _marked(text))
    known = found.known
    line = _find(known.where, found.match, func) if func is not None else None
    if known.where is not Where.CALL:
        line = _marked(text) or line
    return Explanation(known.id, found.message, found.fix, text, line, known.fault, known.hint)


def gpu_name(arch: str) -> str:
    """What people call the GPUs of an architecture: "A100"; its own name where they have none in `limits`."""
    known = architecture(arch)
    return known.gpus if known is not None else f"{arch} GPUs"


def largest_tile(func: ir.PrimFunc, *scopes: ir.Scope) -> int | None:
    """The line that allocates the tile with the most elements in these scopes (shared ones if none are given)."""
    wanted = scopes or (ir.Scope.SHARED, ir.Scope.SHARED_DYNAMIC)
    tiles = [n for n in ir.walk(func) if isinstance(n, ir.Buffer) and n.scope in [scope.value for scope in wanted]]
    return max(tiles, key=_elements).line if tiles else None


def _without_source(raw: str) -> str:
    """TileLang puts the whole CUDA source before what nvcc says, and nvcc its warnings: only the errors are kept."""
    output = _NVCC_OUTPUT.search(raw)
    if output is None:
        return raw.strip()
    parts = [part for part in output[1].split("\n\n") if not _NVCC_REMARK.search(part)]
    return "\n\n".join(parts).strip() or output[1].strip()


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if not _NOISE.match(line)]
    errors = [line for line in lines if _NVCC_ERROR.search(line)]
    line = next(iter(errors or lines), "no message")
    return _CONDITION.sub("", line).strip()[:300]


def _marked(text: str) -> int | None:
    marker = _MARKER.search(text)
    return int(marker[1]) if marker else None


def _find(where: Where, match: re.Match[str], func: ir.PrimFunc) -> int | None:
    if where is Where.USES:
        names = {value for name, value in match.groupdict().items() if value and name in ("a", "b", "buffer")}
        return _using(func, names)
    if where is Where.CALL:
        return next((statement.line for statement, _ in _tile_operations(func, match["op"])), None)
    if where is Where.MIXED_GEMM:
        return next((statement.line for statement, *_ in _mixed_gemms(func)), None)
    if where is Where.GEMM:
        groups = match.groupdict()
        tile = [groups["m"], groups["n"]] if groups.get("m") else None
        gemms = list(_tile_operations(func, "gemm"))
        fitting = [statement for statement, call in gemms if tile == _result_tile(call)]
        return next((s.line for s in fitting), next((s.line for s, _ in gemms), None))
    if where is Where.REDUCE:
        return _reduced(func)
    if where is Where.PIPELINE:
        loops = [n for n in ir.walk(func) if isinstance(n, ir.For) and "num_stages" in n.annotations]
        loops.sort(key=lambda loop: isinstance(loop.extent, ir.IntImm))
        return next((loop.line for loop in loops), None)
    if where is Where.LARGEST_STATIC_TILE:
        return largest_tile(func, ir.Scope.SHARED)
    return largest_tile(func) if where is Where.LARGEST_TILE else None


def _using(func: ir.PrimFunc, names: set[str]) -> int | None:
    """The line of the first simple statement that uses all these buffers, else of the last one's allocation."""
    for node in ir.walk(func):
        if isinstance(node, (ir.Evaluate, ir.BufferStore)) and node.line is not None:
            used = {n.name for n in ir.walk(node) if isinstance(n, ir.Buffer)}
            if names <= used:
                return node.line
    declared = [n.line for n in ir.walk(func) if isinstance(n, ir.Buffer) and n.name in names and n.line is not None]
    return max(declared, default=None)


def _reduced(func: ir.PrimFunc) -> int | None:
    """Where the tile of a reduction is allocated, preferably one whose row is no power of two.

    T.reduce_max and its like are macros: their own statements carry lines of TileLang, not of the learner.
    """
    tiles = [tile for _, call in _tile_operations(func, "reduce") if (tile := _region(call, 0)) is not None]
    tiles.sort(key=lambda tile: all(_is_power_of_two(extent) for extent in tile.buffer.shape))
    return next((tile.buffer.line for tile in tiles), None)


def _is_power_of_two(extent: ir.Expr) -> bool:
    return isinstance(extent, ir.IntImm) and extent.value & (extent.value - 1) == 0


def _tile_operations(func: ir.PrimFunc, name: str) -> Iterator[tuple[ir.Evaluate, ir.Call]]:
    for node in ir.walk(func):
        if isinstance(node, ir.Evaluate) and isinstance(node.value, ir.Call) and node.value.op == TILE_OP + name:
            yield node, node.value


def _mixed_gemms(func: ir.PrimFunc) -> Iterator[tuple[ir.Evaluate, ir.Buffer, ir.Buffer]]:
    """Products of two tiles that differ in dtype."""
    for statement, call in _tile_operations(func, "gemm"):
        left, right = _region(call, 0), _region(call, 1)
        if left is not None and right is not None and left.buffer.dtype != right.buffer.dtype:
            yield statement, left.buffer, right.buffer


def _operands(func: ir.PrimFunc | None) -> dict[str, str]:
    """Words for the tiles of the first product that mixes dtypes: `wide` is the one to be converted."""
    mixed = next(_mixed_gemms(func), None) if func is not None else None
    if mixed is None:
        return {"left": "the left one", "right": "the right one", "wide": "the larger one", "narrow_type": "16-bit"}
    _, left, right = mixed
    wide, narrow = (right, left) if "32" in right.dtype else (left, right)
    return {"left": left.name, "right": right.name, "wide": wide.name, "narrow_type": narrow.dtype}


def _result_tile(gemm: ir.Call) -> list[str]:
    result = _region(gemm, 2)
    extents = result.extents[-2:] if result is not None else ()
    return [str(extent.value) for extent in extents if isinstance(extent, ir.IntImm)]


def _region(call: ir.Call, position: int) -> Region | None:
    try:
        return region(call.args[position])
    except (IndexError, ValueError):
        return None


def _elements(buffer: ir.Buffer) -> int:
    count = 1
    for extent in buffer.shape:
        count *= extent.value if isinstance(extent, ir.IntImm) else 1
    return count
