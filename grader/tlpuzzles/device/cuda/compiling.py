"""Compiles kernels for the GPU at hand, several at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import tilelang

from tlpuzzles.catalogue.explanation import Explanation
from tlpuzzles.device.cuda.explain import explain
from tlpuzzles.device.cuda.load import LoadError, load
from tlpuzzles.device.cuda.quiet import captured
from tlpuzzles.device.cuda.side_by_side import at_once
from tlpuzzles.kernel.capsule import Document, digest

BEAT = 5.0
"""Seconds after which it is said that there is still something to wait for: silence would be taken for a hang."""

_DIGEST = "tlpuzzles.digest"

Emit = Callable[[dict[str, Any]], None]
"""Receives one message, as soon as there is one: what was told before a process dies tells where it died."""


@dataclass(frozen=True)
class Source:
    """A kernel to compile."""

    document: Document
    pass_configs: Mapping[str, object]


@dataclass(frozen=True)
class Compiled:
    """A kernel that can be called with its tensors, outputs included, in the order of its parameters."""

    call: Callable[..., None]
    seconds: float


def compile_kernels(
    sources: Mapping[str, Source], arch: str, emit: Emit, *, called: bool = True
) -> dict[str, Compiled | Explanation]:
    """Compiles every kernel for `arch`; an Explanation stands for one that does not compile. `called`: whether any will
    be, and not only found in the cache by another process.

    Emits {"event": "compiled", "kernel": key, "seconds": s} or {"event": "not compiled", "kernel": key, "explanation":
    ...} for each, and {"event": "compiling"} while none is done. TileLang keeps what it compiled in TILELANG_CACHE_DIR,
    so that the same kernel takes no time again. Prints nothing.
    """
    results: dict[str, Compiled | Explanation] = {}
    with captured(), ThreadPoolExecutor(at_once()) as pool:
        futures = {pool.submit(_compile, source, arch, called): key for key, source in sources.items()}
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, BEAT, FIRST_COMPLETED)
            if not done:
                emit({"event": "compiling"})
            for future in done:
                key, result = futures[future], future.result()
                results[key] = result
                if isinstance(result, Compiled):
                    emit({"event": "compiled", "kernel": key, "seconds": result.seconds})
                else:
                    emit({"event": "not compiled", "kernel": key, "explanation": result.to_json()})
    return results


def _compile(source: Source, arch: str, called: bool) -> Compiled | Explanation:
    start = time.monotonic()
    try:
        kernel = tilelang.compile(
            # TileLang's cache tells kernels apart by what TVM prints of them, which leaves out a field here and there.
            load(source.document).with_attr(_DIGEST, digest(source.document)),
            target={"kind": "cuda", "arch": arch},
            execution_backend="tvm_ffi",
            pass_configs=dict(source.pass_configs),
            verbose=False,
        )
        # The part that runs on the host is compiled by g++ when it is first asked for: now, with the others. For the
        # cache it has been compiled already.
        executable: Any = kernel.adapter.get_exportable_executable() if called else None
        if hasattr(executable, "jit"):
            executable.jit()
    except LoadError as error:
        return Explanation("not-loadable", str(error), "", str(error))
    except Exception as error:  # noqa: BLE001 - TileLang's passes raise whatever the bug they met makes them raise
        return explain(str(error), arch, source.document.func)
    return Compiled(kernel, time.monotonic() - start)
