"""Pairs of versions that are known not to work, and what failed imports of torch and TileLang are known to mean.

Each row names the public report it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tlpuzzles.doctor.seen import Version, parse

TILELANG = "0.1.15"
"""The release whose IR this grader reads; pyproject.toml pins the same."""
TORCH_AT_LEAST: Version = (2, 4)
REINSTALL = f'pip install --force-reinstall "tilelang=={TILELANG}"'


@dataclass(frozen=True)
class Range:
    """A companion of TileLang, and the versions that TileLang 0.1.15 works with: from `low`, below `high`."""

    distribution: str
    low: Version
    high: Version
    symptom: str
    report: str


COMPANIONS = (
    Range(
        "apache-tvm-ffi", (0, 1, 11), (0, 1, 13),
        "importing tilelang ends the process (\"__ffi_repr__ is already registered\") or objects are misread",
        "tile-ai/tilelang#2367, apache/tvm#20094",
    ),
    Range("z3-solver", (4, 13, 0), (4, 15, 5), "importing tilelang does not find libz3", "tile-ai/tilelang#3075"),
)  # fmt: skip


def bad_companions(installed: Mapping[str, str]) -> list[Range]:
    """The companions whose installed version TileLang does not work with."""
    return [
        companion
        for companion in COMPANIONS
        if (version := installed.get(companion.distribution)) is not None
        and not companion.low <= parse(version) < companion.high
    ]


@dataclass(frozen=True)
class Meaning:
    """What a failed import is known to mean."""

    pattern: str
    says: str
    fix: str


MEANINGS = (
    # tile-ai/tilelang#2367
    Meaning(r"__ffi_repr__", "apache-tvm-ffi and tilelang do not fit together", REINSTALL),
    # state-spaces/mamba#986, kvcache-ai/ktransformers#2045
    Meaning(
        r"_NestedLoopCheckVisitor|attribute '__dict__' of 'type' objects",
        "apache-tvm-ffi is too new for this tilelang",
        REINSTALL,
    ),
    # tile-ai/tilelang#1586
    Meaning(
        r"lib(nvrtc|cudart)\.so\.\d+: cannot open",
        "it was built for another major release of CUDA than the one that is installed",
        REINSTALL,
    ),
    # tile-ai/tilelang#1107
    Meaning(
        r"cudaGetDriverEntryPointByVersion",
        "two CUDA runtimes met in one process",
        "Import torch before tilelang, and unset LD_LIBRARY_PATH if it names another CUDA.",
    ),
    # tile-ai/tilelang#2314
    Meaning(
        r"cudaDeviceReset",
        "another package (flashinfer does) picked up TileLang's stand-in for the CUDA runtime",
        "Import that package first, or uninstall it here.",
    ),
    # tile-ai/tilelang#1193
    Meaning(
        r"ModuleNodeE",
        "another TVM is loaded in place of TileLang's own",
        "pip uninstall apache-tvm, and unset TVM_HOME and PYTHONPATH if they name one.",
    ),
    # tile-ai/tilelang#1826
    Meaning(
        r"cudart symbols not found",
        "PyTorch is a CPU build, but TileLang found a GPU driver",
        "Install a CUDA build of PyTorch.",
    ),
    # tile-ai/tilelang#3075
    Meaning(r"z3", "the solver z3 does not load", REINSTALL),
    Meaning(r"No module named '(torch|tilelang)'", "it is not installed", f'pip install "tilelang=={TILELANG}" torch'),
)


def meaning(message: str) -> Meaning | None:
    """What is known about a failed import with this message."""
    return next((known for known in MEANINGS if re.search(known.pattern, message)), None)
