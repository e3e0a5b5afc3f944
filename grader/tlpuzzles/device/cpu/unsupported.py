"""What the CPU device refuses to run, and how it says so."""

from __future__ import annotations

ON_A_GPU = "Grade this kernel on a GPU (--device cuda), or write it without."
"""What to do instead, where there is nothing better to say."""


class Unsupported(Exception):
    """A kernel uses something that the CPU device cannot run. The message is one for the learner."""

    def __init__(self, construct: str, line: int | None, reason: str, instead: str = ON_A_GPU) -> None:
        self.construct = construct
        """As the learner wrote it, e.g. "T.ws"."""
        self.line = line
        """In the learner's file; None if unknown."""
        self.reason = reason
        self.instead = instead
        where = "" if line is None else f" (line {line})"
        super().__init__(f"{construct}{where} cannot run on the CPU: {reason}. {instead}")


_THREADS_TALK = "its threads exchange values in the middle of a statement, and the CPU runs them one after the other"
_BY_REDUCE = "Use T.reduce_sum, T.reduce_max, ... on a fragment, or grade on a GPU (--device cuda)."
_GPU_CODE = "it is code for a GPU, which a CPU cannot compile"
_WRITE_IN_TILELANG = "Write it in TileLang."
_CLUSTER = "blocks run one after the other, so that the blocks of a cluster cannot work together"
_BLACKWELL = "it is an instruction of Blackwell GPUs"

REFUSED: dict[str, tuple[str, str, str]] = {
    **{
        f"tl.warp_reduce_{kind}": (f"T.warp_reduce_{kind}", _THREADS_TALK, _BY_REDUCE) for kind in ("sum", "max", "min")
    },
    **{f"tl.warp_reduce_{kind}": (f"T.warp_reduce_{kind}", _THREADS_TALK, _BY_REDUCE) for kind in ("bitand", "bitor")},
    **{
        f"tl.{name}": (f"T.{called}", _THREADS_TALK, _BY_REDUCE)
        for name, called in (
            ("shfl_sync", "shfl_sync"),
            ("shfl_xor_sync", "shfl_xor"),
            ("shfl_down_sync", "shfl_down"),
            ("shfl_up_sync", "shfl_up"),
            ("any_sync", "any_sync"),
            ("all_sync", "all_sync"),
            ("ballot_sync", "ballot_sync"),
            ("ballot", "ballot"),
            ("activemask", "activemask"),
            ("match_any_sync", "match_any_sync"),
            ("match_all_sync", "match_all_sync"),
            ("syncthreads_count", "syncthreads_count"),
            ("syncthreads_and", "syncthreads_and"),
            ("syncthreads_or", "syncthreads_or"),
        )
    },
    "tl.sync_grid": (
        "T.sync_grid",
        "blocks run one after the other, so that none can wait for the rest",
        "Use two launches (two `with T.Kernel(...)` blocks in one T.prim_func).",
    ),
    "tl.tileop.im2col": ("T.im2col", "it is not emulated", "Load the tile with T.copy or in T.Parallel."),
    "tl.tileop.c2d_im2col": ("T.c2d_im2col", "it is not emulated", "Load the tile with T.copy or in T.Parallel."),
    "tl.tileop.gemm_sp": ("T.gemm_sp", "sparse matrices are not emulated", "Use T.gemm."),
    "tl.tileop.gemm_blockscaled": ("T.gemm_blockscaled", "scaled formats are not emulated", "Use T.gemm."),
    "tl.tileop.tcgen05_gemm": ("T.tcgen05_gemm", _BLACKWELL, "Use T.gemm."),
    "tirx.call_pure_extern": ("T.call_extern", _GPU_CODE, _WRITE_IN_TILELANG),
    "tirx.call_extern": ("T.call_extern", _GPU_CODE, _WRITE_IN_TILELANG),
    **{
        f"tl.{name}": (f"T.{name}", _CLUSTER, "Launch without cluster operations.")
        for name in (
            "cluster_sync",
            "cluster_arrive",
            "cluster_wait",
            "block_rank_in_cluster",
            "cluster_arrive_relaxed",
        )
    },
    "tl.rng_init": ("T.rng_init", "the GPU's random numbers are not emulated", ON_A_GPU),
    "tl.rng_rand": ("T.rng_rand", "the GPU's random numbers are not emulated", ON_A_GPU),
    "tl.rng_rand_float": ("T.rng_rand_float", "the GPU's random numbers are not emulated", ON_A_GPU),
}
"""Operators that kernels are known to use and the CPU device refuses: name, reason, what to do instead."""


def refuse(op: str, line: int | None) -> Unsupported:
    """The refusal of an operator, known or not."""
    if op in REFUSED:
        construct, reason, instead = REFUSED[op]
        return Unsupported(construct, line, reason, instead)
    name = op
    for prefix in ("tl.tileop.", "tl.", "tirx."):
        name = name.removeprefix(prefix)
    return Unsupported(f"T.{name}", line, "the CPU device does not know this operator")
