"""`tlpuzzles doctor`."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Annotated

import typer

from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.doctor.finding import Finding, Status
from tlpuzzles.doctor.look import look
from tlpuzzles.doctor.rules import judge
from tlpuzzles.wording import here

STYLES = {Status.OK: "green", Status.WARNING: "yellow", Status.PROBLEM: "bold red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON document instead of a table.")] = False,
) -> None:
    """Check what a grading needs: Python, PyTorch, TileLang, the GPU and its driver, compilers and caches.

    Each line is ok, a warning (gradings work, something else may not) or a problem, with what to do about it. Packages
    are imported in processes of their own, so that one which crashes is reported. The exit status is 1 if there is a
    problem.

    \b
    Examples:
      tlpuzzles doctor
      tlpuzzles doctor --json
    """
    waiting = console().status("Importing PyTorch and TileLang ...") if on_terminal() and not as_json else nullcontext()
    with waiting:
        findings = list(judge(look()))
    if as_json:
        rows = [{"name": f.name, "status": f.status.value, "says": f.says, "fix": f.fix or None} for f in findings]
        typer.echo(json.dumps({"schema": 1, "findings": rows}, indent=2, ensure_ascii=False))
    else:
        _print(findings)
    if any(finding.status is Status.PROBLEM for finding in findings):
        raise typer.Exit(1)


def _print(findings: list[Finding]) -> None:
    if on_terminal():
        _print_table(findings)
    else:
        for finding in findings:
            typer.echo(f"{finding.status.value}\t{finding.name}\t{finding.says}")
            if finding.fix:
                typer.echo(f"\t\tTo do: {here(finding.fix)}")
    counts = {status: sum(finding.status is status for finding in findings) for status in Status}
    typer.echo()
    if counts[Status.PROBLEM]:
        typer.echo(f"{_count(counts[Status.PROBLEM], 'problem')} to mend before kernels can be graded here.")
    elif counts[Status.WARNING]:
        typer.echo(f"Ready to grade, with {_count(counts[Status.WARNING], 'warning')}.")
    else:
        typer.echo("Ready to grade.")


def _print_table(findings: list[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(style="bold", max_width=16)
    table.add_column()
    for finding in findings:
        says = Text(finding.says)
        if finding.fix:
            says.append(f"\n{here(finding.fix)}", style="cyan")
        table.add_row(Text(finding.status.value, style=STYLES[finding.status]), finding.name, says)
    console().print(table)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
