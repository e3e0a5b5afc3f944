"""Makes the pictures of reports in docs/ from real gradings.

`python -m tools.picture` grades the reference FlashAttention without the mask for keys past the end of the sequence on
the CPU, and makes docs/report.svg, the picture in the README. `python -m tools.picture RESULT.json [PICTURE.svg]` makes
docs/speed.svg, or that picture, from what `grade --json` wrote on a GPU: the part about speed, without the checks.
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
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import marks_for
from tlpuzzles.report.speed import show_speed
from tlpuzzles.verdict.model import Result

DOCS = Path(__file__).parent.parent / "docs"
MUTANT = "keys-past-the-end"
WIDTH = 96


def main() -> None:
    if len(sys.argv) > 1:
        picture = Path(sys.argv[2]) if len(sys.argv) > 2 else DOCS / "speed.svg"
        picture.write_text(of_speed(read(Path(sys.argv[1]).read_text(encoding="utf-8"))), encoding="utf-8")
    else:
        (DOCS / "report.svg").write_text(of_report(graded()), encoding="utf-8")


def read(document: str) -> Result:
    """A result that `grade --json` wrote."""
    fields = json.loads(document)
    del fields["schema"]
    return Result.model_validate(fields)


def graded() -> Result:
    """The wrong FlashAttention, graded."""
    exercise = catalog.find("flash_attention")
    wrong = next(wrong for wrong in WRONG if wrong.mistake and wrong.mistake.startswith(MUTANT))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, exercise.folder, exercise.file)
        file.parent.mkdir()
        file.write_text(wrong.source(exercise.slug), encoding="utf-8")
        command = [sys.executable, "-m", "tlpuzzles", "grade", "6", str(file.relative_to(folder)), "--device", "cpu"]
        done = subprocess.run([*command, "--json"], cwd=folder, capture_output=True, text=True, check=False)
    return read(done.stdout)


def of_report(result: Result) -> str:
    """The whole report as SVG."""
    console = _recording()
    terminal.show(result, console, title=catalog.find(result.exercise.slug).title, following=None)
    return _svg(console, result)


def of_speed(result: Result) -> str:
    """The section about speed as SVG. Raises ValueError for a result without one."""
    if not result.speed:
        raise ValueError("This result has no speed: grade a right kernel on a GPU, without --no-speed.")
    console = _recording()
    marks = marks_for(console)
    show_speed(result, Page(console, marks.ellipsis), marks, verbose=False)
    return _svg(console, result)


def _recording() -> Console:
    return Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)


def _svg(console: Console, result: Result) -> str:
    svg = console.export_svg(title=f"$ tlpuzzles grade {result.exercise.number} {result.file}")
    # Without the fonts that rich has the reader's browser fetch from elsewhere: any font of equal widths will do.
    return placed(re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL))


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
