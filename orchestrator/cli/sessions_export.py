"""``glovebox sessions export``: a session as a page, as Markdown, or as a file for a glovebox."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from orchestrator.cli.sessions_chosen import OptionalSession, show, tell, user_paths, view_of
from orchestrator.errors import SessionError, UsageError
from orchestrator.harness.giving_away import redaction
from orchestrator.named_file import NO_ROOM
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.export_html import html_page
from orchestrator.sessions.export_markdown import markdown
from orchestrator.sessions.sharing import Shared, jsonl, shareable

Format = Literal["html", "md", "jsonl"]

EXPORT_WARNING = "secrets were replaced as far as they look like some: read it before you share it"

_ENDINGS: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".jsonl": "jsonl"}


def export(
    session: OptionalSession = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="Default: by the file's ending, else html."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A file that is not there yet; - is stdout.", metavar="FILE"
        ),
    ] = None,
    current: Annotated[
        bool, typer.Option("--current", help="Only the conversation as it stands.")
    ] = False,
) -> None:
    """Write a session without its secrets: one page that fetches nothing, Markdown, or JSON lines.

    On a terminal it goes to a file, glovebox-ID.html say; else to stdout.
    """
    paths = user_paths()
    view = view_of(session, paths)
    chosen = form or form_of(out or Path())
    entries = view.tree.path() if current else view.tree.entries
    shared = shareable(view.header, entries, redaction(paths, os.environ), home=str(Path.home()))
    data = written(shared, chosen, only_current=current)
    to_terminal = sys.stdout.isatty()
    if out is None and not to_terminal:
        out = Path("-")
    if str(out) != "-":
        file = out or Path(f"glovebox-{view.header.id}.{chosen}")
        write_export(file, data)
        show(escape_terminal(str(file)))
        tell(EXPORT_WARNING)
        return
    if to_terminal:
        raise UsageError(
            "export: --out - would send a session's bytes to this terminal",
            hint="name a file, or redirect stdout",
        )
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def form_of(file: Path) -> Format:
    """Return what a file's ending asks for, a page without one; UsageError for an unknown one."""
    ending = file.suffix.lower()
    if ending and ending not in _ENDINGS:
        raise UsageError(
            f"export: {file}: expected a name that ends in {', '.join(_ENDINGS)}, got {ending!r}",
            hint="end it in one of these; `glovebox sessions export --format` takes any name",
        )
    return _ENDINGS.get(ending, "html")


def written(shared: Shared, form: Format, *, only_current: bool) -> bytes:
    """Return the bytes of an export."""
    if form == "jsonl":
        return jsonl(shared)
    write = html_page if form == "html" else markdown
    return write(shared, only_current=only_current).encode("utf-8", "backslashreplace")


def write_export(path: Path, data: bytes) -> None:
    """Write a file that only its owner reads: redaction cannot know what is private.

    Raises SessionError for one that is there already or cannot be written.
    """
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
        except OSError:
            path.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        # A ValueError is a name that no file can have.
        why = error.strerror if isinstance(error, OSError) else str(error)
        is_full = isinstance(error, OSError) and error.errno in NO_ROOM
        raise SessionError(
            f"{path}: the export cannot be written: {why}",
            hint="free space, or name a file on another disk"
            if is_full
            else "name a file that is not there yet, in a folder that is",
        ) from error
