"""What surrounds statements: blocks with their allocations, attributes, and hints that do not change values."""

from __future__ import annotations

from typing import Any

from tlpuzzles.device.cpu import dtypes
from tlpuzzles.device.cpu.scope import Scope
from tlpuzzles.device.cpu.unsupported import ON_A_GPU
from tlpuzzles.device.cpu.writer import Writer
from tlpuzzles.kernel import tile_ir as ir

_ATTRIBUTE_HINTS = {
    *("threadblock_swizzle_pattern", "tl.min_blocks_per_sm", "tl.ws_op_id", "tl.ws_pipeline_depth"),
    *("pragma_unroll_explicit", "pragma_unroll_factor"),
}
_LOOP_HINTS = {
    *("num_stages", "tl_pipeline_order", "tl_pipeline_stage", "tl_pipeline_group", "coalesced_width", "tl.ws_op_id"),
    *("parallel_loop_layout", "parallel_prefer_async", "pragma_unroll_explicit", "pragma_unroll_factor"),
}
_BLOCK_HINTS = {
    *("tl.launch_threads", "layout_map", "l2_hit_ratio_map", "cluster_dims", "barrier_init"),
    *("tl.non_restrict_params", "tl.ws_schedule"),
}
_GPU_SOURCE = {
    "pragma_import_c": "T.import_source",
    "code_block_source": "T.CUDASourceCodeKernel",
    "code_block_entry_name": "T.CUDASourceCodeKernel",
}
REDUCERS = {"sum": "Sum", "max": "Max", "min": "Min", "bitand": "BitAnd", "bitor": "BitOr", "bitxor": "BitXor"}
"""C++ names of the ways in which a T.alloc_reducer combines values, by TileLang's."""
BARRIERS = ("shared.barrier", "shared.cluster_barrier")
"""Scopes of barriers: statements run one after the other, so that there is nothing to wait for."""
TILES = (*(scope.value for scope in ir.Scope if scope.value not in (*BARRIERS, "global")), "local.reducer")
"""Scopes that memory is allocated in."""


def check(realize: ir.SBlockRealize, scope: Scope) -> None:
    """Takes note of a block's annotations; raises Unsupported for one that changes what the kernel computes."""
    block = realize.block
    if not isinstance(realize.predicate, ir.IntImm) or realize.predicate.value != 1:
        raise scope.unsupported("a block under a condition", "the CPU device does not know it")
    if block.init is not None or block.match_buffers:
        raise scope.unsupported("a block with an initial value or a matched buffer", "the CPU device does not know it")
    for key, value in block.annotations.items():
        if key in _GPU_SOURCE:
            raise scope.unsupported(_GPU_SOURCE[key], "it brings code for a GPU", "Write it in TileLang.")
        if key == "safe_value_map":
            scope.outside.update(_by_variable(value, ir.Expr))
        elif key in ("reducer_info", "reducer_info_v2"):
            for data, info in _by_variable(value, dict).items():
                op = info.get("op")
                kind = op.value if isinstance(op, ir.StringImm) else str(op)
                if kind not in REDUCERS:
                    raise scope.unsupported(f"T.alloc_reducer with op={kind!r}", "the CPU device does not know it")
                scope.reducers[data] = REDUCERS[kind]
        elif key not in _BLOCK_HINTS:
            raise scope.unsupported(f"the annotation {key}", "the CPU device does not know it")


def _by_variable(value: object, kind: type) -> dict[ir.Var, Any]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {key: item for key, item in pairs if isinstance(key, ir.Var) and isinstance(item, kind)}


def check_attribute(stmt: ir.AttrStmt, scope: Scope) -> None:
    if stmt.attr_key == "warp_specialize":
        raise scope.unsupported(
            "T.ws",
            "it gives each group of warps a program of its own",
            "Use T.Pipelined, which overlaps loads with computation by itself, or grade on a GPU (--device cuda).",
        )
    if stmt.attr_key not in _ATTRIBUTE_HINTS:
        raise scope.unsupported(f"the attribute {stmt.attr_key}", "the CPU device does not know it")


def check_loop(loop: ir.For, scope: Scope) -> None:
    for key in loop.annotations:
        if key not in _LOOP_HINTS:
            raise scope.unsupported(f"the loop annotation {key}", "the CPU device does not know it")
    if loop.step is not None and not (isinstance(loop.step, ir.IntImm) and loop.step.value == 1):
        raise scope.unsupported("a loop with a step", "the CPU device does not know it", "Multiply the loop variable.")
    if dtypes.is_index(loop.loop_var.dtype):
        return
    raise scope.unsupported(
        f"the loop variable {loop.loop_var.name}", f"it is of dtype {loop.loop_var.dtype}", ON_A_GPU
    )


def poison(buffer: ir.Buffer, scope: Scope, writer: Writer) -> None:
    """Fills a tile with what it must not be read for; variables of T.alloc_var start at zero, as on a GPU."""
    if buffer.scope in BARRIERS:
        return
    memory = scope.memory_of(buffer)
    count = (memory.elements or 0) * (scope.thread_count if memory.per_thread else 1)
    if buffer.scope == ir.Scope.VARIABLE.value:
        writer.line(f"std::memset({memory.pointer}, 0, {count} * sizeof(*{memory.pointer}));")
    else:
        writer.line(f"tile::poison({memory.pointer}, {count}, reversed, block);")
