"""Statements that are a single call: atomics, T.print, assertions, and what has no effect where blocks run alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tlpuzzles.device.cpu import dtypes
from tlpuzzles.device.cpu.expressions import Element, Expressions
from tlpuzzles.device.cpu.threads import is_print
from tlpuzzles.device.cpu.unsupported import refuse
from tlpuzzles.device.cpu.writer import Writer
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.capsule import NEUTRAL_SOURCE

_UPDATES = {
    "tl.atomic_add_elem_op": ("Sum", 1),
    "tl.atomic_max_elem_op": ("Max", 1),
    "tl.atomic_min_elem_op": ("Min", 1),
    "tl.atomic_or_elem_op": ("BitOr", 1),
    "tl.atomic_store_elem_op": ("Replace", 1),
    "tl.atomic_addx2_elem_op": ("Sum", 2),
    "tl.atomic_addx4_elem_op": ("Sum", 4),
}
_SYNCHRONISES = {"tirx.tvm_storage_sync": "T.sync_threads", "tl.sync_warp": "T.sync_warp"}
_NOTHING = {
    *("tirx.ptx_commit_group", "tirx.ptx_wait_group", "tirx.ptx_arrive_barrier", "tirx.ptx_arrive_barrier_expect_tx"),
    *("tl.mbarrier_wait_parity", "tl.mbarrier_expect_tx", "tl.ptx_cp_async_barrier_noinc", "tl.named_barrier_arrive"),
    *("tl.fence_proxy_async", "tl.tma_store_arrive", "tl.tma_store_wait", "tl.set_max_nreg", "tl.no_set_max_nreg"),
    *("tl.annotate_producer_reg_dealloc", "tl.annotate_consumer_reg_alloc", "tl.pdl_sync", "tl.pdl_trigger"),
    *("tl.warpgroup_arrive", "tl.warpgroup_commit_batch", "tl.warpgroup_wait", "tl.warpgroup_fence_operand"),
    *("tl.wait_wgmma", "tirx.assume"),
}
"""Waiting, signalling and hints: copies are done when the next statement starts."""
_ASSERTIONS = {"tl.device_assert": 1, "tl.device_assert_with_msg": 2}


class Effects:
    def __init__(self, expressions: Expressions, writer: Writer) -> None:
        self._on = expressions
        self._writer = writer

    def emit(self, value: ir.Expr) -> None:
        scope = self._on.scope
        if isinstance(value, (ir.IntImm, ir.StringImm)):
            return
        if not isinstance(value, ir.Call):
            self._writer.line(f"(void)({self._on.value(value)});")
        elif value.op in _NOTHING:
            return
        elif value.op in _SYNCHRONISES:
            if scope.in_thread or scope.parallel:
                raise scope.unsupported(
                    f"{_SYNCHRONISES[value.op]} under a condition on the thread index or in T.Parallel",
                    "not all threads of the block would come to it",
                    "Move it out of the condition or loop.",
                )
        elif value.op in _ASSERTIONS and len(value.args) == _ASSERTIONS[value.op]:
            self._device_assert(value)
        elif value.op in _UPDATES:
            self._update(value)
        elif value.op == "tl.reducer_update":
            self._reducer_update(value)
        elif is_print(value):
            holders = scope.dealt.holders if scope.parallel else 1
            with self._writer.block(f"for (int64_t holder = 0; holder < {holders}; ++holder)"):
                self._print(value)
        elif value.dtype in ("handle", "void", ""):
            raise refuse(value.op, scope.line)
        else:
            self._writer.line(f"(void)({self._on.value(value)});")

    def _device_assert(self, call: ir.Call) -> None:
        message = call.args[1] if len(call.args) == 2 else None
        # TileLang appends where the assertion stands, and the statement itself is one of TileLang's own file.
        text, _, places = message.value.partition("\n  at ") if isinstance(message, ir.StringImm) else ("", "", "")
        place = re.search(rf"{re.escape(NEUTRAL_SOURCE)}:(\d+)", places)
        if place is not None:
            self._on.scope.line = int(place.group(1))
        self.assertion(call.args[0], text.strip() or "T.device_assert does not hold")

    def assertion(self, condition: ir.Expr, message: str) -> None:
        text = dtypes.text_literal(message)
        self._writer.line(
            f"if (!({self._on.value(condition)})) tile::fail_assertion({text}, {self._on.scope.line or 0});"
        )

    # Stores

    def store(self, stmt: ir.BufferStore, value: str | None) -> None:
        """Stores `value`, or the statement's own; out of range of a tensor nothing is stored."""
        element = self._on.element(stmt.buffer, stmt.indices)
        with self.guarded(element) as code:
            self._writer.line(f"{code} = {value or self.converted(stmt)};")

    def converted(self, stmt: ir.BufferStore) -> str:
        value = self._on.value(stmt.value)
        if dtypes.scalar(stmt.value.dtype) == dtypes.scalar(stmt.buffer.dtype):
            return value
        return f"tile::cast<{self._on.cpp(stmt.buffer.dtype)}>({value})"

    @contextmanager
    def guarded(self, element: Element) -> Iterator[str]:
        """The element in C++; what is written meanwhile happens only if it is in range of its tensor."""
        if not element.guarded:
            yield element.code
        elif not element.reads_memory:
            with self._writer.block(f"if ({element.condition})"):
                yield element.code
        else:
            with self._writer.block():
                dims = ", ".join(f"{{{', '.join(dim)}}}" for dim in element.dims)
                self._writer.line(f"const tile::Dim at[] = {{{dims}}};")
                tests = " && ".join(f"tile::inside(at[{d}].index, at[{d}].extent)" for d in element.guarded)
                offset = " + ".join(f"at[{d}].index * at[{d}].stride" for d in range(len(element.dims)))
                with self._writer.block(f"if ({tests})"):
                    yield f"{element.data}[{offset}]"

    # Atomics and reducers

    def _update(self, call: ir.Call) -> None:
        op, count = _UPDATES[call.op]
        target = self._on.target(call)
        if len(call.args) < 2:
            raise self._on.scope.unsupported("an atomic operation", "it has no value")
        for n in range(count):
            if count == 1:
                value: ir.Expr = call.args[1]
            else:
                value = _shifted(self._on.pointee(call.args[1]), n)
            element = self._on.element(target.buffer, _shifted(target, n).indices)
            with self.guarded(element) as code:
                self._writer.line(f"tile::update<tile::{op}>({code}, {self._as(target.buffer, value)});")

    def _as(self, buffer: ir.Buffer, value: ir.Expr) -> str:
        return f"tile::cast<{self._on.cpp(buffer.dtype)}>({self._on.value(value)})"

    def _reducer_update(self, call: ir.Call) -> None:
        target = call.args[0] if len(call.args) == 2 else None
        op = self._on.scope.reducers.get(target.buffer.data) if isinstance(target, ir.BufferLoad) else None
        if op is None or not isinstance(target, ir.BufferLoad):
            raise self._on.scope.unsupported(
                "T.reducer_update", "its first argument is not an element of a T.alloc_reducer"
            )
        element = self._on.element(target.buffer, target.indices)
        self._writer.line(f"tile::update<tile::{op}>({element.code}, {self._as(target.buffer, call.args[1])});")

    # T.print

    def _print(self, call: ir.Call) -> None:
        scope = self._on.scope
        function, *args = call.args
        assert isinstance(function, ir.StringImm)
        texts = [dtypes.text_literal(arg.value) for arg in args if isinstance(arg, ir.StringImm)]
        numbers = [arg for arg in args if not isinstance(arg, ir.StringImm)]
        at = f"tile::Position{{{{{', '.join(scope.block_indices)}}}, {{{self._thread_position()}}}}}"
        shape = (function.value, len(texts), len(numbers))
        if shape == ("debug_print_msg", 1, 0):
            self._writer.line(f'tile::print({at}, {texts[0]}, "%s", "");')
        elif shape == ("debug_print_var", 1, 1):
            self._writer.line(f"tile::print_value({at}, {texts[0]}, {self._on.value(numbers[0])});")
        elif shape == ("debug_print_buffer_value", 2, 2):
            index, value = self._on.index(numbers[0]), self._on.value(numbers[1])
            self._writer.line(f"tile::print_element({at}, {texts[0]}, {texts[1]}, {index}, {value});")
        else:
            raise scope.unsupported("T.print", "its arguments are not ones that the CPU device knows")

    def _thread_position(self) -> str:
        x, y, _ = self._on.scope.threads
        thread = "thread"
        if not self._on.scope.in_thread:
            thread = "0"
            for variable, extent in self._on.scope.parallel:
                thread = f"({thread} * ({extent}) + {variable})"
            holder = f"holder * {self._on.scope.dealt.step}" if self._on.scope.parallel else "0"
            thread = f"(({thread} + {holder}) % {self._on.scope.thread_count})"
        return f"{thread} % {x}, {thread} / {x} % {y}, {thread} / {x * y}"


def _shifted(load: ir.BufferLoad, by: int) -> ir.BufferLoad:
    """The element `by` places further along the last dimension."""
    if by == 0:
        return load
    *first, last = load.indices
    return ir.BufferLoad(load.dtype, load.buffer, [*first, ir.Add(last.dtype, last, ir.IntImm(last.dtype, by))])
