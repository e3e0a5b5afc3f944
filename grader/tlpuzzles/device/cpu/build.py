"""Compiling emitted kernels with the machine's own C++ compiler."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from tlpuzzles.device.cpu.processes import Command, cores, run_each

INCLUDE = Path(__file__).parent / "include"
HEADER = "tile.hpp"
SECONDS = 120.0
"""Time limit of one run of the compiler."""

_FLAGS = (
    *("-std=c++17", "-O2", "-ftree-vectorize", "-fPIC", "-fno-math-errno", "-fno-trapping-math"),
    *("-fno-strict-aliasing", "-fvisibility=hidden", "-w"),
)
# GCC vectorises at -O2 only where that costs no code at all. No fast-math: NaN and infinities must come through.
_GCC_FLAGS = ("-fvect-cost-model=dynamic", "-Wno-psabi")
_NATIVE = "-march=native"


class CompilerError(Exception):
    """There is no C++ compiler, or it failed; the message holds what it said."""


@dataclass(frozen=True)
class Compiler:
    path: Path
    version: str
    """What `--version` says, first line."""
    flags: tuple[str, ...]
    """For compiling, all that is compiled together alike."""

    @property
    def is_clang(self) -> bool:
        return "clang" in self.version

    @property
    def precompiled(self) -> str:
        """Name of the precompiled header's file."""
        return f"{HEADER}.{'pch' if self.is_clang else 'gch'}"

    def including(self, folder: Path) -> list[str | Path]:
        """Flags that use the precompiled header in `folder`."""
        return ["-include-pch", folder / self.precompiled] if self.is_clang else ["-include", folder / HEADER]


def find_compiler() -> Path | None:
    """The C++ compiler: $CXX, or the first of g++, clang++ and c++ on the PATH; None if there is none."""
    for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
        found = shutil.which(name) if name else None
        if found:
            return Path(found)
    return None


@lru_cache(maxsize=4)
def _inspect(path: Path) -> Compiler:
    version = _output([path, "--version"]).partition("\n")[0]
    flags = [*_FLAGS, *(() if "clang" in version else _GCC_FLAGS)]
    with tempfile.TemporaryDirectory(prefix="tlpuzzles-") as folder:
        probe = Path(folder, "probe.cpp")
        probe.write_text("int main() { return 0; }\n")
        try:
            _output([path, _NATIVE, "-c", probe, "-o", Path(folder, "probe.o")])
            flags.append(_NATIVE)
        except CompilerError:
            pass  # a compiler that does not know this processor; slower code then
    return Compiler(path, version, tuple(flags))


def _compiler() -> Compiler:
    path = find_compiler()
    if path is None:
        raise CompilerError(
            "no C++ compiler was found. Install one (Debian, Ubuntu: apt install g++), or set CXX to its path"
        )
    return _inspect(path)


def _output(words: Sequence[str | Path]) -> str:
    """Standard output of the compiler. Raises CompilerError with its messages if it fails."""
    return _outputs([words])[0]


def _outputs(commands: Sequence[Sequence[str | Path]]) -> list[str]:
    """The same of several, run side by side. Raises CompilerError for the first that fails."""
    with ExitStack() as stack:
        files = [[stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)] for _ in commands]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            every = run_each(
                [
                    Command(words, SECONDS, out, messages, environment)
                    for words, (out, messages) in zip(commands, files, strict=True)
                ],
                cores(),
            )
        except OSError as error:
            raise CompilerError(f"{commands[0][0]} could not be started: {error.strerror}") from None
        for words, ended, (_, messages) in zip(commands, every, files, strict=True):
            if ended.timed_out:
                raise CompilerError(f"{words[0]} took longer than {SECONDS:.0f} s")
            if ended.returncode != 0:
                raise CompilerError(f"{words[0]} failed (status {ended.returncode}):\n{_said(messages)}")
        return [_said(out) for out, _ in files]


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(20_000).decode(errors="replace").strip()


def precompile_header(cache: Path | None) -> Path | None:
    """Compiles the runtime header once for all later calls of `compile` with the same cache directory.

    Safe to call early, from several processes at once. Returns the directory that holds the result, and None where
    there is no compiler or the cache cannot be written: `compile` then reads the header itself (about 0.2 s more).
    """
    try:
        return _precompiled(_compiler(), cache) if cache is not None else None
    except (CompilerError, OSError):
        return None


def _precompiled(compiler: Compiler, cache: Path) -> Path:
    folder = cache / f"tile-{_key(compiler)}"
    result = folder / compiler.precompiled
    if result.is_file():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tile-", dir=cache) as work:
        if not folder.is_dir():
            copy = Path(work, "header")
            shutil.copytree(INCLUDE, copy)
            with contextlib.suppress(OSError):  # another process was faster
                copy.rename(folder)
        # Clang remembers where the header was, so that it is compiled in its final place.
        partial = Path(work, compiler.precompiled)
        _output([compiler.path, *compiler.flags, "-x", "c++-header", folder / HEADER, "-o", partial])
        partial.replace(result)
    return folder


def _key(compiler: Compiler) -> str:
    """Of all that a precompiled header depends on; the processor, because a home directory may be shared."""
    digest = hashlib.sha256()
    parts = [str(compiler.path), compiler.version, *compiler.flags, platform.machine(), _processor()]
    parts += [path.name + "\0" + path.read_text() for path in sorted(INCLUDE.glob("*.hpp"))]
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    return "\n".join(line for line in text.splitlines()[:40] if line.startswith(("model name", "flags", "Features")))


def compile(sources: Sequence[str], folder: Path, cache: Path | None) -> Path:
    """Compiles the sources that `emit` gave into one shared library in `folder`, and returns its path.

    As many are compiled side by side as there are cores. `cache` is where `precompile_header` put its result; None or
    an unusable one costs time only. Raises CompilerError with the compiler's messages, and OSError if `folder` cannot
    be written.
    """
    compiler = _compiler()
    library = folder / "kernels.so"
    if cache is not None:
        with contextlib.suppress(CompilerError, OSError):
            header = _precompiled(compiler, cache)
            _compile(compiler, sources, library, [*compiler.including(header), "-I", header])
            return library
    _compile(compiler, sources, library, ["-I", INCLUDE])
    return library


def _compile(compiler: Compiler, sources: Sequence[str], library: Path, flags: Sequence[str | Path]) -> None:
    units = []
    for number, together in enumerate(_shares(sources, cores())):
        unit = library.with_name(f"kernels-{number}.cpp")
        unit.write_text(f'#include "{HEADER}"\n' + "\n".join(together))
        units.append(unit)
    command: list[str | Path] = [compiler.path, *compiler.flags]
    if len(units) == 1:
        _output([*command, "-shared", units[0], "-o", library, *flags])
        return
    _outputs([[*command, "-c", unit, "-o", unit.with_suffix(".o"), *flags] for unit in units])
    _output([*command, "-shared", *(unit.with_suffix(".o") for unit in units), "-o", library])


def _shares(sources: Sequence[str], count: int) -> list[list[str]]:
    """The sources in at most `count` groups that are about as long as each other."""
    shares: list[list[str]] = [[] for _ in range(max(1, min(count, len(sources))))]
    for source in sorted(sources, key=len, reverse=True):
        min(shares, key=lambda share: sum(map(len, share))).append(source)
    return shares
