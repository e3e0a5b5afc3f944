"""Judges the GPU, its driver, and what TileLang needs to compile for it."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.device.limits import ARCHITECTURES, architecture
from tlpuzzles.doctor.finding import Finding, ok, problem, warning
from tlpuzzles.doctor.seen import Driver, End, Gpu, Seen, Timing, Version, parse

NO_GPU = "Nothing to do: without a GPU, kernels are graded on the CPU."
OLDEST = (7, 5)
"""The oldest GPUs whose tensor cores TileLang's products use, and that CUDA 13 still compiles for."""
NVCC_AT_LEAST: Version = (12,)
"""TileLang 0.1.15 compiles with -std=c++20, which CUDA 11 does not know."""


def gpu_findings(seen: Seen) -> Iterator[Finding]:
    yield _driver(seen)
    if seen.has_gpu and seen.driver is not None:
        for gpu in seen.driver.gpus:
            yield _gpu(gpu, seen)
        yield _torch_and_driver(seen, seen.driver)
        if seen.timing is not None:
            yield from _timing(seen.timing)
    yield _nvcc(seen)


def _driver(seen: Seen) -> Finding:
    driver = seen.driver
    if driver is None:
        if seen.nvidia_device:
            return problem(
                "GPU driver", "this machine has an NVIDIA GPU, but no driver for it", "Install NVIDIA's driver."
            )
        return ok("GPU driver", f"none, and no NVIDIA GPU. {NO_GPU}")
    if driver.error:
        return problem(
            "GPU driver",
            f"it does not start: {driver.error}",
            "Run `nvidia-smi`; after an update of the driver, restart the machine.",
        )
    release = f"{driver.release}, " if driver.release else ""
    shown = f"{release}knows CUDA up to {_dotted(driver.cuda)}"
    if not driver.gpus:
        return ok("GPU driver", f"{shown}, but no GPU is visible (see CUDA_VISIBLE_DEVICES). {NO_GPU}")
    return ok("GPU driver", shown)


def _gpu(gpu: Gpu, seen: Seen) -> Finding:
    shown = f"{gpu.name}, {gpu.arch}, {gpu.memory_gib:.0f} GiB"
    if gpu.capability < OLDEST:
        return problem(
            "GPU",
            f"{shown}; too old: a T4 or newer (sm_75) is needed",
            "Grade on the CPU: tlpuzzles grade --device cpu",
        )
    built = seen.imports["torch"].facts.get("architectures", "").split()
    if built and not _runs_on(built, gpu):
        return problem("GPU", f"{shown}; this PyTorch was not built for it", "Install a newer PyTorch.")
    if architecture(gpu.arch) is None:
        return warning(
            "GPU",
            f"{shown}; tested are {', '.join(known.gpus for known in ARCHITECTURES)}",
            "Go on; if a right kernel fails here, tell us.",
        )
    return ok("GPU", shown)


def _runs_on(built: list[str], gpu: Gpu) -> bool:
    """Whether code built for one of these runs: binaries within a generation, PTX ("compute_90") on any newer GPU."""
    for arch in built:
        kind, _, number = arch.partition("_")
        digits = number.rstrip("af")
        if not digits.isdigit():
            continue
        capability = (int(digits[:-1]), int(digits[-1]))
        if capability <= gpu.capability and (kind == "compute" or capability[0] == gpu.capability[0]):
            return True
    return False


def _torch_and_driver(seen: Seen, driver: Driver) -> Finding:
    name, torch = "torch on GPU", seen.imports["torch"]
    if torch.end is not End.IMPORTED:
        return problem(name, "not tried: torch cannot be imported", "See torch above.")
    cuda = torch.facts.get("cuda", "")
    if not cuda:
        return problem(
            name,
            "there is a GPU, but this PyTorch is built for the CPU only; `import tilelang` may end the process",
            "Install a CUDA build of PyTorch, for CUDA " + f"{driver.cuda[0]}.",
        )
    # Within one major release of CUDA, any driver that knows its first release runs programs built for a later one.
    if parse(cuda)[:1] > driver.cuda[:1]:
        return problem(
            name,
            f"PyTorch is built for CUDA {cuda}, the driver knows CUDA up to {_dotted(driver.cuda)}",
            f"Update the driver, or install a PyTorch built for CUDA {driver.cuda[0]}.",
        )
    if torch.facts.get("available") != "yes":
        return problem(
            name,
            "torch.cuda.is_available() says no, though the driver shows a GPU",
            'Run `python -c "import torch; torch.zeros(1).cuda()"` to see why.',
        )
    return ok(name, f"CUDA {cuda} starts")


def _timing(timing: Timing) -> Iterator[Finding]:
    name, no_speed = "timing", "Until then: tlpuzzles grade --no-speed."
    open_by = f"{timing.others} process{'es' * (timing.others != 1)}" if timing.others else ""
    if timing.busy:
        says = "the GPU is at work for somebody else" + (f"; {open_by} use it" if open_by else "")
        yield warning(name, says, f"`nvidia-smi` shows who it is; speed is graded when they are done. {no_speed}")
    elif timing.throttled:
        says = f"the GPU's clock is held down now: {' and '.join(timing.throttled)}"
        yield warning(name, says, f"`nvidia-smi -q -d PERFORMANCE` shows more; let it cool. {no_speed}")
    else:
        says = "nothing else runs on the GPU" + (f"; {open_by} of others have it open" if open_by else "")
        if timing.persistent is False:
            says += "; persistence mode is off, so that each grading takes longer to begin (nvidia-smi -pm 1)"
        yield ok(name, says)
    if timing.lock_error:
        yield warning(
            "GPU lock",
            f"gradings cannot wait for each other, and may disturb each other's times: {timing.lock_error}",
            "Name a folder that every user can write in TLPUZZLES_LOCK_DIR.",
        )


def _nvcc(seen: Seen) -> Finding:
    name, nvcc, driver = "nvcc", seen.nvcc, seen.driver
    if nvcc is None:
        where = f"none in {seen.cuda_home}/bin, where TileLang looks" if seen.cuda_home else "none found"
        if not seen.has_gpu:
            return ok(name, f"{where}; not needed without a GPU")
        fix = 'pip install "tilelang[nvcc]", or install the CUDA toolkit and set CUDA_HOME to its folder.'
        return problem(name, f"{where}; kernels for the GPU cannot be compiled", fix)
    if nvcc.error:
        says = f"{nvcc.path} does not work: {nvcc.error}"
        fix = "Install the CUDA toolkit again, or set CUDA_HOME to a working one."
        return problem(name, says, fix) if seen.has_gpu else warning(name, says, fix)
    shown = f"{nvcc.version} ({nvcc.path})"
    version = parse(nvcc.version)
    if version < NVCC_AT_LEAST:
        says, fix = f"{shown}; TileLang needs CUDA 12 or newer", "Install a newer CUDA toolkit and set CUDA_HOME to it."
        return problem(name, says, fix) if seen.has_gpu else warning(name, says, fix)
    if seen.has_gpu and driver is not None and version[:1] > driver.cuda[:1]:
        return warning(
            name,
            f"{shown}; the driver knows CUDA up to {_dotted(driver.cuda)}, and may refuse what a newer nvcc makes",
            f"If kernels fail to load, update the driver or use nvcc {driver.cuda[0]}.",
        )
    return ok(name, shown)


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
