"""What the process that times kernels tells the one that decides: data, and no judgement."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

KERNEL, BASELINE, AGAIN = "kernel", "baseline", "again"
"""Arms of a block: the learner's kernel, what it is graded beside, and the same baseline once more: how far those two
seem apart is what this machine's noise does. Further baselines go by their identifiers."""


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(_Model):
    """A median over blocks with its 95 % confidence interval."""

    value: Positive
    low: Positive
    high: Positive

    @model_validator(mode="after")
    def _is_within(self) -> Estimate:
        if not self.low <= self.value <= self.high:
            raise ValueError("a value outside its interval")
        return self

    @property
    def half_width(self) -> float:
        """Half of the interval, as a fraction of the value."""
        return (self.high - self.low) / (2 * self.value)


class Stopped(str, Enum):
    """Why no more blocks were measured."""

    NARROW = "narrow enough"
    DECIDED = "decided"
    """Beyond full marks, or below what passes, with the whole interval."""
    CAPPED = "capped"
    """The time or the blocks allowed were used up."""


class NotTimed(str, Enum):
    """Why a case has no measurement."""

    WRONG = "wrong"
    """The kernel does not compile for it, or its results are wrong there."""
    UNAVAILABLE = "unavailable"
    """The GPU, or this torch, has none of the baselines."""
    NO_MEMORY = "no memory"
    """There was not enough free memory on the GPU."""


class Measurement(_Model):
    """One timed case."""

    case: str
    baseline: str
    """Identifier of the baseline that was pinned."""
    milliseconds: Mapping[str, Positive]
    """Median time of a call, by arm."""
    ratio: Estimate
    """Time of the baseline over time of the kernel: above 1 the kernel is faster."""
    again: Estimate
    """The baseline over itself; 1 but for the machine's noise."""
    beside: Mapping[str, Estimate]
    """Further baselines over the kernel, by identifier."""
    blocks: int = Field(ge=1)
    rounds: int = Field(ge=1)
    """Each with new buffers and new contents."""
    stopped: Stopped

    @model_validator(mode="after")
    def _has_all_arms(self) -> Measurement:
        if not {KERNEL, BASELINE, AGAIN, *self.beside} <= self.milliseconds.keys():
            raise ValueError("an arm without a time")
        return self


class Gpu(_Model):
    """What the driver's management library (NVML) saw while one case was timed; None for what it does not tell."""

    sm_clock_mhz: tuple[int, int] | None = None
    """Lowest and highest clock of the multiprocessors that was seen."""
    throttled: tuple[str, ...] = ()
    """Reasons for which the clock was held down, in plain words: "power limit", "temperature"."""
    temperature: int | None = None
    """Degrees Celsius, the highest."""
    power_watts: float | None = None
    """The highest."""
    others: int | None = None
    """Processes of others that had the GPU open before or after."""
    busy: bool = False
    """Whether the GPU was computing for somebody else before the measurement began."""


class Limits(_Model):
    """What this GPU can do at best, as far as it was measured and as far as its maker says."""

    copy_gbps: Positive
    """GB/s (10^9 bytes, read and written) of a large copy in device memory, measured."""
    matrix_tflops: Positive
    """TFLOP/s of a large float16 product with sums in float32 by cuBLAS, measured."""
    peak_gbps: Positive | None = None
    """Of the memory by its clock and width; nothing can be faster."""
    peak_tflops: Positive | None = None
    """Of the tensor cores by their number and highest clock (float16, sums in float32, dense)."""


class Compiled(_Model):
    """What the compiler made of a kernel; None for what could not be found out."""

    registers: int | None = None
    """Of a thread."""
    spill_bytes: int | None = None
    """Local memory of a thread, where registers are spilled to."""
    shared_bytes: int | None = None
    """Of a block, static and dynamic."""
    threads: int | None = None
    """Of a block, those included that TileLang adds."""
    blocks_per_sm: int | None = None
    """That a multiprocessor holds at once."""
    instructions: tuple[str, ...] = ()
    """Those that the source uses, and ways to use them: values of `features.Feature`."""
