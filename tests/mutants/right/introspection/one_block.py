"""One block for the whole vector and no out_idx, as in the tutorial; the print is guarded. Reads line by line."""

import tilelang
import tilelang.language as T


@tilelang.jit
def make_print_demo(N: int = 128, dtype: str = "float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(1, threads=64):
            doubled = T.alloc_fragment((N,), dtype)
            T.copy(A, doubled)
            for i in T.Parallel(N):
                doubled[i] = doubled[i] + doubled[i]
            if T.get_thread_binding() == 0:
                T.print(doubled[0], msg="2 * A[0]")
            T.copy(doubled, B)

    return main


def called(source, *beginnings):
    count = 0
    for line in source.splitlines():
        if line.startswith("#"):
            continue
        for beginning in beginnings:
            count += line.count(beginning)
    return count


def landmarks(source):
    bounds = source.split("__launch_bounds__(")[1]
    return {
        "launch_bounds": int(bounds.split(",")[0]),
        "barriers": called(source, "__syncthreads()", "tl::__sync_thread_partial", ".wait("),
        "tma": called(source, "tl::tma_load(", "tl::tma_store(", "tl::tma_load<", "tl::tma_store<"),
        "cp.async": called(source, "tl::cp_async_gs"),
        "ldmatrix": called(source, "tl::ptx_ldmatrix_"),
        "wgmma": called(source, "tl::wgmma_ss", "tl::wgmma_rs"),
        "mma": called(source, "tl::mma_sync"),
    }


def shared_bytes(kernel):
    sizes = {"uchar": 1, "half_t": 2, "bfloat16_t": 2, "int": 4, "float": 4, "uint64_t": 8}
    total, dynamic = 0, False
    for line in kernel.get_kernel_source().splitlines():
        words = line.split()
        if words[:2] == ["extern", "__shared__"]:
            dynamic = True
        elif words[:1] == ["__shared__"]:
            _name, _, count = words[-1].rstrip("];").partition("[")
            total += sizes[words[-2]] * int(count)
    if dynamic:
        numbers = [line for line in kernel.get_host_source().splitlines() if ".v_int64) = ((int64_t)" in line]
        total += int(numbers[-1].split("((int64_t)")[1].split(")")[0])
    return total


def effective_bandwidth(bytes, milliseconds):
    return bytes / (milliseconds * 1e6)


def bottleneck(flops, bytes, peak_flops, peak_bandwidth):
    # Arithmetic intensity against the ridge of the roofline.
    if bytes and flops / bytes > peak_flops / peak_bandwidth:
        return "compute"
    return "memory"


def profile(kernel):
    profiler = kernel.get_profiler(tensor_supply_type=tilelang.TensorSupplyType.Normal)
    return profiler.do_bench(warmup=10, rep=50)
