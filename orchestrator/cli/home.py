"""``glovebox home``: the homes in the box that projects keep between sessions."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.config.paths import paths_from
from orchestrator.engine.client import connect
from orchestrator.engine.home_volumes import HomeVolume, volume_sizes
from orchestrator.errors import UsageError
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.home import forget_home, own_homes

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="List and remove the homes that projects keep between sessions.",
)


@app.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the homes of this machine's projects, with their sizes."""
    engine = connect()
    homes = own_homes(paths_from(os.environ, Path.home()), engine)
    sizes = volume_sizes(engine) if homes else {}
    if as_json:
        rows = [
            {"name": home.name, "project": home.project, "size": sizes.get(home.name)}
            for home in homes
        ]
        sys.stdout.write(json.dumps({"homes": rows}) + "\n")
        return
    for home in homes:
        size = sizes.get(home.name)
        shown = "size unknown" if size is None else f"{size // 1_000_000} MB"
        sys.stdout.write(f"{shown:>12}  {escape_terminal(home.project)}\n")
    if not homes:
        sys.stderr.write("no project keeps a home\n")


@app.command()
def rm(
    directory: Annotated[Path, typer.Argument(help="The project's directory.")] = Path(),
    every: Annotated[bool, typer.Option("--all", help="Those of all projects.")] = False,
) -> None:
    """Remove a project's home; its next session begins with an empty one."""
    engine = connect()
    paths = paths_from(os.environ, Path.home())
    for home in _chosen(own_homes(paths, engine), directory, every=every):
        forget_home(home.name, paths=paths, engine=engine)
        sys.stdout.write(f"removed the home of {escape_terminal(home.project)}\n")


def _chosen(homes: list[HomeVolume], directory: Path, *, every: bool) -> list[HomeVolume]:
    if every:
        return homes
    # Not resolved against what is there: the project itself may be gone.
    wanted = os.path.realpath(directory)
    chosen = [home for home in homes if home.project == wanted]
    if not chosen:
        raise UsageError(
            f"home rm {directory}: this project keeps no home",
            hint="glovebox home list shows those that do",
        )
    return chosen
