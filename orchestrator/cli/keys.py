"""``glovebox keys``: keep, list, forget and try provider keys. A value never stands on a command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import load_settings
from orchestrator.credentials.names import checked_name
from orchestrator.credentials.passphrase import VARIABLE as PASSPHRASE_FILE
from orchestrator.credentials.passphrase import ask_hidden, passphrase_from_file
from orchestrator.credentials.secret import Secret
from orchestrator.errors import CredentialError, UsageError
from orchestrator.harness.keys import open_key_store, try_key

MAX_VALUE = 16_384
"""Bytes of a key given by stdin; the longest real ones are service tokens of a few thousand."""

app = typer.Typer(no_args_is_help=True, help="Keep provider keys outside of every box.")

Name = Annotated[str, typer.Argument(help="anthropic, openai, or the name of your own provider.")]


@app.command("set")
def set_key(
    name: Name,
    source: Annotated[
        str | None, typer.Argument(metavar="[-]", help="`-` reads the value from stdin.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="keyring or vault; the keyring where there is one.")
    ] = None,
) -> None:
    """Keep a key; its value is asked for on the terminal, unseen."""
    checked_name(name)
    if source not in {None, "-"}:
        raise UsageError(
            "keys set: a value never stands on the command line, where every program can read it",
            hint=f"glovebox keys set {name} asks for it; with `-` it is read from stdin. "
            "What you typed is in your shell's history now",
        )
    if to not in {None, "keyring", "vault"}:
        raise UsageError(f"keys set --to: expected keyring or vault, got {to!r}")
    value = _from_stdin() if source else Secret(ask_hidden(f"Key for {name}: "))
    store = open_key_store(_paths(), os.environ)
    place = store.set(name, value, "vault" if to == "vault" else "keyring" if to else None)
    _say(f"{name}: kept in the {place}, fingerprint {value.fingerprint()}")
    variable = store.variable(name)
    if variable:
        _say(f"note: {variable} is set and wins over the {place}")


@app.command("list")
def list_keys(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """List names, places and fingerprints; never values. The first of a name is used."""
    entries = open_key_store(_paths(), os.environ).entries()
    if as_json:
        rows = [
            {"name": entry.name, "place": entry.place, "fingerprint": entry.fingerprint}
            for entry in entries
        ]
        sys.stdout.write(json.dumps({"keys": rows}) + "\n")
        return
    for entry in entries:
        sys.stdout.write(f"{entry.name:<20} {entry.place:<12} {entry.fingerprint}\n")
    if not entries:
        _say("no keys; glovebox keys set anthropic")


@app.command("rm")
def remove_key(name: Name) -> None:
    """Forget a key in keyring and vault."""
    store = open_key_store(_paths(), os.environ)
    places = store.remove(name)
    variable = store.variable(name)
    if not places:
        raise CredentialError(
            f"{name}: no such key in keyring or vault",
            hint=f"it is in the environment: unset {variable}" if variable else "",
        )
    _say(f"{name}: removed from the {' and the '.join(places)}")
    if variable:
        _say(f"note: {variable} is still set")


@app.command("passphrase")
def change_passphrase(
    new_file: Annotated[
        Path | None,
        typer.Option("--new-file", help="Read the new one from a file that only you can read."),
    ] = None,
) -> None:
    """Change the vault's passphrase; its keys stay."""
    store = open_key_store(_paths(), os.environ)
    store.change_passphrase(Secret(_new_passphrase(new_file), keep_space=True))
    _say("vault: the passphrase was changed; copies of the old file still open with the old one")


@app.command("test")
def check(name: Name) -> None:
    """Try a provider's key with one request that costs nothing."""
    checked_name(name)
    paths = _paths()
    settings = load_settings(paths.config / "config.yaml", os.environ)
    store = open_key_store(paths, os.environ)

    async def ask() -> int:
        return await try_key(
            name,
            store,
            providers=settings.providers,
            environ=os.environ,
            warn=lambda text: _say(f"warning: {text}"),
        )

    count = anyio.run(ask)
    sys.stdout.write(f"{name}: the key works; it may use {count} models\n")


def _new_passphrase(file: Path | None) -> str:
    if file is not None:
        return passphrase_from_file({PASSPHRASE_FILE: str(file)}) or ""
    given = ask_hidden("New vault passphrase: ")
    if ask_hidden("Again: ") != given:
        raise CredentialError("vault: the two passphrases differ; nothing was changed")
    return given


def _from_stdin() -> Secret:
    raw = sys.stdin.buffer.read(MAX_VALUE + 1)
    if len(raw) > MAX_VALUE:
        raise UsageError(f"keys set -: expected at most {MAX_VALUE} bytes on stdin, got more")
    try:
        return Secret(raw.decode())
    except UnicodeDecodeError as error:
        raise UsageError("keys set -: expected UTF-8 text on stdin, got other bytes") from error


def _paths() -> Paths:
    return paths_from(os.environ, Path.home())


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
