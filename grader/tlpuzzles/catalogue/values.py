"""What Python says when it is asked to compute with values that only the running kernel knows."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known

_TILE = r"'(?:Buffer|BufferRegion)'"
_CLASSES = (
    "BufferLoad|Var|Add|Sub|Mul|Div|Mod|FloorDiv|FloorMod|Min|Max|Cast|Call|Select|EQ|NE|LT|LE|GT|GE|And|Or|Not|Let|"
    "IntImm|FloatImm"
)
"""TVM's classes of values, as Python's messages name them."""
_VALUE = f"(?:{_CLASSES})"
_LATER = "a value that is known only when the kernel runs"
_ELEMENTS = (
    "Go over the elements with `for i in T.Parallel(n)` (or `i, j` for two axes) and write what happens to one of "
    "them, "
    "as in C[i] = A[i] + B[i]"
)

VALUES: tuple[Known, ...] = (
    Known(
        "several-to-print",
        r"Cannot use and / or / not operator to Expr[^\n]*\n>>> .*\bT\.print\(",
        "T.print prints one value, and its second argument is a text",
        "Write one T.print for each value, with a label if you like: T.print(x, msg='x')",
        cheatsheet=True,
    ),
    Known(
        "python-max-of-a-tile",
        r"(?P<function>max|min)\(\) (?:arg is an empty sequence|iterable argument is empty)"
        r"\n>>> .*\b(?P=function)\((?P<tile>\w+)\)",
        "Python's {function}() finds no elements in {tile}: it cannot look into a tile",
        "Write T.reduce_{function}({tile}, result, dim=1), where result is a fragment with one element for each row",
        cheatsheet=True,
    ),
    Known(
        "python-asks-a-value",
        r"Cannot use and / or / not operator to Expr",
        f"Python asks here whether something is true or which of two is larger, of {_LATER}",
        "Python's min, max, any and all, and `and`, `or`, `not` outside the kernel's own text, cannot wait for that. "
        "Write T.min(a, b), T.max(a, b), T.And(a, b), T.Or(a, b), T.Not(a), or T.if_then_else(condition, a, b)",
        cheatsheet=True,
    ),
    Known(
        "condition-precedence",
        r"Expected integer argument as (?:LHS|RHS) of (?P<op>[&|^]) operator",
        "Python reads {op} before < and >, so that it joins numbers here, not conditions",
        "Put each comparison in brackets, or write T.And(a > 0, b > 0), T.Or(...)",
    ),
    Known(
        "and-of-numbers",
        r"\.dtype\(\)\.is_bool\(\)\) is false",
        "`and`, `or` or `not` joins numbers here; they join only conditions",
        "Compare first, as in T.And(i < N, A[i] > 0). To choose one of two values write T.if_then_else(condition, "
        "a, b)",
    ),
    Known(
        "tile-product-operator",
        rf"unsupported operand type\(s\) for @: (?:{_TILE} and|.* and {_TILE})",
        "The operator @ does not multiply tiles or tensors in a kernel",
        "Write T.gemm(A_tile, B_tile, sums), which adds the product to the fragment sums",
        cheatsheet=True,
    ),
    Known(
        "tile-arithmetic",
        rf"unsupported operand type\(s\) for (?P<op>\S+): (?:{_TILE} and|.* and {_TILE})"
        rf"|'(?P<compare>[<>]=?)' not supported between instances of (?:{_TILE} and|.* and {_TILE})"
        rf"|bad operand type for unary (?P<unary>\S+): {_TILE}",
        "The operator {op}{compare}{unary} works on one element, and is given a whole tile or tensor",
        _ELEMENTS,
        cheatsheet=True,
    ),
    Known(
        "tile-update",
        r"Attempting to update buffer `(?P<buffer>\w+)` using augmented assignment",
        "{buffer} is a whole tile or tensor, and an operator such as += works on one element of it",
        "Write {buffer}[i] += ... in `for i in T.Parallel(n)`. T.gemm needs no +=: it adds to its third tile by itself",
        cheatsheet=True,
    ),
    Known(
        "slice-store",
        r"Incompatible types in BufferStore: LHS is `\w+?x(?P<count>\d+)`",
        "{count} elements are assigned in one statement, and what is assigned is not as many values",
        "Use T.fill(tile, value) or T.clear(tile) for one value everywhere, T.copy(source, target) for a piece of a "
        "tensor, or a T.Parallel loop over the elements",
        cheatsheet=True,
    ),
    Known(
        "list-stored",
        r"BufferStore\(.*Expected `ir\.PrimExpr` but got `ffi\.Array`",
        "Several values (a tuple or list) are stored into one element",
        "Store one value, and go over the elements with a loop",
    ),
    Known(
        "tile-stored",
        r"BufferStore\(.*Expected `ir\.PrimExpr` but got `tirx\.Buffer`",
        "A whole tile or tensor is stored into one element",
        "Give the right side its indices too, as in C[i] = A[i]. To move whole tiles use T.copy(source, target)",
        cheatsheet=True,
    ),
    Known(
        "tile-in-expression",
        r"calling: `tirx\._Op\w+\(.*Expected `ir\.PrimExpr` but got `tirx\.Buffer`",
        "An operator works on one element, and {whole} is a whole tile or tensor",
        "Give it an index for each of its axes, as in {example}[j]",
        cheatsheet=True,
    ),
    Known(
        "tile-to-math",
        r"calling: `tirx\.convert\(.* but got `tirx\.Buffer`"
        r"|calling: `(?:script\.ir_builder\.)?tirx\.(?P<function>\w+)\(0: ir\.PrimExpr.*Expected `ir\.PrimExpr` "
        r"but got "
        r"`tirx\.Buffer`",
        "A function for single numbers, such as T.exp or T.max, is given a whole tile or tensor",
        "Call it on elements in a T.Parallel loop, as in y[i] = T.exp(x[i]). For the maximum or the sum of a row use "
        "T.reduce_max or T.reduce_sum",
        cheatsheet=True,
    ),
    Known(
        "tile-called",
        r"'(?:Buffer|BufferLoad)' object is not callable",
        "A tile or tensor is followed by round brackets, as if it were a function",
        "Indices stand in square brackets: A[i]",
    ),
    Known(
        "tile-method",
        r"'(?:Buffer|BufferRegion)' object has no attribute '(?P<name>\w+)'",
        "A tile or tensor in a kernel is no torch tensor; it has no .{name}",
        "Use TileLang's functions: T.copy, T.fill, T.clear, T.reduce_sum, T.reduce_max, T.transpose, and "
        "X.shape[0] for "
        "a size",
        cheatsheet=True,
    ),
    Known(
        "element-method",
        rf"'{_VALUE}' object has no attribute '(?P<name>\w+)'",
        "An element of a tile or tensor is no torch tensor; it has no .{name}",
        "Use TileLang's functions on it: T.exp(x), T.max(x, y), T.cast(x, 'float32')",
        cheatsheet=True,
    ),
    Known(
        "math-module",
        rf"must be real number, not {_VALUE}\b",
        f"A function of Python's math module cannot compute with {_LATER}",
        "Use TileLang's function of the same name, such as T.exp, T.sqrt, T.tanh or T.log",
        cheatsheet=True,
    ),
    Known(
        "torch-in-kernel",
        r"(?P<function>\w+)\(\): argument '\w+' .*must be Tensor, not (?:Buffer|BufferRegion|"
        rf"{_CLASSES})",
        "torch.{function} works on torch tensors, and inside a kernel there are none",
        "Use TileLang's functions: T.exp(x) and the like on elements, T.gemm, T.reduce_sum and T.copy on tiles",
        cheatsheet=True,
    ),
    Known(
        "numpy-in-kernel",
        rf"loop of ufunc does not support argument \d+ of type {_VALUE} which has no callable (?P<function>\w+) method",
        f"NumPy cannot compute with {_LATER}",
        "Use TileLang's functions instead: T.{function}(x), if there is one",
        cheatsheet=True,
    ),
    Known(
        "python-number",
        rf"(?P<function>int|float)\(\) argument must be .*, not '{_VALUE}'",
        f"Python's {{function}}() needs a number now, and gets {_LATER}",
        "Indices are whole numbers already; divide them with // or T.ceildiv. Convert the dtype of a value with "
        "T.cast(x, 'float32')",
    ),
    Known(
        "python-function",
        rf"bad operand type for (?P<abs>abs)\(\): '{_VALUE}'|type {_VALUE} doesn't define __(?P<dunder>\w+?)__ method",
        f"Python's {{abs}}{{dunder}}() cannot compute with {_LATER}",
        "Use the function of that name in T, such as T.abs or T.round",
    ),
    Known(
        "power",
        rf"unsupported operand type\(s\) for \*\* or pow\(\): (?:'{_VALUE}' and|.* and '{_VALUE}')",
        f"Python's ** cannot compute with {_LATER}",
        "Write x * x for a square, or T.pow(x, y)",
    ),
    Known(
        "len-of-tile",
        r"object of type 'Buffer' has no len\(\)",
        "A tile or tensor in a kernel has no len()",
        "Its sizes are in X.shape: write X.shape[0], or use the factory's argument",
    ),
    Known(
        "tile-iterated",
        r"(?P<after>a TIR expression or buffer is not iterable|a TileLang loop or IR builder frame is not a "
        r"compile-time)"
        rf"|'{_VALUE}' object is not iterable",
        "Python is asked to go over the elements of something that it does not know before the kernel runs",
        "Loop over indices: `for i in T.Parallel(n)` or `for i in T.serial(n)`, and use X[i] in the loop. "
        "enumerate and "
        "sum do not work there; for the sum of a tile there is T.reduce_sum",
        cheatsheet=True,
    ),
    Known(
        "tile-as-count",
        r"IntImm supports only int or uint or bool type, but \w+ was supplied"
        r"|calling: `tl\.Parallel\(.*but got `Array\[index \d+: tirx\.Buffer\]`",
        "A loop is given a tile where it needs a number of trips",
        "Give it a number, as in T.Parallel(block_N), or a size of the tile: X.shape[0]",
        cheatsheet=True,
    ),
    Known(
        "used-after-loop",
        r"Immutable variable `(?P<variable>\w+)` is used outside its defining region",
        "{variable} gets its value inside a loop or an if, and is used after it. A Python variable there is a name "
        "for a "
        "value of one trip; it does not carry anything out of the loop",
        "What must outlive a trip belongs in a tile: allocate one (T.alloc_fragment, or T.alloc_var for one number) "
        "before the loop and store into it. For a sum or maximum use T.reduce_sum or T.reduce_max",
    ),
    Known(
        "text-as-number",
        r"Can't cast a handle to other types",
        "A text stands where a number is needed",
        "Write the number without quotes; minus infinity is -T.infinity('float32')",
    ),
    Known(
        "none-as-number",
        r"\(args\[i\]\.defined\(\)\) is false",
        "None stands where a number or a tile is needed",
        "Check the arguments in this line. A function without `return` gives None",
    ),
    Known(
        "whole-numbers-only",
        r"Expected integer argument as (?:LHS|RHS) of (?P<op>\S+) operator|"
        r"a\.dtype\(\)\.is_int\(\) \|\| a\.dtype\(\)\.is_uint\(\)\) is false",
        "An operator for whole numbers, such as // or % or <<, is used on a number with a fraction",
        "Use / to divide values; //, % and shifts are for indices",
    ),
    Known(
        "index-divided",
        r"TVM supports multiple types of integer divisions",
        "An index is divided with /, which does not say how to round",
        "Write i // 2 to round down, or T.ceildiv(i, 2) to round up",
    ),
)
