"""Exercise 8: look into a kernel: print from it, read what TileLang made of it, and say what holds it up.

The kernel doubles a vector, B = 2 A, and prints one line. A and B have the shape (N,) and one dtype, float32
or float16. N is a multiple of 128. The functions below it are plain Python and work on any kernel.
"""

import re

import tilelang
import tilelang.language as T

BLOCK = 128
"""Elements that one block doubles."""

ELEMENT_BYTES = {"uchar": 1, "half_t": 2, "bfloat16_t": 2, "int": 4, "float": 4, "uint64_t": 8}
"""Bytes of one element, by its type's name in the CUDA source."""


@tilelang.jit(out_idx=[-1])
def make_print_demo(N: int = 128, dtype: str = "float32"):
    """Returns the kernel that doubles a vector of length N, and prints the first doubled element once.

    dtype: of A and B.
    """

    @T.prim_func
    def main(
        A: T.Tensor((N,), dtype),
        B: T.Tensor((N,), dtype),
    ):
        with T.Kernel(N // BLOCK, threads=32) as bx:
            A_local = T.alloc_fragment((BLOCK,), dtype)
            T.copy(A[bx * BLOCK], A_local)

            # TODO 1: double every element of the fragment.
            # --- answer
            for i in T.Parallel(BLOCK):
                A_local[i] = A_local[i] * 2.0
            # --- end

            # TODO 2: print the first element of the whole vector, doubled, with a message of your own: one line
            # in all. This code runs in every thread of every block, so exactly one of them must do it.
            # --- answer
            tx = T.get_thread_binding()
            if tx == 0 and bx == 0:
                T.print(A_local[0], msg="first element, doubled")
            # --- end

            T.copy(A_local, B[bx * BLOCK])

    return main


def landmarks(source: str) -> dict[str, int]:
    """Counts what the CUDA source of a kernel, as kernel.get_kernel_source() returns it, contains.

    Returns a dict with these seven keys. The first six count places in the source where a function is called,
    whether it stands in a loop or not; lines that begin with #include are no calls.

    "mma": products of a warp on tensor cores, calls of tl::mma_sync.
    "wgmma": products of a warp group of 128 threads, as an H100 has them: tl::wgmma_ss and tl::wgmma_rs.
    "ldmatrix": loads of small matrices from shared memory: every function that begins with tl::ptx_ldmatrix_.
    "cp.async": copies to shared memory that run by themselves: every function that begins with tl::cp_async_gs.
        Those that end or await a group of copies (tl::cp_async_commit, tl::cp_async_wait) copy nothing.
    "tma": copies by an H100's copy engine: tl::tma_load and tl::tma_store. What prepares them or waits for them
        (tl::prefetch_tma_descriptor, tl::tma_store_wait, ...) copies nothing.
    "barriers": places where threads wait for others or for the copy engine: __syncthreads,
        tl::__sync_thread_partial, and the method .wait of an mbarrier, as in mbarrier[0].wait(0).
    "launch_bounds": not a count of places: how many threads a block has, the first number in the parentheses
        after __launch_bounds__.
    """
    # TODO 3: count. Mind names that contain one another.
    # --- answer
    patterns = {
        "mma": r"\btl::mma_sync\b",
        "wgmma": r"\btl::wgmma_(ss|rs)\b",
        "ldmatrix": r"\btl::ptx_ldmatrix_",
        "cp.async": r"\btl::cp_async_gs",
        "tma": r"\btl::tma_(load|store)\b",
        "barriers": r"\b__syncthreads\b|\b__sync_thread_partial\b|\.wait\(",
    }
    counts = {key: len(re.findall(pattern, source)) for key, pattern in patterns.items()}
    counts["launch_bounds"] = int(re.search(r"__launch_bounds__\((\d+)", source).group(1))
    return counts
    # --- instead
    # return {}
    # --- end


def shared_bytes(kernel) -> int:
    """Returns how many bytes of shared memory one block of a compiled kernel takes: static and dynamic together.

    Static: every line of kernel.get_kernel_source() such as "__shared__ __align__(16) float tile[128];" declares
    an array; ELEMENT_BYTES has the sizes of its elements. There may be none, one or more.
    Dynamic: "extern __shared__" in that source declares memory whose size is chosen at launch. The size is in
    kernel.get_host_source(): of all lines that end in ".v_int64) = ((int64_t)N);" with a number N, the last has it.
    A kernel without "extern __shared__" has no such memory, and there the last of those lines is something else.
    """
    # TODO 4: add up the static arrays, and the dynamic memory if there is any.
    # --- answer
    device = kernel.get_kernel_source()
    total = 0
    for element, count in re.findall(r"^ *__shared__ .*?(\w+) \w+\[(\d+)\];", device, re.MULTILINE):
        total += ELEMENT_BYTES[element] * int(count)
    if "extern __shared__" in device:
        total += int(re.findall(r"\.v_int64\) = \(\(int64_t\)(\d+)\);", kernel.get_host_source())[-1])
    return total
    # --- instead
    # return 0
    # --- end


def effective_bandwidth(bytes: int, milliseconds: float) -> float:
    """Returns the rate at which a kernel moved its data, in GB/s. A GB is 10^9 bytes, not 2^30.

    bytes: all that it read and all that it wrote.
    milliseconds: how long it took.
    """
    # TODO 5: mind the units.
    # --- answer
    return bytes / 1e9 / (milliseconds / 1e3)
    # --- instead
    # return 0.0
    # --- end


def bottleneck(flops: float, bytes: float, peak_flops: float, peak_bandwidth: float) -> str:
    """Returns what holds a kernel up on a given GPU: "memory" or "compute".

    flops: floating-point operations of the kernel. bytes: what it reads and writes.
    peak_flops: operations that the GPU can do in a second. peak_bandwidth: bytes that it can move in a second.

    It is what takes longer if each went at its peak. If both take equally long, return "memory".
    """
    # TODO 6: compare the two times.
    # --- answer
    return "compute" if flops / peak_flops > bytes / peak_bandwidth else "memory"
    # --- instead
    # return ""
    # --- end


def profile(kernel) -> float:
    """Returns how many milliseconds one run of a compiled kernel takes, as TileLang's profiler measures it."""
    # TODO 7: get the kernel's profiler, and have it measure.
    # --- answer
    return kernel.get_profiler().do_bench()
    # --- instead
    # return 0.0
    # --- end
