"""Two texts side by side, as a unified diff."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff

from rich.console import Console
from rich.text import Text

from tlpuzzles.report.marks import marks_for


@dataclass(frozen=True)
class Version:
    """A text, and what it is called."""

    name: str
    content: bytes

    @property
    def lines(self) -> list[str]:
        # Not splitlines: a form feed in a file ends no line of it.
        return self.content.decode("utf-8-sig", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")


def show(old: Version, new: Version, console: Console) -> None:
    """Prints what differs, or that nothing does."""
    if old.content == new.content:
        console.print(Text(f"Nothing differs: {old.name} and {new.name} are the same."), soft_wrap=True)
        return
    if old.lines == new.lines:
        console.print(Text(f"Only line ends differ between {old.name} and {new.name}."), soft_wrap=True)
        return
    clean = marks_for(console).clean
    for line in unified_diff(old.lines, new.lines, old.name, new.name, lineterm=""):
        console.print(Text(clean(line), style=_style(line)), soft_wrap=True)


def _style(line: str) -> str:
    if line.startswith(("---", "+++")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
