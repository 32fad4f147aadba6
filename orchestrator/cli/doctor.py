"""``glovebox doctor``: say what is missing, and how to mend it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from orchestrator.config.paths import paths_from
from orchestrator.harness.doctor import Finding, diagnose, exit_code
from orchestrator.harness.doctor_box import look_into_box
from orchestrator.harness.doctor_facts import gather

_COLOURS = {"ok": "green", "info": "blue", "warn": "yellow", "fail": "bold red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", help="Policy whose box is tried; may be given more than once."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Start no box.")] = False,
) -> int:
    """Say what is missing, and how to mend it; exit 5 when no box can start, 1 for the rest.

    A box is started for a moment, and asked from inside which controls hold.
    """
    paths = paths_from(os.environ, Path.home())
    facts = gather(paths, os.environ)
    if not quick and facts.engine.image_digest:
        policies = tuple(policy or ("default",))
        look = partial(look_into_box, paths, os.environ, policies=policies)
        facts = replace(facts, box=anyio.run(look))
    findings = diagnose(facts)
    code = exit_code(findings)
    if as_json:
        report = {"ok": code == 0, "checks": [asdict(item) for item in findings]}
        if facts.box.posture is not None:
            report["posture"] = asdict(facts.box.posture)
        typer.echo(json.dumps(report))
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
