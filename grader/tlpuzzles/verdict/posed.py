"""A case posed with sizes and a seed: the inputs and the expectation that follow, and outputs read from files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Case, Exercise, Sizes, Tolerance
from tlpuzzles.verdict.compare import torch_dtype
from tlpuzzles.verdict.poison import WIDTH

if TYPE_CHECKING:
    import torch


class WrongSizeError(Exception):
    """A file does not hold as many bytes as the output has."""


def generator_seed(seed: int, case: str, tensor: str) -> int:
    """The seed of one tensor's generator, below 2**63: each tensor has its own, so that none repeats another."""
    digest = hashlib.sha256(f"{seed}/{case}/{tensor}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


@dataclass(frozen=True)
class Posed:
    """What follows from the seed is computed when it is first asked for."""

    exercise: Exercise
    case: Case
    sizes: Sizes
    seed: int

    @cached_property
    def inputs(self) -> dict[str, torch.Tensor]:
        """C-contiguous, in the case's dtype, in the order of the contract. Depends on the seed, the case's id and the
        tensor's name alone. Raises ValueError if the exercise draws another shape, NaN, or values too large for the
        dtype; an infinity that is drawn on purpose stays one."""
        import torch

        drawn = {}
        draw = self.case.draw or self.exercise.draw
        for spec in self.exercise.inputs:
            generator = torch.Generator().manual_seed(generator_seed(self.seed, self.case.id, spec.name))
            shape = spec.sizes(self.sizes)
            values = draw(generator, shape, spec.name)
            tensor = values.to(torch_dtype(self.case.dtype)).contiguous()
            if tuple(tensor.shape) != shape:
                raise ValueError(f"case {self.case.id} draws {spec.name} as {tuple(tensor.shape)}, not {shape}")
            if bool((tensor.isnan() | (tensor.isinf() & values.isfinite())).any()):
                raise ValueError(f"case {self.case.id} draws values of {spec.name} that {self.case.dtype} cannot hold")
            drawn[spec.name] = tensor
        return drawn

    @cached_property
    def exact_inputs(self) -> dict[str, torch.Tensor]:
        """The same values as float64."""
        return {name: tensor.double() for name, tensor in self.inputs.items()}

    @cached_property
    def expected(self) -> torch.Tensor:
        """float64. Raises ValueError if the exercise's reference gives another shape or dtype."""
        import torch

        expected = self.exercise.reference(self.exact_inputs, self.sizes, self.case.flags)
        if expected.dtype is not torch.float64 or tuple(expected.shape) != self.shape:
            raise ValueError(f"the reference gives {expected.dtype} {tuple(expected.shape)}, not float64 {self.shape}")
        return expected.contiguous()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the output."""
        return self.exercise.output.sizes(self.sizes)

    @property
    def tolerance(self) -> Tolerance:
        return self.exercise.tolerance[self.case.dtype]

    def library(self) -> torch.Tensor | None:
        """The output as a library computes it in the case's dtype."""
        if self.exercise.library is None:
            return None
        return self.exercise.library(self.inputs, self.sizes, self.case.flags)

    def read(self, file: Path) -> torch.Tensor:
        """An output from its raw bytes, in the case's dtype. Raises WrongSizeError."""
        import torch

        dtype, data = self.case.dtype, bytearray(file.read_bytes())
        if len(data) != prod(self.shape) * WIDTH[dtype]:
            raise WrongSizeError(f"{len(data)} bytes of output, not {prod(self.shape) * WIDTH[dtype]}")
        return torch.frombuffer(data, dtype=torch_dtype(dtype)).reshape(self.shape)


def raw(tensor: torch.Tensor) -> bytes:
    """The bytes of a contiguous tensor, little-endian."""
    import torch

    data: bytes = tensor.contiguous().view(torch.uint8).numpy().tobytes()
    return data
