"""Files as learners write them, each with one error; the line that is to be named ends in `# here`."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

HEADER = "import math\nimport numpy as np\nimport tilelang\nimport tilelang.language as T\nimport torch\n\n"


@dataclass(frozen=True)
class Broken:
    """A factory called `kernel` that takes N, and the entry of the catalogue that explains it."""

    id: str
    factory: str

    def named(self, name: str) -> str:
        """The factory under another name, to stand in a file with others."""
        return self.factory.replace("def kernel(", f"def {name}(").replace("return kernel(", f"return {name}(")


TENSORS = "A: T.Tensor((N,), 'float32'), B: T.Tensor((N,), 'float32'), C: T.Tensor((N,), 'float32')"
MATRICES = "A: T.Tensor((N, 64), 'float16'), B: T.Tensor((64, N), 'float16'), C: T.Tensor((N, N), 'float16')"


def body(id_: str, text: str, *, grid: str = "4, threads=128", names: str = "bx", tensors: str = TENSORS) -> Broken:
    """An error in the body of a kernel; its first line may be the launch's."""
    here = "  # here" if "# here" not in text else ""
    return Broken(
        id_,
        "@tilelang.jit(out_idx=[-1])\ndef kernel(N):\n    @T.prim_func\n"
        f"    def main({tensors}):\n        with T.Kernel({grid}) as {names}:{here}\n"
        + indent(dedent(text).strip("\n"), " " * 12)
        + "\n    return main\n",
    )


def element(id_: str, expression: str) -> Broken:
    """An error in what is stored into an element."""
    return body(id_, f"for i in T.Parallel(128):\n    C[i] = {expression}  # here")


def line(id_: str, statement: str) -> Broken:
    """An error in one statement of a kernel with a tile x."""
    return body(id_, f"x = T.alloc_fragment((64, 64), 'float32')\n{statement}  # here")


def product(id_: str, old: str, new: str) -> Broken:
    """An error in a kernel that multiplies tiles."""
    text = """
    left = T.alloc_shared((64, 32), 'float16')
    right = T.alloc_shared((32, 64), 'float16')
    total = T.alloc_fragment((64, 64), 'float32')
    T.clear(total)
    for k in T.Pipelined(2, num_stages=2):
        T.copy(A[by * 64, k * 32], left)
        T.copy(B[k * 32, bx * 64], right)
        T.gemm(left, right, total)
    T.copy(total, C[by * 64, bx * 64])
    """
    assert old in text
    return body(id_, text.replace(old, new), grid="4, 5, threads=128", names="(bx, by)", tensors=MATRICES)


IN_KERNELS: tuple[Broken, ...] = (
    # Python with values of the running kernel
    line("several-to-print", "T.print(A[0], B[0])"),
    element("python-asks-a-value", "min(A[i], B[i])"),
    element("python-asks-a-value", "max(A[i], 0.0)"),
    element("python-asks-a-value", "np.maximum(A[i], B[i])"),
    element("condition-precedence", "T.if_then_else(A[i] > 0 & B[i] > 0, A[i], 0.0)"),
    element("and-of-numbers", "A[i] and B[i]"),
    line("tile-arithmetic", "C = A + B"),
    line("tile-arithmetic", "C[0:4] = A[0:4] + B[0:4]"),
    line("tile-arithmetic", "T.copy(x * 2.0, C)"),
    line("tile-arithmetic", "T.copy(-x, C)"),
    body("tile-arithmetic", "if A > 0:  # here\n    C[0] = 1.0"),
    line("tile-update", "x += 1.0"),
    line("slice-store", "C[0:4] = 0.0"),
    line("list-stored", "C[0] = [A[i] for i in range(4)]"),
    element("tile-stored", "A"),
    element("tile-to-math", "T.exp(A)"),
    line("tile-to-math", "T.max(x, A)"),
    element("tile-called", "A(i)"),
    line("tile-method", "C[0] = A.sum()"),
    body("tile-method", "for i in T.Parallel(A.size(0)):  # here\n    C[i] = A[i]"),
    element("element-method", "A[i].exp()"),
    element("math-module", "math.exp(A[i])"),
    element("torch-in-kernel", "torch.exp(A[i])"),
    line("torch-in-kernel", "T.copy(torch.matmul(A, B), C)"),
    element("numpy-in-kernel", "np.exp(A[i])"),
    element("python-number", "float(A[i])"),
    element("python-number", "A[int(i + 1)]"),
    element("python-function", "abs(A[i])"),
    element("python-function", "round(A[i])"),
    element("power", "A[i] ** 2"),
    element("len-of-tile", "A[i] / len(A)"),
    body("tile-iterated", "for i, value in enumerate(A):  # here\n    C[i] = value"),
    body("tile-iterated", "for value in A:  # here\n    C[0] = value"),
    element("tile-iterated", "sum(A[i])"),
    body("tile-as-count", "for i in range(A):  # here\n    C[i] = A[i]"),
    body("tile-as-count", "for i in T.Parallel(A):  # here\n    C[i] = A[i]"),
    body("used-after-loop", "total = 0.0\nfor i in T.Parallel(128):\n    total = total + A[i]\nC[0] = total  # here"),
    body("used-after-loop", "for i in T.Parallel(128):\n    C[i] = A[i]\nC[i] = B[i]  # here"),
    element("text-as-number", "'0'"),
    line("none-as-number", "T.fill(x, None)"),
    element("whole-numbers-only", "A[i] // 2"),
    element("whole-numbers-only", "A[i] << 2"),
    element("index-divided", "A[i / 2]"),
    line("python-max-of-a-tile", "top = max(x)"),
    body(
        "tile-in-expression",
        "x = T.alloc_fragment((64, 64), 'float32')\nbias = T.alloc_fragment((64,), 'float32')\n"
        "for i, j in T.Parallel(64, 64):\n    x[i, j] = x[i, j] + bias  # here",
    ),
    element("tile-in-expression", "bx * A[i] + B"),
    body("new-axis", "x = T.alloc_fragment((64,), 'float32')\ny = A[0] + x[None, :]  # here"),
    # names and arguments
    element("no-maximum", "T.maximum(A[i], 0.0)"),
    line("no-sum", "T.sum(x, C)"),
    line("no-softmax", "T.softmax(x, C)"),
    element("no-gelu", "T.gelu(A[i])"),
    element("no-fast-exp", "T.fast_exp(A[i])"),
    line("no-zeros", "y = T.zeros((64,), 'float32')"),
    element("no-lower-and", "T.if_then_else(T.and_(A[i] > 0, B[i] > 0), 1.0, 0.0)"),
    line("no-syncthreads", "T.syncthreads()"),
    body("no-power-of-2", "C[0] = 0.0", grid="T.next_power_of_2(N), threads=128"),
    line("no-inf", "T.fill(x, -T.inf)"),
    element("no-pi", "T.pi * A[i]"),
    body(
        "index-not-named",
        "x = T.alloc_fragment((64, 64), 'float32')\nfor i in T.Parallel(64, 64):\n    x[i, j] = 0.0  # here",
    ),
    line("no-arange", "y = T.arange(64)"),
    product("no-policy", "left, right, total)", "left, right, total, policy=T.FullRow)  # here"),
    product("unknown-policy", "left, right, total)", "left, right, total, policy=T.GemmWarpPolicy.Fullrow)  # here"),
    element("no-where", "T.where(A[i] > 0, A[i], 0.0)"),
    line("no-such-function", "y = T.alloc_fragments((64,), 'float32')"),
    product("no-such-function", "T.gemm(left, right, total)", "T.gem(left, right, total)  # here"),
    body("no-such-name-in-module", "C[0] = 0.0", grid="tilelang.ceil_div(N, 128), threads=128"),
    line("module-called", "y = T.kernel(4)"),
    element("unknown-name", "X[i]"),
    element("module-not-imported", "A[functools.reduce(max, [i, 3])]"),
    element("block-not-named", "A[by]"),
    body("kernel-returns", "for i in T.Parallel(128):\n    return A[i] + B[i]  # here"),
    body("unknown-function", "for i in Parallel(128):  # here\n    C[i] = A[i]"),
    body("unknown-function", "def double(x):\n    return 2 * x\nC[0] = double(A[0])  # here"),
    body("used-before-set", "T.clear(y)  # here\ny = T.alloc_fragment((64,), 'float32')"),
    body("unknown-keyword", "C[0] = 0.0", grid="4, thread=128"),
    body("unknown-keyword", "for k in T.Pipelined(4, stages=2):  # here\n    C[k] = A[k]"),
    line("unknown-keyword", "T.reduce_max(x, C, axis=1)"),
    product("unknown-keyword", "left, right, total)", "left, right, total, trans_B=True)  # here"),
    product("gemm-without-result", "T.gemm(left, right, total)", "total = T.gemm(left, right)  # here"),
    product("tile-product-operator", "T.gemm(left, right, total)", "total += left @ right  # here"),
    line("reduce-without-result", "top = T.reduce_max(x)"),
    line("argument-missing", "T.fill(x)"),
    line("argument-missing", "y = T.alloc_shared((64,))"),
    element("argument-missing", "T.if_then_else(T.And(A[i] > 0), 1.0, 0.0)"),
    element("too-many-arguments", "T.exp(A[i], B[i])"),
    line("unknown-dtype", "y = T.alloc_fragment((64,), 'fp16')"),
    line("unknown-dtype", "y = T.alloc_fragment((64,), 'half')"),
    line("no-dtype", "y = T.alloc_shared(64, 64, 'float32')"),
    line("no-dtype", "y = T.alloc_shared((64,), float)"),
    element("no-dtype", "T.cast('float16', A[i])"),
    line("function-not-called", "T.fill(x, -T.infinity)"),
    # tiles
    line("copy-shapes", "T.copy(x, C)"),
    product("copy-shapes", "T.copy(total, C[by * 64, bx * 64])", "T.copy(total, C)  # here"),
    line("copy-axes", "T.copy(A[bx * 64], x)"),
    line("copy-no-tile", "T.copy(0, x)"),
    line("copy-no-extent", "T.copy(torch.zeros(64), C[bx * 64])"),
    line("slice-step", "T.copy(A[0:64:2], x)"),
    product("gemm-inner-mismatch", "T.gemm(left, right, total)", "T.gemm(left, left, total)  # here"),
    product("gemm-rows-mismatch", "T.gemm(left, right, total)", "T.gemm(A, right, total)  # here"),
    product("gemm-rows-mismatch", "T.gemm(left, right, total)", "T.gemm(right, left, total)  # here"),
    product("gemm-columns-mismatch", "T.gemm(left, right, total)", "T.gemm(left, B[0:32, 0:16], total)  # here"),
    product(
        "gemm-one-axis",
        "T.gemm(left, right, total)",
        "T.gemm(left, right, T.alloc_fragment((64,), 'float32'))  # here",
    ),
    line("reduce-shape", "T.reduce_max(x, x, dim=1)"),
    line("print-a-text", "T.print('here')"),
    line("index-count", "C[0, 0] = A[0]"),
    line("index-count", "C[0] = A[0, 0]"),
    line("index-count", "C[0] = x[0]"),
    body("several-numbers-in-one-name", "for i in T.Parallel(16, 16):\n    C[i] = A[i]  # here"),
    body("several-numbers-in-one-name", "for i in T.Parallel(16):\n    C[bx * 16 + i] = A[i]  # here", grid="4, 5"),
    line("tile-for-number", "T.fill(x, A)"),
    # the frame of a kernel
    Broken(
        "no-launch",
        "@tilelang.jit(out_idx=[-1])\ndef kernel(N):\n    @T.prim_func\n"
        f"    def main({TENSORS}):\n        t = T.get_thread_binding()  # here\n        C[t] = A[t]\n    return main\n",
    ),
    Broken(
        "tile-outside-kernel",
        "@tilelang.jit(out_idx=[-1])\ndef kernel(N):\n    x = T.alloc_shared((64,), 'float32')  # here\n"
        f"    @T.prim_func\n    def main({TENSORS}):\n        with T.Kernel(1) as bx:\n            T.copy(A[0], x)\n"
        "    return main\n",
    ),
    line("return-in-kernel", "return C"),
    body("tensor-not-described", "C[0] = A[0]  # here", tensors="A: torch.Tensor, C: torch.Tensor"),
    body("fraction-of-trips", "C[0] = 0.0", grid="N / 128, threads=128"),
    body("fraction-of-trips", "for i in T.Parallel(N / 4):  # here\n    C[i] = A[i]"),
    body("endless-while", "i = 0\nwhile i < 128:  # here\n    C[i] = A[i]\n    i += 1"),
    body("division-by-zero", "C[0] = 0.0", grid="T.ceildiv(N, 0), threads=128"),
    body("grid-names", "C[0] = 0.0", names="(bx, by)"),
    body("grid-names", "C[0] = 0.0", grid="4, 5", names="(bx, by, bz)"),
    body("loop-names", "for i, j in T.Parallel(128):  # here\n    C[i] = A[i]"),
    body("parallel-without-size", "for i in T.Parallel():  # here\n    C[i] = A[i]"),
    body("grid-brackets", "C[0] = 0.0", grid="(4, 5), threads=128", names="(bx, by)"),
    body("threads-type", "C[0] = 0.0", grid="4, threads=N / 8"),
    body("threads-none", "C[0] = 0.0", grid="4, threads=0"),
    product("stages-type", "T.Pipelined(2, num_stages=2):", "T.Pipelined(2, num_stages=2.0):  # here"),
    Broken("calls-itself", "@tilelang.jit\ndef kernel(N):\n    return kernel(N)  # here\n"),
    Broken("kernel-is-lambda", "@tilelang.jit\ndef kernel(N):\n    return T.prim_func(lambda A: None)  # here\n"),
)
"""Errors that can be traced one after another in one process."""

_PLAIN = body("", "C[0] = A[0]").factory.replace("  # here", "")


def _alone(id_: str, *edits: tuple[str, str]) -> Broken:
    text = _PLAIN
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return Broken(id_, text)


IN_FILES: tuple[Broken, ...] = (
    _alone("no-return", ("def kernel(N):", "def kernel(N):  # here"), ("    return main\n", "")),
    _alone("kernel-called", ("return main", "return main()  # here")),
    Broken("no-prim-func", "@tilelang.jit(out_idx=[-1])\ndef kernel(N):  # here\n    return 'main'\n"),
    _alone("no-prim-func", ("def kernel(N):\n    @T.prim_func\n", "def kernel(N):  # here\n")),
    _alone("no-prim-func", ("(out_idx=[-1])", ""), ("    @T.prim_func\n", ""), ("return main", "return main  # here")),
    _alone("out-idx-name", ("out_idx=[-1]", "out_idx='C'")),
    _alone("unknown-keyword", ("out_idx=[-1])", "out_index=[-1])  # here")),
    _alone("parameter-not-described", ("@T.prim_func", "@T.prim_func  # here"), (f"main({TENSORS})", "main(A, C)")),
    _alone("autotune-configs-missing", ("@tilelang.jit", "@tilelang.autotune  # here\n@tilelang.jit")),
    _alone("autotune-order", ("[-1])", "[-1])\n@tilelang.autotune(configs=[])  # here")),
    _alone("autotune-order", ("@tilelang", "@tilelang.jit  # here\n@tilelang.autotune(configs=[])\n@tilelang")),
    Broken("no-source-text", f"exec({_PLAIN!r})  # here\n"),
    _alone("future-annotations", ("@T.prim_func", "@T.prim_func  # here")),
)
"""Errors that need a file of their own. That of "future-annotations" gets such an import at its head."""
