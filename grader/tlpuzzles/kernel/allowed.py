"""What a kernel of this course may be made of: operators with the arguments they take, attributes, annotations, scopes.

A list of what is allowed, because one of what is not cannot be complete: TileLang 0.1.15 registers 712 operators, among
them raw pointers and calls of any C function. Every name here was met in a kernel or is mathematics of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tlpuzzles.kernel import tile_ir as ir

REGION, POINTER, LOAD, INTEGER, STRING, VALUE = "R", "P", "L", "I", "S", "v"
"""Kinds of arguments: a region, a pointer to an element, an element, a constant whole number, a text, any value."""
REST = "*"
"""As the last letter: any further values and texts."""

_TILE_OPERATORS = {
    "copy": "RR",
    "async_copy": "RR",
    "tma_copy": "RR",
    "transpose": "RR",
    "fill": "Rv",
    "gemm": "RRRIIIIIIvvvv",
    "wgmma_gemm": "RRRIIIIIIvvvv",
    "reduce": "RRSII",
    "cumsum": "RRII",
    "cummax": "RRII",
    "reducer_init": "R*",
    "finalize_reducer": "R*",
    "finalize_reducer_v2": "RR*",
    "atomicadd": "RR",
    "atomicmax": "RR",
    "atomicmin": "RR",
}

_UNARY = """
    exp exp2 exp10 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
    erf sigmoid floor ceil trunc round nearbyint fabs isnan isinf isfinite popcount clz bitwise_not reinterpret likely
"""
_BINARY = """
    atan2 copysign fmod hypot ldexp pow nextafter bitwise_and bitwise_or bitwise_xor shift_left shift_right
"""
_THREADS = {
    "tl.launch_thread_idx": "I",
    "tl.get_lane_idx": "*",
    "tl.get_warp_idx": "*",
    "tl.get_warp_idx_sync": "*",
    "tl.get_warp_group_idx": "*",
    "tirx.tvm_storage_sync": "S*",
    "tl.sync_warp": "*",
    "tl.syncthreads_and": "v",
    "tl.syncthreads_or": "v",
    "tl.syncthreads_count": "v",
    "tl.any_of": "Pv",
    "tl.all_of": "Pv",
    "tl.any_sync": "vv",
    "tl.all_sync": "vv",
    "tl.ballot": "v",
    "tl.ballot_sync": "vv",
    "tl.activemask": "",
    **{f"tl.shfl_{how}sync": "vvv*" for how in ("", "up_", "down_", "xor_")},
    **{f"tl.warp_reduce_{kind}": "v" for kind in ("sum", "max", "min", "bitand", "bitor")},
    "tirx.ptx_wait_group": "I",
    "tirx.ptx_commit_group": "",
    "tirx.ptx_arrive_barrier": "*",
    "tirx.ptx_arrive_barrier_expect_tx": "*",
    "tl.mbarrier_wait_parity": "vv",
    "tl.mbarrier_expect_tx": "vv",
    "tl.fence_proxy_async": "",
    "tl.tma_store_arrive": "",
    "tl.tma_store_wait": "*",
    "tl.wait_wgmma": "I",
    "tl.warpgroup_arrive": "",
    "tl.warpgroup_commit_batch": "",
    "tl.warpgroup_wait": "I",
    "tl.set_max_nreg": "II",
    "tl.no_set_max_nreg": "",
    "tl.cluster_sync": "",
    "tl.cluster_arrive": "",
    "tl.cluster_arrive_relaxed": "",
    "tl.cluster_wait": "",
    "tl.block_rank_in_cluster": "",
}
_ATOMICS = {
    **{f"tl.atomic_{kind}_{how}elem_op": "Pv*" for kind in ("add", "max", "min") for how in ("", "ret_")},
    "tl.atomic_or_elem_op": "Pv*",
    "tl.atomic_load_elem_op": "Pv",
    "tl.atomic_store_elem_op": "Pvv",
    **{f"tl.atomic_addx{lanes}_{how}elem_op": "PP" for lanes in (2, 4) for how in ("", "ret_")},
}

OPERATORS: Mapping[str, str] = {
    **{f"tl.tileop.{name}": arguments for name, arguments in _TILE_OPERATORS.items()},
    **{f"tirx.{name}": "v" for name in _UNARY.split()},
    **{f"tirx.{name}": "vv" for name in _BINARY.split()},
    **{f"tl.__{name}": "v" for name in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan")},
    **{f"tl.ieee_{name}": "vvS" for name in ("add", "sub", "mul", "fdiv")},
    **{f"tl.ieee_{name}": "vS" for name in ("frcp", "fsqrt")},
    "tl.ieee_frsqrt": "v",
    "tl.ieee_fmaf": "vvvS",
    "tl.fast_rcp": "v",
    "tl.pow_of_int": "vv",
    "tl.max_nan": "vv",
    "tl.min_nan": "vv",
    "tl.fma": "vvv",
    "tirx.fma": "vvv",
    "tl.clamp": "vvv",
    "tl.infinity": "S",
    "tirx.large_uint_imm": "II",
    "tirx.if_then_else": "vvv",
    "tl.region": "LI*",
    "tl.access_ptr": "LvI",
    "tl.__ldg": "L",
    "tl.reducer_update": "Lv",
    "tirx.tvm_tuple": "SI",
    "tl.loop_break": "",
    "tirx.break_loop": "",
    "tirx.continue_loop": "",
    "tl.device_assert": "v",
    "tl.device_assert_with_msg": "vS",
    "tirx.call_extern": "S*",
    "tirx.call_pure_extern": "S*",
    **_THREADS,
    **_ATOMICS,
}
"""Arguments of every operator that a kernel may call, a letter each."""

THREAD_COMBINING = frozenset(
    op for op in (*_THREADS, *_ATOMICS) if op.startswith(("tl.shfl", "tl.warp_reduce", "tl.atomic", "tl.syncthreads_"))
)
"""Operators that combine what single threads hold."""

TEXTS: Mapping[str, frozenset[str]] = {
    "tirx.call_extern": frozenset({"debug_print_var", "debug_print_msg", "debug_print_buffer_value"}),
    "tirx.call_pure_extern": frozenset(),
    "tirx.tvm_tuple": frozenset({"rasterization2DRow", "rasterization2DColumn", "rasterization2DMLX"}),
    "tirx.tvm_storage_sync": frozenset({"shared", "shared.dyn", "global", "warp"}),
    "tl.tileop.reduce": frozenset({"sum", "abssum", "max", "absmax", "min", "bitand", "bitor", "bitxor"}),
    **{
        op: frozenset({"rn", "rz", "ru", "rd"})
        for op, takes in OPERATORS.items()
        if op.startswith("tl.ieee_") and STRING in takes
    },
}
"""What the first text among an operator's arguments may be, where the compiler copies it into its source."""

SCOPES = frozenset(scope.value for scope in ir.Scope)
THREAD_TAGS = frozenset({"blockIdx.x", "blockIdx.y", "blockIdx.z"})


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, ir.IntImm))


def _is_integers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_integer, value))


def _is_name(value: object) -> bool:
    text = value.value if isinstance(value, ir.StringImm) else value
    return isinstance(text, str) and text.isidentifier()


def _is_layout(value: object) -> bool:
    return isinstance(value, ir.Layout)


def _by_variable(of: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, dict) and all(isinstance(key, ir.Var) and of(item) for key, item in value.items())
    )


def _is_reducer(value: object) -> bool:
    return isinstance(value, dict) and set(value) <= {"op", "rep"} and all(map(_is_name, value.values()))


def _is_value(value: object) -> bool:
    return isinstance(value, ir.Expr)


Check = Callable[[object], bool]

CALL_ANNOTATIONS: Mapping[str, Check] = {
    **dict.fromkeys(("coalesced_width", "disable_tma", "eviction_policy", "batch", "nan_propagate"), _is_integer),
    **dict.fromkeys(("wg_wait", "memory_order", "use_tma", "leader_scope_threads", "cluster_mask"), _is_integer),
    "enable_fadd2": _is_integer,
    "prefer_instruction": _is_name,
    "parallel_loop_layout": _is_layout,
    "barrier": lambda value: isinstance(value, ir.BufferLoad),
}
LOOP_ANNOTATIONS: Mapping[str, Check] = {
    **dict.fromkeys(("num_stages", "coalesced_width", "prefer_async"), _is_integer),
    **dict.fromkeys(("pragma_unroll_factor", "pragma_unroll_explicit"), _is_integer),
    **dict.fromkeys(("tl_pipeline_order", "tl_pipeline_stage"), _is_integers),
    "parallel_loop_layout": _is_layout,
}
BLOCK_ANNOTATIONS: Mapping[str, Check] = {
    "tl.launch_threads": _is_integers,
    "cluster_dims": _is_integers,
    "layout_map": _by_variable(_is_layout),
    "safe_value_map": _by_variable(_is_value),
    "l2_hit_ratio_map": _by_variable(_is_value),
    "barrier_init": _by_variable(_is_integers),
    "reducer_info": _by_variable(_is_reducer),
    "reducer_info_v2": _by_variable(_is_reducer),
    "tl.non_restrict_params": lambda value: isinstance(value, list) and all(isinstance(item, ir.Var) for item in value),
}
FUNCTION_ATTRIBUTES: Mapping[str, Check] = {
    "global_symbol": _is_name,
    "tilelang_out_idx": _is_integers,
    "tir.noalias": _is_integer,
    "tirx.noalias": _is_integer,
}
ATTRIBUTES: Mapping[str, Check] = {
    "threadblock_swizzle_pattern": lambda value: isinstance(value, ir.Call) and value.op == "tirx.tvm_tuple",
    "tl.min_blocks_per_sm": _is_integer,
    "warp_specialize": _is_integer,
}
"""Keys of `T.attr`, with what their value must be."""

SOURCE_CODE = frozenset({"pragma_import_c", "code_block_source", "code_block_entry_name"})
"""Annotations that bring C or CUDA source into a kernel: `T.import_source`, `prelude=`, `T.CUDASourceCodeKernel`."""
