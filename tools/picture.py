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
from pathlib import Path

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
    TARGET.write_text(re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
