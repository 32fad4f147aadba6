"""``glovebox ps``, ``kill`` and ``gc``: what runs in the engine, and what should not."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.config.paths import paths_from
from orchestrator.engine.containers import FoundContainer
from orchestrator.harness.boxes import end_box, running_boxes, sweep_boxes
from orchestrator.harness.control_client import find_running, joined
from orchestrator.harness.control_protocol import VERSION, Hello, ProcessRow
from orchestrator.schema.terminal_text import escape_terminal

SHOWN = 160
"""Characters of one line; ``--json`` has all of it."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def ps(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]",
            help="Session id or the beginning of one, to list what its agent keeps running.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the boxes of all sessions in the engine, or the processes kept in one.

    Boxes that a warm pool keeps for sessions to come are listed apart.
    """
    if session is not None:
        _print_processes(anyio.run(_processes, session), as_json=as_json)
        return
    found = running_boxes(paths_from(os.environ, Path.home()))
    if as_json:
        rows = {
            "boxes": [_row(box) for box in found.sessions],
            "waiting": [_row(box) for box in found.waiting],
        }
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    for box in found.sessions:
        sys.stdout.write(_line(box) + "\n")
    if not found.sessions:
        sys.stderr.write("no boxes\n" if not found.waiting else "no boxes of sessions\n")
    if found.waiting:
        sys.stdout.write("waiting in warm pools (glovebox pool status):\n")
    for box in found.waiting:
        sys.stdout.write(f"  {_line(box)}\n")


def _row(box: FoundContainer) -> dict[str, str]:
    return {"session": box.session, "container": box.id, "state": box.state}


def _line(box: FoundContainer) -> str:
    return f"{escape_terminal(box.session):14} {escape_terminal(box.state):10} {box.id[:12]}"


async def _processes(session: str) -> list[ProcessRow]:
    paths = paths_from(os.environ, Path.home())
    found, path = find_running(session, Path.cwd(), paths, environ=os.environ)
    async with joined(found, path, Hello(version=VERSION, via="processes")) as control:
        return control.processes


def _print_processes(rows: list[ProcessRow], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"processes": [row.model_dump() for row in rows]}) + "\n")
        return
    for row in rows:
        state = "runs" if row.running else f"exit {row.exit_code}"
        if row.signal is not None:
            state = f"signal {row.signal}"
        text = f"{row.handle:14} {state:10} {row.command}"
        sys.stdout.write(escape_terminal(text[:SHOWN]) + "\n")
    if not rows:
        sys.stderr.write("its agent keeps no process running\n")


def kill(
    session: Annotated[str, typer.Argument(help="Session id or the beginning of one.")],
) -> None:
    """End a session's box; its run ends with an error, its changes wait."""
    ended = anyio.run(end_box, session)
    sys.stdout.write(f"the box of session {ended} is gone\n")


def gc(as_json: Json = False) -> None:
    """Remove what dead runs left in the engine and in projects; changes that wait are kept."""
    swept = anyio.run(sweep_boxes, paths_from(os.environ, Path.home()))
    if as_json:
        sys.stdout.write(json.dumps(asdict(swept)) + "\n")
        return
    for session in swept.boxes:
        sys.stdout.write(f"removed the box of session {session}\n")
    for volume in swept.volumes:
        sys.stdout.write(f"removed volume {escape_terminal(volume)}, whose changes are gone\n")
    for project in swept.homes:
        sys.stdout.write(f"removed the home of {escape_terminal(project)}, which is gone\n")
    for session in swept.warm:
        sys.stdout.write(f"removed what a dead pool had prepared as {session}\n")
    for session in swept.unbegun:
        sys.stdout.write(f"removed what the killed start of session {session} had prepared\n")
    for pool in swept.pools:
        sys.stdout.write(f"removed the files of pool {pool}, which is over\n")
    for session in swept.placeholders:
        sys.stdout.write(
            f"removed empty directories that session {session} had held in bind mode\n"
        )
    for line in swept.applies:
        sys.stdout.write(escape_terminal(line) + "\n")
    if not any(asdict(swept).values()):
        sys.stderr.write("nothing to remove\n")
