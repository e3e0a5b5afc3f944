"""Which devices a check is made on."""

from __future__ import annotations

from enum import Enum


class Runs(Enum):
    """Which devices a check is made on. What a CPU cannot show still has a GPU to probe."""

    ANYWHERE = "anywhere"
    ON_CUDA = "on cuda"
