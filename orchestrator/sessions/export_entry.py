"""One entry as a piece of a page. Pure; what it shows has no secrets any more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.picture_data import PICTURE_TYPES, is_base64
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.export_text import prose, safe

OPEN_LINES = 15
"""A result that is not longer is shown at once."""
_OLD, _NEW = frozenset({"oldText", "old_text"}), frozenset({"newText", "new_text"})
_SPEAKERS = {"user": "User", "assistant": "Model", "tool": "Results"}
_QUIET = frozenset({"label", "leaf", "approval"})


def entry_html(entry: Entry) -> str:
    """Return an entry's content, "" for one that has nothing to show."""
    if entry.type == "message":
        return "".join(_message(entry.body))
    if entry.type in _QUIET:
        return ""
    if entry.type in {"compaction", "branch_summary"}:
        return prose(str(entry.body.get("summary", "")))
    return _noted(entry)


def speaker(entry: Entry) -> str:
    """Return whose words an entry holds, as HTML."""
    if entry.type != "message":
        return safe(entry.type.replace("_", " "))
    model = f" <small>{safe(str(entry.body['model']))}</small>" if entry.body.get("model") else ""
    return f"{_SPEAKERS[entry.body['role']]}{model}"


def kind(entry: Entry) -> str:
    """Return the class of an entry's element."""
    return str(entry.body["role"]) if entry.type == "message" else "note"


def _message(body: Mapping[str, Any]) -> Iterator[str]:
    if body["role"] == "tool":
        for result in body["results"]:
            yield _result(result)
        return
    for part in body["content"]:
        match part["type"]:
            case "text":
                yield prose(str(part["text"]))
            case "thinking" if part["text"]:
                yield _folded("Thinking", prose(str(part["text"])), is_open=False)
            case "tool_call":
                yield _call(part)
            case "image":
                yield _image(part)
    stop = str(body.get("stop_reason", "end_turn"))
    if stop not in {"end_turn", "tool_use"}:
        yield f'<p class="stop">stopped: {safe(stop)}</p>'


def _call(part: Mapping[str, Any]) -> str:
    raw = str(part["arguments"])
    arguments = parse_arguments(raw)
    inside = f"<pre>{safe(raw)}</pre>" if arguments is None else "".join(_fields(arguments))
    return f'<div class="call"><b>{safe(str(part["name"]))}</b>{inside}</div>'


def _fields(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield a call's arguments by name; what an edit takes away and brings is coloured."""
    for name, item in value.items():
        if isinstance(item, list) and item and all(isinstance(one, dict) for one in item):
            for one in item:
                yield f'<div class="many">{"".join(_fields(one))}</div>'
            continue
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        colour = "del" if name in _OLD else "ins" if name in _NEW else ""
        mark = f' class="{colour}"' if colour else ""
        if "\n" in text or colour or len(text) > 80:
            yield f"<label>{safe(name)}</label><pre{mark}>{safe(text)}</pre>"
        else:
            yield f'<div class="f"><label>{safe(name)}</label> <code>{safe(text)}</code></div>'


def _result(result: Mapping[str, Any]) -> str:
    output = str(result["output"])
    lines = output.count("\n") + 1
    failed = " failed" if result["is_error"] else ""
    images = "".join(map(_image, result.get("images", ())))
    size = "1 line" if lines == 1 else f"{lines:,} lines"
    title = f"{safe(str(result['name']))}{failed} <small>{size}</small>"
    return _folded(
        title,
        f'<pre class="out">{safe(output)}</pre>{images}',
        is_open=lines <= OPEN_LINES,
        mark="bad" if failed else "",
    )


def _image(part: Mapping[str, Any]) -> str:
    media, data = str(part.get("media_type")), str(part.get("data"))
    if media not in PICTURE_TYPES or not is_base64(data):
        return f"<p>[a picture that cannot be shown: {safe(media)}]</p>"
    return f'<img alt="picture, {media}" src="data:{media};base64,{data}">'


def _noted(entry: Entry) -> str:
    shown = {key: item for key, item in entry.body.items() if item not in (None, "", [], {})}
    text = "  ".join(
        f"{key}: {item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}"
        for key, item in shown.items()
    )
    return f'<p class="noted">{safe(text)}</p>' if text else ""


def _folded(title: str, inside: str, *, is_open: bool, mark: str = "") -> str:
    state = " open" if is_open else ""
    name = f' class="{mark}"' if mark else ""
    return f"<details{name}{state}><summary>{title}</summary>{inside}</details>"
