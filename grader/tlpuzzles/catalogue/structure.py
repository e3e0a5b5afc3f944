"""What is said of a kernel's frame: decorators, out_idx, the grid, loops, tuning."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known
from tlpuzzles.catalogue.explanation import Hint

_ORDER = (
    "Write the decorators in this order: @tilelang.autotune(configs=...) on top, @tilelang.jit(out_idx=[-1]) "
    "below, then "
    "the factory"
)

STRUCTURE: tuple[Known, ...] = (
    Known(
        "no-return",
        r"target function must be a PrimFunc but got <class 'NoneType'>",
        "The factory returns nothing",
        "End it with `return main`, indented like the @T.prim_func above: main is the kernel",
    ),
    Known(
        "kernel-called",
        r"'PrimFunc' object is not callable",
        "The kernel is called inside the factory; there it is only described",
        "Return it without calling it: `return main`",
    ),
    Known(
        "no-prim-func",
        r"out_idx is only supported in lazy mode|name '(?P<name>\w+)' is not defined\n>>> return (?P=name)\s*(?:#.*)?$",
        "The factory returns no kernel: the function inside it is not marked as one, or something else is returned",
        "Write @T.prim_func in the line above `def main(...)`, and end the factory with `return main`",
    ),
    Known(
        "out-idx-name",
        r"invalid literal for int\(\) with base 10: .*\n>>> $",
        "out_idx holds a name; it counts the kernel's parameters",
        "With the result as the last parameter write out_idx=[-1]",
    ),
    Known(
        "tile-outside-kernel",
        r"No builder in current scope",
        "A function of T is called outside of the kernel",
        "Move this line below @T.prim_func and into the `with T.Kernel(...)` block",
        cheatsheet=True,
    ),
    Known(
        "no-launch",
        r"KernelLaunchFrame is not initialized",
        "This line needs a launch around it: without one there are no blocks and threads",
        "Put it into `with T.Kernel(blocks, threads=128) as bx:`",
        cheatsheet=True,
    ),
    Known(
        "return-in-kernel",
        r"Only tensor allocated from `T\.empty` can be returned in a prim_func, got (?P<name>\w+)\(",
        "The kernel returns {name}; a kernel returns nothing, it writes into its parameters",
        "Remove `return {name}` from the kernel: out_idx says which parameter is the result",
    ),
    Known(
        "tensor-not-described",
        r"type 'Tensor' is not subscriptable",
        "A parameter of the kernel is described as torch.Tensor, which has no shape and dtype",
        "Write T.Tensor with both, as in A: T.Tensor((N,), dtype)",
        cheatsheet=True,
    ),
    Known(
        "fraction-of-trips",
        r"TIR For nodes require a scalar integer as the (?:loop_var|extent), but received .* with dtype float",
        "A number of blocks or of trips is not a whole number: / gives a fraction",
        "Round up with T.ceildiv(N, block_N), so that the ragged rest has a block too",
        hint=Hint.IDEA,
    ),
    Known(
        "endless-while",
        r"Infinite while loop detected in TileLang",
        "The condition of this while is true when the kernel is traced and stays so: Python's loop would never end",
        "Write a loop that counts by itself: `for i in T.Parallel(n)` for elements that the threads share, "
        "`for k in T.serial(n)` for steps one after the other",
        cheatsheet=True,
    ),
    Known(
        "division-by-zero",
        r"Divide by zero",
        "Something is divided by 0",
        "Check which of the sizes in this line is 0",
    ),
    Known(
        "grid-names",
        r"(?P<few>not enough|too many) values to unpack \(expected (?P<wanted>\d+)(?:, got (?P<got>\d+))?\)"
        r"(?s:.*)\bT\.Kernel\(",
        "T.Kernel gives one block number for each size of the grid, and `as` has another number of names ({wanted})",
        "One size: T.Kernel(blocks, threads=128) as bx. Two: T.Kernel(x, y, threads=128) as (bx, by)",
        cheatsheet=True,
    ),
    Known(
        "loop-names",
        r"(?P<few>not enough|too many) values to unpack \(expected (?P<wanted>\d+)(?:, got (?P<got>\d+))?\)"
        r"(?s:.*)\bT\.(?:Parallel|grid)\(",
        "The loop gives one index for each of its sizes, and has another number of names ({wanted})",
        "One size: `for i in T.Parallel(n)`. Two: `for i, j in T.Parallel(rows, columns)`",
        cheatsheet=True,
    ),
    Known(
        "parallel-without-size",
        r"Index out of range\. size: 0, got index 0(?s:.*)\bT\.\w+\(",
        "A loop has no number of trips",
        "Give it one, as in T.Parallel(block_N)",
        cheatsheet=True,
    ),
    Known(
        "threads-type",
        r"threads must be an integer or a list of integers",
        "threads of T.Kernel is not a whole number",
        "Write a number such as 128; divide with //, not /",
    ),
    Known(
        "threads-none",
        r"threads must be positive, got (?P<count>-?\d+)",
        "T.Kernel is given threads={count}",
        "A block needs threads: 128 or 256 are usual",
    ),
    Known(
        "stages-type",
        r"calling: `tl\.Pipelined\(.*Expected `int` but got `(?P<got_kind>[^`]*)`",
        "num_stages of T.Pipelined is {got_kind}; it must be a whole number",
        "Write num_stages=2, without quotes or a fraction",
        cheatsheet=True,
    ),
    Known(
        "autotune-configs-missing",
        r"autotune\(\) missing 1 required keyword-only argument: 'configs'",
        "@tilelang.autotune needs the configurations to try, by name",
        "Write @tilelang.autotune(configs=...), with a list of dicts or a function that returns one",
        hint=Hint.STEPS,
    ),
    Known(
        "autotune-order",
        r"@autotune decorator can only be applied to @tilelang\.jit|function.* was expected, got AutoTuneImpl",
        "@tilelang.autotune and @tilelang.jit stand in the wrong order, or one is missing",
        _ORDER,
        hint=Hint.IDEA,
    ),
    Known(
        "autotune-no-configs",
        r"No configurations to tune",
        "The autotuner was given no configuration to try",
        "Let configs be a list with at least one dict",
        hint=Hint.IDEA,
    ),
    Known(
        "autotune-unused-keys",
        r"Unused keys in config: \{(?P<names>.*)\}",
        "A configuration sets {names}, and the factory has no parameter of that name",
        "Use the names of the factory's parameters as keys",
        hint=Hint.IDEA,
    ),
    Known(
        "autotune-config-type",
        r"'(?P<got>tuple|list|str|int)' object has no attribute 'get'\n>>> $",
        "A configuration is a {got}; it must be a dict",
        "Write configs as a list of dicts: [{{'block_M': 128}}, {{'block_M': 64}}]",
        hint=Hint.STEPS,
    ),
    Known(
        "autotune-all-failed",
        r"Auto-tuning failed: No configuration successfully compiled",
        "Not one configuration compiled and ran",
        "Compile one of them by itself, by passing its values to the factory, and read what is wrong with it",
    ),
)
