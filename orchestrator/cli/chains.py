"""Which audit chain a command is about, and its records as they stand there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.config.paths import Paths, paths_from
from orchestrator.errors import AuditError, UsageError
from orchestrator.named_file import is_regular, opened_regular, real_path
from orchestrator.schema.ids import SessionId

Chain = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE|SESSION]",
        help="A chain's file, a session id or the beginning of one; default: the newest.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def chain_file(given: str | None) -> Path:
    """Return the chain that is meant: a file, a session id or its beginning, or the newest."""
    if given is not None and is_regular(Path(given)):
        return Path(given).resolve()
    folder = chains_folder(own_paths())
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


def chains_folder(paths: Paths) -> Path:
    """Return where this machine's own chains are."""
    return paths.audit_log(SessionId("any")).parent.resolve()


def own_paths() -> Paths:
    """Return this user's paths."""
    return paths_from(os.environ, Path.home())


def print_lines(*lines: str) -> None:
    """Write lines that are safe to show."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def records_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a chain's records as they stand there; what cannot be read is one that says so."""
    yield from map(_record, _lines(path))


def _record(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {"type": "unreadable", "body": line.decode("utf-8", "replace")}
    return data if isinstance(data, dict) else {"type": "unreadable", "body": data}


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with opened_regular(real_path(path)) as file:
            yield from file
    except OSError as error:
        raise AuditError(f"{path}: cannot be read: {error.strerror}") from error
