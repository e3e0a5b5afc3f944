"""Judges what was seen: one finding for each thing that a grading needs."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.doctor.finding import Finding, ok, problem, warning
from tlpuzzles.doctor.gpu_rules import gpu_findings
from tlpuzzles.doctor.known import REINSTALL, TILELANG, TORCH_AT_LEAST, bad_companions, meaning
from tlpuzzles.doctor.seen import End, Imported, Marks, Seen, parse
from tlpuzzles.grading.caches import LIMIT
from tlpuzzles.verdict.thresholds import absent

TESTED_PYTHONS = ((3, 10), (3, 13))


def judge(seen: Seen) -> Iterator[Finding]:
    """The findings, in the order in which faults should be mended."""
    yield _python(seen)
    yield _platform(seen)
    yield _torch(seen)
    yield _tilelang(seen)
    yield from _neighbours(seen)
    yield from gpu_findings(seen)
    yield _compiler(seen)
    yield from _caches(seen)
    if seen.marks is not None:
        yield from _marks(seen.marks, seen)


def _python(seen: Seen) -> Finding:
    version = ".".join(map(str, seen.python))
    low, high = TESTED_PYTHONS
    if low <= seen.python[:2] <= high:
        return ok("Python", version)
    return warning(
        "Python",
        f"{version}; tested are {low[0]}.{low[1]} to {high[0]}.{high[1]}",
        "If something fails, make an environment with one of those.",
    )


def _platform(seen: Seen) -> Finding:
    shown = " ".join(seen.platform)
    if seen.platform == ("Linux", "x86_64"):
        return ok("platform", shown)
    return warning("platform", f"{shown}; only Linux x86_64 is tested", "If something fails, try it on Linux x86_64.")


def _torch(seen: Seen) -> Finding:
    name, found = "torch", seen.imports["torch"]
    if found.end is not End.IMPORTED:
        return _import_failed(name, found, "pip install torch")
    version, cuda, hip = found.facts["version"], found.facts.get("cuda"), found.facts.get("hip")
    built = f"built for CUDA {cuda}" if cuda else "built for ROCm" if hip else "built for the CPU only"
    shown = f"{version}, {built}"
    if parse(version) < TORCH_AT_LEAST:
        low = ".".join(map(str, TORCH_AT_LEAST))
        return problem(name, f"{shown}; {low} or newer is needed", f'pip install --upgrade "torch>={low}"')
    if hip:
        return problem(name, f"{shown}; kernels are graded on NVIDIA GPUs or on the CPU", "Install a CPU build.")
    return ok(name, shown)


def _tilelang(seen: Seen) -> Finding:
    name, found = "tilelang", seen.imports["tilelang"]
    installed = seen.distributions.get("tilelang")
    if installed is not None and installed.partition("+")[0] != TILELANG:
        says = f"{installed}; this grader reads kernels of {TILELANG} and no other"
        return problem(name, says, f'pip install "tilelang=={TILELANG}"')
    if found.end is not End.IMPORTED:
        return _import_failed(name, found, f'pip install "tilelang=={TILELANG}"')
    return ok(name, found.facts["version"])


def _import_failed(name: str, found: Imported, fix: str) -> Finding:
    known = meaning(found.message)
    if known is not None:
        return problem(name, f"cannot be imported: {known.says} ({found.message})", known.fix)
    says = f"cannot be imported: {found.message}"
    if found.end is End.TIMED_OUT:
        return problem(name, says, "The disk may be slow: try again; the second time it is read from memory.")
    return problem(name, says, fix)


def _neighbours(seen: Seen) -> Iterator[Finding]:
    """Other distributions in this environment that are known to break TileLang."""
    for bad in bad_companions(seen.distributions):
        version = seen.distributions[bad.distribution]
        says = f"{version} does not fit TileLang {TILELANG}: {bad.symptom} ({bad.report})"
        yield problem(bad.distribution, says, REINSTALL)
    if "apache-tvm" in seen.distributions:
        says = "a second TVM beside TileLang's own: importing tilelang may find the wrong one (tile-ai/tilelang#1193)"
        yield problem("apache-tvm", says, "pip uninstall apache-tvm, or give tlpuzzles an environment of its own.")
    if "flashinfer-python" in seen.distributions:
        says = "may pick up TileLang's stand-in for the CUDA runtime (tile-ai/tilelang#2314)"
        yield warning("flashinfer", says, "Where you use both in one program, import flashinfer first.")


def _compiler(seen: Seen) -> Finding:
    name, install = "C++ compiler", "Install one: on Debian and Ubuntu `sudo apt install g++`."
    if seen.cxx is None:
        return problem(name, "none found; it is needed to run kernels on the CPU, and by nvcc", install)
    if seen.cxx.error:
        # "cannot execute 'cc1plus'" is a gcc without its C++ half (tile-ai/tilelang#353).
        return problem(name, f"{seen.cxx.path} does not compile C++: {seen.cxx.error}", install)
    return ok(name, f"{seen.cxx.version} ({seen.cxx.path})")


def _caches(seen: Seen) -> Iterator[Finding]:
    if seen.cache.error:
        yield warning(
            "cache",
            f"{seen.cache.path} cannot be written: {seen.cache.error}. Gradings work, but start cold each time",
            "Make it writable, or name another folder in TLPUZZLES_CACHE_DIR.",
        )
    else:
        taken = f"{seen.cache_bytes / (1 << 20):.0f} MiB of at most {LIMIT / (1 << 30):.0f} GiB"
        yield ok("cache", f"{seen.cache.path}, {taken}; deleting it costs time and nothing else")
    if seen.tilelang_cache.error:
        yield warning(
            "TileLang's cache",
            f"{seen.tilelang_cache.path} cannot be written: {seen.tilelang_cache.error}. "
            "Gradings do without, but `import tilelang` in programs of your own fails",
            "Make it writable, or name another folder in TILELANG_CACHE_DIR.",
        )


def _marks(marks: Marks, seen: Seen) -> Iterator[Finding]:
    """The workspace's own marks for speed."""
    name = "marks"
    if marks.thresholds is None:
        fix = "Mend it, make it anew with `tlpuzzles calibrate`, or move it away: until then nothing is graded here."
        yield problem(name, marks.error, fix)
        return
    for stranger in marks.strangers:
        yield warning(name, f"{marks.path}, {stranger}", "Correct that entry, or delete it: it marks nothing.")
    gpus = seen.driver.gpus if seen.has_gpu and seen.driver is not None else ()
    lacking = [absent(marks.thresholds, gpu.name, gpu.arch) for gpu in gpus] or [absent(marks.thresholds, None, None)]
    lacks = list(dict.fromkeys(lack for lack in lacking if lack is not None))
    for lack in lacks:
        yield warning(name, lack, "On the GPU that they are for: tlpuzzles calibrate")
    if not marks.strangers and not lacks:
        yield ok(name, f"{marks.path}, for {', '.join(marks.thresholds.gpus())}")
