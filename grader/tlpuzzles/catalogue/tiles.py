"""What TileLang says, while it traces, of tiles whose shapes do not fit what is done with them."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known
from tlpuzzles.catalogue.explanation import Hint

_GEMM = "T.gemm multiplies (rows x depth) by (depth x columns) and adds to (rows x columns)"

TILES: tuple[Known, ...] = (
    Known(
        "copy-shapes",
        r"StructuralEqual check failed, caused by lhs at .*?:\n(?P<source>\(.*\))\nand rhs at .*?:\n(?P<target>\(.*\))",
        "T.copy is given a source of shape {source} and a target of shape {target}; they must agree",
        "To copy a tile to or from its place in a tensor, give the place alone, as in "
        "T.copy(tile, C[by * block_M, bx * block_N]): T.copy takes as many elements as the tile has",
        hint=Hint.STEPS,
    ),
    Known(
        "copy-axes",
        r"^AssertionError: \n>>> .*\.copy\(",
        "In this T.copy the place in the tensor has fewer axes than the tile",
        "Give the tile as many axes as the tensor has: for a piece of a tensor with one axis that is "
        "T.alloc_fragment((block_N,), dtype), where the comma makes the shape",
        cheatsheet=True,
    ),
    Known(
        "copy-no-tile",
        r"Unsupported argument type for to_buffer_region: <class '(?:[\w.]+\.)?(?P<got_kind>\w+)'>",
        "T.copy moves elements between tiles and tensors, and is given {got_kind}",
        "To set every element of a tile to one value use T.fill(tile, value)",
        cheatsheet=True,
    ),
    Known(
        "copy-no-extent",
        r"Can't deduce copy extents from args",
        "T.copy cannot tell how many elements to move: neither of its two sides is a tile",
        "One side must be a tile (T.alloc_shared or T.alloc_fragment) or a piece such as A[0:64, 0:32]. A torch tensor "
        "cannot take part",
        cheatsheet=True,
    ),
    Known(
        "slice-step",
        r"Buffer slicing with step is not supported",
        "A piece of a tile or tensor is taken with a step, as in A[0:64:2]; TileLang cannot do that",
        "Take the piece without a step, or pick elements in a T.Parallel loop: y[i] = x[2 * i]",
    ),
    Known(
        "gemm-inner-mismatch",
        r"T\.gemm K shape check failed: K_A = (?P<k_a>\d+), K_B = (?P<k_b>\d+)",
        "T.gemm gets a left tile with a depth of {k_a} and a right tile with a depth of {k_b}; they must agree",
        f"{_GEMM}. If the right tile is stored as (columns x depth), as K is in Q K^T, pass transpose_B=True",
        hint=Hint.IDEA,
    ),
    *(
        Known(
            f"gemm-{id_}-mismatch",
            rf"T\.gemm {side} shape check failed: {side}_{letter} = (?P<given>\d+), {side}_C = (?P<sums>\d+)",
            f"T.gemm is given {{{factor}}} as its {place} factor, with {{given}} {lines}, and {{gemm_sums}} for the "
            "sums, with {sums}; they must agree",
            f"{_GEMM}. Whole tensors do not take part: T.copy their pieces into tiles first",
            hint=Hint.IDEA,
        )
        for id_, side, letter, factor, place, lines in (
            ("rows", "M", "A", "gemm_left", "left", "rows"),
            ("columns", "N", "B", "gemm_right", "right", "columns"),
        )
    ),
    Known(
        "gemm-one-axis",
        r"only support (?P<tile>\w+) as a 2D or higher-order tensor",
        "A tile of a T.gemm has one axis; it needs two",
        _GEMM,
        hint=Hint.IDEA,
    ),
    Known(
        "reduce-shape",
        r"Invalid reduce output shape, buffer shape is (?P<source>.*?), dim is (?P<dim>-?\d+), output shape is "
        r"(?P<target>\[.*?\]), expected shapes are (?P<right>\[.*?\])",
        "A reduction of a tile {source} along dim {dim} gives {right}, and the fragment for the result is {target}",
        "Allocate the result without the reduced axis: for a tile (rows, columns) and dim=1 that is (rows,). dim "
        "counts "
        "from 0",
        hint=Hint.STEPS,
    ),
    Known(
        "print-a-text",
        r"Unexpected type: <class '(?P<got>[\w.]+)'>\. Supported types are tirx\.Buffer, tirx\.PrimExpr",
        "T.print prints one value or one tile, no text of its own",
        "Give a text as its label: T.print(x, msg='x'), or T.print(msg='here')",
        cheatsheet=True,
    ),
    Known(
        "new-axis",
        r"Buffer (?P<buffer>\w+) is \d+-dimensional(?s:.*)\n>>> .*\b(?P=buffer)\[[^\]]*\b(?:None|newaxis)\b",
        "{buffer} is given a new axis with None, and TileLang does not stretch a tile along another (no broadcasting)",
        "Go over the elements, `for i, j in T.Parallel(rows, columns)`, and use {buffer}[j] for a number of each "
        "column, {buffer}[i] for one of each row",
        cheatsheet=True,
    ),
    Known(
        "index-count",
        r"Buffer (?P<buffer>\w+) is (?P<axes>\d+)-dimensional(?: \(shape=(?P<shape>.*?)\))?, "
        r"(?:but (?P<count>\d+) index|cannot be indexed with the (?P<given>\d+)-dimensional)",
        "The number of indices of {buffer} in this line ({count}{given}) is not its number of axes ({axes})",
        "Give {buffer} one index or slice for each of its axes",
        cheatsheet=True,
    ),
    Known(
        "grid-brackets",
        r"calling: `tl\.KernelLaunch\(.*but got `Array\[index \d+: ffi\.Array\]`",
        "The numbers of blocks in T.Kernel stand in brackets of their own",
        "Write them one after the other: T.Kernel(blocks_x, blocks_y, threads=128) as (bx, by)",
        cheatsheet=True,
    ),
    Known(
        "several-numbers-in-one-name",
        r"Expected `(?:ir\.PrimExpr|Array<ir\.PrimExpr>)` but got `(?:ffi\.Array|Array\[index \d+: ffi\.Array\])`",
        "A name in this line stands for several numbers: a loop or grid with more than one size gives that many",
        "Take each by its own name: `for i, j in T.Parallel(rows, columns)`, `with T.Kernel(x, y) as (bx, by)`",
        cheatsheet=True,
    ),
    Known(
        "tile-for-number",
        r"Mismatched type on argument #\d+ when calling: `(?P<function>[\w.]+)\(.*Expected "
        r"`(?P<wanted_kind>[^`]*)` but "
        r"got `(?:Array\[index \d+: )?(?P<got_kind>[^`\]]*)\]?`",
        "TileLang needs {wanted_kind} here, and gets {got_kind}",
        "Check the arguments in this line, one by one",
        cheatsheet=True,
    ),
)
