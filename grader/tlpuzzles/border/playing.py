"""Objects that play a recording for a learner's function: what it must use is real in form, and recorded in content."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from tlpuzzles.border.learners_file import NotAKernel

RAISED = (RuntimeError, ValueError, TypeError, AssertionError)
"""What TileLang raises for a schedule that it cannot compile is of many types."""


class NotMeasured(KeyError):
    """`measure` was called with something that is not one of the schedules."""

    def __str__(self) -> str:
        return str(self.args[0])


def build(value: Any, uses: list[Any]) -> Any:
    """The argument that a call's JSON stands for. What a function does with it is appended to `uses`."""
    if not isinstance(value, dict) or "stand_in" not in value:
        return value
    if value["stand_in"] == "measure":
        return _measure(value["times"], uses)
    if value["stand_in"] == "kernel":
        return PlayedKernel(value, uses)
    return _live(value)


def _measure(times: list[Any], uses: list[Any]) -> Callable[[Any], float]:
    def measure(schedule: Any) -> float:
        """Milliseconds that the schedule takes, NaN if the times were no numbers; raises if it does not compile."""
        if not isinstance(schedule, dict):
            raise TypeError(f"measure takes one schedule, a dict, and was given {type(schedule).__name__}")
        uses.append(dict(schedule))
        for number, (known, time) in enumerate(times):
            if known == schedule:
                if time is None:
                    raise RAISED[number % len(RAISED)]("Compilation failed for this schedule")
                return float(time)
        raise NotMeasured(f"measure was given a schedule that is not in the list: {schedule}")

    return measure


class PlayedKernel:
    """Has the methods of a compiled kernel that read its sources and measure it."""

    def __init__(self, recorded: dict[str, Any], uses: list[Any]) -> None:
        self._recorded = recorded
        self._uses = uses

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotAKernel(
            "The function is given a recorded kernel, which cannot be launched here: for its time, ask "
            "kernel.get_profiler()."
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"The function is given a recorded kernel, which has no {name} here. It has get_kernel_source(), "
            "get_host_source() and get_profiler()."
        )

    def get_kernel_source(self, kernel_only: bool = True) -> str:
        """The generated CUDA source."""
        self._uses.append("get_kernel_source")
        return str(self._recorded["device_source"])

    def get_host_source(self) -> str:
        """The generated launch wrapper in C."""
        self._uses.append("get_host_source")
        return str(self._recorded["host_source"])

    def get_profiler(self, tensor_supply_type: Any = None) -> PlayedProfiler:
        """Something that measures the kernel."""
        self._uses.append("get_profiler")
        return PlayedProfiler(float(self._recorded["milliseconds"]), self._uses)


class PlayedProfiler:
    """Takes the options of TileLang 0.1.15's profiler, and always measures the same."""

    def __init__(self, milliseconds: float, uses: list[Any]) -> None:
        self._milliseconds = milliseconds
        self._uses = uses

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"The profiler of a recorded kernel has no {name} here. It has do_bench().")

    def do_bench(self, func: Any = None, *_: Any, **__: Any) -> float:
        """Milliseconds of one launch."""
        self._uses.append("do_bench")
        return self._milliseconds


def _live(value: dict[str, Any]) -> Any:
    """Compiles the kernel of a file of ours, for the GPU at hand."""
    scope: dict[str, Any] = {}
    path, text = str(value["path"]), str(value["source"])
    # TileLang reads a kernel's source text through this cache.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec", dont_inherit=True), scope)
    return scope[value["factory"]](**value["arguments"])
