"""``glovebox image``: build, list and prune the sandbox images of the local sources."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths, paths_from
from orchestrator.engine.client import connect
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import (
    ListedImage,
    ensure_sandbox_image,
    list_images,
    prune_images,
)
from orchestrator.engine.made_images import MadeImage, list_made, present_digests, prune_made
from orchestrator.harness.image_uses import forget_uses, last_uses
from orchestrator.schema.ids import Digest
from orchestrator.schema.terminal_text import escape_terminal

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Build, list and prune sandbox images."
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def build(
    force: Annotated[bool, typer.Option("--force", help="Build even when it is current.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build the sandbox image where its content changed, and print its name and digest."""
    image = ensure_sandbox_image(connect(), _progress, force=force)
    typer.echo(json.dumps(asdict(image)) if as_json else str(image))


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the sandbox images, newest first, then what was made of images.

    A star marks the current sandbox image.
    """
    engine = connect()
    images = list_images(engine, _expected())
    made = list_made(engine, runtime=_runtime(images))
    used = last_uses(_paths())
    if as_json:
        rows = [{**asdict(image), "kind": "sandbox"} for image in images]
        rows += [{**asdict(image), "current": False} for image in made]
        typer.echo(json.dumps([{**row, "last_used": used.get(row["digest"])} for row in rows]))
        return
    for image in images:
        typer.echo(_line(image))
    for each in made:
        typer.echo(_made_line(each, used.get(each.digest)))


@app.command()
def prune(as_json: AsJson = False) -> None:
    """Remove every sandbox image but the current one, and what was made of images that are gone.

    Those in use stay.
    """
    engine = connect()
    expected = _expected()
    removed, kept = prune_made(engine, runtime=_runtime(list_images(engine, expected)))
    others = prune_images(engine, expected)
    removed, kept = removed + others[0], kept + others[1]
    forget_uses(_paths(), present_digests(engine))
    if as_json:
        typer.echo(json.dumps({"removed": removed, "in_use": kept}))
        return
    for name in removed:
        typer.echo(name)
    for name in kept:
        _progress(f"{name} is in use and stays")


def _runtime(images: list[ListedImage]) -> Digest | None:
    return next((image.digest for image in images if image.current), None)


def _paths() -> Paths:
    return paths_from(os.environ, Path.home())


def _expected() -> str:
    return sandbox_image_name(asset("sandbox-image"))


def _made_line(image: MadeImage, used: int | None) -> str:
    notes = [f"{image.kind} of {image.of}", "in use" if image.in_use else "", image.lost]
    notes += [f"last used {_time(used)}"] if used else []
    said = escape_terminal(", ".join(note for note in notes if note))
    name = image.name.removeprefix("sha256:")[:30]
    return f"  {name:30} {_time(image.created)} {image.size // 1_000_000:6} MB  {said}"


def _time(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _line(image: ListedImage) -> str:
    made = _time(image.created)
    name = image.name.removeprefix("sha256:")[:30]
    return f"{'*' if image.current else ' '} {name:30} {made} {image.size // 1_000_000:6} MB"


def _progress(text: str) -> None:
    sys.stderr.write(f"image: {text}\n")
