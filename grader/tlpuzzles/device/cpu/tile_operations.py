"""Operations on whole tiles: T.copy, T.fill, T.gemm, reductions, scans, atomic updates of regions, reducers.

Argument orders are those of TileLang 0.1.15 (tilelang/language/*.py and src/op/*.cc).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tlpuzzles.device.cpu import dtypes
from tlpuzzles.device.cpu.expressions import Expressions
from tlpuzzles.device.cpu.regions import Region, Regions, Side
from tlpuzzles.device.cpu.threads import PRIVATE
from tlpuzzles.device.cpu.unsupported import Unsupported, refuse
from tlpuzzles.device.cpu.writer import Writer
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import TILE_OP

_HINTS = {
    *("coalesced_width", "parallel_loop_layout", "disable_tma", "eviction_policy", "prefer_instruction", "barrier"),
    *("leader_scope_threads", "tl.ws_op_id", "batch", "enable_fadd2", "memory_order", "use_tma", "k_pack", "wg_wait"),
    *("is_async_copy", "is_tma_copy", "is_wgmma", "nan_propagate"),
}
_REDUCTIONS = {
    **{
        "sum": ("Sum", False),
        "abssum": ("Sum", True),
        "max": ("Max", False),
        "absmax": ("Max", True),
        "min": ("Min", False),
    },
    **{"bitand": ("BitAnd", False), "bitor": ("BitOr", False), "bitxor": ("BitXor", False)},
}
_WITH_NAN = {"max": "NanMax", "absmax": "NanMax", "min": "NanMin"}


class TileOperations:
    def __init__(self, expressions: Expressions, writer: Writer) -> None:
        self._on = expressions
        self._writer = writer
        self._regions = Regions(expressions)
        self.printed: ir.Buffer | None = None
        """The tile that the next operation copies for T.print; None if it is an operation of the learner's own."""
        self._known: dict[str, Callable[[ir.Call], None]] = {
            "copy": self._copy,
            "async_copy": self._copy,
            "tma_copy": self._copy,
            "transpose": self._transpose,
            "fill": self._fill,
            "gemm": self._gemm,
            "wgmma_gemm": self._gemm,
            "reduce": self._reduce,
            "cumsum": self._scan,
            "cummax": self._scan,
            "atomicadd": self._update,
            "atomicmax": self._update,
            "atomicmin": self._update,
            "reducer_init": self._reducer_init,
            "finalize_reducer": self._finalize,
            "finalize_reducer_v2": self._finalize,
        }

    def emit(self, call: ir.Call) -> None:
        name = call.op.removeprefix(TILE_OP)
        if name not in self._known:
            raise refuse(call.op, self._on.scope.line)
        for key in call.annotations:
            if key not in _HINTS:
                raise self._refuse(call, f"its annotation {key} is not emulated")
        self._check_place(call)
        try:
            self._known[name](call)
        except (IndexError, ValueError) as error:
            raise self._refuse(call, f"its arguments are not ones that the CPU device knows ({error})") from None

    def _refuse(self, call: ir.Call, reason: str) -> Unsupported:
        return self._on.scope.unsupported(f"T.{call.op.removeprefix(TILE_OP)}", reason)

    def _check_place(self, call: ir.Call) -> None:
        scope = self._on.scope
        private = any(isinstance(n, ir.Buffer) and n.scope in PRIVATE for n in ir.walk(call))
        if scope.parallel or (scope.in_thread and not private):
            where = (
                "inside T.Parallel" if scope.parallel else "under a condition on the thread index, or with its value"
            )
            if self.printed is not None:
                first = ", ".join("0" for _ in self.printed.shape)
                raise scope.unsupported(
                    f"T.print of a whole tile {where.partition(',')[0]}",
                    "it copies the tile first, and all threads of a block must take part in that",
                    f"Print one element, T.print({self.printed.name}[{first}], ...), "
                    f"{'there' if scope.parallel else 'under this guard'}.",
                )
            raise scope.unsupported(
                f"T.{call.op.removeprefix(TILE_OP)} {where}",
                "all threads of a block work on a tile operation together",
                "Move it out.",
            )

    # Copies

    def _copy(self, call: ir.Call) -> None:
        source, target = map(self._regions.decode, call.args[:2])
        pairs = self._paired(call, source, target)
        base = self._base(source, target)
        self._move(source, target, pairs, [base.extents[s if base is source else t] for s, t in pairs])

    def _transpose(self, call: ir.Call) -> None:
        source, target = map(self._regions.decode, call.args[:2])
        rank = len(source.extents)
        if rank != len(target.extents) or rank < 2:
            raise self._refuse(call, "source and target differ in rank")
        swapped = {rank - 1: rank - 2, rank - 2: rank - 1}
        pairs = [(d, swapped.get(d, d)) for d in source.moving]
        self._move(source, target, pairs, [source.extents[s] for s, _ in pairs])

    @staticmethod
    def _base(source: Region, target: Region) -> Region:
        """The operand whose extents an operation runs over: the one nearer to the registers."""

        def level(region: Region) -> int:
            if region.buffer.scope in (ir.Scope.FRAGMENT.value, ir.Scope.LOCAL.value):
                return 2
            return 1 if region.buffer.scope.startswith("shared") else 0

        return source if level(source) >= level(target) else target

    def _paired(self, call: ir.Call, source: Region, target: Region) -> list[tuple[int, int]]:
        """Dimensions of source and target that move together: units aside, in order."""
        if len(source.moving) != len(target.moving):
            raise self._refuse(
                call,
                f"{source.buffer.name} and {target.buffer.name} differ in the number of dimensions that are not one",
            )
        return list(zip(source.moving, target.moving, strict=True))

    def _move(self, source: Region, target: Region, pairs: list[tuple[int, int]], extents: list[ir.Expr]) -> None:
        counts = [self._on.index(extent) for extent in extents]
        s = self._regions.side(source, {dim: count for (dim, _), count in zip(pairs, counts, strict=True)})
        t = self._regions.side(target, {dim: count for (_, dim), count in zip(pairs, counts, strict=True)})
        outside = self._on.outside(source.buffer, target.buffer.dtype)
        same = source.buffer.data is target.buffer.data
        function, tail = ("copy_within", ", reversed") if same else ("copy", "")
        with self._over(s, t, pairs, counts) as (axes, start):
            readable = s.condition(tuple(dim for dim, _ in pairs))
            self._writer.line(f"tile::{function}({s.data}, {t.data}, {start}, {axes}, {outside}, {readable}{tail});")

    @contextmanager
    def _over(
        self, source: Side | None, target: Side, pairs: Sequence[tuple[int | None, int]], counts: list[str]
    ) -> Iterator[tuple[str, str]]:
        """Declares the axes of an operation. Gives "axes, their number" and "source offset, target offset" in C++.

        What is written meanwhile happens only where the target's other dimensions are in range."""
        still = target.condition(tuple(dim for _, dim in pairs))
        with self._writer.block("" if still == "true" else f"if ({still})"):
            axes = [
                f"tile::axis({count}, {source.axis(s) if source else '{0, INT64_MAX, 0}'}, {target.axis(t)})"
                for (s, t), count in zip(pairs, counts, strict=True)
            ]
            self._writer.line(f"const tile::Axis axes[] = {{{', '.join(axes) or '{}'}}};")
            yield f"axes, {len(axes)}", f"{source.offset}, {target.offset}" if source else target.offset

    def _fill(self, call: ir.Call) -> None:
        target = self._regions.decode(call.args[0])
        t = self._regions.side(target)
        value = f"tile::cast<{self._on.cpp(target.buffer.dtype)}>({self._on.value(call.args[1])})"
        pairs: list[tuple[int | None, int]] = [(None, dim) for dim in target.moving]
        with self._over(None, t, pairs, [self._on.index(target.extents[dim]) for dim in target.moving]) as (
            axes,
            start,
        ):
            self._writer.line(f"tile::fill({t.data}, {start}, {axes}, {value});")

    def _update(self, call: ir.Call) -> None:
        op = {"atomicadd": "Sum", "atomicmax": "Max", "atomicmin": "Min"}[call.op.removeprefix(TILE_OP)]
        target = self._regions.decode(call.args[1])
        if not isinstance(call.args[0], ir.Call) or call.args[0].op != "tl.region":
            raise self._refuse(
                call,
                "it adds one number to a whole region, which TileLang does in one thread only",
            )
        source = self._regions.decode(call.args[0])
        pairs = self._paired(call, source, target)
        base = self._base(source, target)
        counts = [self._on.index(base.extents[s if base is source else t]) for s, t in pairs]
        s = self._regions.side(source, {dim: count for (dim, _), count in zip(pairs, counts, strict=True)})
        t = self._regions.side(target, {dim: count for (_, dim), count in zip(pairs, counts, strict=True)})
        with self._over(s, t, pairs, counts) as (axes, start):
            readable = s.condition(tuple(dim for dim, _ in pairs))
            self._writer.line(
                f"tile::update_all<tile::{op}>({s.data}, {t.data}, {start}, {axes}, {readable}, reversed);"
            )

    # Reductions and scans

    def _reduce(self, call: ir.Call) -> None:
        source, target = map(self._regions.decode, call.args[:2])
        kind, dim, clear = self._text(call.args[2]), self._constant(call.args[3]), bool(self._constant(call.args[4]))
        if kind not in _REDUCTIONS or not 0 <= dim < len(source.extents) or source.is_global or target.is_global:
            raise self._refuse(call, "it does not reduce a tile into a tile")
        op, absolute = _REDUCTIONS[kind]
        if call.annotations.get("nan_propagate"):
            op = _WITH_NAN.get(kind, op)
        kept = [d for d in range(len(source.extents)) if d != dim]
        if len(target.extents) == len(source.extents):
            pairs: list[tuple[int | None, int]] = [(d, d) for d in kept]
        elif len(target.extents) == len(kept) or not kept:
            pairs = [(d, n) for n, d in enumerate(kept)]
        else:
            raise self._refuse(call, "source and target do not fit together")
        counts = [self._on.index(source.extents[d]) for d in kept]
        s = self._regions.side(source)
        t = self._regions.side(target, {t: count for (_, t), count in zip(pairs, counts, strict=True)})
        length, stride = self._on.index(source.extents[dim]), s.strides[dim]
        flags = f"{length}, {stride}, {'true' if clear else 'false'}"
        with self._over(s, t, pairs, counts) as (axes, start):
            types = f"tile::{op}, {'true' if absolute else 'false'}"
            self._writer.line(f"tile::reduce<{types}>({s.data}, {t.data}, {start}, {axes}, {flags});")

    def _scan(self, call: ir.Call) -> None:
        source, target = map(self._regions.decode, call.args[:2])
        dim, from_end = self._constant(call.args[2]), bool(self._constant(call.args[3]))
        rank = len(source.extents)
        if not 0 <= dim < rank or len(target.extents) != rank or source.is_global or target.is_global:
            raise self._refuse(call, "it does not scan a tile into a tile of the same shape")
        op = "Sum" if call.op.endswith("cumsum") else "Max"
        kept: list[tuple[int | None, int]] = [(d, d) for d in range(rank) if d != dim]
        counts = [self._on.index(source.extents[d]) for _, d in kept]
        length = self._on.index(source.extents[dim])
        s = self._regions.side(source)
        t = self._regions.side(target, {dim: length, **{d: c for (_, d), c in zip(kept, counts, strict=True)}})
        flags = f"{length}, {s.strides[dim]}, {t.strides[dim]}, {'true' if from_end else 'false'}"
        with self._over(s, t, kept, counts) as (axes, start):
            self._writer.line(f"tile::scan<tile::{op}>({s.data}, {t.data}, {start}, {axes}, {flags});")

    def _reducer_init(self, call: ir.Call) -> None:
        target = self._regions.decode(call.args[0])
        op = self._on.scope.reducers.get(target.buffer.data, "Sum")
        dtype = self._on.cpp(target.buffer.dtype)
        value = (
            f"tile::cast<{dtype}>({self._on.value(call.args[1])})"
            if len(call.args) > 1
            else f"tile::{op}::identity<{dtype}>()"
        )
        t = self._regions.side(target)
        pairs: list[tuple[int | None, int]] = [(None, dim) for dim in target.moving]
        with self._over(None, t, pairs, [self._on.index(target.extents[dim]) for dim in target.moving]) as (
            axes,
            start,
        ):
            self._writer.line(f"tile::fill({t.data}, {start}, {axes}, {value});")

    def _finalize(self, call: ir.Call) -> None:
        # Contributions were combined one after the other as they came: the legacy form has nothing left to do.
        if call.op.endswith("_v2"):
            self._copy(call)

    # Matrix multiplication

    def _gemm(self, call: ir.Call) -> None:
        a, b, c = map(self._regions.decode, call.args[:3])
        transposed = [bool(self._constant(flag)) for flag in call.args[3:5]]
        m, n, k = (self._constant(size) for size in call.args[5:8])
        clear = self._on.value(call.args[9])
        for operand in (a, b, c):
            if operand.is_global:
                raise self._on.scope.unsupported(
                    f"T.gemm on {operand.buffer.name}",
                    "it is a tensor in global memory, and T.gemm takes tiles",
                    "Copy the operand to a shared tile first.",
                )
        for operand, rows, columns, name in (
            (a, *((k, m) if transposed[0] else (m, k)), "A"),
            (b, *((n, k) if transposed[1] else (k, n)), "B"),
            (c, m, n, "C"),
        ):
            extents = [e.value if isinstance(e, ir.IntImm) else -1 for e in operand.extents]
            if len(extents) < 2 or extents[-2:] != [rows, columns] or any(e != 1 for e in extents[:-2]):
                raise self._refuse(call, f"operand {name} is not a matrix of {rows} x {columns}")
        matrices = [
            self._matrix(a, transposed[0], True),
            self._matrix(b, transposed[1], True),
            self._matrix(c, False, False),
        ]
        padded = (n + 15) // 16 * 16
        wide = dtypes.wide(c.buffer.dtype)
        scratch = self._on.scope.scratch(wide, m * k + (k + m) * padded)
        self._writer.line(f"tile::gemm({', '.join(matrices)}, {m}, {n}, {k}, bool({clear}), {scratch});")

    def _matrix(self, region: Region, transposed: bool, constant: bool) -> str:
        side = self._regions.side(region)
        row, column = side.strides[-2:]
        if transposed:
            row, column = column, row
        dtype = self._on.cpp(region.buffer.dtype)
        return f"tile::Matrix<{'const ' if constant else ''}{dtype}>{{{side.data} + ({side.offset}), {row}, {column}}}"

    def _constant(self, expr: ir.Expr) -> int:
        if not isinstance(expr, ir.IntImm):
            raise ValueError("a number that is not constant")
        return expr.value

    def _text(self, expr: ir.Expr) -> str:
        if not isinstance(expr, ir.StringImm):
            raise ValueError("a name is missing")
        return expr.value
