"""Makes docs/report.svg, the picture in the README, from a real grading: `python -m tools.picture`.

Graded is the reference FlashAttention without the mask for keys past the end of the sequence, on the CPU.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from tests.mutants.wrong_flash_attention import WRONG

from tlpuzzles.course import catalog
from tlpuzzles.report import terminal
from tlpuzzles.verdict.model import Result

TARGET = Path(__file__).parent.parent / "docs" / "report.svg"
MUTANT = "keys-past-the-end"
WIDTH = 96


def main() -> None:
    exercise = catalog.find("flash_attention")
    wrong = next(wrong for wrong in WRONG if wrong.mistake and wrong.mistake.startswith(MUTANT))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, exercise.folder, exercise.file)
        file.parent.mkdir()
        file.write_text(wrong.source(exercise.slug), encoding="utf-8")
        command = [sys.executable, "-m", "tlpuzzles", "grade", "6", str(file.relative_to(folder)), "--device", "cpu"]
        done = subprocess.run([*command, "--json"], cwd=folder, capture_output=True, text=True, check=False)
    document = json.loads(done.stdout)
    del document["schema"]
    result = Result.model_validate(document)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    terminal.show(result, console, title=exercise.title, following=None)
    svg = console.export_svg(title=f"$ tlpuzzles grade 6 {result.file}")
    # Without the fonts that rich has the reader's browser fetch from elsewhere: any font of equal widths will do.
    TARGET.write_text(placed(re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)), encoding="utf-8")


def placed(svg: str) -> str:
    """The same picture with a text element for each run of words, none of which begins or ends with a blank.

    Some renderers drop blanks at the ends of an element, although they are no-break spaces, and columns run together.
    """

    def split(element: re.Match[str]) -> str:
        before, x, between, length, after, content = element.groups()
        text = unescape(content).replace("\u00a0", " ")
        cell = float(length) / len(text)
        parts = []
        for words in re.finditer(r"\S+(?: \S+)*", text):
            left, width = float(x) + cell * words.start(), cell * len(words[0])
            shown = escape(words[0]).replace(" ", "&#160;")
            parts.append(f'{before}x="{left:.7g}"{between}textLength="{width:.7g}"{after}>{shown}</text>')
        return "\n".join(parts)

    return re.sub(r'(<text [^>]*?)x="([\d.]+)"([^>]*?)textLength="([\d.]+)"([^>]*)>([^<]*)</text>', split, svg)


if __name__ == "__main__":
    main()
