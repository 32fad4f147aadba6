"""``glovebox audit``: look at a session's chain, and say whether it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.audit.chain import Head, Verdict
from orchestrator.audit.signer import parse_public_key, read_public_key
from orchestrator.audit.verify import verify_file
from orchestrator.cli.audit_egress import egress, egress_line
from orchestrator.cli.chains import (
    Chain,
    Json,
    chain_file,
    chains_folder,
    own_paths,
    print_lines,
    records_of,
)
from orchestrator.errors import AuditError
from orchestrator.named_file import is_regular, read_named
from orchestrator.schema.terminal_text import escape_terminal

INVALID = 7
_MAX_KEY = 64 * 1024
SHOWN = 160
"""Characters of a record's body in the list; ``--json`` has all of it."""

app = typer.Typer(no_args_is_help=True, help="Look at audit chains and verify them, offline.")

app.command("egress")(egress)


@app.command()
def verify(
    chain: Chain = None,
    key: Annotated[
        str | None, typer.Option(help="The public key it must be signed by: a file, or its text.")
    ] = None,
    require_closed: Annotated[
        bool, typer.Option("--require-closed", help="Exit 7 unless the end is signed.")
    ] = False,
    without_payloads: Annotated[
        bool, typer.Option("--without-payloads", help="Do not ask for the files beside the chain.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say whether a chain is intact and closed, intact and open, or broken, and where."""
    path = chain_file(chain)
    expected, whose = _expected_key(path, key)
    verdict = verify_file(path, key=expected, payloads=not without_payloads)
    if as_json:
        print_lines(json.dumps({**_as_data(path, verdict), "key_from": whose}))
    else:
        print_lines(*(escape_terminal(line) for line in _report(verdict, whose)))
    if verdict.state == "broken" or (require_closed and verdict.state != "closed"):
        raise typer.Exit(INVALID)


@app.command()
def show(chain: Chain = None, as_json: Json = False) -> None:
    """List a chain's records; it is not verified by this."""
    for record in records_of(chain_file(chain)):
        print_lines(json.dumps(record) if as_json else escape_terminal(_row(record)))


def _expected_key(path: Path, given: str | None) -> tuple[str | None, str]:
    """Return the key a chain must be signed by, and where that is known from."""
    if given is not None:
        return parse_public_key(_text(Path(given)) if is_regular(Path(given)) else given), "option"
    paths = own_paths()
    own = read_public_key(paths.keys) if path.parent == chains_folder(paths) else None
    return own, "this machine" if own else "the chain itself"


def _report(verdict: Verdict, whose: str) -> Iterator[str]:
    yield str(verdict)
    head = verdict.head
    if head is not None and verdict.state != "broken":
        through = _signed_through(head)
        signed = "none of them signed yet" if through is None else f"signed through {through}"
        yield f"  session {head.session}, {head.seq + 1} records, {signed}"
        yield f"  key {head.public_key}, known from {whose}"
    if verdict.torn_bytes:
        yield f"  unfinished last line of {verdict.torn_bytes} bytes, never acknowledged"
    for call, seq in verdict.interrupted:
        yield f"  interrupted: call {call}, intent at seq {seq}"


def _row(record: dict[str, Any]) -> str:
    body = egress_line(record) or json.dumps(record.get("body"), ensure_ascii=False)
    shown = body if len(body) <= SHOWN else f"{body[:SHOWN]}…"
    return f"{record.get('seq')!s:>5}  {record.get('time')}  {record.get('type')!s:14} {shown}"


def _as_data(path: Path, verdict: Verdict) -> dict[str, Any]:
    head = verdict.head
    return {
        "file": str(path),
        "verdict": str(verdict),
        "state": verdict.state,
        "broken_at": verdict.broken_at,
        "why": verdict.why,
        "session": head.session if head else None,
        "records": head.seq + 1 if head else 0,
        "signed_through": _signed_through(head) if head else None,
        "head": head.hash if head else None,
        "public_key": head.public_key if head else None,
        "interrupted": [{"call": call, "intent": seq} for call, seq in verdict.interrupted],
        "torn_bytes": verdict.torn_bytes,
    }


def _signed_through(head: Head) -> int | None:
    """Return the last record that a signature covers, None where there is no signature."""
    return head.signed_seq if head.signed_seq >= 0 else None


def _text(path: Path) -> str:
    try:
        return read_named(path, limit=_MAX_KEY).decode("utf-8", "replace")
    except OSError as err:
        raise AuditError(f"{path}: the key cannot be read: {err.strerror}") from err
