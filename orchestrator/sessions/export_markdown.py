"""A session as Markdown: to be read as text, or rendered without fetching anything. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.branches import Branch, branches_of
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.export_text import pieces
from orchestrator.sessions.labels import labels_of
from orchestrator.sessions.sharing import Shared
from orchestrator.sessions.tree import EntryTree

_ACTS = re.compile(
    r"(?P<slashes>\\*)(?:<|!\[|\](?=[(:])(?![(:]\s*https?://))"
    r"|^(?P<indent>[ ]{0,3})(?:#{1,6}\s|=+\s*$|-+\s*$)",
    re.MULTILINE,
)
"""What a renderer would take for HTML, a picture to fetch, a link that leads elsewhere than to a
page (``javascript:``, ``data:``, ``file:``), or a heading among ours."""
_TICKS = re.compile(r"`+")
_SPEAKERS = {"user": "User", "assistant": "Model", "tool": "Results"}


def markdown(shared: Shared, *, only_current: bool = False) -> str:
    """Return the whole text; with ``only_current`` the conversation as it stands alone."""
    tree = EntryTree(shared.entries)
    labels = labels_of(tree.entries)
    found = branches_of(tree)
    header = shared.header
    lines = [
        f"# Session {_line(header.id)}",
        "",
        f"{_line(header.cwd)}, {_line(header.created)}",
        "",
    ]
    for branch in found[:1] if only_current else found:
        if branch.number > 1:
            lines += [f"## Branch {branch.number}", "", _origin(branch), ""]
        for entry in branch.entries:
            lines += _entry(entry, labels.get(entry.id))
    return "\n".join(lines).rstrip() + "\n"


def _origin(branch: Branch) -> str:
    return (
        "From the very beginning." if branch.after is None else f"From entry {_line(branch.after)}."
    )


def _entry(entry: Entry, label: str | None) -> list[str]:
    inside = list(_message(entry.body) if entry.type == "message" else _note(entry))
    if not inside:
        return []
    who = _SPEAKERS[entry.body["role"]] if entry.type == "message" else entry.type
    model = f" ({_line(str(entry.body['model']))})" if entry.body.get("model") else ""
    name = f" [{_line(label)}]" if label else ""
    return [f"### {who}{model}{name} · {_line(entry.id)}", "", *inside]


def _message(body: Mapping[str, Any]) -> Iterator[str]:
    if body["role"] == "tool":
        for result in body["results"]:
            failed = " failed" if result["is_error"] else ""
            yield f"`{_line(str(result['name']))}`{failed}:"
            yield from ("", _fenced(str(result["output"])), "")
            yield from ("[picture]" for _ in result.get("images", ()))
        return
    for part in body["content"]:
        if part["type"] == "tool_call":
            yield from (
                f"Calls `{_line(str(part['name']))}`:",
                "",
                _call(str(part["arguments"])),
                "",
            )
        elif part["type"] == "image":
            yield from ("[picture]", "")
        elif part["type"] == "thinking":
            quoted = _prose(str(part["text"])).replace("\n", "\n> ")
            yield from (f"> {quoted}", "") if part["text"] else ()
        else:
            yield from (_prose(str(part["text"])), "")


def _note(entry: Entry) -> Iterator[str]:
    summary = entry.body.get("summary")
    if isinstance(summary, str) and summary:
        yield from (_prose(summary), "")


def _call(raw: str) -> str:
    arguments = parse_arguments(raw)
    if arguments is not None and list(arguments) == ["command"]:
        return _fenced(str(arguments["command"]))
    return _fenced(
        raw if arguments is None else json.dumps(arguments, indent=2, ensure_ascii=False)
    )


def _fenced(text: str) -> str:
    """Return a block whose fence is longer than any in the text."""
    longest = max((len(run[0]) for run in _TICKS.finditer(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{escape_terminal(text, keep_newlines=True)}\n{fence}"


def _prose(text: str) -> str:
    return "\n".join(
        _fenced(piece)
        if is_code
        else _ACTS.sub(_stilled, escape_terminal(piece, keep_newlines=True))
        for piece, is_code in pieces(text)
        if piece or not is_code
    ).strip("\n")


def _stilled(match: re.Match[str]) -> str:
    if match["indent"] is not None:
        before = match["indent"]
        return f"{before}\\{match[0][len(before) :]}"
    # A backslash before it may be one that escapes, or one that is escaped: then the next would
    # undo the first.
    return match[0] if len(match["slashes"]) % 2 else f"\\{match[0]}"


def _line(text: str) -> str:
    return _ACTS.sub(_stilled, escape_terminal(text)).replace("`", "'")
