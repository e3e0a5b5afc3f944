"""What the course's list of commands imports stays light."""

from __future__ import annotations

import subprocess
import sys


def test_reading_a_source_needs_no_pydantic() -> None:
    code = "import sys, tlpuzzles.seeing.names, tlpuzzles.seeing.loops; print('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
