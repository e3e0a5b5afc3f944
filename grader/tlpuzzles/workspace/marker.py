"""course.toml: marks a workspace, and may name the class's GPU."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tlpuzzles.device.limits import ARCHITECTURES, architecture
from tlpuzzles.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

MARKER = "course.toml"


@dataclass(frozen=True)
class Marker:
    """What a course.toml says."""

    arch: str | None = None
    """The architecture that a kernel must lower for where no GPU is at hand; None: any."""


def read_marker(path: Path) -> Marker:
    """Reads a course.toml. Raises UsageError with the file, the value and what to write instead."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Save it in that encoding.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    table = content.get("class", {})
    if not isinstance(table, dict):
        raise UsageError(f'{path}: "class" must be a table. Write [class] on a line of its own.')
    unknown = sorted(set(table) - {"arch"})
    if unknown:
        raise UsageError(f'{path}: [class] has no setting "{unknown[0]}". It knows one: arch.')
    arch = table.get("arch")
    if arch is not None and (not isinstance(arch, str) or architecture(arch) is None):
        choices = ", ".join(f'"{known.name}" ({known.gpus})' for known in ARCHITECTURES)
        raise UsageError(f"{path}: [class] arch is {arch!r}, but must be one of {choices}, or left out.")
    return Marker(arch)
