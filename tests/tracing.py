"""Traces a kernel in the test's own process, for tests of what comes after the tracer."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tempfile
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import ModuleType

from tlpuzzles.kernel.capsule import Capsule, Document, read

HEADER = "import math\nimport tilelang\nimport tilelang.language as T\n\n"
"""Put before a source by `trace`, so that line 1 of the source is line 5 of the file."""


_FOLDER = tempfile.TemporaryDirectory(prefix="tlpuzzles-test-")  # removed when the tests end


@cache
def _module(source: str) -> ModuleType:
    # TileLang reads a kernel's text from its file, so the source must be in one.
    path = Path(_FOLDER.name) / f"kernel_{hashlib.sha256(source.encode()).hexdigest()[:12]}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def prim_func(source: str, factory: str = "kernel", **arguments: object) -> object:
    """The TVM PrimFunc that `factory` in `source` gives for these arguments."""
    made = getattr(_module(HEADER + dedent(source)), factory)
    made = getattr(made, "jit_impl", made)  # what @tilelang.autotune wraps; it would start to tune
    return made.get_tir(**arguments) if hasattr(made, "get_tir") else made(**arguments)


def trace(source: str, factory: str = "kernel", **arguments: object) -> Capsule:
    """The capsule of that kernel, as a tracer would send it."""
    from tilelang import tvm

    path = _module(HEADER + dedent(source)).__file__
    assert path is not None
    return Capsule(tvm.ir.save_json(prim_func(source, factory, **arguments)), None, {}, path)


def document(source: str, factory: str = "kernel", **arguments: object) -> Document:
    """The checked IR of that kernel."""
    return read(trace(source, factory, **arguments))
