"""In a child: how much shared memory the kernels in capsules ask for, by their IR. What it reads may be hostile."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tlpuzzles.grading.roles.lowering import NICENESS
from tlpuzzles.grading.stages import fetch
from tlpuzzles.kernel.capsule import CapsuleError, read
from tlpuzzles.kernel.cost import shared_bytes
from tlpuzzles.kernel.facts import Kernel

Emit = Callable[[dict[str, Any]], None]


def weigh(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: capsules (files). Emits "weighed" with the bytes of each that can be read."""
    os.nice(NICENESS)
    sys.setrecursionlimit(20_000)
    for file in job["capsules"]:
        try:
            kernel = Kernel(read(fetch(file)).func)
        except CapsuleError:
            continue
        emit({"kind": "weighed", "capsule": file, "bytes": shared_bytes(kernel)})
