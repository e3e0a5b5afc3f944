"""What a list of configurations for TileLang's autotuner must be like: the function checks of exercise 7.

The list is asked for with every call's sizes, by the names M, N and K, as the autotuner does it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Json, Of, shown
from tlpuzzles.course.legality import smem_bytes, why_refused
from tlpuzzles.course.tuning_configs import MOST, kind, listed, malformed, not_taken
from tlpuzzles.device.limits import ARCHITECTURES, Architecture, architecture

Config = Mapping[str, Any]

FEWEST = 4
VARIED = 3
"""Tunables that must take more than one value in a list."""


def function_checks(function: str, tuned: str) -> tuple[FunctionCheck, ...]:
    """The checks of the function that lists configurations and of the factory that is tuned with them."""

    def ask(sizes: Mapping[str, int], arch: str | None = None) -> Call:
        return Call(function, sizes, arch=arch)

    def spaces(rng: random.Random) -> list[Call]:
        large, small = _large(rng), _small(rng)
        return [
            ask(large),
            ask(large),
            Call(tuned, large, of=Of.TUNING_SPACE),
            ask(small),
            Call(tuned, small, of=Of.TUNING_SPACE),
        ]

    return (
        FunctionCheck(
            "configs-form",
            f"{function} returns a list of dicts, each with the five tunables",
            lambda rng: [Call(function, sizes, beside=tuned) for sizes in (_large(rng), _small(rng))],
            _each(lambda call, value: _form(call, value, tuned)),
        ),
        FunctionCheck(
            "configs-count",
            f"{FEWEST} to {MOST} configs, none twice",
            lambda rng: [ask(_large(rng))],
            _readable(_each(_count)),
        ),
        FunctionCheck(
            "configs-vary",
            f"the configs differ in {VARIED} tunables or more",
            lambda rng: [ask(_large(rng))],
            _readable(_each(_variety)),
        ),
        FunctionCheck(
            "configs-legal",
            "on each of the four GPUs, lists only what runs there",
            lambda rng: [ask(sizes, gpu.name) for sizes in [_large(rng)] for gpu in ARCHITECTURES],
            _readable(_legal),
        ),
        FunctionCheck(
            "configs-small-problem",
            "has a tile for a small problem that is not mostly empty",
            lambda rng: [ask(_small(rng))],
            _readable(_each(_small_tiles)),
        ),
        FunctionCheck(
            "tuning-space",
            f"autotune tries what {function} returns, each time the same",
            spaces,
            _space,
        ),
    )


def _large(rng: random.Random) -> dict[str, int]:
    M, N, K = rng.sample([256 * n for n in range(6, 20)], 3)
    return {"M": M, "N": N, "K": K}


def _small(rng: random.Random) -> dict[str, int]:
    """A tile of 64 x 128 is less than half empty."""
    return {"M": rng.randint(34, 63), "N": rng.randint(66, 120), "K": rng.randint(520, 1000)}


_Judge = Callable[[Sequence[Call], Sequence[Answer]], "Fault | None"]


def _each(judge: Callable[[Call, Any], Fault | None]) -> _Judge:
    """Judges every answer; the first fault counts."""

    def judged(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
        faults = (judge(call, answer.value) for call, answer in zip(calls, answers, strict=True))
        return next((fault for fault in faults if fault is not None), None)

    return judged


def _readable(judge: _Judge) -> _Judge:
    """Judges lists that can be read; of others, `_form` says what is wrong with them."""

    def judged(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
        found = [(call, _unreadable(answer.value)) for call, answer in zip(calls, answers, strict=True)]
        for call, what in found:
            if what is not None:
                # In the same words for every check, if all lists are bad: a report then says it once.
                some = call.arch is not None and any(other is None for _, other in found)
                where = f", asked for {a_gpu(_gpu(call))}," if some else ""
                return Fault(f"The list{where} cannot be judged yet. {what[0]}", what[1], 2)
        return judge(calls, answers)

    return judged


def _form(call: Call, told: Any, tuned: str) -> Fault | None:
    value = told["value"]
    what = _unreadable(value)
    if what is not None:
        return Fault(f"What {shown(call)} returned cannot be tuned. {what[0]}", what[1], 2)
    return _no_parameter(value, told["parameters"], tuned)


def _no_parameter(configs: Any, parameters: Sequence[str] | None, tuned: str) -> Fault | None:
    """Whether all keys are parameters of the factory, which is what gets them."""
    for number, config in enumerate(configs):
        unknown = not_taken(config, parameters)
        if unknown:
            such = "no such parameter: add it there, or leave it out here"
            if len(unknown) > 1:
                such = "no such parameters: add them there, or leave them out here"
            return Fault(f"Config {number} sets {listed(unknown)}, but {tuned} has {such}.", "no-parameter", 2)
    return None


def _unreadable(value: Json) -> tuple[str, str] | None:
    """Why a list of configs cannot be used, for the learner, and the name of the mistake; None if it can."""
    if not isinstance(value, list):
        ending = " Does the function end in `return`?" if value is None else ""
        return f"It is {kind(value)}, and must be a list with a dict for each config.{ending}", "not-a-list"
    if not value:
        return (
            'It is an empty list: there is nothing to try, and the autotuner raises "No configurations to tune".',
            "nothing-to-try",
        )
    for number, config in enumerate(value):
        what = malformed(config)
        if what is not None:
            reason, mistake = what
            return f"Config {number} is {_cut(config)}. {reason}", mistake
    return None


def _count(call: Call, configs: Any) -> Fault | None:
    asked = shown(call)
    for number, config in enumerate(configs):
        if config in configs[:number]:
            return Fault(
                f"{asked} lists {_cut(config)} twice, as config {configs.index(config)} and as config {number}. It "
                "would be compiled and timed twice. Add a config only if it is not in the list yet.",
                "listed-twice",
                2,
            )
    if len(configs) == 1:
        return Fault(
            f"{asked} returned a single config: there is nothing to choose from. Return {FEWEST} to {MOST}.",
            "one-config",
            1,
        )
    if len(configs) < FEWEST:
        return Fault(f"{asked} returned {len(configs)} configs. Return {FEWEST} to {MOST}.", "too-few", 1)
    if len(configs) > MOST:
        return Fault(
            f"{asked} returned {len(configs)} configs, more than {MOST}. Each of them costs a compilation of 2 to 4 "
            "seconds, on Colab more. Keep those that you have a reason for.",
            "too-many",
            2,
        )
    return None


def _variety(call: Call, configs: Any) -> Fault | None:
    # By repr: True is not 1 here, and what is no tunable of the skeleton may be anything.
    values = {name: {repr(config.get(name)) for config in configs} for config in configs for name in config}
    varied = [name for name, found in values.items() if len(found) > 1]
    if len(varied) >= VARIED:
        return None
    what = f"differ in {listed(varied)} only" if varied else "are all the same"
    return Fault(
        f"The configs of {shown(call)} {what}. Let at least {VARIED} tunables take more than one value: which of "
        "them decides is what you want to find out.",
        "too-alike",
        1,
    )


def _legal(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    asked = [(call, _gpu(call), answer.value) for call, answer in zip(calls, answers, strict=True)]
    refused = [(call, gpu, config) for call, gpu, configs in asked for config in configs if why_refused(config, gpu)]
    if not refused:
        return None
    call, gpu, config = refused[0]
    of = next(configs for _, one, configs in asked if one is gpu)
    count = sum(1 for _, one, _ in refused if one is gpu)
    message = (
        f"Asked for {a_gpu(gpu)}, {shown(call)} proposes {_cut(config)}, which cannot run there: "
        f"{why_refused(config, gpu)}. {count} of its {len(of)} configs cannot."
    )
    if _bytes(config) <= gpu.shared_bytes:
        return Fault(message, "no-warp-partition", 2)
    pairs = [(one, gpu) for _, gpu, configs in asked for one in configs]
    if all(configs == of for _, _, configs in asked) and len({one.name for _, one, _ in refused}) < len(ARCHITECTURES):
        return Fault(
            f"{message} The list is the same on every GPU. Count the tiles of all stages and compare with "
            "smem_limit(), or stay within 64 KiB, which every GPU has.",
            "one-list-for-all",
            2,
        )
    if all(_bytes(one) <= 2 * gpu.shared_bytes for one, gpu in pairs):
        return Fault(
            f"{message} As numbers they would fit; each of them takes 2 bytes. Did you count bytes?",
            "bytes-forgotten",
            2,
        )
    if all(_bytes(one) <= gpu.shared_bytes * max(one["num_stages"], 1) for one, gpu in pairs):
        return Fault(
            f"{message} One stage would fit. Each stage has its own tile of A and of B: multiply by num_stages.",
            "stages-forgotten",
            2,
        )
    return Fault(f"{message} Leave out what asks for more than smem_limit().", "over-the-limit", 2)


def _small_tiles(call: Call, configs: Any) -> Fault | None:
    sizes: Mapping[str, Any] = call.arguments
    M, N = sizes["M"], sizes["N"]
    if any(config["block_M"] < 2 * M and config["block_N"] < 2 * N for config in configs):
        return None
    best = min(configs, key=lambda config: config["block_M"] * config["block_N"])
    return Fault(
        f"C has only {M} x {N} elements in {shown(call)}. Its smallest tile, {best['block_M']} x {best['block_N']}, is "
        "more than half empty along M or N, and an empty half is computed all the same. Propose a tile with block_M "
        f"below {2 * M} and block_N below {2 * N}, too.",
        "tiles-too-large",
        2,
    )


def _space(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    large, again, space, small, space_small = (answer.value for answer in answers)
    tuned = calls[2].function
    if not space["autotuned"]:
        has = "@tilelang.jit, but no" if space["decorated"] else "neither @tilelang.jit nor"
        return Fault(
            f"{tuned} has {has} @tilelang.autotune above it. Write @tilelang.autotune(configs={calls[0].function}) "
            "above @tilelang.jit.",
            "not-autotuned",
            3,
        )
    tried, tried_small = space["configs"], space_small["configs"]
    if large != again:
        return Fault(
            f"Two calls of {shown(calls[0])} gave different lists. The list is part of the key under which the winner "
            "is kept: return the same one each time, or no second run finds it.",
            "not-the-same-twice",
            2,
        )
    if tried == large and tried_small == small:
        return None
    if tried == tried_small and large != small:
        return Fault(
            f"autotune would try the same configs for {_sizes(calls[2])} and for {_sizes(calls[4])}, while "
            f"{calls[0].function} returns others. Was it called when the file was loaded? Give autotune the function, "
            f"configs={calls[0].function}, without parentheses: it is then called with the sizes at hand.",
            "called-at-import",
            3,
        )
    call, expected, found = (calls[0], large, tried) if tried != large else (calls[3], small, tried_small)
    return Fault(
        f"{shown(call)} returned {_number(expected)}, and autotune would try another list, {_number(found)}. Give it "
        f"the function: configs={call.function}.",
        "another-space",
        3,
    )


def _bytes(config: Config) -> int:
    return smem_bytes(config["block_M"], config["block_N"], config["block_K"], config["num_stages"])


def a_gpu(gpu: Architecture) -> str:
    """GPUs of the architecture in a sentence: "a T4", "an H100 or H200"."""
    return f"{'an' if gpu.gpus[0] in 'AHL' else 'a'} {gpu.gpus.replace(' and ', ' or ')}"


def _gpu(call: Call) -> Architecture:
    gpu = architecture(call.arch or "")
    if gpu is None:
        raise ValueError(f"no architecture is called {call.arch!r}")
    return gpu


def _sizes(call: Call) -> str:
    return ", ".join(f"{name} = {size}" for name, size in call.arguments.items())


def _number(value: Json) -> str:
    return f"{len(value)} configs" if isinstance(value, list) else kind(value)


def _cut(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
