"""What Python says of names, arguments and dtypes that do not exist. Most of it holds outside of kernels, too."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known
from tlpuzzles.catalogue.explanation import Hint

_ELSEWHERE = (
    ("maximum", "maximum|minimum", "The larger and the smaller of two numbers are T.max(a, b) and T.min(a, b)"),
    ("sum", "sum|mean", "Sum a fragment along an axis with T.reduce_sum(x, total, dim=1), and divide for the mean"),
    ("softmax", "softmax", "Build it from T.reduce_max, T.exp and T.reduce_sum"),
    ("gelu", "gelu|relu|silu", "Write its formula in a T.Parallel loop, with T.exp, T.tanh, T.max and the like"),
    ("fast-exp", "fast_exp", "Use T.exp, or T.exp2 with its argument times log2(e)"),
    (
        "zeros",
        "zeros|zeros_like|full",
        "Allocate a tile with T.alloc_fragment, then T.clear(tile) or T.fill(tile, value)",
    ),
    ("lower-and", "and_|or_|not_|logical_(?:and|or|not)", "Join conditions with T.And(a, b), T.Or(a, b) and T.Not(a)"),
    (
        "syncthreads",
        "syncthreads|sync",
        "Threads wait for each other at T.sync_threads(); around tiles TileLang adds it",
    ),
    (
        "power-of-2",
        "next_power_of_2|next_pow2",
        "It is Python's business, done when the kernel is made: write tilelang.next_power_of_2(n)",
    ),
    ("inf", "inf|Inf|infty", "Write T.infinity(dtype), as in T.infinity('float32'), with a minus for minus infinity"),
    ("pi", "pi|e", "Constants are Python's: write math.{name}, with `import math` at the head of the file"),
    ("arange", "arange", "Loop over indices with `for i in T.Parallel(n)`"),
    ("policy", "FullRow|FullCol|Square", "Write policy=T.GemmWarpPolicy.{name}"),
)
"""Functions of torch, NumPy and CUDA that learners look for, and what TileLang has instead."""

NAMES: tuple[Known, ...] = (
    *(
        Known(
            f"no-{name}",
            rf"module 'tilelang\.language' has no attribute '(?P<name>{pattern})'",
            "TileLang has no T.{name}",
            instead,
            cheatsheet=True,
        )
        for name, pattern, instead in _ELSEWHERE
    ),
    Known(
        "no-where",
        r"TypeError: where\(\) takes 1 positional argument",
        "T.where does not choose between two values",
        "Write T.if_then_else(condition, a, b)",
        cheatsheet=True,
    ),
    Known(
        "unknown-policy",
        r"^AttributeError: (?P<name>\w+)\n>>> .*GemmWarpPolicy",
        "T.GemmWarpPolicy has no {name}",
        "There are Square, FullRow and FullCol, spelled like this",
        cheatsheet=True,
    ),
    Known(
        "no-such-function",
        r"module 'tilelang\.language' has no attribute '(?P<name>\w+)'",
        "TileLang has no T.{name}",
        "{near}`tlpuzzles cheatsheet` lists what there is",
    ),
    Known(
        "no-such-name-in-module",
        r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'",
        "The module {module} has no {name}",
        "{near}Check the spelling. What is used inside a kernel is mostly in T (tilelang.language)",
    ),
    Known(
        "module-called",
        r"'module' object is not callable",
        "A module is followed by round brackets, as if it were a function",
        "TileLang's functions start with T. and are spelled with care for capitals: T.Kernel, T.Parallel, T.copy",
    ),
    Known(
        "kernel-is-lambda",
        r"NameError: name '__tb' is not defined|Failed to compile source for make_closure(?s:.*)\n>>> .*\blambda\b",
        "TileLang cannot read a kernel that is written as a lambda",
        "Write it as a function, with `def main(...)` below @T.prim_func",
    ),
    Known(
        "function-not-called",
        r"bad operand type for unary \S+: '(?:function|builtin_function_or_method)'",
        "A function is used as a number, without being called",
        "Give it its brackets and what goes into them, as in -T.infinity('float32')",
    ),
    Known(
        "future-annotations",
        r"NameError: name '(?!T')(?P<name>\w+)' is not defined\n>>> @T\.prim_func",
        "The kernel's parameters are described with {name}, and TileLang cannot find it",
        "Remove `from __future__ import annotations` from the file: it hides the factory's arguments from TileLang. If "
        "there is none, check the spelling of {name}",
    ),
    Known(
        "module-not-imported",
        r"NameError: name '(?P<name>math|random|os|sys|functools|itertools|operator)' is not defined\n"
        r">>> .*\b(?P=name)\.",
        "{name} is used, and the file does not import it",
        "Write `import {name}` at the head of the file. What is computed with sizes and elements has functions in T, "
        "too: T.ceildiv(a, b) rounds up, T.exp(x), T.sqrt(x)",
    ),
    Known(
        "unknown-function",
        r"NameError: name '(?P<name>\w+)' is not defined\n>>> .*(?<![\w.])(?P=name)\(",
        "No function is called {name} here",
        "{near}Check the spelling: TileLang's functions are called T.copy, T.gemm and so on. A function of your "
        "own must "
        "be defined outside of the kernel",
    ),
    Known(
        "block-not-named",
        r"NameError: name '(?P<name>b[xyz])' is not defined",
        "Nothing is called {name} here",
        "{near}T.Kernel gives a block its numbers, one for each size of the grid: write "
        "`with T.Kernel(...) as bx:` or `as (bx, by):`",
    ),
    Known(
        "kernel-returns",
        r"Only tensor allocated from `T\.empty` can be returned",
        "A kernel returns nothing",
        "Store the result into an element of the output instead, as in C[i] = A[i] + B[i]",
    ),
    Known(
        "index-not-named",
        r"NameError: name '(?P<name>[a-z]\w?)' is not defined\n>>> .*\[[^\]\n]*\b(?P=name)\b",
        "Nothing is called {name} here",
        "{near}If {name} is to be an index of a loop, name it there, one name for each size: write "
        "`for i, j in T.Parallel(rows, columns)`",
    ),
    Known(
        "unknown-name",
        r"NameError: name '(?P<name>\w+)' is not defined",
        "Nothing is called {name} here",
        "{near}Check the spelling, or set {name} before this line (TileLang's functions are called T.copy, T.gemm "
        "and so on)",
    ),
    Known(
        "used-before-set",
        r"UnboundLocalError: .*local variable '(?P<name>\w+)'",
        "{name} is used before this function gives it a value",
        "Move the line that sets {name}, an allocation perhaps, above this one",
    ),
    Known(
        "parameter-not-described",
        r"make_closure.*missing \d+ required positional arguments?: (?P<names>.*)",
        "The kernel's parameters {names} are not described",
        "Give each its shape and dtype, as in A: T.Tensor((N,), dtype)",
        cheatsheet=True,
    ),
    Known(
        "unknown-keyword",
        r"(?:\w+\.)*(?P<function>\w+)\(\) got an unexpected keyword argument '(?P<name>\w+)'",
        "{function} has no parameter called {name}",
        "{near}Check the spelling of {name}, or leave it out",
        cheatsheet=True,
    ),
    Known(
        "gemm-without-result",
        r"TypeError: gemm\(\) missing \d+ required positional arguments?",
        "T.gemm takes three tiles and returns nothing: it adds the product of the first two to the third",
        "Allocate the third with T.alloc_fragment, clear it with T.clear, then call T.gemm(A_tile, B_tile, sums)",
        cheatsheet=True,
    ),
    Known(
        "reduce-without-result",
        r"TypeError: (?P<function>reduce_\w+)\(\) missing \d+ required positional arguments?",
        "T.{function} returns nothing: it writes its result into a second fragment",
        "Allocate that fragment and pass it, as in T.{function}(x, result, dim=1)",
        hint=Hint.STEPS,
    ),
    Known(
        "argument-missing",
        r"(?:\w+\.)*(?P<function>(?!__init__)\w+)(?:\.__init__)?\(\) missing \d+ required "
        r"(?:positional|keyword-only) arguments?: "
        r"(?P<names>.*)",
        "{function} also needs {names}",
        "Pass what is missing",
        cheatsheet=True,
    ),
    Known(
        "too-many-arguments",
        r"(?:\w+\.)*(?P<function>\w+)\(\) takes (?P<most>.*?) positional arguments? but (?P<count>\d+) "
        r"(?:was|were) given",
        "{function} is given {count} values by position, and takes {most}",
        "Pass the others by name, or leave them out",
        cheatsheet=True,
    ),
    Known(
        "unknown-dtype",
        r"unknown dtype `(?P<name>[^`]*)`",
        "TileLang knows no dtype {name!r}",
        "Write it in full: 'float16', 'bfloat16', 'float32' (or 'float'), 'int32'",
    ),
    Known(
        "no-dtype",
        r"Expected `DataType` but got `(?P<got_kind>[^`]*)`",
        "A dtype is needed, and there is {got_kind}",
        "A tile is allocated with a shape and a dtype, as in T.alloc_shared((64, 32), 'float16'), and T.cast(x, dtype) "
        "takes the value first",
        cheatsheet=True,
    ),
    Known(
        "calls-itself",
        r"RecursionError: maximum recursion depth",
        "A function calls itself without end",
        "A factory describes the kernel and returns it; look for a call of the function within itself",
    ),
    Known(
        "no-source-text",
        r"OSError: (?:could not get source code|source code not available)",
        "TileLang reads a kernel's text from its file, and this kernel has none: it was made with exec or at a prompt",
        "Write the kernel into the file itself",
    ),
)
