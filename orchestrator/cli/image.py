"""``glovebox image``: build, list and prune the sandbox images of the local sources."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Annotated

import typer

from orchestrator.config.assets import asset
from orchestrator.engine.client import connect
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import (
    ListedImage,
    ensure_sandbox_image,
    list_images,
    prune_images,
)

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
    """List the sandbox images, newest first; a star marks the current one."""
    images = list_images(connect(), _expected())
    if as_json:
        typer.echo(json.dumps([asdict(image) for image in images]))
        return
    for image in images:
        typer.echo(_line(image))


@app.command()
def prune(as_json: AsJson = False) -> None:
    """Remove every sandbox image but the current one; those in use stay."""
    removed, kept = prune_images(connect(), _expected())
    if as_json:
        typer.echo(json.dumps({"removed": removed, "in_use": kept}))
        return
    for name in removed:
        typer.echo(name)
    for name in kept:
        _progress(f"{name} is in use and stays")


def _expected() -> str:
    return sandbox_image_name(asset("sandbox-image"))


def _line(image: ListedImage) -> str:
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(image.created))
    name = image.name.removeprefix("sha256:")[:30]
    return f"{'*' if image.current else ' '} {name:30} {made} {image.size // 1_000_000:6} MB"


def _progress(text: str) -> None:
    sys.stderr.write(f"image: {text}\n")
