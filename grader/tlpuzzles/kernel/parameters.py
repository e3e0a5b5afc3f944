"""Which of an exercise's tensors each parameter of a kernel is, and whether it has the right shape and dtype.

The grader knows parameters by their position alone: the inputs in the order of the exercise, the output where `out_idx`
puts it, or last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tlpuzzles.course.vocabulary import Case, Exercise, Sizes, TensorSpec
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.findings import Finding, Kind, Severity, listed
from tlpuzzles.kernel.values import Interval, constant

EAGER_OUTPUTS = "tilelang_out_idx"
"""Attribute in which an eager-style kernel names the tensors it returns."""


@dataclass(frozen=True)
class Parameters:
    """A kernel's parameters as the exercise knows them."""

    names: tuple[str, ...]
    """The exercise's tensor at each position."""
    buffers: Mapping[str, ir.Buffer]
    """The kernel's buffer for each of them."""
    output: str
    """Which of them is the result."""
    sizes: dict[ir.Var, Interval] = field(default_factory=dict)
    """What the sizes are that the kernel leaves open (`T.dynamic`)."""


class MismatchError(Exception):
    """The kernel's parameters are not those of the exercise; the message says so to the learner."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def match(
    func: ir.PrimFunc, exercise: Exercise, case: Case, sizes: Sizes, out_idx: int | Sequence[int] | None
) -> Parameters:
    """Raises MismatchError unless the parameters are the exercise's tensors in the sizes and dtype of the case."""
    buffers = _buffers(func, exercise)
    position = _output_position(func, exercise, out_idx, len(buffers))
    inputs = [spec.name for spec in exercise.inputs]
    names = (*inputs[:position], exercise.output.name, *inputs[position:])
    found = Parameters(names, dict(zip(names, buffers, strict=True)), exercise.output.name)
    for spec in (*exercise.inputs, exercise.output):
        _check(spec, found.buffers[spec.name], case, sizes, found)
    return found


def refusal(mismatch: MismatchError) -> Finding:
    """The finding that a mismatch is."""
    return Finding(Kind.PARAMETERS, Severity.REFUSED, str(mismatch), mismatch.line)


def _buffers(func: ir.PrimFunc, exercise: Exercise) -> list[ir.Buffer]:
    buffers: list[ir.Buffer] = []
    for argument in func.arguments:
        if isinstance(argument, ir.Var):
            what = "a pointer" if argument.dtype == "handle" else f"one number ({argument.dtype})"
            raise MismatchError(
                f"The kernel's parameter {argument.name} is {what}; the grader passes tensors only. "
                f"Give sizes to {exercise.factory} and use them inside the kernel.",
                func.line,
            )
        buffers.append(argument)
    expected = [spec.name for spec in exercise.inputs]
    if len(buffers) != len(expected) + 1:
        has = f"{len(buffers)} ({listed([buffer.name for buffer in buffers])})" if buffers else "none"
        raise MismatchError(
            f"The kernel takes {_tensors(len(expected) + 1)}: {listed(expected)} to read and {exercise.output.name} to "
            f"write. Yours has {has}.",
            func.line,
        )
    return buffers


def _tensors(count: int) -> str:
    return "one tensor" if count == 1 else f"{count} tensors"


def _output_position(func: ir.PrimFunc, exercise: Exercise, out_idx: int | Sequence[int] | None, count: int) -> int:
    declared = _declared(func, out_idx)
    if not declared:
        return count - 1
    shown = f"out_idx={declared}"
    if not all(type(item) is int for item in declared):
        raise MismatchError(f"{shown[:60]} must be whole numbers: positions among the kernel's parameters.", func.line)
    if len(declared) > 1:
        raise MismatchError(
            f"{shown} makes the kernel return {len(declared)} tensors; this exercise wants {exercise.output.name} "
            "alone. With the result as the last parameter write out_idx=[-1].",
            func.line,
        )
    if not -count <= declared[0] < count:
        raise MismatchError(
            f"{shown} names no parameter: the kernel has {_tensors(count)}, numbered 0 to {count - 1}. "
            "With the result as the last one write out_idx=[-1].",
            func.line,
        )
    return declared[0] % count


def _declared(func: ir.PrimFunc, out_idx: int | Sequence[int] | None) -> list[int]:
    """Positions of the outputs as the learner gave them, else as an eager-style kernel names them itself."""
    if isinstance(out_idx, int):
        return [out_idx]
    if out_idx is not None:
        return list(out_idx)
    eager = func.attrs.get(EAGER_OUTPUTS)
    return [item.value for item in eager if isinstance(item, ir.IntImm)] if isinstance(eager, list) else []


def _check(spec: TensorSpec, buffer: ir.Buffer, case: Case, sizes: Sizes, found: Parameters) -> None:
    verb = "returns" if spec.name == found.output else "takes"
    name = buffer.name if buffer.name == spec.name else f"{buffer.name} (the exercise's {spec.name})"
    if buffer.scope != ir.Scope.GLOBAL:
        raise MismatchError(f"The kernel {verb} {name} in {buffer.scope} memory and not in global memory.", buffer.line)
    _check_shape(spec, buffer, sizes, found, f"The kernel {verb} {name}")
    if buffer.dtype != case.dtype:
        raise MismatchError(
            f"The kernel {verb} {name} as {buffer.dtype}; in this case it is {case.dtype}. "
            "Use the factory's dtype argument for every tensor parameter.",
            buffer.line,
        )
    _check_dense(buffer, found, f"The kernel {verb} {name}")


def _check_shape(spec: TensorSpec, buffer: ir.Buffer, sizes: Sizes, found: Parameters, start: str) -> None:
    expected = spec.sizes(sizes)
    if len(buffer.shape) != len(expected):
        raise MismatchError(
            f"{start} with {_dimensions(len(buffer.shape))}; expected {_dimensions(len(expected))}, "
            f"({', '.join(spec.shape)}).",
            buffer.line,
        )
    for extent, size in zip(buffer.shape, expected, strict=True):
        if isinstance(extent, ir.Var):
            found.sizes.setdefault(extent, Interval(size, size))
    actual = [constant(extent, found.sizes) for extent in buffer.shape]
    if actual == list(expected):
        return
    names = _symbols(sizes)
    symbols = [names.get(extent, str(extent)) if extent is not None else "?" for extent in actual]
    numbers = [str(extent) if extent is not None else "?" for extent in actual]
    wanted = _shape(list(spec.shape), [str(size) for size in expected])
    raise MismatchError(f"{start} with shape {_shape(symbols, numbers)}; expected {wanted}.", buffer.line)


def _dimensions(count: int) -> str:
    return "one dimension" if count == 1 else f"{count} dimensions"


def _symbols(sizes: Sizes) -> dict[int, str]:
    """The names of sizes by their numbers, where a number has but one name."""
    numbers = list(sizes.values())
    return {number: name for name, number in sizes.items() if numbers.count(number) == 1}


def _shape(symbols: list[str], numbers: list[str]) -> str:
    written, plain = _tuple(symbols), _tuple(numbers)
    return plain if written == plain else f"{written} = {plain}"


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _check_dense(buffer: ir.Buffer, found: Parameters, start: str) -> None:
    offset = 0 if buffer.elem_offset is None else constant(buffer.elem_offset, found.sizes)
    step, dense = 1, True
    for extent, stride in zip(reversed(buffer.shape), reversed(buffer.strides), strict=True) if buffer.strides else ():
        size = constant(extent, found.sizes)
        dense = dense and size is not None and (size == 1 or constant(stride, found.sizes) == step)
        step *= size or 1
    if not dense or offset != 0:
        raise MismatchError(
            f"{start} with strides of its own; the grader passes tensors without gaps. Declare it with T.Tensor.",
            buffer.line,
        )
