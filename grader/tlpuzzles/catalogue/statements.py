"""What a statement of a learner's file tells about an error that does not name what it is about."""

from __future__ import annotations

import ast


def whole_tiles(statement: str) -> dict[str, str]:
    """Words for what stands in an expression without an index, which may be a whole tile.

    `whole`: the names, "bias" or "bias or scale"; `example`: the one name, or one that stands for it.
    """
    names = _without_index(statement)
    return {"whole": " or ".join(names) or "one side", "example": names[0] if len(names) == 1 else "tile"}


def factors(statement: str) -> dict[str, str]:
    """The tiles of a statement that calls T.gemm, as they stand there: `gemm_left`, `gemm_right`, `gemm_sums`."""
    words = {"gemm_left": "a tile", "gemm_right": "a tile", "gemm_sums": "one"}
    try:
        tree = ast.parse(statement.strip())
    except (SyntaxError, ValueError):
        return words
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "gemm":
            shown = (ast.unparse(argument) for argument in node.args)
            return {**words, **{word: text[:40] for word, text in zip(words, shown, strict=False)}}
    return words


def _without_index(statement: str) -> list[str]:
    try:
        (stated,) = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError):  # the head of a loop, a part of a statement
        return []
    value = getattr(stated, "value", None)
    found: list[str] = []
    open_ = [value] if isinstance(value, ast.expr) else []
    while open_:
        node = open_.pop(0)
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Call):
            open_ = [*node.args, *open_]
        elif not isinstance(node, (ast.Subscript, ast.Attribute)):
            open_ = [*(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)), *open_]
    return list(dict.fromkeys(found))
