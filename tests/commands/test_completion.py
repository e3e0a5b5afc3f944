"""What a shell completes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import run_process

WORDS = [
    ("tlpuzzles gr", ["grade"]),
    ("tlpuzzles grade --no-s", ["--no-speed"]),
    ("tlpuzzles grade fl", ["flash_attention"]),
    ("tlpuzzles show 3", ["3"]),
    ("tlpuzzles watch vec", ["vector_add"]),
    ("tlpuzzles hint nothing", []),
    ("tlpuzzles grade 1 --case ragg", ["ragged-end"]),
    ("tlpuzzles grade flash --no-speed --case causal-ragged", ["causal-ragged"]),
    ("tlpuzzles grade --case ragg", []),
]


@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_bash_completes(tmp_path: Path, words: str, expected: list[str]) -> None:
    ran = run_process(
        cwd=tmp_path, _TLPUZZLES_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1)
    )
    assert ran.out.split() == expected
    assert not ran.err


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_do_with_titles(tmp_path: Path, shell: str) -> None:
    asked = {
        "_TLPUZZLES_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "tlpuzzles grade flash",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": "flash",
    }
    ran = run_process(cwd=tmp_path, **asked)
    assert "flash_attention" in ran.out
    assert "FlashAttention" in ran.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_script_that_is_installed_works(tmp_path: Path) -> None:
    """In a bash whose tlpuzzles is this one."""
    program = tmp_path / "tlpuzzles"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tlpuzzles "$@"\n')
    program.chmod(0o755)
    script = f"""
        PATH={tmp_path}:$PATH
        eval "$(tlpuzzles --show-completion)"
        COMP_WORDS=(tlpuzzles show fla); COMP_CWORD=2
        _tlpuzzles_completion tlpuzzles; echo "${{COMPREPLY[@]}}"
    """
    ran = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.split() == ["flash_attention"], ran.stderr
