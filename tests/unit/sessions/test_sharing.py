"""What is given away holds no secrets, and is still a session."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orchestrator.redaction.redactor import Redactor
from orchestrator.sessions.reading import read_content
from orchestrator.sessions.sharing import jsonl, shareable
from orchestrator.sessions.tree import EntryTree

from .conftest import HEADER, entry

SECRET = "ghp_" + "q8Rz1vTk3nLm5xYb7cWd9eFg2hJp4sUa6iOt"
KEY = "my-own-key-of-this-machine"


def redact(data):
    return Redactor({"own": KEY}).redact_json(data)


def bodies():
    call = {"type": "tool_call", "id": "c", "name": "bash", "signature": "blob"}
    arguments = json.dumps({"command": f'export A="{SECRET}"\necho {KEY}'})
    thought = {"type": "thinking", "text": f"use {KEY}", "provider": "p", "signature": "blob"}
    answer = {"role": "assistant", "content": [thought, {**call, "arguments": arguments}]}
    result = {"call": "c", "name": "bash", "output": f"token {SECRET}", "is_error": False}
    yield "message", {**answer, "stop_reason": "tool_use", "usage": {}, "model": "m"}
    yield "message", {"role": "tool", "results": [result]}
    yield "compaction", {"summary": f"the key is {KEY}", "first_kept": None}
    yield "label", {"target": "e0", "label": SECRET}
    yield "custom", {"kind": "title", "title": f"about {KEY}", "deep": {"list": [SECRET]}}
    replacement = {"role": "user", "content": [{"type": "text", "text": KEY}]}
    yield "context_edit", {"target": "e0", "replacement": replacement}


def session():
    return [
        entry(f"e{at}", f"e{at - 1}" if at else None, type=kind, body=body)
        for at, (kind, body) in enumerate(bodies())
    ]


def test_no_text_of_any_entry_keeps_a_secret() -> None:
    """Said, thought, called, returned, summarised, named or noted."""
    data = jsonl(shareable(replace(HEADER, cwd=f"/srv/{KEY}"), session(), redact)).decode()

    assert KEY not in data
    assert SECRET not in data
    assert "blob" not in data, "providers' marks are left out"
    assert data.count("[redacted:") >= 8


def test_shared_session_reads_as_one() -> None:
    """The same entries, in the same tree; a call's arguments are still JSON."""
    content = read_content(jsonl(shareable(HEADER, session(), redact)), name="x")

    assert content.warnings == []
    assert [one.id for one in content.entries] == [one.id for one in session()]
    answer = EntryTree(content.entries).entries[0]
    arguments = json.loads(answer.body["content"][1]["arguments"])
    assert arguments["command"].startswith('export A="[redacted:')


def test_pictures_stay_what_they_are() -> None:
    """Their digits look like keys; replaced, they would be no picture."""
    data = "iVBORw0KGgo" + SECRET.replace("_", "") * 3
    parts = [{"type": "image", "media_type": "image/png", "data": data + str(n)} for n in "12"]
    body = {"role": "user", "content": [parts[0], {"type": "text", "text": "x"}, parts[1]]}

    (shared,) = shareable(HEADER, [entry("a", None, body=body)], redact).entries

    assert shared.body == body


def test_text_where_a_picture_should_be_is_redacted() -> None:
    """No secret leaves by calling itself a picture."""
    parts = [{"type": "image", "media_type": "image/png", "data": text} for text in (SECRET, "")]
    body = {"role": "user", "content": parts}

    (shared,) = shareable(HEADER, [entry("a", None, body=body)], redact).entries

    assert SECRET not in str(shared.body)
    assert [part["type"] for part in shared.body["content"]] == ["image", "image"]
    assert shared.body["content"][1]["data"] == ""


def test_call_with_broken_arguments_is_redacted_as_text() -> None:
    """What a cut answer left is no JSON."""
    call = {"type": "tool_call", "id": "c", "name": "bash", "arguments": f'{{"a": "{SECRET}'}
    body = {"role": "assistant", "content": [call], "stop_reason": "max_tokens"}

    (shared,) = shareable(HEADER, [entry("a", None, body=body)], redact).entries

    assert SECRET not in shared.body["content"][0]["arguments"]
    assert shared.body["content"][0]["arguments"].startswith('{"a": "')


@pytest.mark.parametrize(
    ("cwd", "shown"),
    [("/home/me/x", "~/x"), ("/home/me", "~"), ("/home/men/x", "/home/men/x"), ("", "")],
)
def test_home_directory_is_not_told(cwd: str, shown: str) -> None:
    """A name of a person is often in it."""
    shared = shareable(replace(HEADER, cwd=cwd), [], lambda data: data, home="/home/me/")

    assert shared.header.cwd == shown
    assert shareable(HEADER, [], lambda data: data, home="/").header.cwd == HEADER.cwd
