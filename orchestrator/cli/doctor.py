"""``glovebox doctor``: say what is missing, and how to mend it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from orchestrator.config.paths import paths_from
from orchestrator.harness.doctor import Finding, diagnose, exit_code
from orchestrator.harness.doctor_facts import gather

_COLOURS = {"ok": "green", "info": "blue", "warn": "yellow", "fail": "bold red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> int:
    """Say what is missing, and how to mend it; exit 5 when no box can start, 1 for the rest."""
    findings = diagnose(gather(paths_from(os.environ, Path.home()), os.environ))
    code = exit_code(findings)
    if as_json:
        typer.echo(json.dumps({"ok": code == 0, "checks": [asdict(item) for item in findings]}))
    else:
        Console().print(findings_table(findings))
    return code


def findings_table(findings: Sequence[Finding]) -> Table:
    """Draw one row a finding, its remedy beneath."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("status")
    table.add_column("check")
    table.add_column("found", overflow="fold")
    for item in findings:
        # Text, not markup: what an engine says of itself must not style the page.
        found = Text(item.found)
        if item.mend:
            found.append(f"\n→ {item.mend}", style="bold")
        table.add_row(Text(item.status, style=_COLOURS[item.status]), Text(item.name), found)
    return table
