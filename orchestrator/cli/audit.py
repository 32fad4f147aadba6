"""``glovebox audit``: look at a session's chain, and say whether it holds."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.audit.chain import Verdict, verify_chain
from orchestrator.config.paths import Paths, paths_from
from orchestrator.errors import AuditError, UsageError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal

INVALID = 7
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
    as_json: Json = False,
) -> None:
    """Say whether a chain is intact and closed, intact and open, or broken, and where."""
    path = _chain_file(chain)
    verdict = verify_chain(_lines(path))
    wrong_key = (
        key is not None and verdict.head is not None and _key(key) != verdict.head.public_key
    )
    text = _words(verdict) if not wrong_key else "broken at seq 0: signed by another key"
    if as_json:
        sys.stdout.write(json.dumps(_as_data(path, verdict, text)) + "\n")
    else:
        sys.stdout.write(escape_terminal(text) + "\n")
        for call, seq in verdict.interrupted:
            sys.stdout.write(
                escape_terminal(f"  interrupted: call {call}, intent at seq {seq}") + "\n"
            )
    bad = wrong_key or verdict.state == "broken"
    if bad or (require_closed and verdict.state != "closed"):
        raise typer.Exit(INVALID)


@app.command()
def show(chain: Chain = None, as_json: Json = False) -> None:
    """List a chain's records; it is not verified by this."""
    for line in _lines(_chain_file(chain)):
        if as_json:
            sys.stdout.write(line.decode("utf-8", "replace"))
            continue
        record = _record(line)
        body = json.dumps(record.get("body"), ensure_ascii=False)
        shown = body if len(body) <= SHOWN else body[:SHOWN] + "…"
        sys.stdout.write(
            escape_terminal(
                f"{record.get('seq')!s:>5}  {record.get('time')}  {record.get('type')!s:14} {shown}"
            )
            + "\n"
        )


def _words(verdict: Verdict) -> str:
    if verdict.state == "broken":
        return f"broken at seq {verdict.broken_at}: {verdict.why}"
    records = verdict.head.seq + 1 if verdict.head else 0
    return f"intact, {verdict.state} ({records} records)"


def _as_data(path: Path, verdict: Verdict, text: str) -> dict[str, Any]:
    return {
        "file": str(path),
        "verdict": text,
        "state": verdict.state,
        "broken_at": verdict.broken_at,
        "records": verdict.head.seq + 1 if verdict.head else 0,
        "head": verdict.head.hash if verdict.head else None,
        "public_key": verdict.head.public_key if verdict.head else None,
        "interrupted": [{"call": call, "intent": seq} for call, seq in verdict.interrupted],
    }


def _key(given: str) -> str:
    path = Path(given)
    return path.read_text("utf-8").strip() if path.is_file() else given.strip()


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


def _chain_file(given: str | None) -> Path:
    if given is not None and Path(given).is_file():
        return Path(given)
    paths = paths_from(os.environ, Path.home())
    return _of_session(paths, given) if given else _newest(paths)


def _of_session(paths: Paths, prefix: str) -> Path:
    exact = paths.audit_log(SessionId(prefix))
    found = [exact] if exact.is_file() else sorted(exact.parent.glob(f"{prefix}*.jsonl"))
    if len(found) != 1:
        raise UsageError(
            f"audit {prefix}: expected one chain of that name, found {len(found)}",
            hint=f"the chains are in {exact.parent}",
        )
    return found[0]


def _newest(paths: Paths) -> Path:
    folder = paths.audit_log(SessionId("x")).parent
    found = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    if not found:
        raise UsageError(f"audit: there is no chain in {folder}", hint="a run makes one")
    return found[-1]
