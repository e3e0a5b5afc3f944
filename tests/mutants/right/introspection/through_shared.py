"""A plain factory; the fragment goes through shared memory, and one thread prints from there."""

import re

import tilelang.language as T


def make_print_demo(N: int = 128, dtype: str = "float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(N // 128, threads=128) as block:
            thread = T.get_thread_binding(0)
            values = T.alloc_fragment((128,), dtype)
            tile = T.alloc_shared((128,), dtype)
            T.copy(A[block * 128], values)
            for i in T.Parallel(128):
                values[i] = 2 * values[i]
            T.copy(values, tile)
            if block + thread == 0:
                T.print(tile[0], msg="first of B")
            T.copy(tile, B[block * 128])

    return main


NAMES = {
    "mma": ("tl::mma_sync",),
    "wgmma": ("tl::wgmma_ss", "tl::wgmma_rs"),
    "ldmatrix": ("tl::ptx_ldmatrix_",),
    "cp.async": ("tl::cp_async_gs",),
    "tma": ("tl::tma_load", "tl::tma_store("),
    "barriers": ("__syncthreads", "__sync_thread_partial", ".wait("),
}


def landmarks(source):
    found = {key: sum(source.count(name) for name in names) for key, names in NAMES.items()}
    return {**found, "launch_bounds": int(re.search("__launch_bounds__.([0-9]+)", source)[1])}


def shared_bytes(kernel):
    device = kernel.get_kernel_source()
    static = 0
    for size, kind in ((1, "uchar"), (2, "half_t"), (4, "float"), (8, "uint64_t")):
        static += size * sum(map(int, re.findall(rf"^  __shared__.* {kind} \w+\[(\d+)\];$", device, re.M)))
    if "extern __shared__" not in device:
        return static
    return static + int(re.findall(r"\(\(int64_t\)(\d+)\);", kernel.get_host_source())[-1])


def effective_bandwidth(bytes, milliseconds):
    return 1000 * bytes / milliseconds / 10**9


def bottleneck(flops, bytes, peak_flops, peak_bandwidth):
    return "memory" if flops * peak_bandwidth <= bytes * peak_flops else "compute"


def profile(kernel):
    milliseconds = kernel.get_profiler().do_bench()
    return milliseconds
