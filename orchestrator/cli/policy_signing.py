"""``glovebox policy keygen|sign|verify``: what an administrator does, and anyone can check."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from orchestrator.config.assets import asset
from orchestrator.credentials.passphrase import ask_hidden
from orchestrator.errors import PolicyError, UsageError
from orchestrator.named_file import read_named
from orchestrator.policy.compile import layer_of_text
from orchestrator.policy.installed import SYSTEM, key_file, pinned_keys
from orchestrator.policy.layer import BoxPaths
from orchestrator.policy.public_keys import MAX_KEYS, SCHEME, PublicKey, parse_keys
from orchestrator.policy.signature import (
    MAX_SERIAL,
    MAX_SIGNATURE,
    SUFFIX,
    PolicySignature,
    SignedLayer,
    check_signature,
    parse_signature,
)
from orchestrator.policy.signing import PolicySigner, generate_key
from orchestrator.policy.yaml_nodes import MAX_BYTES
from orchestrator.schema.terminal_text import escape_terminal

LayerOption = Annotated[
    Literal["org", "team"], typer.Option(help="The layer it may be installed as.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def keygen(
    key: Annotated[Path, typer.Argument(help="File for the private key; FILE.pub is made too.")],
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase that protects the key.")
    ] = False,
) -> None:
    """Make a key pair for signing policies. The private half never belongs on governed machines."""
    public = generate_key(key, _new_passphrase() if passphrase else None)
    _say(f"{key}: private, keep it where only administrators are")
    _say(f"{key}.pub: key {public.id}, to be installed as {SYSTEM.path}/org.pub or team.pub")


def sign(
    file: Annotated[Path, typer.Argument(help="The policy.")],
    key: Annotated[Path, typer.Option(help="The private key, mode 0600.")],
    layer: LayerOption = "org",
    serial: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_SERIAL,
            help="Serial of this signature; one above that of the signature it replaces.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Sign a policy's exact bytes into FILE.sig. One that would not load is not signed."""
    data = _read(file, MAX_BYTES)
    layer_of_text(layer, data, file=str(file), search=asset("policies"), box=BoxPaths())
    beside = file.with_name(file.name + SUFFIX)
    number = serial or _next_serial(beside)
    signer = PolicySigner.load(key, lambda: ask_hidden(f"Passphrase of {key}: ").encode())
    signed = signer.sign(data, layer=layer, serial=number, now=datetime.now(UTC))
    _replace(beside, (signed.model_dump_json(indent=2) + "\n").encode())
    _tell(beside, signed, as_json=as_json)


def verify(
    file: Annotated[Path, typer.Argument(help="The policy; its signature is FILE.sig.")],
    key: Annotated[
        str | None,
        typer.Option(help="Public key: its file or its text; else the pinned one is taken."),
    ] = None,
    layer: LayerOption = "org",
    as_json: AsJson = False,
) -> None:
    """Check a policy's signature, and that the policy loads. Exit code 7 where one does not hold."""
    data = _read(file, MAX_BYTES)
    beside = file.with_name(file.name + SUFFIX)
    keys = _public_keys(key, layer)
    signed = check_signature(data, _read(beside, MAX_SIGNATURE), keys, layer=layer, file=str(file))
    layer_of_text(layer, data, file=str(file), search=asset("policies"), box=BoxPaths())
    _tell(file, signed, as_json=as_json)


def _public_keys(key: str | None, layer: SignedLayer) -> tuple[PublicKey, ...]:
    if key is None:
        if key_file(layer) not in SYSTEM.entries():
            raise UsageError(
                f"policy verify: no key is pinned here ({SYSTEM.path / key_file(layer)})",
                hint="give the public key with --key",
            )
        return pinned_keys(SYSTEM, layer)
    if key.startswith(SCHEME):
        return parse_keys(key.encode(), file="--key")
    return parse_keys(_read(Path(key), MAX_KEYS), file=key)


def _next_serial(beside: Path) -> int:
    if not beside.exists():
        return 1
    serial = parse_signature(_read(beside, MAX_SIGNATURE), file=str(beside)).serial + 1
    if serial > MAX_SERIAL:
        raise UsageError(f"{beside}: its serial is the highest there is")
    return serial


def _tell(path: Path, signed: PolicySignature, *, as_json: bool) -> None:
    facts: dict[str, Any] = signed.model_dump(exclude={"version", "signature"})
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
        return
    name = escape_terminal(str(path))
    sys.stdout.write(
        f"{name}: layer {signed.layer}, serial {signed.serial}, key {signed.key}, "
        f"issued {signed.issued}, {signed.digest}\n"
    )


def _new_passphrase() -> bytes:
    first = ask_hidden("Passphrase for the key: ")
    if not first:
        raise UsageError("policy keygen: expected a passphrase, got an empty one")
    if ask_hidden("The same again: ") != first:
        raise UsageError("policy keygen: the two passphrases differ; nothing was made")
    return first.encode()


def _read(path: Path, limit: int) -> bytes:
    try:
        data = read_named(path, limit=limit)
    except OSError as err:
        missing = path.name.endswith(SUFFIX) and isinstance(err, FileNotFoundError)
        raise PolicyError(
            f"{path}: cannot be read: {err.strerror}",
            hint="it is not signed yet: glovebox policy sign" if missing else f"see: ls -ld {path}",
        ) from err
    if len(data) > limit:
        raise PolicyError(f"{path}:1: file is too large: more than {limit} bytes")
    return data


def _replace(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.chmod(0o644)
        fresh.replace(path)
    except OSError as err:
        raise UsageError(f"{path}: cannot be written: {err.strerror}") from err


def _say(line: str) -> None:
    sys.stderr.write(escape_terminal(line) + "\n")
