"""What a workspace says of how its files are graded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.commands.output import warn
from tlpuzzles.course import catalog
from tlpuzzles.device.limits import ARCHITECTURES, H100, Architecture, architecture
from tlpuzzles.workspace.folders import current_folder_if_any, workspace_root
from tlpuzzles.workspace.marker import MARKER, read_marker

if TYPE_CHECKING:
    from tlpuzzles.verdict.model import Device
    from tlpuzzles.verdict.thresholds import Thresholds


def class_arch(file: Path) -> str | None:
    """The GPU that the course.toml of the workspace names."""
    root = _root(file)
    return None if root is None else read_marker(root / MARKER).arch


def graded_for(file: Path) -> Architecture:
    """The GPU to show a kernel for: that of the class, else the one at hand, else the newest."""
    return architecture(class_arch(file) or "") or _at_hand() or H100


def _at_hand() -> Architecture | None:
    from tlpuzzles.device.cuda import devices

    capability = next((gpu.capability for gpu in devices.find().gpus), None)
    if capability is None:
        return None
    name = "sm_{}{}".format(*capability)
    return next((gpu for gpu in ARCHITECTURES if gpu.name.rstrip("a") == name), None)


def marks(file: Path, device: Device | None = None) -> Thresholds:
    """The marks for speed: those of the workspace before those that come with us."""
    from tlpuzzles.verdict.thresholds import FILE, absent, read, shipped, strangers

    root = _root(file)
    if root is None or not os.path.lexists(root / FILE):
        return shipped()
    own = read(root / FILE)
    _warn_of_strangers(root / FILE, strangers(own, catalog.exercises()))
    on_gpu = device is not None and device.kind == "cuda"
    lack = absent(own, device.name, device.arch) if device is not None and on_gpu else absent(own, None, None)
    if lack is not None:
        warn(f"{root / FILE}: {lack}")
    return own.before(shipped())


def _root(file: Path) -> Path | None:
    """The workspace around here, and only if there is none, that around the file: a teacher who grades the files of
    others from a workspace of their own has the word, whatever it says."""
    here = current_folder_if_any()
    return (None if here is None else workspace_root(here)) or workspace_root(file.resolve().parent)


def _warn_of_strangers(file: Path, found: list[str]) -> None:
    """One line for a class's file that names what does not exist. No error: a file that has outlived a case, or that
    names another course's exercise, must not keep anyone from grading."""
    if found:
        more = f" There are {len(found)} such entries." if len(found) > 1 else ""
        warn(f"{file}, {found[0]}. This entry marks nothing.{more}")
