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
from orchestrator.harness.boxes import end_box, running_boxes, sweep_boxes
from orchestrator.schema.terminal_text import escape_terminal

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def ps(as_json: Json = False) -> None:
    """List the boxes of all sessions in the engine."""
    boxes = running_boxes()
    if as_json:
        rows = [{"session": box.session, "container": box.id, "state": box.state} for box in boxes]
        sys.stdout.write(json.dumps({"boxes": rows}) + "\n")
        return
    for box in boxes:
        sys.stdout.write(
            f"{escape_terminal(box.session):14} {escape_terminal(box.state):10} {box.id[:12]}\n"
        )
    if not boxes:
        sys.stderr.write("no boxes\n")


def kill(
    session: Annotated[str, typer.Argument(help="Session id or the beginning of one.")],
) -> None:
    """End a session's box; its run ends with an error, its changes wait."""
    ended = anyio.run(end_box, session)
    sys.stdout.write(f"the box of session {ended} is gone\n")


def gc(as_json: Json = False) -> None:
    """Remove what dead runs left in the engine; changes that wait are kept."""
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
    for line in swept.applies:
        sys.stdout.write(escape_terminal(line) + "\n")
    if not any((swept.boxes, swept.applies, swept.volumes, swept.homes)):
        sys.stderr.write("nothing to remove\n")
