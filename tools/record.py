"""Makes the recordings of exercise 8 from the reference solutions and a few small kernels: `python -m tools.record`.

Needs nvcc, and no GPU. What the learner's functions are to find in a recording is found here in another way: landmarks
by the tokens of the source, dynamic shared memory by an attribute of the lowered function, static shared memory by
nvcc's own count in the PTX. A name of TileLang's that this file has not heard of stops it: look at what it does,
and count it or not.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tilelang
import tilelang.language as T  # noqa: N812 - what everyone writes
from tilelang import tvm

from tlpuzzles_solutions.epilogue_fusion import make_matmul_bias_gelu
from tlpuzzles_solutions.flash_attention import make_flash_attn
from tlpuzzles_solutions.row_softmax import make_softmax
from tlpuzzles_solutions.tiled_gemm import make_matmul
from tlpuzzles_solutions.vector_add import make_vector_add

TARGET = Path(__file__).parent.parent / "grader" / "tlpuzzles" / "course" / "recorded"
GPUS = {"sm_75": "a T4", "sm_80": "an A100", "sm_89": "an L4", "sm_90a": "an H100"}

COUNTED = {
    "mma": {"tl::mma_sync"},
    "wgmma": {"tl::wgmma_ss", "tl::wgmma_rs"},
    "ldmatrix": {
        *("tl::ptx_ldmatrix_x1", "tl::ptx_ldmatrix_x2", "tl::ptx_ldmatrix_x4"),
        *("tl::ptx_ldmatrix_x1_trans", "tl::ptx_ldmatrix_x2_trans", "tl::ptx_ldmatrix_x4_trans"),
    },
    "cp.async": {"tl::cp_async_gs", "tl::cp_async_gs_conditional"},
    "tma": {"tl::tma_load", "tl::tma_store"},
    "barriers": {"__syncthreads", "tl::__sync_thread_partial", ".wait"},
}
"""Landmarks, and the functions whose calls are counted for each. A wait at an mbarrier is a method."""
NOT_COUNTED = {
    *("tl::initialize_wgmma_descriptor", "tl::increase_descriptor_offset", "tl::warpgroup_fence_operand"),
    *("tl::warpgroup_arrive", "tl::warpgroup_commit_batch", "tl::warpgroup_wait", "tl::warpgroup_reg_alloc"),
    *("tl::warpgroup_reg_dealloc", "tl::fence_proxy_async", "tl::fence_barrier_init", "tl::tl_shuffle_elect"),
    *("tl::cp_async_commit", "tl::cp_async_wait", "tl::prefetch_tma_descriptor", "tl::tma_store_arrive"),
    *("tl::tma_store_wait", "tl::ptx_stmatrix_m8n8_x4", "tl::rasterization2DRow", ".init", ".arrive"),
    *(".arrive_and_expect_tx", ".expect_transaction"),
}
STATIC_ARRAY = re.compile(r"^\s*\.shared \.align \d+ \.b8 \w+\[(\d+)\];", re.MULTILINE)
"""In PTX. What is sized at launch is `.extern` and has no size."""


@dataclass(frozen=True)
class Subject:
    """A kernel to record."""

    id: str
    title: str
    factory: Any
    arguments: Mapping[str, Any]
    architectures: tuple[str, ...]


@tilelang.jit(out_idx=[-1])
def make_reversed(N: int, static: bool):
    """Reverses each block of 256 float16 through shared memory."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float16"), Y: T.Tensor((N,), "float16")):
        with T.Kernel(T.ceildiv(N, 256), threads=128) as bx:
            tile = T.alloc_shared((256,), "float16", scope="shared" if static else "shared.dyn")
            T.copy(X[bx * 256], tile)
            for i in T.Parallel(256):
                Y[bx * 256 + i] = tile[255 - i]

    return main


@tilelang.jit(out_idx=[-1])
def make_mirrored(N: int):
    """Sums of elements and their mirror images in blocks of 256, through two static tiles of different types."""

    @T.prim_func
    def main(X: T.Tensor((N,), "float16"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 256), threads=128) as bx:
            tile = T.alloc_shared((256,), "float16", scope="shared")
            sums = T.alloc_shared((128,), "float32", scope="shared")
            T.copy(X[bx * 256], tile)
            for i in T.Parallel(128):
                sums[i] = T.cast(tile[i], "float32") + T.cast(tile[255 - i], "float32")
            for i in T.Parallel(256):
                Y[bx * 256 + i] = sums[T.min(i, 255 - i)]

    return main


@tilelang.jit(out_idx=[-1])
def make_printed(N: int):
    """Prints a whole fragment, which goes through a static tile for that."""

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=32):
            values = T.alloc_fragment((N,), "float32")
            T.copy(A, values)
            T.print(values, msg="all")
            T.copy(values, B)

    return main


GEMM = {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 2, "threads": 128}
EVEN, ODD = {"M": 1024, "N": 768, "K": 512}, {"M": 1000, "N": 1003, "K": 999}
ATTENTION = {"batch": 1, "heads": 4, "seq_len": 512, "dim": 64}
SUBJECTS = (
    Subject("vector-add", "a vector add", make_vector_add, {"N": 100_003}, ("sm_75", "sm_90a")),
    Subject(
        "vector-add-half",
        "a vector add in float16",
        make_vector_add,
        {"N": 5_001, "dtype": "float16"},
        ("sm_80", "sm_89"),
    ),
    Subject("reversed", "a kernel that reverses blocks", make_reversed, {"N": 4096, "static": False}, ("sm_80",)),
    Subject("reversed-static", "a kernel that reverses blocks", make_reversed, {"N": 4096, "static": True}, ("sm_89",)),
    Subject("mirrored", "a kernel that adds mirror images", make_mirrored, {"N": 4096}, ("sm_80",)),
    Subject("printed", "a kernel that prints a fragment", make_printed, {"N": 96}, ("sm_75",)),
    Subject("gemm", "a GEMM", make_matmul, {**EVEN, **GEMM}, ("sm_75", "sm_80", "sm_90a")),
    Subject("gemm-4-stages", "a GEMM", make_matmul, {**EVEN, **GEMM, "num_stages": 4}, ("sm_80",)),
    Subject("gemm-no-stages", "a GEMM", make_matmul, {**EVEN, **GEMM, "num_stages": 0}, ("sm_89",)),
    Subject("gemm-odd", "a GEMM with odd sizes", make_matmul, {**ODD, **GEMM}, ("sm_80", "sm_90a")),
    Subject(
        "gemm-small-tiles",
        "a GEMM with small tiles",
        make_matmul,
        {**EVEN, "block_M": 32, "block_N": 32, "block_K": 32, "num_stages": 3, "threads": 64},
        ("sm_90a",),
    ),
    Subject("bias-gelu", "a GEMM with its epilogue", make_matmul_bias_gelu, {**EVEN, **GEMM}, ("sm_80", "sm_90a")),
    Subject("softmax", "a softmax", make_softmax, {"M": 512, "N": 1000}, ("sm_75", "sm_90a")),
    Subject("attention", "an attention", make_flash_attn, ATTENTION, ("sm_75", "sm_89")),
    Subject("attention-causal", "a causal attention", make_flash_attn, {**ATTENTION, "is_causal": True}, ("sm_90a",)),
)


class UnknownName(Exception):
    """The generated source calls something that is neither counted nor known not to be."""


def record(subject: Subject, arch: str) -> dict[str, Any]:
    """The recording, ready for its file."""
    function = subject.factory.get_tir(**subject.arguments)
    configs = subject.factory.pass_configs or {}
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    kernel = tilelang.compile(function, out_idx=[-1], target=target, pass_configs=configs)
    device_source = kernel.get_kernel_source()
    return {
        "title": f"{subject.title} for {GPUS[arch]}",
        "device_source": device_source,
        "host_source": kernel.get_host_source(),
        "landmarks": landmarks(device_source),
        "dynamic_bytes": _dynamic_bytes(function, configs, target),
        "static_bytes": _static_bytes(kernel),
    }


def landmarks(source: str) -> dict[str, int]:
    """Counts calls, token by token. Raises UnknownName."""
    code = re.sub(r"/\*.*?\*/", " ", re.sub(r"^#.*$", " ", source, flags=re.MULTILINE), flags=re.DOTALL)
    calls = Counter(_calls(re.findall(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|[^\w\s]|\w+", code)))
    known = NOT_COUNTED.union(*COUNTED.values())
    strange = [name for name in calls if name.startswith(("tl::", ".")) and name not in known]
    if strange:
        raise UnknownName(", ".join(strange))
    (bounds,) = re.findall(r"__launch_bounds__\((\d+),", code)
    return {key: sum(calls[name] for name in names) for key, names in COUNTED.items()} | {"launch_bounds": int(bounds)}


def _calls(tokens: list[str]) -> list[str]:
    """Names that are called, with or without arguments of a template; those of methods begin with a dot."""
    found = []
    for place, token in enumerate(tokens):
        if not re.match(r"[A-Za-z_]", token):
            continue
        after = place + 1
        if tokens[after : after + 1] == ["<"]:
            depth = 0
            while after < len(tokens):
                depth += {"<": 1, ">": -1}.get(tokens[after], 0)
                after += 1
                if depth == 0:
                    break
        if tokens[after : after + 1] == ["("]:
            found.append(f".{token}" if tokens[place - 1] == "." else token)
    return found


def _dynamic_bytes(function: Any, configs: Mapping[str, Any], target: Any) -> int:
    with tvm.transform.PassContext(opt_level=3, config=dict(configs)), target:
        lowered = tilelang.lower(function, target=target, enable_device_compile=False)
    (kernel,) = lowered.device_mod.functions.values()
    return int(kernel.attrs.get("dyn_shared_memory_buf", 0))


def _static_bytes(kernel: Any) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        kernel.export_ptx(str(file))
        return sum(int(size) for size in STATIC_ARRAY.findall(file.read_text("utf-8")))


def main(chosen: list[str]) -> None:
    for subject in SUBJECTS:
        for arch in subject.architectures:
            if chosen and subject.id not in chosen:
                continue
            recorded = record(subject, arch)
            file = TARGET / f"{subject.id}.{arch}.json.gz"
            # Without a time in it, the same recording is the same file.
            file.write_bytes(gzip.compress(json.dumps(recorded).encode(), mtime=0))
            print(f"{file.name}: {recorded['landmarks']}, {recorded['dynamic_bytes']} + {recorded['static_bytes']}")


if __name__ == "__main__":
    main(sys.argv[1:])
