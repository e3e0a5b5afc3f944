"""Finds what a kernel uses that this course leaves out, and arguments that no front end could have written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from tlpuzzles.kernel import allowed
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.buffers import bits, owners
from tlpuzzles.kernel.facts import TILE_OP
from tlpuzzles.kernel.findings import Finding, Kind, Severity
from tlpuzzles.kernel.steps import Step, expressions


def not_allowed(func: ir.PrimFunc, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """A refusal for everything in the kernel that is not on the list of what is allowed."""
    yield from _annotations("function attribute", func.attrs, allowed.FUNCTION_ATTRIBUTES, func.line)
    yield from _buffers(func)
    seen: set[int] = set()
    for step in steps:
        yield from _statement(step)
        for expr in expressions(step.stmt):
            yield from _expression(expr, step, None, seen)
    for node in ir.walk(func):
        if isinstance(node, ir.Call) and id(node) not in seen and not _is_plain(node.op):
            where = "in a size or an annotation, where only arithmetic can be"
            yield _refused(f"{learner_name(node.op)} stands {where}.", None)


def _refused(message: str, line: int | None) -> Finding:
    return Finding(Kind.NOT_ALLOWED, Severity.REFUSED, message, line)


def learner_name(op: str) -> str:
    """An operator as it is written in a kernel: "T.copy" for "tl.tileop.copy"."""
    return f"T.{op.rsplit('.', 1)[-1]}"


def _statement(step: Step) -> Iterator[Finding]:
    stmt = step.stmt
    if isinstance(stmt, ir.For):
        yield from _annotations("loop annotation", stmt.annotations, allowed.LOOP_ANNOTATIONS, step.line)
        tag = stmt.thread_binding.thread_tag if stmt.thread_binding is not None else None
        if tag is not None and tag not in allowed.THREAD_TAGS:
            yield _refused(
                f"T.thread_binding over {tag} is not part of this course. Write the loop with T.Parallel; the index of "
                "a thread is T.get_thread_binding().",
                step.line,
            )
    elif isinstance(stmt, ir.SBlock):
        yield from _annotations("annotation", stmt.annotations, allowed.BLOCK_ANNOTATIONS, step.line)
        if stmt.match_buffers or stmt.init is not None:
            yield _refused("T.match_buffer and T.init inside a kernel are not part of this course.", step.line)
    elif isinstance(stmt, ir.AllocBuffer):
        yield from _annotations("annotation", stmt.annotations, {}, step.line)
    elif isinstance(stmt, ir.AttrStmt):
        yield from _annotations("attribute", {stmt.attr_key: stmt.value}, allowed.ATTRIBUTES, step.line)
    elif isinstance(stmt, ir.AssertStmt):
        yield _refused("`assert` is not checked inside a kernel. Use T.device_assert(condition, 'message').", step.line)
    elif isinstance(stmt, ir.Bind) and stmt.var.dtype == "handle":
        yield _refused(
            f"{stmt.var.name or 'a variable'} is a raw address (T.make_tensor and its kind), which is not part of this "
            "course. Read and write the kernel's tensors.",
            step.line,
        )


def _annotations(
    what: str, found: Mapping[str, object], known: Mapping[str, allowed.Check], line: int | None
) -> Iterator[Finding]:
    for key, value in found.items():
        if key in allowed.SOURCE_CODE:
            yield _refused(
                "The kernel brings its own C or CUDA source (T.import_source, prelude= or T.CUDASourceCodeKernel). "
                "This course is about TileLang: write it with tile operations.",
                line,
            )
        elif key not in known:
            yield _refused(f"The {what} {_short(key)} is not part of this course. Leave it out.", line)
        elif not known[key](value):
            yield _refused(f"The {what} {_short(key)} has a value that it cannot have.", line)


def _short(text: str) -> str:
    return ascii(text[:60])


def _buffers(func: ir.PrimFunc) -> Iterator[Finding]:
    owned = {buffer.data: buffer for buffer in owners(func)}
    for node in ir.walk(func):
        if not isinstance(node, ir.Buffer):
            continue
        if node.scope not in allowed.SCOPES:
            yield _refused(
                f"{node.name} lives in {_short(node.scope)} memory, which is not part of this course. Use "
                "T.alloc_shared, T.alloc_fragment, T.alloc_local or T.alloc_var.",
                node.line,
            )
        owner = owned.get(node.data)
        if owner is not None and owner is not node and not _fits(node, owner):
            yield _refused(f"{node.name} is a view of {owner.name} and reaches beyond it.", node.line)


def _fits(view: ir.Buffer, owner: ir.Buffer) -> bool:
    """Whether a view stays within its owner; what cannot be computed is TileLang's to prove, as it does for T.view."""
    inside, whole = bits(view), bits(owner)
    offset = view.elem_offset
    return (inside is None or whole is None or inside <= whole) and (
        offset is None or not isinstance(offset, ir.IntImm) or offset.value == 0
    )


def _expression(expr: ir.Expr, step: Step, parent: ir.Call | None, seen: set[int]) -> Iterator[Finding]:
    # A shared expression is looked at once, but for calls: whether they may stand here depends on the place.
    if id(expr) in seen and not isinstance(expr, ir.Call):
        return
    seen.add(id(expr))
    call = expr if isinstance(expr, ir.Call) else parent
    if isinstance(expr, ir.Call):
        yield from _call(expr, step, parent)
    if isinstance(expr, ir.Let) and expr.var.dtype == "handle":
        yield _refused("A raw address is not part of this course.", step.line)
    children = chain(expr.args, expr.annotations.values()) if isinstance(expr, ir.Call) else ir.children(expr)
    for child in children:
        if isinstance(child, ir.Expr):
            yield from _expression(child, step, call, seen)


_NO_TEXT = (
    " One of them is a text. Numbers are written without quotes, minus infinity as -T.infinity(dtype), and a warp "
    "policy "
    "as T.GemmWarpPolicy.FullRow."
)


def _call(call: ir.Call, step: Step, parent: ir.Call | None) -> Iterator[Finding]:
    arguments = allowed.OPERATORS.get(call.op)
    name = learner_name(call.op)
    if arguments is None:
        yield _refused(
            f"{name} ({call.op}) is not part of this course. Use tile operations (T.copy, T.gemm, T.reduce_sum, ...) "
            "and T.Parallel; mathematics such as T.exp and T.max is allowed.",
            step.line,
        )
        return
    if not _takes(call, arguments) or not _in_place(call, step, parent):
        is_text = any(isinstance(argument, ir.StringImm) for argument in call.args)
        yield _refused(f"{name} has arguments that it cannot have.{_NO_TEXT if is_text else ''}", step.line)
        return
    texts = [argument.value for argument in call.args if isinstance(argument, ir.StringImm)]
    known = allowed.TEXTS.get(call.op)
    if known is not None and texts[0] not in known:
        yield _refused(_text_message(call.op, name, texts[0]), step.line)
    yield from _annotations(f"annotation of {name}", call.annotations, allowed.CALL_ANNOTATIONS, step.line)


def _text_message(op: str, name: str, text: str) -> str:
    if op in ("tirx.call_extern", "tirx.call_pure_extern"):
        return (
            f"The kernel calls the C function {_short(text)} (T.call_extern). This course is about TileLang: only what "
            "T.print calls is allowed."
        )
    return f"{name} cannot take {_short(text)}."


def _is_plain(op: str) -> bool:
    """Whether an operator only computes a value from values."""
    return set(allowed.OPERATORS.get(op, allowed.REST)) <= {allowed.VALUE, allowed.STRING}


def _takes(call: ir.Call, arguments: str) -> bool:
    fixed = arguments.rstrip(allowed.REST)
    if len(call.args) < len(fixed) or (len(call.args) > len(fixed) and fixed == arguments):
        return False
    return all(_is(argument, kind) for argument, kind in zip(call.args, fixed, strict=False))


def _is(argument: ir.Expr, kind: str) -> bool:
    if kind == allowed.REGION:
        return isinstance(argument, ir.Call) and argument.op == "tl.region" and _is_region(argument)
    if kind == allowed.POINTER:
        return isinstance(argument, ir.Call) and argument.op == "tl.access_ptr"
    if kind == allowed.LOAD:
        return isinstance(argument, ir.BufferLoad)
    if kind == allowed.INTEGER:
        return isinstance(argument, ir.IntImm)
    if kind == allowed.STRING:
        return isinstance(argument, ir.StringImm)
    return not isinstance(argument, ir.StringImm)


def _is_region(call: ir.Call) -> bool:
    load = call.args[0] if call.args else None
    return isinstance(load, ir.BufferLoad) and len(call.args) == 2 + len(load.indices)


def _in_place(call: ir.Call, step: Step, parent: ir.Call | None) -> bool:
    """Whether the call stands where its kind may stand: a region in a tile operation, a swizzle in its attribute."""
    if call.op == "tl.region":
        return parent is not None and parent.op.startswith(TILE_OP)
    if call.op == "tl.access_ptr":
        return parent is not None and allowed.POINTER in allowed.OPERATORS.get(parent.op, "")
    if call.op == "tirx.tvm_tuple":
        return isinstance(step.stmt, ir.AttrStmt)
    if call.op.startswith(TILE_OP):
        return parent is None and isinstance(step.stmt, ir.Evaluate)
    return True
