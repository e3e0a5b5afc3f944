"""Which of TileLang's pass configs a kernel may set (`@tilelang.jit(pass_configs={...})`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from tlpuzzles.kernel.findings import Finding, Kind, Severity

_SWITCHES = frozenset(
    {
        "tl.enable_fast_math",
        "tl.disable_tma_lower",
        "tl.disable_warp_specialized",
        "tl.disable_wgmma",
        "tl.disable_vectorize_256",
        "tl.disable_shuffle_elect",
        "tl.disable_loop_unswitching",
        "tl.loop_unswitching_allow_non_trivial_else",
        "tl.disable_shared_memory_reuse",
        "tl.disable_buffer_init_check",
        "tl.disable_data_race_check",
        "tl.disable_out_of_bound_warning",
        "tl.enable_async_copy",
        "tl.enable_lower_ldgstg",
        "tl.enable_lower_ldgstg_predicated",
        "tl.enable_aggressive_shared_memory_merge",
        "tl.enable_auto_schedule",
        "tl.enable_fp32x2_reduction",
        "tl.force_let_inline",
        "tl.if_stmt_binding_inline_replayable_binds",
        "tl.reducer_force_baseline",
        "tl.storage_rewrite_detect_inplace",
        "tirx.use_async_copy",
        "tirx.disable_vectorize",
        "tirx.disable_storage_rewrite",
        "tirx.disable_cse_tir",
        "tirx.merge_static_smem",
    }
)
_NUMBERS = {"tl.ptxas_register_usage_level": range(11), "tl.config_index_bitwidth": (32, 64)}
_CHOICES = {"tl.layout_cost_model": ("io-aware", "register-count")}

_SAFE_MEMORY = "tl.disable_safe_memory_legalize"
_FILES = frozenset(
    {
        "tl.enable_dump_ir",
        "tl.dump_ir_path",
        "cuda.kernels_output_dir",
        "tl.layout_visualization_enable",
        "tl.layout_visualization_formats",
    }
)
_FLAGS = "tl.device_compile_flags"


def check(pass_configs: Mapping[str, object]) -> Iterator[Finding]:
    """A refusal for each setting that is not allowed, or that has a value of the wrong type.

    Keys are names such as "tl.enable_fast_math" or members of `tilelang.PassConfigKey`.
    """
    for key, value in pass_configs.items():
        message = _refusal(str(key.value if isinstance(key, Enum) else key), value)
        if message is not None:
            yield Finding(Kind.PASS_CONFIG, Severity.REFUSED, message)


def _refusal(key: str, value: object) -> str | None:
    shown = f"The pass config {key[:60]!a}"
    if key == _SAFE_MEMORY:
        if value is False:
            return None
        return (
            f"{shown} turns off the bounds checks that TileLang adds, and a wrong index could then stop the GPU. "
            "Leave it out."
        )
    if key == _FLAGS:
        return f"{shown} passes flags to nvcc; kernels are graded with TileLang's own. Leave it out."
    if key in _FILES:
        return None if value is False else f"{shown} writes files while compiling. Leave it out when you are graded."
    if key in _SWITCHES:
        return None if type(value) is bool else f"{shown} is True or False, not {ascii(value)[:40]}."
    if key in _NUMBERS:
        wanted = _NUMBERS[key]
        fits = type(value) is int and value in wanted
        return None if fits else f"{shown} is a number from {wanted[0]} to {wanted[-1]}, not {ascii(value)[:40]}."
    if key in _CHOICES:
        return None if value in _CHOICES[key] else f"{shown} is one of {', '.join(_CHOICES[key])}."
    return f"{shown} is not one that a graded kernel may set. Leave it out."
