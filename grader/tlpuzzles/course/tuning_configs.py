"""Reading one configuration of a tuning space: a dict with values for the tunables of exercise 7's factory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tlpuzzles.course.functions import Answer, Json

TUNABLES = ("block_M", "block_N", "block_K", "num_stages", "threads")
"""What every configuration gives a value for."""
MOST = 24
"""Configurations of a list."""

_RESULTS = ("dtype", "accum_dtype")
_SIZES = ("M", "N", "K")


def configs_of(answer: Answer) -> list[dict[str, Any]]:
    """The configurations in an answer that a kernel can be traced with, none twice, `MOST` at most.

    The answer tells the parameters of the factory, too (`Call.beside`)."""
    found: list[dict[str, Any]] = []
    told = answer.value if isinstance(answer.value, dict) else {}  # a forged answer may be anything
    value, parameters = told.get("value"), told.get("parameters")
    if not isinstance(parameters, list):
        parameters = None
    for config in value[: 8 * MOST] if isinstance(value, list) else ():
        if malformed(config) is None and not not_taken(config, parameters) and config not in found:
            found.append(config)
    return found[:MOST]


def not_taken(config: Mapping[str, Json], parameters: Sequence[str] | None) -> list[str]:
    """The keys of a config that are none of the factory's parameters; None: it takes any."""
    return [] if parameters is None else [name for name in config if name not in parameters]


def malformed(config: Json) -> tuple[str, str] | None:
    """Why a config cannot be used, for the learner, and the name of the mistake; None if it can."""
    if not isinstance(config, dict):
        return (
            f"It is {kind(config)} and must be a dict that names the parameters, like "
            '{"block_M": 128, ...}: the autotuner passes them by name.',
            "tuples-not-dicts" if isinstance(config, list) else "not-dicts",
        )
    for name in config:
        if name in _RESULTS:
            return (
                f"It sets {name}, which changes the result and not only the time. The autotuner compares no results: "
                "a wrong kernel that is fast would win. Leave it out.",
                "changes-the-result",
            )
        if name in _SIZES:
            return (
                f"It sets {name}, which is part of the problem and no tunable. Leave it out: the sizes come from the "
                "call that is tuned.",
                "sizes-in-config",
            )
        if name == "pass_configs":
            return (
                "It sets pass_configs, which are not graded config by config. Give them to @tilelang.jit.",
                "pass-configs-in-config",
            )
    missing = [name for name in TUNABLES if name not in config]
    unknown = [name for name in config if name not in TUNABLES]
    if missing and unknown:
        return (
            f"It has {listed(unknown)}, and {listed(missing)} {'is' if len(missing) == 1 else 'are'} missing. A key "
            'must be a parameter of the factory, or the autotuner raises "Unused keys in config".',
            "unknown-key",
        )
    if missing:
        return f"It lacks {listed(missing)}: give all five, so that a config says all about its kernel.", "missing-key"
    for name in TUNABLES:
        number, least = config[name], 0 if name == "num_stages" else 1
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            return f"{name} must be a whole number from {least} up, not {number!r}.", "not-a-number"
    return None


def kind(value: Json) -> str:
    """How a value is named in a sentence."""
    if isinstance(value, (list, dict)):
        return "a tuple or a list" if isinstance(value, list) else "a dict"
    return repr(value)[:60]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, as in: block_M, block_N and threads."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
