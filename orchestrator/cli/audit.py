"""``glovebox audit``: look at a session's chain, and say whether it holds."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.audit.chain import Head, Verdict
from orchestrator.audit.signer import parse_public_key, read_public_key
from orchestrator.audit.verify import verify_file
from orchestrator.config.paths import Paths, paths_from
from orchestrator.errors import AuditError, UsageError
from orchestrator.named_file import is_regular, read_named
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal

INVALID = 7
_MAX_KEY = 64 * 1024
SHOWN = 160
"""Characters of a record's body in the list; ``--json`` has all of it."""

app = typer.Typer(no_args_is_help=True, help="Look at audit chains and verify them, offline.")

Chain = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE|SESSION]",
        help="A chain's file, a session id or the beginning of one; default: the newest.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
        _print(json.dumps({**_as_data(path, verdict), "key_from": whose}))
    else:
        _print(*(escape_terminal(line) for line in _report(verdict, whose)))
    if verdict.state == "broken" or (require_closed and verdict.state != "closed"):
        raise typer.Exit(INVALID)


@app.command()
def show(chain: Chain = None, as_json: Json = False) -> None:
    """List a chain's records; it is not verified by this."""
    for line in _lines(chain_file(chain)):
        record = _record(line)
        _print(json.dumps(record) if as_json else escape_terminal(_row(record)))


def _expected_key(path: Path, given: str | None) -> tuple[str | None, str]:
    """Return the key a chain must be signed by, and where that is known from."""
    if given is not None:
        return parse_public_key(_text(Path(given)) if is_regular(Path(given)) else given), "option"
    paths = _paths()
    own = read_public_key(paths.keys) if path.parent == _folder(paths) else None
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
    body = json.dumps(record.get("body"), ensure_ascii=False)
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


def _record(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError:
        return {"type": "unreadable", "body": line.decode("utf-8", "replace")}
    return data if isinstance(data, dict) else {"type": "unreadable", "body": data}


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise AuditError(f"{path}: cannot be read: {error.strerror}") from error


def chain_file(given: str | None) -> Path:
    """Return the chain that is meant: a file, a session id or its beginning, or the newest."""
    if given is not None and is_regular(Path(given)):
        return Path(given).resolve()
    folder = _folder(_paths())
    return _of_session(folder, given) if given else _newest(folder)


def _of_session(folder: Path, prefix: str) -> Path:
    names = {path.stem: path for path in folder.glob("*.jsonl") if path.name.startswith(prefix)}
    if prefix in names:
        return names[prefix]
    if len(names) != 1:
        raise UsageError(
            f"audit {prefix}: expected one chain of that name, found {len(names)}",
            hint=f"the chains are in {folder}",
        )
    return names.popitem()[1]


def _newest(folder: Path) -> Path:
    found = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    if not found:
        raise UsageError(f"audit: there is no chain in {folder}", hint="a run makes one")
    return found[-1]


def _folder(paths: Paths) -> Path:
    return paths.audit_log(SessionId("any")).parent.resolve()


def _paths() -> Paths:
    return paths_from(os.environ, Path.home())


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
