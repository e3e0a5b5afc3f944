"""The thread that holds the element prints it, in the parallel loop; sources are read as tokens."""

import collections
import re

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_print_demo(N: int = 128, dtype: str = "float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, 256), threads=128) as bx:
            values = T.alloc_fragment((256,), dtype)
            T.copy(A[bx * 256], values)
            for i in T.Parallel(256):
                values[i] *= 2
                if bx * 256 + i == 0:
                    T.print(values[i], msg="A[0] after doubling")
            T.copy(values, B[bx * 256])

    return main


def landmarks(source: str) -> dict[str, int]:
    code = re.sub("^#.*", "", source, flags=re.M)
    names = collections.Counter(re.findall(r"\w+(?=\(|<)", code))

    def total(*wanted: str) -> int:
        return sum(count for name, count in names.items() if name in wanted)

    return {
        "mma": total("mma_sync"),
        "wgmma": total("wgmma_ss", "wgmma_rs"),
        "ldmatrix": sum(count for name, count in names.items() if name.startswith("ptx_ldmatrix_")),
        "cp.async": sum(count for name, count in names.items() if name.startswith("cp_async_gs")),
        "tma": total("tma_load", "tma_store"),
        "barriers": total("__syncthreads", "__sync_thread_partial", "wait"),
        "launch_bounds": int(re.findall(r"__launch_bounds__\((\d+), \d+\)", code)[0]),
        "lines": len(source.splitlines()),
    }


SIZES = {"uchar": 1, "half_t": 2, "float": 4, "uint64_t": 8}


def shared_bytes(kernel) -> int:
    source = kernel.get_kernel_source()
    arrays = re.findall(r"(?<!extern )__shared__ __align__\(\d+\) (\w+) \w+\[(\d+)\]", source)
    total = sum(SIZES[kind] * int(length) for kind, length in arrays)
    if re.search(r"extern\s+__shared__", source):
        *_, dynamic = re.finditer(r"v_int64\) = \(\(int64_t\)(\d+)\)", kernel.get_host_source())
        total += int(dynamic[1])
    return total


def effective_bandwidth(bytes: int, milliseconds: float) -> float:
    seconds = milliseconds * 1e-3
    return bytes / seconds * 1e-9


def bottleneck(flops: float, bytes: float, peak_flops: float, peak_bandwidth: float) -> str:
    times = {"memory": bytes / peak_bandwidth, "compute": flops / peak_flops}
    return max(times, key=times.get)


def profile(kernel) -> float:
    return float(kernel.get_profiler().do_bench(n_warmup=5, n_repeat=20, return_mode="median"))
