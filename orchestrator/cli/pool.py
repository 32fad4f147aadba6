"""``glovebox pool``: boxes that stand ready, so that a session starts at once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from orchestrator.cli.run import chosen_directory, chosen_mode
from orchestrator.config.paths import paths_from
from orchestrator.config.settings import load_settings
from orchestrator.errors import UsageError
from orchestrator.harness.governing import policy_of
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.channel import pool_directory
from orchestrator.harness.pool.control import end_pools, pools, wait_ready
from orchestrator.harness.pool.serve import serve_pool
from orchestrator.harness.pool.spawn import start_pool
from orchestrator.harness.skills.opening import with_skills
from orchestrator.named_file import real_path
from orchestrator.schema.terminal_text import escape_terminal

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
WAIT_S = 60.0


@app.callback()
def pool() -> None:
    """Keep boxes ready for the next session of a project."""


@app.command()
def status(as_json: Json = False) -> None:
    """List the pools that run, and the boxes that wait in each."""
    found = pools(pool_directory(os.environ))
    if as_json:
        sys.stdout.write(json.dumps({"pools": found}) + "\n")
        return
    for each in found:
        sys.stdout.write(_line(each) + "\n")
    if not found:
        sys.stderr.write("no pool runs\n")


@app.command()
def stop(
    directory: Annotated[
        Path | None, typer.Argument(help="Only the pools of this project.", metavar="DIR")
    ] = None,
) -> None:
    """End pools and the boxes that wait in them; boxes that sessions took are not touched."""
    # It may be gone by now; its pool is not.
    only = real_path(directory) if directory else None
    ended = end_pools(pool_directory(os.environ), only=only)
    for each in ended:
        sys.stdout.write(f"ended the pool of {escape_terminal(each['directory'])}\n")
    if not ended:
        sys.stderr.write("no pool runs\n")


@app.command()
def warm(
    directory: Annotated[Path, typer.Argument(help="The project.", metavar="DIR")] = Path(),
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    image: Annotated[str | None, typer.Option(help="Image of the box.")] = None,
    size: Annotated[int, typer.Option(min=1, max=8, help="Boxes to keep.")] = 1,
) -> int:
    """Start a project's pool and wait until a box is ready.

    A session takes it when it is run with the same policy and image.
    """
    paths = paths_from(os.environ, Path.home())
    settings = load_settings(paths.config / "config.yaml", os.environ)
    options = RunOptions(
        prompt=None,
        directory=chosen_directory(directory, flag="pool warm"),
        model="",
        policies=tuple(policy or settings.policy),
        image=image or settings.image,
        workspace=chosen_mode(settings.workspace),
    )
    # Here, where it is told at once; the pool's own process would only fail to make boxes.
    options = with_skills(options, paths, policy=policy_of(options, paths))
    keep = settings.pool
    name = start_pool(options, paths, os.environ, size=size, idle_s=keep.idle_seconds)
    found = wait_ready(pool_directory(os.environ), name, seconds=WAIT_S)
    sys.stdout.write(_line(found) + "\n")
    return 0 if found["ready"] else 5


@app.command()
def serve(
    name: Annotated[str, typer.Argument(help="The pool's name, as status shows it.")],
) -> None:
    """Be a pool's process; `pool warm` and `run` start it."""
    paths = paths_from(os.environ, Path.home())
    directory = pool_directory(os.environ)
    if not name.isalnum():
        raise UsageError(f"pool serve: expected a pool's name, got {name!r}")

    async def keep() -> str:
        return await serve_pool(name, paths, os.environ, directory=directory)

    trouble = anyio.run(keep)
    if trouble:
        sys.stderr.write(escape_terminal(trouble) + "\n")


def _line(found: dict[str, Any]) -> str:
    """Return one pool as a person reads it; its facts may hold a directory's odd characters."""
    waiting = len(found["ready"])
    text = (
        f"{found['pool']}  {waiting} of {found['size']} ready, {found['taken']} taken  "
        f"{found['directory']}"
    )
    if found["trouble"]:
        text += f"  ({found['trouble']})"
    return escape_terminal(text)
